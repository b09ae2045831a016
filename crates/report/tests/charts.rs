//! Charts as a reader sees them: structure of the pictures, lines of the terminal, hostile names. `CHARTS_DIR=folder` keeps the
//! pictures, to be looked at.

#[allow(dead_code, reason = "each test uses some of the runs")]
mod runs;
mod seen;

use model::finding::{Finding, LatencyClasses, Outcome, SlowKind, SlowRegion, SlowRegions, Zone, ZoneTable};
use model::plan::{Phase, PhaseKind, StopCondition, StopReason};
use model::prng::Prng;
use model::range::ByteRange;
use model::request::Operation;
use model::run::{CompletionStretch, OperationTotals, PhaseSummary, Run};
use model::units::{Bytes, Offset};
use model::workload::{OperationMix, Pattern, Workload};
use proptest::prelude::*;
use report::chart::svg::{self, Theme};
use report::chart::{Chart, ChartedRun, Layer, Place, Series, Stretch, rate_over_position, terminal};
use report::style::{Style, columns_of};
use seen::{check_picture, keep, text_boxes};
use std::collections::BTreeMap;

const ZONES: u64 = 24;

/// How fast zone `index` is, at the start of a drive of `outer` bytes per second.
fn zone_rate(index: u64, outer: f64) -> f64 {
    outer * (1.0 - 0.5 * (index as f64 / (ZONES - 1) as f64).powf(1.4))
}

/// A hard disk that was visited at `visits` random places and whose zones were found.
fn surveyed(model: &str, capacity: u64, outer: f64, visits: u64, seed: u64) -> Run {
    let mut run = runs::hard_disk();
    run.id = format!("20261121-201507-{seed:04x}");
    run.seed = seed;
    run.target.model = Some(model.into());
    run.target.serial = Some(format!("S{seed:04}"));
    run.target.capacity = Bytes::new(capacity);
    let mut prng = Prng::new(seed, 0);
    run.phases = (0..visits)
        .map(|_| {
            let at = (prng.unit() * (capacity - (16 << 20)) as f64) as u64 >> 12 << 12;
            let zone = (u128::from(at) * u128::from(ZONES) / u128::from(capacity)) as u64;
            visit(at, zone_rate(zone, outer) * (1.0 + 0.02 * prng.normal()))
        })
        .collect();
    let zone = |index| {
        let part = ByteRange::whole(Bytes::new(capacity)).part(index, ZONES);
        Zone {
            first_byte: part.first().get(),
            bytes: part.bytes().get(),
            bytes_per_second: zone_rate(index, outer),
            low: f64::NAN,
            high: f64::NAN,
            border_low_byte: part.first().get(),
            border_high_byte: part.first().get(),
            visits: 10,
        }
    };
    let zones = (0..ZONES).map(zone).collect();
    let table = ZoneTable { zones, step_missed: 0.01, noise: 0.02, stripe_spread: None };
    run.findings = vec![Finding::ZoneTable(Outcome::known(table, vec![]))];
    run
}

fn visit(first: u64, bytes_per_second: f64) -> PhaseSummary {
    let bytes = Bytes::new(16 << 20);
    let range = ByteRange::new(Offset::new(first), bytes).unwrap();
    let first_bytes = 1 << 20;
    let last_ns = 20_000_000 + ((bytes.get() - first_bytes) as f64 / bytes_per_second * 1e9) as u64;
    PhaseSummary {
        duration_ns: last_ns,
        stopped: Some(StopReason::Passes),
        totals: vec![OperationTotals {
            operation: Operation::Read,
            operations: 16,
            bytes: bytes.get(),
            errors: 0,
            histogram: model::histogram::LatencyHistogram::small(),
            stretch: Some(CompletionStretch {
                first_ns: 20_000_000,
                last_ns,
                first_bytes,
                second: None,
                drained: None,
            }),
        }],
        ..PhaseSummary::begun(
            Phase {
                name: "visit".into(),
                experiment: "surface".into(),
                kind: PhaseKind::Measure,
                workload: Some(Workload::new(
                    range,
                    Pattern::Sequential,
                    OperationMix::Read,
                    Bytes::from_mib(1),
                    4,
                )),
                stop: StopCondition::one_pass(),
            },
            0,
        )
    }
}

/// With everything that a run can point at.
fn troubled() -> Run {
    let mut run = surveyed("WDC WD30EZRX-00D8PB0", 3_000_592_982_016, 150e6, 400, 5);
    let region = |first_byte: u64, bytes: u64| SlowRegion {
        first_byte,
        bytes,
        within_first_byte: first_byte,
        within_end_byte: first_byte + bytes,
        times_slower: 5.0,
        kind: SlowKind::Slow,
        longest_s: 0.05,
        visits: 4,
    };
    let regions = vec![region(1_200_000_000_000, 60_000_000_000), region(2_400_000_000_000, 67_108_864)];
    let slow = SlowRegions {
        count: 2,
        regions,
        would_have_been_met: vec![],
        share_max: None,
        disturbed_visits: 0,
        not_settled: 0,
        latency_classes: LatencyClasses {
            below_10_ms: 0,
            to_50_ms: 0,
            to_200_ms: 0,
            to_500_ms: 0,
            from_500_ms: 0,
        },
    };
    run.findings.push(Finding::SlowRegions(Outcome::known(slow, vec![])));
    run.findings.push(runs::findings::interface_limit(152e6, "unknown"));
    run
}

fn chart_of(runs: &[&Run]) -> Chart {
    let charted: Vec<ChartedRun<'_>> =
        runs.iter().map(|run| ChartedRun { run, series: None, letter: None }).collect();
    rate_over_position(&charted, &[Operation::Read, Operation::Write]).expect("there is something to draw")
}

fn four_drives() -> [Run; 4] {
    [
        surveyed("ST3000DM001-1CH166", 3_000_592_982_016, 211e6, 300, 1),
        surveyed("WDC WD20EARS-00MVWB0", 2_000_398_934_016, 112e6, 300, 2),
        surveyed("TOSHIBA HDWE150", 5_000_981_078_016, 213e6, 300, 3),
        surveyed("ST3000DM001-1CH166", 3_000_592_982_016, 204e6, 300, 4),
    ]
}

#[test]
fn pictures_are_well_formed_and_nothing_overlaps() {
    let four = four_drives();
    let [one, ..] = &four;
    let all: Vec<&Run> = four.iter().collect();
    let mut charts = BTreeMap::new();
    charts.insert("areas", chart_of(&[&runs::hard_disk()]));
    charts.insert("survey", chart_of(&[one]));
    charts.insert("two", chart_of(&all[..2]));
    charts.insert("four", chart_of(&all));
    charts.insert("file", chart_of(&[&runs::scratch_file()]));
    let plan = [0.3e12, 1.0e12, 2.0e12];
    charts.insert("troubled", chart_of(&[&troubled()]).with_borders("end of a partition", plan));
    let many: Vec<Run> = (0..12)
        .map(|seed| surveyed("WDC WD40EFRX-68N32N0", 4_000_787_030_016, 130e6 + 9e6 * seed as f64, 60, seed))
        .collect();
    charts.insert("twelve", chart_of(&many.iter().collect::<Vec<_>>()));
    for (name, chart) in &charts {
        keep(name, chart);
        check_picture(name, chart);
    }
}

#[test]
fn a_drive_is_told_from_another_of_its_model() {
    let four = four_drives();
    let chart = chart_of(&four.iter().collect::<Vec<_>>());
    let names: Vec<&str> = chart.series.iter().map(|series| series.name.as_str()).collect();
    assert_eq!(
        names,
        ["ST3000DM001-1CH166, S0001", "WDC WD20EARS-00MVWB0", "TOSHIBA HDWE150", "ST3000DM001-1CH166, S0004"]
    );
    assert_eq!((chart.subject.as_str(), chart.title.as_str()), ("4 runs", "Read throughput by LBA"));
}

#[test]
fn what_findings_point_at_is_marked() {
    let chart = chart_of(&[&troubled()]);
    let marks: Vec<(&str, Place)> = chart.marks.iter().map(|mark| (mark.name.as_str(), mark.place)).collect();
    assert_eq!(
        marks,
        [
            ("slow region", Place::Over { first: 1.2e12, end: 1.26e12 }),
            ("slow region", Place::Over { first: 2.4e12, end: 2_400_067_108_864.0 }),
            ("link limit", Place::Value(152e6)),
        ]
    );
    let svg = svg::document(&chart, Theme::Light);
    assert_eq!(svg.matches(r#"class="region""#).count(), 2);
    assert_eq!(svg.matches(r#"class="mark""#).count(), 1);
    assert!(svg.contains("link limit, 152 MB/s"));
}

/// Of several drives each mark has the name of its drive and is drawn in the colour of its curve.
#[test]
fn a_mark_says_of_which_drive_it_is() {
    let [sound, ..] = four_drives();
    let chart = chart_of(&[&sound, &troubled()]);
    let marks: Vec<(&str, Option<usize>)> =
        chart.marks.iter().map(|mark| (mark.name.as_str(), mark.series)).collect();
    assert_eq!(
        marks,
        [
            ("WDC WD30EZRX-00D8PB0: slow region", Some(1)),
            ("WDC WD30EZRX-00D8PB0: slow region", Some(1)),
            ("WDC WD30EZRX-00D8PB0: link limit", Some(1)),
        ]
    );
    let svg = svg::document(&chart, Theme::Light);
    let document = roxmltree::Document::parse(&svg).unwrap();
    let colour = |class: &str, name: &str| {
        let node = document.descendants().find(|node| node.attribute("class") == Some(class)).unwrap();
        node.attribute(name).unwrap().to_string()
    };
    assert_eq!((colour("mark", "stroke"), colour("region", "fill")), ("#d55e00".into(), "#d55e00".into()));
}

/// The limit of a smaller drive's link ends with the drive.
#[test]
fn a_limit_ends_where_its_drive_does() {
    let [three_tb, ..] = four_drives();
    let mut small = surveyed("small", 1_500_296_491_008, 100e6, 300, 5);
    small.findings.push(runs::findings::interface_limit(100e6, "unknown"));
    let svg = svg::document(&chart_of(&[&three_tb, &small]), Theme::Light);
    let document = roxmltree::Document::parse(&svg).unwrap();
    let limit = document.descendants().find(|node| node.attribute("class") == Some("mark")).unwrap();
    let [from, to] = ["x1", "x2"].map(|end| limit.attribute(end).unwrap().parse::<f64>().unwrap());
    // The plot goes from the numbers of its axis up to 24 pixels before the right edge.
    assert!(((to - from) / (976.0 - from) - 0.5).abs() < 0.001, "{from} {to}");
}

/// In a column of a paper and in the forum's size a drive's position has three numbers or more, and so it has in a terminal.
#[test]
fn an_axis_across_has_numbers_enough() {
    for capacity in
        [3_000_592_982_016, 120_034_123_776, 1_000_204_886_016, 480_103_981_056, 16_000_900_661_248]
    {
        let chart = chart_of(&[&surveyed("disk", capacity, 211e6, 40, 1)]);
        let below = |size: svg::Size| {
            let svg = svg::sized(&chart, Theme::Light, size);
            let boxes = text_boxes(&roxmltree::Document::parse(&svg).unwrap());
            let bottom = boxes.iter().find(|(text, _)| text.starts_with("Offset")).unwrap().1.1;
            let numbers = boxes.iter().filter(|(text, (_, top, ..))| {
                text.parse::<f64>().is_ok() && (bottom - 30.0..bottom).contains(top)
            });
            numbers.count()
        };
        assert!(below(svg::Size::Forum) >= 4 && below(svg::Size::Paper) >= 4, "{capacity}");
        for width in [40, 60, 80] {
            let lines = terminal::draw(&chart, style(width, true));
            let numbers = lines.iter().rev().find(|line| line.contains("TB") || line.contains("GB")).unwrap();
            let count = numbers.split_whitespace().filter(|word| word.parse::<f64>().is_ok()).count();
            assert!(count >= 3, "{capacity}: {numbers}");
        }
    }
}

/// A visit's rate is that of what follows its first completion: the seek before it is no part.
#[test]
fn the_rate_of_a_visit_is_without_its_seek() {
    let mut run = surveyed("disk", 1_000_000_000_000, 200e6, 5, 1);
    run.phases
        .iter_mut()
        .for_each(|phase| *phase = visit(phase.phase.workload.as_ref().unwrap().range.first().get(), 100e6));
    let chart = chart_of(&[&run]);
    let [Layer::Measured(stretches), Layer::Levels(levels)] = chart.series[0].layers.as_slice() else {
        panic!()
    };
    assert!(stretches.iter().all(|stretch| (stretch.value / 100e6 - 1.0).abs() < 1e-6));
    assert_eq!((stretches.len(), levels.len()), (5, 24));
}

/// A million measurements, one of which is a peak and one a valley.
#[test]
fn a_million_points_keep_their_peaks_and_valleys() {
    let count = 1_000_000;
    let stretches: Vec<Stretch> = (0..count)
        .map(|index| {
            let first = f64::from(index) * 3e6;
            let value = match index {
                300_000 => 10e6,
                700_000 => 235e6,
                _ => 150e6,
            };
            Stretch { first, end: first + 3e6, value }
        })
        .collect();
    let mut chart = chart_of(&[&surveyed("disk", 3_000_000_000_000, 211e6, 9, 1)]);
    chart.series = vec![Series::new("read", vec![Layer::Measured(stretches)])];
    let svg = svg::document(&chart, Theme::Light);
    assert!(svg.len() < 100_000, "{} bytes", svg.len());
    let document = roxmltree::Document::parse(&svg).unwrap();
    let envelope = document.descendants().find(|node| node.attribute("class") == Some("envelope")).unwrap();
    let columns: Vec<(f64, f64, f64)> = envelope.attribute("d").unwrap()[1..]
        .split('M')
        .map(|column| {
            let numbers: Vec<f64> = column.split([' ', 'V']).map(|number| number.parse().unwrap()).collect();
            (numbers[0], numbers[1], numbers[2])
        })
        .collect();
    let zero = text_boxes(&document)
        .iter()
        .find(|(text, _)| text == "0")
        .map(|(_, (_, top, ..))| top + 0.76 * 14.0 - 0.36 * 14.0)
        .unwrap();
    let top = text_boxes(&document)
        .iter()
        .find(|(text, _)| text == "240")
        .map(|(_, (_, top, ..))| top + 0.76 * 14.0 - 0.36 * 14.0)
        .unwrap();
    let height = |rate: f64| zero - (zero - top) * rate / 240.0;
    let lowest = columns.iter().map(|column| column.1).fold(0.0, f64::max);
    let highest = columns.iter().map(|column| column.2).fold(f64::MAX, f64::min);
    assert!((lowest - height(10.0)).abs() < 1.5, "{lowest} {}", height(10.0));
    assert!((highest - height(235.0)).abs() < 1.5, "{highest} {}", height(235.0));
    keep("million", &chart);
}

fn style(width: usize, unicode: bool) -> Style {
    Style { width, colour: false, unicode, draws: true }
}

#[test]
fn terminal_charts_stay_within_the_page() {
    let four = four_drives();
    let all: Vec<&Run> = four.iter().collect();
    for chart in [
        chart_of(&all),
        chart_of(&all[..1]),
        chart_of(&[&troubled()]).with_borders("end of a partition", [1e12]),
    ] {
        for width in [40, 60, 80, 120, 200] {
            for unicode in [true, false] {
                let lines = terminal::draw(&chart, style(width, unicode));
                for line in &lines {
                    assert!(columns_of(line) <= width.max(40), "{line:?}");
                    assert!(unicode || line.is_ascii(), "{line:?}");
                    assert_eq!(line.trim_end(), line);
                }
                if std::env::var_os("CHARTS_DIR").is_some() {
                    println!("{}\n", lines.join("\n"));
                }
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn no_name_can_act(model in any::<String>(), path in any::<String>()) {
        let mut run = surveyed("disk", 1_000_000_000_000, 200e6, 5, 1);
        run.target.model = Some(format!("</text><script>alert(1)</script>{model}"));
        run.target.path = path;
        let mut other = run.clone();
        other.target.serial = Some("\"><svg onload=x>&amp;]]>".into());
        let chart = chart_of(&[&run, &other]);
        let svg = svg::document(&chart, Theme::Light);
        let document = roxmltree::Document::parse(&svg).unwrap();
        let allowed = ["svg", "title", "desc", "rect", "line", "text", "path", "g"];
        for node in document.descendants().filter(roxmltree::Node::is_element) {
            prop_assert!(allowed.contains(&node.tag_name().name()), "{:?}", node);
            prop_assert!(node.attributes().all(|attribute| !attribute.name().starts_with("on")));
        }
        for line in terminal::draw(&chart, style(80, true)) {
            prop_assert!(!line.contains(char::is_control), "{:?}", line);
        }
    }
}

#[cfg(feature = "png")]
#[test]
fn a_png_is_a_picture_and_not_blank() {
    let svg = svg::document(&chart_of(&[&troubled()]), Theme::Light);
    let png = report::chart::png::image(&svg).unwrap();
    assert!(png.starts_with(b"\x89PNG\r\n\x1a\n"));
    // The header chunk: width and height, big-endian, after 16 bytes.
    assert_eq!(png[16..24], [0, 0, 3, 232, 0, 0, 2, 48]);
    let without_text = svg.lines().filter(|line| !line.starts_with("<text")).collect::<Vec<_>>().join("\n");
    let blank = "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"1000\" height=\"560\"/>";
    let sizes = [blank, &without_text, &svg].map(|svg| report::chart::png::image(svg).unwrap().len());
    // Each step adds what must be seen: the drawing, then the letters.
    assert!(sizes[0] + 5000 < sizes[1] && sizes[1] + 3000 < sizes[2], "{sizes:?}");
}
