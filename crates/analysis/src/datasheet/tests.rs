//! The table itself is tested here as much as its reader: a wrong row would speak ill of somebody's drive.

use super::table::{HEADER, Problem, TableError, parse};
use super::*;
use proptest::prelude::*;

/// The speeds at which the drives of the table can turn by their makers' words.
const TURNS_PER_MINUTE: [u32; 8] = [5400, 5425, 5640, 5700, 5900, 7200, 10_000, 15_000];

fn found(model: &str) -> &'static Datasheet {
    find(model).unwrap_or_else(|| panic!("no row for {model:?}"))
}

fn text_of(row: &str) -> &'static str {
    Box::leak(format!("{HEADER}\n{row}\n").into_boxed_str())
}

#[test]
fn every_row_of_the_table_parses() {
    let rows = parse(TABLE_TEXT).expect("the table parses");
    assert_eq!(rows.len(), TABLE_TEXT.lines().count() - 1);
    assert!(rows.len() >= 60, "{} rows", rows.len());
    assert!(rows.iter().filter(|row| row.certainty == Certainty::Read).count() * 2 > rows.len());
}

/// How much the table knows; averages are stated of few models.
#[test]
fn sixty_hard_disks_have_size_speed_and_highest_rate() {
    let with = |is_known: fn(&Datasheet) -> bool| all().iter().filter(|sheet| is_known(sheet)).count();
    let turning = with(|sheet| sheet.turns_per_minute.is_some() && sheet.rate_max_mb_per_s.is_some());
    let known = [
        ("models", all().len()),
        ("hard disks with size, speed of rotation and highest rate", turning),
        ("highest rate", with(|sheet| sheet.rate_max_mb_per_s.is_some())),
        ("average rate", with(|sheet| sheet.rate_average_mb_per_s.is_some())),
        ("average seek", with(|sheet| sheet.seek_read_average_ms.is_some())),
        ("cache", with(|sheet| sheet.cache_mb.is_some())),
        ("a source that was read", with(|sheet| sheet.certainty == Certainty::Read)),
    ];
    known.iter().for_each(|(what, count)| eprintln!("{count:>4} {what}"));
    assert!(turning >= 60, "{turning}");
    assert!(all().iter().all(|sheet| sheet.capacity_gb > 0.0 && !sheet.source.is_empty()));
}

#[test]
fn every_pattern_is_there_once_and_finds_its_own_row() {
    for sheet in all() {
        let others = all().iter().filter(|other| other.matcher == sheet.matcher).count();
        assert_eq!(others, 1, "{}", sheet.model_pattern);
        for filling in ["", "-1AB162"] {
            let before_the_end = sheet.model_pattern.ends_with('*');
            let filling = if before_the_end { filling } else { " " };
            let model = sheet.model_pattern.replace('*', filling);
            assert_eq!(found(&model).model_pattern, sheet.model_pattern, "{model}");
        }
    }
}

#[test]
fn no_pattern_is_so_short_that_it_could_fit_by_chance() {
    for sheet in all() {
        assert!(sheet.matcher.specificity() >= 7, "{}", sheet.model_pattern);
        assert!(sheet.model_pattern.chars().any(|character| character.is_ascii_digit()));
    }
}

#[test]
fn every_figure_is_one_that_a_drive_can_have() {
    for sheet in all() {
        let what = sheet.model_pattern;
        assert!((1.0..=100_000.0).contains(&sheet.capacity_gb), "{what}");
        let rates = [sheet.rate_max_mb_per_s, sheet.rate_average_mb_per_s, sheet.write_rate_max_mb_per_s];
        for rate in rates.into_iter().flatten() {
            let fastest = if sheet.kind == Kind::HardDisk { 600.0 } else { 50_000.0 };
            assert!((1.0..=fastest).contains(&rate), "{what}: {rate} MB/s");
        }
        if let (Some(average), Some(max)) = (sheet.rate_average_mb_per_s, sheet.rate_max_mb_per_s) {
            assert!(average < max, "{what}: average {average}, highest {max} MB/s");
        }
        if let Some(seek) = sheet.seek_read_average_ms {
            assert!((2.0..=20.0).contains(&seek), "{what}: {seek} ms");
        }
        if let Some(track) = sheet.seek_track_to_track_ms {
            assert!((0.1..=2.5).contains(&track), "{what}: {track} ms");
        }
        if let Some(cache) = sheet.cache_mb {
            assert!((1..=16_384).contains(&cache), "{what}: {cache} MB");
        }
        if let Some(endurance) = sheet.endurance_tbw {
            assert!((10.0..=100_000.0).contains(&endurance), "{what}: {endurance} TB");
        }
    }
}

#[test]
fn only_disks_turn_and_only_flash_wears() {
    for sheet in all() {
        let what = sheet.model_pattern;
        match sheet.kind {
            Kind::HardDisk => {
                assert_eq!((sheet.write_rate_max_mb_per_s, sheet.endurance_tbw), (None, None), "{what}");
                assert!(
                    sheet.turns_per_minute.is_none_or(|turns| TURNS_PER_MINUTE.contains(&turns)),
                    "{what}"
                );
            }
            Kind::SolidState => {
                assert_eq!((sheet.turns_per_minute, sheet.seek_read_average_ms), (None, None), "{what}");
                assert_eq!(
                    (sheet.seek_track_to_track_ms, sheet.rate_average_mb_per_s),
                    (None, None),
                    "{what}"
                );
                assert_eq!(sheet.recording, Recording::Unknown, "{what}");
            }
        }
    }
}

#[test]
fn every_row_says_something_that_can_be_measured() {
    for sheet in all() {
        let measurable = [
            sheet.rate_max_mb_per_s,
            sheet.rate_average_mb_per_s,
            sheet.seek_read_average_ms,
            sheet.cache_mb.map(f64::from),
            sheet.turns_per_minute.map(f64::from),
        ];
        assert!(measurable.iter().any(Option::is_some), "{}", sheet.model_pattern);
    }
}

#[test]
fn drives_are_found_by_the_names_they_report() {
    let cases = [
        ("ST3000DM001-1CH166", "ST3000DM001*"),
        ("ATA     ST3000DM001-1CH1", "ST3000DM001*"),
        ("st2000dm001-9yn164", "ST2000DM001*"),
        ("ST8000AS0002-1NA17Z", "ST8000AS0002*"),
        ("SEAGATE ST3450857SS", "ST3450857SS*"),
        ("SEAGATE  ST9600204SS     ", "ST9600204SS*"),
        ("WDC WD40EFRX-68WT0N0", "WDC WD40EFRX*"),
        ("WD40EFAX-68JH4N0", "WDC WD40EFAX*"),
        ("WDC_WD80EFAX-68LHPN0", "WDC WD80EFAX*"),
        ("ATA WDC WD10EZEX-00WN4A0", "WDC WD10EZEX*"),
        ("WDC  WUH721818ALE6L4", "WDC WUH721818ALE6L4*"),
        ("Hitachi HDS723030ALA640", "Hitachi HDS723030ALA640*"),
        ("APPLE HDD HTS541010A9E680", "HGST HTS541010A9E680*"),
        ("HGST    HUH721212ALE604", "HGST HUH721212ALE604*"),
        ("TOSHIBA DT01ACA300", "TOSHIBA DT01ACA300*"),
        ("TOSHIBA MG08ACA16TE", "TOSHIBA MG08ACA16TE*"),
        ("SAMSUNG HD204UI", "SAMSUNG HD204UI*"),
        ("Samsung SSD 870 QVO 1TB", "Samsung SSD 870 QVO 1TB*"),
        ("Samsung_SSD_970_EVO_Plus_1TB", "Samsung SSD 970 EVO Plus 1TB*"),
        ("Samsung SSD 970 EVO 1TB", "Samsung SSD 970 EVO 1TB*"),
        ("Samsung SSD 980 1TB", "Samsung SSD 980 1TB*"),
        ("Samsung SSD 980 PRO 1TB", "Samsung SSD 980 PRO*1TB"),
        ("Samsung SSD 980 PRO with Heatsink 2TB", "Samsung SSD 980 PRO*2TB"),
        ("WD_BLACK SN770 1TB", "WD_BLACK SN770 1TB*"),
        ("WDC WDS100T2B0C-00PXH0", "WDC WDS100T2B0C*"),
        ("CT1000MX500SSD1", "CT1000MX500SSD*"),
        ("KINGSTON SA400S37240G", "KINGSTON SA400S37240G*"),
        ("INTEL SSDSA2M160G2GC", "INTEL SSDSA2M160G2*"),
    ];
    for (model, pattern) in cases {
        assert_eq!(found(model).model_pattern, pattern, "{model:?}");
    }
}

#[test]
fn the_figures_are_those_of_the_sources() {
    let barracuda = found("ST3000DM001-1CH166");
    assert_eq!((barracuda.rate_max_mb_per_s, barracuda.rate_average_mb_per_s), (Some(210.0), Some(156.0)));
    assert_eq!((barracuda.turns_per_minute, barracuda.seek_read_average_ms), (Some(7200), Some(8.5)));
    assert_eq!((barracuda.capacity_gb, barracuda.cache_mb), (3000.0, Some(64)));
    assert_eq!((barracuda.maker, barracuda.certainty), ("Seagate", Certainty::Read));
    let archive = found("ST8000AS0002-1NA17Z");
    assert_eq!((archive.recording, archive.turns_per_minute), (Recording::Shingled, Some(5900)));
    assert_eq!((archive.rate_max_mb_per_s, archive.rate_average_mb_per_s), (Some(190.0), Some(150.0)));
    let red = found("WDC WD40EFRX-68WT0N0");
    assert_eq!((red.recording, red.certainty), (Recording::Conventional, Certainty::Recalled));
    let qvo = found("Samsung SSD 870 QVO 1TB");
    assert_eq!((qvo.kind, qvo.rate_max_mb_per_s), (Kind::SolidState, Some(560.0)));
    assert_eq!((qvo.write_rate_max_mb_per_s, qvo.endurance_tbw), (Some(530.0), Some(360.0)));
}

#[test]
fn neither_virtual_drives_nor_junk_nor_unknown_models_are_found() {
    let strangers = [
        "",
        " ",
        "*",
        "ATA",
        "WDC",
        "WDC WD",
        "ST",
        "ST3000DM00",
        "QEMU HARDDISK",
        "VBOX HARDDISK",
        "VMware Virtual S",
        "Msft Virtual Disk",
        "drivescope virtual disk",
        "Amazon Elastic Block Store",
        "Flash Disk",
        "Samsung SSD 870",
        "Samsung SSD 980 PRO",
        "SSD",
        "XST3000DM001-1CH166",
        "ST9999DM999-1AB123",
        "\u{0}\u{fffd}",
    ];
    for model in strangers {
        assert_eq!(find(model).map(|sheet| sheet.model_pattern), None, "{model:?}");
    }
}

#[test]
fn the_reader_refuses_what_is_not_a_row() {
    let good = "AB1234567*,Maker,Line,100,hdd,7200,cmr,100,,,8.5,,64,SATA,,sheet 1,read";
    assert_eq!(parse(text_of(good)).map(|rows| rows.len()), Ok(1));
    let bad = [
        (good.replace(",read", ""), Problem::FieldCount(16)),
        (good.replace("hdd", "tape"), Problem::UnknownWord("tape")),
        (good.replace("8.5", "8,5"), Problem::FieldCount(18)),
        (good.replace("7200", "7200 rpm"), Problem::NoNumber("7200 rpm")),
        (good.replace("Maker", ""), Problem::NameMissing),
        (good.replace("Maker", " Maker"), Problem::SpacesAround(" Maker")),
        (good.replace("Line", "\"Line\""), Problem::Quoted),
        (good.replace(",100,hdd", ",,hdd"), Problem::CapacityMissing),
        (good.replace("AB", "A*B"), Problem::SeveralStars),
    ];
    for (row, problem) in bad {
        assert_eq!(parse(text_of(&row)), Err(TableError { line: 2, problem }), "{row}");
    }
    assert_eq!(parse("model,maker\n"), Err(TableError { line: 1, problem: Problem::Header }));
}

proptest! {
    #[test]
    fn no_name_whatever_makes_the_lookup_fail(model in "\\PC{0,60}") {
        if let Some(sheet) = find(&model) {
            prop_assert!(sheet.matcher.matches(&normalised(&model)));
        }
    }

    #[test]
    fn spaces_and_case_do_not_matter(at in 0..all().len(), lower in any::<bool>(), spaces in 1_usize..5) {
        let sheet = &all()[at];
        let model = sheet.model_pattern.replace('*', " ").replace(' ', &" ".repeat(spaces));
        let model = if lower { model.to_lowercase() } else { model };
        let padded = format!("ATA     {model}   ");
        prop_assert_eq!(find(&padded).map(|found| found.model_pattern), Some(sheet.model_pattern));
    }

    #[test]
    fn a_normalised_name_stays_as_it_is(model in "\\PC{0,40}") {
        let once = normalised(&model);
        prop_assert_eq!(normalised(&once), once);
    }
}
