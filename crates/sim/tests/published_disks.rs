//! The disks that come with the program against what was published about them. Every expected number is a literal from
//! a measurement or a data sheet, as the profile's `sources` name it; where a value of a profile is assumed, the test
//! holds it against what is usual instead.

use model::prng::Prng;
use model::request::{Operation, Request, Status, Tag};
use model::target::{TargetFacts, TargetKind};
use model::units::{Bytes, Instant};
use sim::Drive;
use sim::disk::drive::DiskDrive;
use sim::disk::profile::{Defect, DefectKind, DiskProfile};
use sim::disk::truth::DiskTruth;
use sim::fault::FaultProfile;
use sim::profile::Profile;
use sim::smr::truth::{RandomWrites, ShingledTruth};
use sim::volume::{VolumeKind, VolumeProfile};
use std::ops::Deref;

/// The profiles that are tested here: all but those of flash.
const PRESETS: &[&str] = &[
    "constant",
    "disk-4tb",
    "dt01aca300",
    "exos-x20",
    "failing-disk",
    "faulty",
    "hds723030ala640",
    "lying-stick",
    "null",
    "raid0-3x64k",
    "raid1-2",
    "sata-160gb",
    "smr-2tb",
    "st3000dm001",
    "st3250823a",
    "st8000as0002",
    "st8000dm004",
    "wd20ears",
    "wd20ears-usb2",
    "wd20ears-usb3",
    "wd3000bkhg",
    "x300-hdwe150",
    "zoned",
];

/// A profile, and what can be asked of it.
struct Preset(Profile);

impl Deref for Preset {
    type Target = Profile;

    fn deref(&self) -> &Profile {
        &self.0
    }
}

fn preset(name: &str) -> Preset {
    Preset(sim::profile::preset(name).unwrap_or_else(|error| panic!("{error}")))
}

impl Preset {
    fn capacity(&self) -> Bytes {
        self.0.capacity().expect("it says what it holds")
    }

    fn disk(&self) -> &DiskProfile {
        self.disk.as_ref().expect("it is a disk")
    }

    fn truth(&self) -> DiskTruth {
        DiskTruth::new(self.disk(), self.capacity())
    }

    fn shingled(&self) -> ShingledTruth {
        ShingledTruth::new(self.capacity(), self.disk(), self.smr.as_ref().expect("it is shingled"))
    }

    /// The time to read a stretch in order, in seconds.
    fn pass_s(&self, first_byte: u64, bytes: u64) -> f64 {
        let geometry = self.disk().geometry.build(self.capacity()).unwrap();
        let sector = geometry.sector_bytes();
        geometry.revolutions_over(first_byte / sector, bytes / sector) * self.disk().turn_s()
    }

    /// Random reads of 4 KiB over the whole disk, so many always under way: how many a second.
    fn reads_per_second(&self, depth: u32) -> f64 {
        let mut drive = DiskDrive::new(facts(self.capacity()), self.disk(), 1);
        let mut prng = Prng::new(7, 7);
        let places = self.capacity().get() / 4096;
        let mut request = |tag| Request {
            tag,
            operation: Operation::Read,
            offset_bytes: (prng.unit() * places as f64) as u64 * 4096,
            length_bytes: 4096,
        };
        const READS: u32 = 6000;
        (0..depth).for_each(|tag| drive.submit(request(Tag(tag)), Instant::START));
        let (mut now, mut done) = (Instant::START, 0);
        while done < READS {
            now = drive.next_completion_at().unwrap();
            while let Some(completion) = drive.take_completion(now) {
                assert_eq!(completion.status, Status::Done);
                done += 1;
                drive.submit(request(completion.tag), now);
            }
        }
        f64::from(done) / (now.as_f64() / 1e9)
    }
}

fn facts(capacity: Bytes) -> TargetFacts {
    TargetFacts {
        physical_block: Bytes::new(4096),
        rotational: Some(true),
        ..TargetFacts::unidentified(TargetKind::Sim, "sim:test".into(), capacity)
    }
}

/// Within so many percent of what was published.
#[track_caller]
fn assert_near(what: &str, value: f64, published: f64, percent: f64) {
    let off = (value / published - 1.0) * 100.0;
    println!("| {what} | {published} | {value:.4} | {off:+.2} % |");
    assert!(off.abs() <= percent, "{what}: {value}, published {published}, {off:+.2} %");
}

#[test]
fn every_preset_passes_its_checks_and_names_its_sources() {
    for name in PRESETS {
        let preset = preset(name);
        assert_eq!(preset.check(), Ok(()), "{name}");
        assert_eq!(preset.name, *name);
        assert!(!preset.sources.is_empty() && preset.sources.iter().all(|source| source.len() > 5), "{name}");
        assert!(preset.description.len() < 120, "{name}");
    }
}

/// What each holds: sectors of 512 bytes as the makers print them on the label.
#[test]
fn capacities_are_the_printed_ones() {
    for (name, sectors) in [
        ("wd20ears", 3_907_029_168),
        ("wd20ears-usb2", 3_907_029_168),
        ("wd20ears-usb3", 3_907_029_168),
        ("smr-2tb", 3_907_029_168),
        ("st3000dm001", 5_860_533_168),
        ("hds723030ala640", 5_860_533_168),
        ("dt01aca300", 5_860_533_168),
        ("x300-hdwe150", 9_767_541_168),
        ("st3250823a", 488_397_168),
        ("sata-160gb", 312_581_808),
        ("wd3000bkhg", 586_072_368),
        ("exos-x20", 39_063_650_304),
        ("st8000as0002", 15_628_053_168),
        ("st8000dm004", 15_628_053_168),
        ("failing-disk", 1_953_525_168),
    ] {
        assert_eq!(preset(name).capacity().get(), sectors * 512u64, "{name}");
    }
}

/// Zones add up to the capacity: what is left over is less than a cylinder in each.
#[test]
fn platters_hold_no_more_than_is_said() {
    for name in PRESETS {
        let preset = preset(name);
        let Some(disk) = &preset.disk else { continue };
        let platters = preset.capacity().get() + preset.smr.as_ref().map_or(0, |smr| smr.media_cache_bytes);
        let geometry = disk.geometry.build(Bytes::new(platters)).unwrap();
        let surplus = geometry.sectors() * geometry.sector_bytes() - platters;
        let cylinder = geometry.sectors_per_cylinder(0) * geometry.sector_bytes();
        assert!(surplus <= geometry.zones().len() as u64 * cylinder, "{name}: {surplus} bytes are left over");
    }
}

/// Rates at the edges in MB/s. Of Wong's disks they follow from sectors per track, turns and the skew between tracks
/// (211 and 94 MB/s for the DT01ACA300, …); changes of surface, which that leaves out, cost up to half a percent.
/// Others are from data sheets; a track has a whole number of sectors.
#[test]
fn edge_rates_are_the_published_ones() {
    for (name, turns_per_minute, surfaces, outer, inner) in [
        ("dt01aca300", 7219.1, 6, 211.0, 94.0),
        ("x300-hdwe150", 7199.6, 10, 231.0, 106.0),
        ("sata-160gb", 7203.0, 2, 77.0, 34.0),
        ("wd3000bkhg", 9999.6, 3, 154.0, 89.0),
        ("failing-disk", 7199.8, 4, 143.0, 72.0),
        ("disk-4tb", 7200.0, 10, 165.3, 82.7),
        ("hds723030ala640", 7200.0, 10, 157.0, 75.0),
        ("st3250823a", 7200.0, 4, 68.0, 36.0),
        ("exos-x20", 7200.0, 18, 285.0, 130.0),
    ] {
        let truth = preset(name).truth();
        let (rate_outer, rate_inner) = truth.edge_rates();
        assert_eq!(truth.surfaces(), surfaces, "{name}");
        assert_near(
            &format!("{name} turns a minute"),
            60.0 / truth.rotation_period_s(),
            turns_per_minute,
            1e-6,
        );
        assert_near(&format!("{name} outer MB/s"), rate_outer / 1e6, outer, 0.6);
        assert_near(&format!("{name} inner MB/s"), rate_inner / 1e6, inner, 0.6);
    }
}

/// Wong counted tracks, and sectors on the first and the last.
#[test]
fn tracks_are_those_that_were_counted() {
    for (name, tracks, outer, inner) in [
        ("dt01aca300", 2_075_497u64, 473, 211),
        ("x300-hdwe150", 3_279_583, 500, 229),
        ("sata-160gb", 281_786, 1452, 638),
        ("wd3000bkhg", 384_085, 1926, 1117),
        ("failing-disk", 914_873, 2673, 1350),
    ] {
        let preset = preset(name);
        let geometry = preset.disk().geometry.build(preset.capacity()).unwrap();
        assert_near(
            &format!("{name} tracks"),
            (geometry.cylinders() * geometry.surfaces()) as f64,
            tracks as f64,
            0.001,
        );
        let sectors: Vec<f64> = geometry
            .zones()
            .map(|(_, zone)| {
                f64::from(zone.sectors_per_track.iter().sum::<u32>()) / geometry.surfaces() as f64
            })
            .collect();
        assert!((sectors[0] - f64::from(outer)).abs() <= 0.5, "{name}: {}", sectors[0]);
        assert!((sectors[sectors.len() - 1] - f64::from(inner)).abs() <= 0.5, "{name}");
    }
}

/// The full pass and the areas of article C. The sums are held to 0.5 %; areas to 2 %, since the area at 2743 GiB was
/// read 1.6 % slower than the pass went over the same place.
#[test]
fn st3000dm001_takes_as_long_as_dd_did() {
    let preset = preset("st3000dm001");
    for (bytes, seconds) in [
        (125_627_793_408, 603.364),
        (253_403_070_464, 1201.76),
        (381_178_347_520, 1803.86),
        (2_882_996_797_440, 16_809.3),
        (2_947_421_306_880, 17_406.1),
        (3_000_592_982_016, 17_922.9),
    ] {
        assert_near(&format!("st3000dm001 first {bytes} bytes, s"), preset.pass_s(0, bytes), seconds, 0.5);
    }
    assert_near("st3000dm001 full pass, s", preset.truth().full_pass_s(), 17_922.9, 0.5);
    for (gib, seconds) in [(0u64, 263.65), (50, 251.751), (2692, 497.485), (2743, 530.178)] {
        let area_s = preset.pass_s(gib << 30, 50 << 30);
        assert_near(&format!("st3000dm001 area at {gib} GiB, s"), area_s, seconds, 2.0);
    }
    let (second, first) = (preset.pass_s(50 << 30, 50 << 30), preset.pass_s(0, 50 << 30));
    assert!(second < 0.97 * first, "the first 50 GiB are slower than the second");
}

/// Block reads of bonnie++ in article A in KiB/s, each of a file of 48312 MiB at the start of a quarter. The disk itself
/// is 1.5 % faster than it is through ext4.
#[test]
fn wd20ears_reads_its_quarters_as_bonnie_did() {
    let preset = preset("wd20ears");
    let file = 48_312u64 << 20;
    let rates: Vec<f64> = (0..4u64)
        .map(|quarter| file as f64 / preset.pass_s(quarter * 500_000_000_000 / 4096 * 4096, file))
        .collect();
    for (quarter, kib) in [145_385.0, 133_009.0, 117_383.0, 96_856.0].into_iter().enumerate() {
        assert_near(
            &format!("wd20ears quarter {} MB/s", quarter + 1),
            rates[quarter] / 1e6,
            kib * 1.015 * 1024.0 / 1e6,
            0.5,
        );
    }
    assert_near("wd20ears first quarter over last", rates[0] / rates[3], 1.50, 1.0);
    assert_near("wd20ears turns a minute", 60.0 / preset.truth().rotation_period_s(), 5400.0, 1e-6);
}

/// By USB the same disk gives 33386 KiB/s outside and 33376 inside, and takes 20599 KiB/s.
#[test]
fn usb_hides_where_on_the_disk_it_reads() {
    let usb = preset("wd20ears-usb2");
    assert_eq!(usb.disk(), preset("wd20ears").disk());
    assert_eq!(preset("wd20ears-usb3").disk(), preset("wd20ears").disk());
    let numbers = usb.link.as_ref().unwrap().numbers().unwrap();
    let read = numbers.bytes_per_second(Operation::Read, 120 << 10, 1);
    assert_near("wd20ears-usb2 read KiB/s", read / 1024.0, 33_386.0, 1.0);
    let write = numbers.bytes_per_second(Operation::Write, 120 << 10, 1);
    assert_near("wd20ears-usb2 write KiB/s", write / 1024.0, 20_599.0, 2.0);
    assert!(read < 0.6 * usb.truth().edge_rates().1);
}

/// Milliseconds of data sheets and of Wong's longest seeks. The mean over all pairs of cylinders is what makers state.
#[test]
fn seeks_are_the_published_ones() {
    for (name, average, full_stroke) in [
        ("dt01aca300", None, Some(20.9)),
        ("x300-hdwe150", None, Some(14.6)),
        ("sata-160gb", None, Some(24.1)),
        ("wd3000bkhg", None, Some(8.1)),
        ("failing-disk", None, Some(15.2)),
        ("disk-4tb", Some(7.93), Some(15.7)),
        ("st3000dm001", Some(8.5), None),
        ("st3250823a", Some(8.0), None),
        ("st8000as0002", Some(12.0), None),
    ] {
        let truth = preset(name).truth();
        if let Some(average) = average {
            assert_near(&format!("{name} average seek ms"), truth.seek_average_s(0) * 1e3, average, 1.0);
        }
        if let Some(full_stroke) = full_stroke {
            assert_near(
                &format!("{name} longest seek ms"),
                truth.seek_full_stroke_s(0) * 1e3,
                full_stroke,
                1.0,
            );
        }
    }
    assert_near(
        "st3250823a next track ms",
        preset("st3250823a").truth().seek_track_to_track_s() * 1e3,
        0.8,
        0.1,
    );
}

/// What was measured on other disks holds for all: the skew leaves 74 to 94 % of a platter's rate, covers the seek to
/// the next track, and a random place takes 3 ms to 18 ms.
#[test]
fn mechanisms_are_within_what_is_usual() {
    for name in PRESETS {
        let preset = preset(name);
        let Some(disk) = &preset.disk else { continue };
        let truth = preset.truth();
        let efficiency = 1.0 / (1.0 + truth.track_skew_turns());
        assert!((0.74..0.945).contains(&efficiency), "{name}: {efficiency}");
        if *name != "disk-4tb" {
            let skew_s = truth.track_skew_turns() * disk.turn_s();
            assert!(truth.seek_track_to_track_s() <= 1.01 * skew_s, "{name}: {skew_s}");
        }
        let share = truth.seek_average_s(0) / truth.seek_full_stroke_s(0);
        assert!((0.42..0.57).contains(&share), "{name}: {share}");
        let access_ms = truth.access_s(4096) * 1e3;
        println!("| {name} access ms | | {access_ms:.2} | |");
        assert!((6.0..19.0).contains(&access_ms), "{name}: {access_ms}");
    }
}

/// Desktop disks are 1.75 to 2.3 times faster outside than inside (Wong: 1.97 to 2.28), those of 10,000 rpm 1.7 times.
#[test]
fn outer_tracks_hold_as_much_more_as_is_usual() {
    for name in PRESETS {
        let preset = preset(name);
        if preset.disk.is_none() {
            continue;
        }
        let zones = preset.truth().zones();
        let fastest = zones.iter().map(|zone| zone.bytes_per_second).fold(0.0, f64::max);
        let ratio = fastest / zones[zones.len() - 1].bytes_per_second;
        println!("| {name} outer over inner | | {ratio:.3} | |");
        let usual = match *name {
            "wd3000bkhg" => 1.70..1.75,
            // 190 MB/s at most and 150 MB/s on average leave no more.
            "st8000as0002" => 1.74..1.78,
            _ => 1.85..2.30,
        };
        assert!(usual.contains(&ratio), "{name}: {ratio}");
    }
}

/// Tracks per inch that were published, in thousands, and the width of the band that all tracks then take, which fits
/// between the spindle and the edge of a platter of 95 mm: 22 to 29 mm.
#[test]
fn tracks_fit_on_the_platter() {
    for (name, thousand_tracks_per_inch) in
        [("st3000dm001", 340.0), ("dt01aca300", 313.0), ("x300-hdwe150", 313.0), ("st8000as0002", 435.0)]
    {
        let preset = preset(name);
        let geometry = preset.disk().geometry.build(preset.capacity()).unwrap();
        let band_mm = geometry.cylinders() as f64 / (thousand_tracks_per_inch * 1e3) * 25.4;
        println!("| {name} band mm | 22 to 29 | {band_mm:.1} | |");
        assert!((22.0..29.0).contains(&band_mm), "{name}: {band_mm}");
    }
}

/// From generation to generation platters of 95 mm got more tracks and more bytes on each: both grow, within a fifth,
/// in the order of what a surface holds.
#[test]
fn density_grows_from_generation_to_generation() {
    let (mut tracks_before, mut bytes_before, mut surface_before) = (0.0, 0.0, 0);
    for name in [
        "st3250823a",
        "sata-160gb",
        "failing-disk",
        "hds723030ala640",
        "disk-4tb",
        "wd20ears",
        "st3000dm001",
        "dt01aca300",
        "x300-hdwe150",
        "st8000as0002",
        "smr-2tb",
        "st8000dm004",
        "exos-x20",
    ] {
        let preset = preset(name);
        let geometry = preset.disk().geometry.build(preset.capacity()).unwrap();
        let surface = preset.capacity().get() / geometry.surfaces() / 10_000_000_000;
        let tracks = geometry.cylinders() as f64;
        let bytes =
            (geometry.sectors() * geometry.sector_bytes()) as f64 / tracks / geometry.surfaces() as f64;
        println!("| {name} | {surface}0 GB a surface | {tracks} tracks of {bytes:.0} bytes | |");
        assert!(surface >= surface_before, "{name}: {surface}");
        assert!(tracks > tracks_before / 1.2 && bytes > bytes_before / 1.2, "{name}: {tracks} {bytes}");
        (tracks_before, bytes_before, surface_before) = (tracks, bytes, surface);
    }
}

/// How many more reads a second a disk wins on its first half and its first tenth: 20 % and 55 % (Wong, on one disk), 20 %
/// and 58 % (computed for WD's model). Other disks of 7200 rpm with the shape of its curve win about as much.
#[test]
fn short_strokes_win_what_was_measured() {
    for name in [
        "disk-4tb",
        "st3000dm001",
        "hds723030ala640",
        "failing-disk",
        "x300-hdwe150",
        "exos-x20",
        "st3250823a",
    ] {
        let preset = preset(name);
        let (truth, capacity) = (preset.truth(), preset.capacity().get());
        let gain = |share: f64| {
            let span = (capacity as f64 * share) as u64;
            (truth.access_s(4096) / truth.access_within_s(0, span, 4096) - 1.0) * 100.0
        };
        let (half, tenth) = (gain(0.5), gain(0.1));
        println!("| {name} gain on half, on a tenth | 20 %, 55 % | {half:.0} %, {tenth:.0} % | |");
        assert!((15.0..30.0).contains(&half) && (50.0..75.0).contains(&tenth), "{name}: {half} {tenth}");
    }
}

/// Stripes of one surface: those of Toshiba's disks follow from the tracks that Wong counted, WD's is 201 MB, and
/// others were found to be 80 to 200 MB wide.
#[test]
fn stripes_are_as_wide_as_measured() {
    for name in PRESETS {
        let preset = preset(name);
        if preset.disk.is_none() {
            continue;
        }
        let stripes = preset.truth().stripe_bytes(0);
        let mean = stripes.iter().sum::<u64>() as f64 / stripes.len() as f64 / 1e6;
        match *name {
            "dt01aca300" => assert_near("dt01aca300 stripe MB", mean, 140.0 * 473.0 * 4096.0 / 1e6, 0.3),
            "x300-hdwe150" => assert_near("x300-hdwe150 stripe MB", mean, 315.0 * 500.0 * 4096.0 / 1e6, 0.3),
            "disk-4tb" => assert_near("disk-4tb stripe MB", mean, 201.0, 0.3),
            _ => assert!((80.0..200.0).contains(&mean), "{name}: {mean} MB"),
        }
    }
}

/// Reads a second by depth that were simulated elsewhere for WD's model with ageing 0.01, whose overhead is not stated;
/// and the Exos's 168 at a depth of 16. 10,000 rpm and 2.5 inches: 139 and 324, simulated for another seek curve.
#[test]
fn reads_by_depth_are_the_published_ones() {
    let disk = preset("disk-4tb");
    for (depth, reads) in [(1, 81.0), (4, 111.0), (8, 129.0), (16, 149.0), (32, 170.0)] {
        assert_near(&format!("disk-4tb reads/s at depth {depth}"), disk.reads_per_second(depth), reads, 7.0);
    }
    assert_near("exos-x20 reads/s at depth 16", preset("exos-x20").reads_per_second(16), 168.0, 4.0);
    let small = preset("wd3000bkhg");
    for (depth, reads) in [(1, 139.0), (32, 324.0)] {
        assert_near(
            &format!("wd3000bkhg reads/s at depth {depth}"),
            small.reads_per_second(depth),
            reads,
            10.0,
        );
    }
}

/// Article B: 141 random reads a second over 1 GB with one thread on a SATA disk of 160 GB, 7.1 ms each. The article
/// reads through a file system, which takes its part: hence 12 %.
#[test]
fn a_gigabyte_of_sata_160gb_is_read_as_often_as_measured() {
    let truth = preset("sata-160gb").truth();
    let reads = 1.0 / truth.access_within_s(80_000_000_000, 1_000_000_000, 4096);
    assert_near("sata-160gb reads/s over 1 GB", reads, 141.0, 12.0);
}

/// Article D: 15 MB/s (117 writes of 128 KiB) until 23 GB, then 0.6 MB/s, to one digit. The write cache and overwritten copies
/// come on top of 23 GB. Skylight: 0.6 to 1.6 s to clean a band of the ST8000AS0002, 25 GB, 250,000 entries.
#[test]
fn shingled_disks_fall_as_measured() {
    let smr = preset("smr-2tb");
    let truth = smr.shingled();
    let writes = RandomWrites { request_bytes: 131_072, span_bytes: smr.capacity().get() };
    assert_near("smr-2tb writes/s before the cliff", truth.rate_before_cliff(writes) / 131_072.0, 117.0, 2.0);
    assert_near("smr-2tb GB until the cliff", truth.cliff_bytes(writes).unwrap() / 1e9, 23.0, 2.0);
    let after = truth.rate_after_cliff(writes, 39.5e9).unwrap();
    assert_near("smr-2tb MB/s after the cliff", after / 1e6, 0.6, 6.0);
    assert_near("smr-2tb s to clean a band", truth.mean_clean_s(smr.capacity().get()), 0.93, 0.5);
    assert_near("smr-2tb MB/s outside", truth.sequential_bytes_per_second(0) / 1e6, 220.0, 1.0);

    let archive = preset("st8000as0002");
    let truth = archive.shingled();
    assert_near("st8000as0002 MB/s outside", truth.sequential_bytes_per_second(0) / 1e6, 190.0, 1.0);
    assert_near(
        "st8000as0002 MB/s on average",
        archive.capacity().as_f64() / truth.pass_s() / 1e6,
        150.0,
        1.5,
    );
    let bands = |byte| truth.band_bytes(byte) as f64 / 1e6;
    assert_near("st8000as0002 outer band MB", bands(0), 40.0, 0.1);
    assert_near("st8000as0002 inner band MB", bands(7_900_000_000_000), 15.0, 0.1);
    let clean_s = truth.mean_clean_s(archive.capacity().get());
    println!("| st8000as0002 s to clean a band | 0.6 to 1.6 | {clean_s:.2} | |");
    assert!((0.6..1.6).contains(&clean_s), "{clean_s}");
    let outside = preset("st8000dm004").shingled().sequential_bytes_per_second(0) / 1e6;
    assert_near("st8000dm004 MB/s outside", outside, 190.0, 1.0);
}

/// Caches as the makers state them, in MiB: what is read ahead and what is written late fit into them.
#[test]
fn caches_fit_into_the_memory_of_the_drive() {
    for (name, mib) in [
        ("wd20ears", 64),
        ("st3000dm001", 64),
        ("hds723030ala640", 64),
        ("st3250823a", 8),
        ("sata-160gb", 8),
        ("dt01aca300", 64),
        ("x300-hdwe150", 128),
        ("exos-x20", 256),
        ("wd3000bkhg", 32),
        ("failing-disk", 32),
        ("st8000as0002", 128),
        ("st8000dm004", 256),
        ("smr-2tb", 256),
    ] {
        let preset = preset(name);
        let disk = preset.disk();
        let used = disk.read_ahead.cache_bytes() + (disk.write_cache.capacity_kib << 10);
        let memory = mib << 20;
        assert!(used < memory && used * 5 >= memory * 2, "{name}: {used} of {memory}");
    }
}

#[test]
fn volumes_are_made_of_presets() {
    let stripe = preset("raid0-3x64k").volume.clone().unwrap();
    assert_eq!((stripe.kind, stripe.chunk_kib()), (VolumeKind::Stripe, 64));
    let counts = |volume: &VolumeProfile| {
        let member = &volume.members[0];
        (member.profile.clone(), member.count, preset(&member.profile).capacity())
    };
    assert_eq!(counts(&stripe), ("hds723030ala640".into(), 3, Bytes::new(3_000_592_982_016)));
    let outer = preset("hds723030ala640").truth().edge_rates().0;
    assert_near("raid0-3x64k outer MB/s", stripe.sequential_rate(&[outer; 3]) / 1e6, 471.0, 0.5);
    let mirror = preset("raid1-2").volume.clone().unwrap();
    assert_eq!(mirror.kind, VolumeKind::Mirror);
    assert_eq!(counts(&mirror), ("st3250823a".into(), 2, Bytes::new(250_059_350_016)));
}

/// Drives that are made up are as their descriptions say.
#[test]
fn made_up_drives_are_as_described() {
    let null = preset("null").constant.clone().unwrap();
    assert_eq!((null.latency_us, null.servers), (0.0, 1));
    let constant = preset("constant").constant.clone().unwrap();
    assert_eq!((constant.latency_us, constant.servers), (100.0, 8));
    let faulty = preset("faulty");
    assert_eq!(faulty.constant, Some(constant));
    let FaultProfile::Unreadable { first_byte, bytes, .. } = faulty.faults[0] else { panic!("unreadable") };
    assert_eq!((first_byte, bytes), (300_000_000_000, 16 << 20));
    let stick = preset("lying-stick");
    assert_eq!(stick.faults, [FaultProfile::LyingCapacity { real_bytes: 8_000_000_000, spared_bytes: 0 }]);
    assert_eq!(stick.capacity(), Bytes::new(128_000_000_000));

    let zoned = preset("zoned").zoned.clone().unwrap();
    assert_eq!((zoned.capacity_bytes, zoned.zones.len()), (500_000_000_000, 20));
    assert_near("zoned outer MB/s", zoned.zones[0].bytes_per_second / 1e6, 150.0, 1e-6);
    assert_near("zoned inner MB/s", zoned.zones[19].bytes_per_second / 1e6, 72.0, 1e-6);
    let seek = zoned.seek_single_s + 8.0 / 15.0 * zoned.seek_root_s + zoned.seek_linear_s / 3.0;
    assert_near("zoned average seek ms", seek * 1e3, 8.9, 0.1);
}

/// What is wrong with the failing disk: kind, place in GB, bytes.
#[test]
fn the_failing_disk_has_its_defects() {
    let preset = preset("failing-disk");
    let defects: Vec<(DefectKind, u64, u64)> = preset
        .disk()
        .defects
        .iter()
        .map(|Defect { kind, first_byte, bytes, .. }| (*kind, first_byte / 1_000_000_000, *bytes))
        .collect();
    assert_eq!(
        defects,
        [
            (DefectKind::Remapped, 100, 40_960),
            (DefectKind::Slow, 250, 8 << 20),
            (DefectKind::Remapped, 412, 4096),
            (DefectKind::Unreadable, 640, 65_536),
            (DefectKind::Slow, 640, 1 << 20),
            (DefectKind::Unreadable, 871, 4096),
        ]
    );
}
