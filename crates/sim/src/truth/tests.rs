//! Truths by hand, and against drives that are run.

use super::data::{CorruptRegion, Region};
use super::*;
use crate::Drive;
use crate::fault::FaultProfile;
use crate::profile::{open_zoned, preset_names};
use crate::volume::ReadPolicy;
use model::prng::Prng;
use model::request::{Operation, Request, Tag};
use model::units::Instant;

fn value(truths: &[Truth], code: FindingCode) -> f64 {
    let truth = truths.iter().find(|truth| truth.code == code);
    truth.and_then(Truth::value).unwrap_or_else(|| panic!("{code:?} is not a number"))
}

fn data(truths: &[Truth], code: FindingCode) -> TruthData {
    of_code(truths, code).unwrap_or_else(|| panic!("{code:?} has no truth")).data.clone()
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
    // Its name is of zones of rates. Each write goes to its place: no log, no bands.
    let of = |code| truths.iter().find(|truth| truth.code == code).map(|truth| truth.value);
    assert_eq!(of(FindingCode::RecordingKind), Some(TruthValue::Word("cmr")));
    assert_eq!(of(FindingCode::WriteCliff), Some(TruthValue::Absent));
}

/// 47,900 KiB that keep their data are full after 73 MB at the host's 3.6 GB/s, while the flash takes 1.18.
#[test]
fn a_buffer_that_keeps_its_data_may_be_told_as_a_cliff() {
    let truths = truth("random-flash-1170198").unwrap();
    let cliff = of_code(&truths, FindingCode::WriteCliff).unwrap();
    assert!(matches!(cliff.value, TruthValue::Depends(_)), "{cliff:?}");
}

/// 3.17 and 2.95 GB/s on both sides of an SLC cache of 196 GB, both near what the link carries.
#[test]
fn a_drop_that_is_near_the_smallest_may_be_told_or_not() {
    let truths = truth("random-flash-1240342").unwrap();
    let cliff = of_code(&truths, FindingCode::WriteCliff).unwrap();
    assert!(matches!(cliff.value, TruthValue::Depends(_)), "{cliff:?}");
}

/// One member of this mirror is behind USB 2.
#[test]
fn links_of_members_may_limit_a_volume() {
    let truths = truth("random-volume-1240399").unwrap();
    assert_eq!(of_code(&truths, FindingCode::InterfaceLimit), None);
}

/// What the host sees of a shingled disk begins behind its media cache, for tracks as for rates.
#[test]
fn tracks_of_a_shingled_disk_lie_where_its_rates_do() {
    let truths = truth("smr-2tb").unwrap();
    let TruthData::Tracks { sectors_per_track, .. } = &data(&truths, FindingCode::TrackLayout) else {
        panic!("no tracks")
    };
    let TruthData::Zones { zones } = &data(&truths, FindingCode::ZoneTable) else { panic!("no zones") };
    let tracks: Vec<u64> = sectors_per_track.iter().map(|zone| zone.first_byte).collect();
    assert!(tracks.len() > 10);
    assert_eq!(tracks, zones.iter().map(|zone| zone.first_byte).collect::<Vec<u64>>());
}

#[test]
fn a_constant_drive_by_hand() {
    let truths = truth("constant").unwrap();
    // Four requests of 1 MiB every 100 µs.
    assert_eq!(value(&truths, FindingCode::ReadRateMean).round(), 41_943_040_000.0);
    assert!((value(&truths, FindingCode::AccessTime) - 1e-4).abs() < 1e-12);
    assert_eq!(value(&truths, FindingCode::ConcurrencyGain), 8.0);
    assert_eq!(value(&truths, FindingCode::LatencyModes), 1.0);
}

/// A disk whose sectors are all alike answers in one way; of one with slow places nothing is said.
#[test]
fn slow_places_make_answers_of_which_nothing_is_said() {
    assert_eq!(value(&truth("st3000dm001").unwrap(), FindingCode::LatencyModes), 1.0);
    let says_nothing =
        |truths: Vec<Truth>| truths.iter().all(|truth| truth.code != FindingCode::LatencyModes);
    assert!(says_nothing(truth("failing-disk").unwrap()));
    let mut profile = preset("st3000dm001").unwrap();
    profile.faults.push(FaultProfile::Stall { at_s: 1.0, seconds: 1.0, every_s: None });
    assert!(says_nothing(truth_of(&profile).unwrap()));
}

#[test]
fn a_faulty_drive_has_one_bad_region() {
    let truths = truth("faulty").unwrap();
    let bad = truths.iter().find(|truth| truth.code == FindingCode::BadBlocks).unwrap();
    assert_eq!(bad.value, TruthValue::Number(1.0));
    let region = Region { first_byte: 300_000_000_000, bytes: 16 << 20 };
    assert_eq!(bad.data, TruthData::Regions { regions: vec![region] });
}

/// Its members hold unreadable blocks; those of the other hold none of either kind.
#[test]
fn flaws_of_members_are_no_truth_of_a_volume() {
    let truths = truth("random-volume-1200114").unwrap();
    assert!(of_code(&truths, FindingCode::BadBlocks).is_none());
    let truths = truth("random-volume-1194058").unwrap();
    for code in [FindingCode::BadBlocks, FindingCode::SlowRegions] {
        assert_eq!(of_code(&truths, code).unwrap().value, TruthValue::Absent, "{code:?}");
    }
}

/// Members of a stripe get quarters of a request, each with its own overhead on the link: 1121.2 MB/s were told, and hosts see 1118.9.
#[test]
fn a_stripe_is_read_in_parts() {
    let truths = truth("random-volume-1230003").unwrap();
    assert!((value(&truths, FindingCode::ReadRateMean) / 1118.9e6 - 1.0).abs() < 2e-4);
    // Without read-ahead, links at QD 1 cost a revolution for each request.
    assert!(of_code(&truth("random-volume-1230040").unwrap(), FindingCode::ReadRateMean).is_none());
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
/// Behind USB 2 without read-ahead of a whole request, a disk loses part of each revolution, read by itself or of a mirror: 33.9 MB/s were called
/// true, and 32.7 to 30.9 were measured, in zones.
#[test]
fn a_mirror_says_no_rates_that_its_members_do_not_say() {
    let truths = truth("random-volume-1539511").unwrap();
    for code in [FindingCode::ReadRateOuter, FindingCode::ReadRateMean, FindingCode::ZoneCount] {
        assert!(of_code(&truths, code).is_none(), "{code:?}");
    }
    assert!(of_code(&truths, FindingCode::WriteRateMean).is_some());
}

#[test]
fn a_mirror_says_how_fast_it_writes() {
    let truths = truth("raid1-2").unwrap();
    let member = truth(&preset("raid1-2").unwrap().volume.unwrap().members[0].profile).unwrap();
    assert_eq!(value(&truths, FindingCode::WriteRateOuter), value(&member, FindingCode::WriteRateOuter));
    assert!(truths.iter().all(|truth| truth.code != FindingCode::ReadRateOuter));
}

/// Where only the first of them is read, nobody who reads can know of the other.
#[test]
fn a_mirror_of_which_one_disk_is_read_shares_nothing() {
    let shared = truth("raid1-2").unwrap();
    assert_eq!(value(&shared, FindingCode::StripeLayout), 2.0);
    let mut profile = preset("raid1-2").unwrap();
    profile.volume.as_mut().unwrap().read_policy = Some(ReadPolicy::First);
    let truths = truth_of(&profile).unwrap();
    assert_eq!(value(&truths, FindingCode::StripeLayout), 1.0);
    let layout = truths.iter().find(|truth| truth.code == FindingCode::StripeLayout).unwrap();
    assert_eq!(layout.data, TruthData::Members { kind: "none", chunk_bytes: None });
    let member = truth(&profile.volume.unwrap().members[0].profile).unwrap();
    for code in
        [FindingCode::DriveCache, FindingCode::ReadAhead, FindingCode::SeekAverage, FindingCode::TrackLayout]
    {
        assert_eq!(value(&truths, code), value(&member, code), "{code:?}");
        assert!(shared.iter().all(|truth| truth.code != code), "{code:?}");
    }
}

/// Three drives of 16 segments of 2 MiB, each of which keeps the end of its own chunks. They turn alike.
#[test]
fn drives_of_a_stripe_keep_a_stream_together() {
    let truths = truth("raid0-3x64k").unwrap();
    let member = truth(&preset("raid0-3x64k").unwrap().volume.unwrap().members[0].profile).unwrap();
    let kept = value(&truths, FindingCode::DriveCache);
    assert_eq!(kept, 3.0 * value(&member, FindingCode::DriveCache));
    for code in [FindingCode::RotationPeriod, FindingCode::ReadAhead] {
        assert_eq!(value(&truths, code), value(&member, code), "{code:?}");
    }
}

#[test]
fn three_disks_side_by_side_are_three_times_as_fast() {
    let (one, three) = (preset("raid0-3x64k").unwrap(), truth("raid0-3x64k").unwrap());
    let member = truth(&one.volume.unwrap().members[0].profile).unwrap();
    let ratio = value(&three, FindingCode::ReadRateOuter) / value(&member, FindingCode::ReadRateOuter);
    assert!((ratio - 3.0).abs() < 1e-9, "{ratio}");
    let layout = three.iter().find(|truth| truth.code == FindingCode::StripeLayout).unwrap();
    assert_eq!(layout.value, TruthValue::Number(3.0));
    assert_eq!(layout.data, TruthData::Members { kind: "stripe", chunk_bytes: Some(65_536) });
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

#[test]
fn a_limit_is_what_its_section_says_and_other_drives_have_none() {
    let of = |name| of_code(&truth(name).unwrap(), FindingCode::RateLimit).unwrap().clone();
    let requests = of("cloud-volume");
    assert_eq!((requests.value(), requests.unit()), (Some(300.0), Some("1/s")));
    let TruthData::Limit { by: "requests", credit: 40_000.0, refill_s } = requests.data else {
        panic!("{requests:?}")
    };
    assert!((refill_s - 133.333).abs() < 0.001);
    let bytes = of("cloud-volume-bytes");
    assert_eq!((bytes.value(), bytes.unit()), (Some(40e6), Some("B/s")));
    assert_eq!(bytes.data, TruthData::Limit { by: "bytes", credit: 3e9, refill_s: 75.0 });
    assert_eq!(of("st3000dm001").value, TruthValue::Absent);
    // 100 GB: 3 pass at once, and 97 at 40 MB/s.
    let pass = of_code(&truth("cloud-volume-bytes").unwrap(), FindingCode::FullPassTime).unwrap().clone();
    assert!((pass.value().unwrap() - 2425.0).abs() < 0.1, "{pass:?}");
    let of_requests = of_code(&truth("cloud-volume").unwrap(), FindingCode::ReadRateMean).unwrap().clone();
    assert!(matches!(of_requests.value, TruthValue::Depends(_)), "{of_requests:?}");
}

/// What a drive can be found to be is said of it, and nothing else.
#[test]
fn each_kind_of_drive_has_its_truths() {
    let of_all =
        "bad-blocks capacity-true rate-limit slow-regions write-rate-outer write-rate-inner write-rate-mean";
    let reading = "read-rate-outer read-rate-inner read-rate-mean zone-ratio zone-count zone-table full-pass-time \
                   interface-limit access-time span-effect";
    let sound = "block-latency device-lost data-integrity";
    let alone = "concurrency-gain concurrency-knee";
    let (even, cache) = ("latency-modes", "write-cache");
    let turning = "wake-up rotation-period seek-track-to-track seek-average seek-full-stroke track-layout drive-cache \
                   read-ahead stripe-layout recording-kind write-cache flush-honoured write-cliff write-valleys";
    let still = "rotation-period seek-track-to-track seek-average seek-full-stroke track-layout stripe-layout unmapped-ranges";
    let shingled = "band-size write-steady-state idle-recovery";
    let cells = "write-cache flush-honoured recording-kind write-cliff write-valleys write-steady-state idle-recovery \
                 clipping-effect valley-cure";
    for (name, parts) in [
        ("constant", vec![of_all, reading, sound, alone, even, cache, still]),
        ("faulty", vec![of_all, reading, alone, cache, still, "device-lost data-integrity"]),
        (
            "zoned",
            vec![
                of_all,
                reading,
                sound,
                cache,
                "rotation-period stripe-layout recording-kind write-cliff write-valleys",
            ],
        ),
        ("st3000dm001", vec![of_all, reading, sound, turning, even]),
        ("wd20ears-usb2", vec![of_all, reading, sound, turning, alone, even]),
        ("failing-disk", vec![of_all, reading, turning, "device-lost data-integrity"]),
        ("smr-2tb", vec![of_all, reading, sound, turning, shingled, even]),
        ("x25-m", vec![of_all, reading, sound, cells, still]),
        ("980-pro", vec![of_all, sound, cells, still, "span-effect"]),
        (
            "raid0-3x64k",
            vec![
                of_all,
                reading,
                "device-lost data-integrity stripe-layout recording-kind write-cliff write-valleys rotation-period drive-cache read-ahead",
            ],
        ),
        (
            "raid1-2",
            vec![
                "bad-blocks capacity-true rate-limit write-rate-outer write-rate-inner write-rate-mean",
                "access-time span-effect device-lost data-integrity stripe-layout recording-kind write-cliff write-valleys rotation-period",
            ],
        ),
        ("lying-stick", vec![of_all, reading, alone, cache, still, "device-lost"]),
        (
            "cloud-volume",
            vec![
                "bad-blocks capacity-true rate-limit slow-regions read-rate-outer read-rate-inner read-rate-mean \
                 full-pass-time write-rate-outer \
                 write-rate-inner zone-ratio zone-count zone-table interface-limit access-time span-effect",
                sound,
                even,
                still,
            ],
        ),
    ] {
        let mut expected: Vec<&str> = parts.iter().flat_map(|part| part.split_whitespace()).collect();
        expected.sort_unstable();
        let truths = truth(name).unwrap();
        let mut said: Vec<&str> = truths.iter().map(|truth| truth.code.name()).collect();
        said.sort_unstable();
        assert_eq!(said, expected, "{name}");
    }
}

fn parsed(text: &str) -> Vec<Truth> {
    truth_of(
        &Profile::parse(
            &format!("version = 1\nname = \"test\"\ndescription = \"A test\"\nsources = [\"None\"]\n{text}"),
            "test",
        )
        .unwrap(),
    )
    .unwrap()
}

/// The first cylinders of the 8 TB disk are its media cache: the host's arm comes no further out than where it ends.
#[test]
fn seeks_of_a_shingled_disk_are_those_that_the_host_asks_for() {
    let profile = preset("st8000as0002").unwrap();
    let truths = truth_of(&profile).unwrap();
    let (disk, smr) = (profile.disk.as_ref().unwrap(), profile.smr.as_ref().unwrap());
    let (platter, disk) = crate::smr::profile::disk_on_platter(profile.capacity().unwrap(), disk, smr);
    let all = crate::disk::truth::DiskTruth::new(&disk, platter);
    assert!(value(&truths, FindingCode::SeekAverage) < all.seek_average_s(0));
    assert!(value(&truths, FindingCode::SeekFullStroke) < all.seek_full_stroke_s(0));
}

/// Over USB 2.0 a read of 1 MiB is eight commands of 120 KiB and one of 64 KiB: 9 · (594 + 7645) µs are 74.15 ms, since the
/// data of 3 ms cross meanwhile. At 2624 µs only the last command waits for the drive: 9 · 594 µs + 8 · 3 ms + 2624 µs.
#[test]
fn a_link_of_one_command_waits_for_each() {
    let rate = |latency_us: f64| {
        let text = format!(
            "[identity]\ncapacity_bytes = 351000000000\n[constant]\nlatency_us = {latency_us}\n[link]\nkind = \"usb-2-bot\"\n"
        );
        value(&parsed(&text), FindingCode::ReadRateMean)
    };
    assert!((rate(7645.0) / 14.141e6 - 1.0).abs() < 1e-3, "{}", rate(7645.0));
    assert!((rate(2624.0) / 32.799e6 - 1.0).abs() < 1e-3, "{}", rate(2624.0));
}

/// Four servers in turn, of which each is late now and then; one is as quick as its mean.
#[test]
fn servers_that_wait_for_each_other_have_no_rate() {
    let of = |servers: u32, jitter: f64| {
        parsed(&format!(
            "[identity]\ncapacity_bytes = 351000000000\n[constant]\nlatency_us = 1000\nservers = {servers}\njitter = {jitter}\n"
        ))
    };
    for code in [FindingCode::ReadRateMean, FindingCode::WriteRateMean, FindingCode::ConcurrencyGain] {
        assert!(of_code(&of(4, 0.4), code).is_none(), "{code:?}");
        assert!(of_code(&of(4, 0.0), code).is_some(), "{code:?}");
    }
    // e^0.08 over the median of 1 ms.
    assert!((value(&of(1, 0.4), FindingCode::ReadRateMean) / (1048.576e6 / 1.083287) - 1.0).abs() < 1e-6);
}

/// Eight chunks of 1 MiB make a row, and four requests of 1 MiB are in flight.
#[test]
fn a_row_that_is_longer_than_the_queue_has_no_rate() {
    let of = |chunk_kib: u32| {
        parsed(&format!(
            "[volume]\nkind = \"stripe\"\nchunk_kib = {chunk_kib}\n[[volume.members]]\nprofile = \"wd20ears\"\ncount = 8\n"
        ))
    };
    assert!(of_code(&of(1024), FindingCode::ReadRateOuter).is_none());
    assert!(of_code(&of(512), FindingCode::ReadRateOuter).is_some());
}

/// Not of the drives that ship: one that sleeps, one that goes away, one that spoils data.
#[test]
fn what_is_to_go_wrong_is_known_before() {
    let with = |name: &str, more: &str| {
        let text = format!("{}\n{more}", crate::profile::preset_text(name).unwrap());
        truth_of(&Profile::parse(&text, "changed").unwrap()).unwrap()
    };
    let of = |truths: &[Truth], code: FindingCode| {
        truths.iter().find(|truth| truth.code == code).map(|truth| truth.value)
    };
    let asleep = with("st3000dm001", "[disk.standby]\nafter_idle_s = 600\nwake_up_s = 8\nasleep = true\n");
    assert_eq!(of(&asleep, FindingCode::WakeUp), Some(TruthValue::Number(8.0)));
    assert_eq!(of(&asleep, FindingCode::BlockLatency), None);
    let awake = with("st3000dm001", "[disk.standby]\nafter_idle_s = 600\nwake_up_s = 8\n");
    assert_eq!(of(&awake, FindingCode::WakeUp), Some(TruthValue::Absent));

    let gone = "[[faults]]\nkind = \"gone-at\"\nat_s = 40\n[[faults]]\nkind = \"gone-at\"\nat_s = 30\n";
    assert_eq!(of(&with("zoned", gone), FindingCode::DeviceLost), Some(TruthValue::Number(30.0)));
    let sooner = format!("{gone}[[faults]]\nkind = \"gone-after-requests\"\nrequests = 500\n");
    let truths = with("zoned", &sooner);
    let lost = truths.iter().find(|truth| truth.code == FindingCode::DeviceLost).unwrap();
    assert!(matches!(lost.value, TruthValue::Depends(_)));
    assert_eq!(lost.data, TruthData::Lost { requests: 500, at_s: Some(30.0) });

    let flips = "[[faults]]\nkind = \"silent-corruption\"\ncorruption = \"bit-flip\"\nevery_blocks = 1000\n\
                 first_byte = 4096\nbytes = 8192000\n";
    let truths = with("zoned", flips);
    let wrong = truths.iter().find(|truth| truth.code == FindingCode::DataIntegrity).unwrap();
    assert!(matches!(wrong.value, TruthValue::Depends(_)));
    let region = CorruptRegion { first_byte: 4096, bytes: 8_192_000, blocks: 2000, every_blocks: 1000 };
    assert_eq!(wrong.data, TruthData::Corruption { regions: vec![region] });
}

/// The zoned disk's span by hand: 0.2 + (0.8 + 11·8/15·0.1 + 6.7/3·0.01) + 4.1667 ms and 4096 bytes at 150 MB/s are 5.8029 ms
/// where all of it takes 13.302 ms.
#[test]
fn a_part_of_a_disk_is_quicker_by_its_shorter_seeks() {
    let effect = value(&truth("zoned").unwrap(), FindingCode::SpanEffect);
    assert!((effect - 13.302 / 5.8029).abs() < 0.002, "{effect}");
    assert_eq!(value(&truth("x25-m").unwrap(), FindingCode::SpanEffect), 1.0);
}

/// Single reads of 4 KiB at random places of the first `share`, from so many askers: the mean time from one answer to the
/// next, in seconds.
fn seconds_each(drive: &mut dyn Drive, share: f64, at_once: usize, count: usize) -> Vec<f64> {
    let blocks = (drive.facts().capacity.as_f64() * share) as u64 / 4096;
    let (mut prng, mut now, mut asked, mut times) = (Prng::new(6, 0), Instant::START, 0, Vec::new());
    while times.len() < count {
        while asked < times.len() + at_once {
            let offset_bytes = prng.below(blocks) * 4096;
            let request = Request {
                tag: Tag(asked as u32),
                operation: Operation::Read,
                offset_bytes,
                length_bytes: 4096,
            };
            drive.submit(request, now);
            asked += 1;
        }
        let end = drive.next_completion_at().unwrap();
        drive.take_completion(end).unwrap();
        times.push(end.since(now).seconds());
        now = end;
    }
    times
}

/// Closed forms against drives that are run: 4000 reads of each, a standard error of about half a percent.
#[test]
fn disks_and_volumes_of_them_read_as_their_truths_say() {
    let mean = |name: &str, share: f64, at_once: usize| {
        let mut drive = crate::profile::open(name, 3).unwrap();
        seconds_each(drive.as_mut(), share, at_once, 4000).iter().sum::<f64>() / 4000.0
    };
    for name in ["wd20ears", "smr-2tb", "raid0-3x64k", "raid1-2"] {
        let truths = truth(name).unwrap();
        let all_s = mean(name, 1.0, 1);
        let off = all_s / value(&truths, FindingCode::AccessTime) - 1.0;
        assert!(off.abs() < 0.02, "{name}: access {off}");
        let off = all_s / mean(name, 0.01, 1) / value(&truths, FindingCode::SpanEffect) - 1.0;
        assert!(off.abs() < 0.03, "{name}: span {off}");
    }
    let gain = mean("wd20ears-usb2", 1.0, 1) / mean("wd20ears-usb2", 1.0, 16);
    assert!(
        (gain - value(&truth("wd20ears-usb2").unwrap(), FindingCode::ConcurrencyGain)).abs() < 0.02,
        "{gain}"
    );
}

/// The closed form against the drive: 40,000 single reads, 5 standard errors.
#[test]
fn single_random_reads_take_what_the_truth_says() {
    let profile = preset("zoned").unwrap().zoned.unwrap();
    let access_s = value(&zoned(&profile), FindingCode::AccessTime);
    let times = seconds_each(&mut open_zoned(profile, 5), 1.0, 1, 40_000);
    let mean = times.iter().sum::<f64>() / times.len() as f64;
    let variance = times.iter().map(|time| (time - mean).powi(2)).sum::<f64>() / times.len() as f64;
    let error = (mean - access_s).abs() / (variance / times.len() as f64).sqrt();
    assert!(error < 5.0, "{mean} against {access_s}: {error} standard errors");
}
