//! Truths by hand, and against drives that are run.

use super::*;
use crate::Drive;
use crate::profile::{open_zoned, preset_names};
use model::prng::Prng;
use model::request::{Operation, Request, Tag};
use model::units::Instant;

fn value(truths: &[Truth], code: FindingCode) -> f64 {
    let truth = truths.iter().find(|truth| truth.code == code);
    truth.and_then(Truth::value).unwrap_or_else(|| panic!("{code:?} is not a number"))
}

#[test]
fn nothing_is_true_of_the_null_drive() {
    assert_eq!(truth("null").unwrap(), []);
    assert!(truth("nul").is_err());
}

#[test]
fn the_plain_disk_by_hand() {
    let truths = truth("zoned").unwrap();
    assert_eq!(value(&truths, FindingCode::ReadRateOuter), 150e6);
    assert_eq!(value(&truths, FindingCode::WriteRateInner).round(), 72e6);
    assert_eq!(value(&truths, FindingCode::ZoneCount), 20.0);
    // 0.2 + (0.8 + 11·8/15 + 6.7/3) + 4.1667 ms = 13.2667 ms, and 4096 bytes at 116 MB/s: 0.035 ms.
    let access_s = value(&truths, FindingCode::AccessTime);
    assert!((access_s - 13.302e-3).abs() < 0.002e-3, "{access_s}");
}

/// What the host sees of a shingled disk begins behind its media cache, for tracks as for rates.
#[test]
fn tracks_of_a_shingled_disk_lie_where_its_rates_do() {
    let truths = truth("smr-2tb").unwrap();
    let begins = |code: FindingCode, name: &str| -> Vec<u64> {
        let truth = truths.iter().find(|truth| truth.code == code).unwrap();
        let Some((_, Datum::List(rows))) = truth.data.iter().find(|(of, _)| of == name) else {
            panic!("{name}")
        };
        let first = |row: &Datum| match row {
            Datum::Record(parts) => parts.iter().find_map(|(of, part)| match part {
                Datum::Integer(first) if of == "first_byte" => Some(*first),
                _ => None,
            }),
            _ => None,
        };
        rows.iter().filter_map(first).collect()
    };
    let tracks = begins(FindingCode::TrackLayout, "sectors_per_track");
    assert!(tracks.len() > 10);
    assert_eq!(tracks, begins(FindingCode::ZoneTable, "zones"));
}

#[test]
fn a_constant_drive_by_hand() {
    let truths = truth("constant").unwrap();
    // Four requests of 1 MiB every 100 µs.
    assert_eq!(value(&truths, FindingCode::ReadRateMean).round(), 41_943_040_000.0);
    assert!((value(&truths, FindingCode::AccessTime) - 1e-4).abs() < 1e-12);
    assert_eq!(value(&truths, FindingCode::ConcurrencyGain), 8.0);
}

#[test]
fn a_faulty_drive_has_one_bad_region() {
    let truths = truth("faulty").unwrap();
    let bad = truths.iter().find(|truth| truth.code == FindingCode::BadBlocks).unwrap();
    assert_eq!(bad.answer, Answer::Number(1.0));
    let region =
        Datum::record([("first_byte", Datum::Integer(300_000_000_000)), ("bytes", Datum::Integer(16 << 20))]);
    assert_eq!(bad.data, [("regions".into(), Datum::List(vec![region]))]);
}

/// Twenty of them, in one profile; what is slow only for a while is at no place, and who else reads is no flaw of the drive.
#[test]
fn weak_spots_are_slow_regions() {
    let mut text = crate::profile::preset_text("constant").unwrap().into_owned();
    for spot in 0..20_u64 {
        let first_byte = spot * 50_000_000_000;
        text.push_str(&format!(
            "\n[[faults]]\nkind = \"slow\"\nfirst_byte = {first_byte}\nbytes = 67108864\nmilliseconds = 30\n"
        ));
    }
    text.push_str("\n[[faults]]\nkind = \"slow\"\nmilliseconds = 30\nat_s = 10\nseconds = 60\n");
    text.push_str("\n[[faults]]\nkind = \"other-load\"\nper_second = 30\n");
    let truths = truth_of(&Profile::parse(&text, "weak").unwrap()).unwrap();
    assert_eq!(value(&truths, FindingCode::SlowRegions), 20.0);
    assert_eq!(value(&truths, FindingCode::ReadRateMean).round(), 41_943_040_000.0);
}

/// Article A: over USB 2.0 the outer part reads as fast as the inner: 33386 KiB/s, and the link is to blame.
#[test]
fn usb_2_hides_the_zones() {
    let truths = truth("wd20ears-usb2").unwrap();
    let (outer, inner) =
        (value(&truths, FindingCode::ReadRateOuter), value(&truths, FindingCode::ReadRateInner));
    assert_eq!(outer, inner);
    assert!((outer / (33_386.0 * 1024.0) - 1.0).abs() < 0.01, "{outer}");
    assert_eq!(value(&truths, FindingCode::InterfaceLimit), outer);
    assert_eq!(value(&truths, FindingCode::ZoneCount), 1.0);
    // A command at a time: what the disk takes to answer each of them passes as well. Published: 20599 KiB/s.
    let write = value(&truths, FindingCode::WriteRateOuter);
    assert!((write / (20_599.0 * 1024.0) - 1.0).abs() < 0.04, "{write}");
}

/// Reading a mirror in turns is as fast as its disks happen to skip what the other one reads: nothing is said of it.
#[test]
fn a_mirror_says_how_fast_it_writes() {
    let truths = truth("raid1-2").unwrap();
    let member = truth(&preset("raid1-2").unwrap().volume.unwrap().members[0].profile).unwrap();
    assert_eq!(value(&truths, FindingCode::WriteRateOuter), value(&member, FindingCode::WriteRateOuter));
    assert!(truths.iter().all(|truth| truth.code != FindingCode::ReadRateOuter));
}

#[test]
fn three_disks_side_by_side_are_three_times_as_fast() {
    let (one, three) = (preset("raid0-3x64k").unwrap(), truth("raid0-3x64k").unwrap());
    let member = truth(&one.volume.unwrap().members[0].profile).unwrap();
    let ratio = value(&three, FindingCode::ReadRateOuter) / value(&member, FindingCode::ReadRateOuter);
    assert!((ratio - 3.0).abs() < 1e-9, "{ratio}");
    let layout = three.iter().find(|truth| truth.code == FindingCode::StripeLayout).unwrap();
    assert_eq!(layout.answer, Answer::Number(3.0));
    assert!(layout.data.contains(&("chunk_bytes".into(), Datum::Integer(65_536))));
}

#[test]
fn every_preset_has_truths_that_are_numbers() {
    for name in preset_names() {
        for truth in truth(name).unwrap() {
            assert!(truth.value().is_none_or(|value| value.is_finite() && value >= 0.0), "{name}: {truth:?}");
        }
        let codes: Vec<FindingCode> = truth(name).unwrap().iter().map(|truth| truth.code).collect();
        let mut once = codes.clone();
        once.dedup();
        assert_eq!(codes, once, "{name}: each code once, in order");
    }
}

/// The closed form against the drive: 40,000 single reads, 5 standard errors.
#[test]
fn single_random_reads_take_what_the_truth_says() {
    let profile = ZonedProfile::plain();
    let access_s = value(&zoned(&profile), FindingCode::AccessTime);
    let (mut drive, mut prng, mut now) = (open_zoned(profile.clone(), 5), Prng::new(6, 0), Instant::START);
    let mut times = Vec::new();
    for _ in 0..40_000 {
        let offset_bytes = prng.below(profile.capacity.0 / 4096) * 4096;
        let request = Request { tag: Tag(0), operation: Operation::Read, offset_bytes, length_bytes: 4096 };
        drive.submit(request, now);
        let end = drive.next_completion_at().unwrap();
        drive.take_completion(end).unwrap();
        times.push(end.since(now).seconds());
        now = end;
    }
    let mean = times.iter().sum::<f64>() / times.len() as f64;
    let variance = times.iter().map(|time| (time - mean).powi(2)).sum::<f64>() / times.len() as f64;
    let error = (mean - access_s).abs() / (variance / times.len() as f64).sqrt();
    assert!(error < 5.0, "{mean} against {access_s}: {error} standard errors");
}
