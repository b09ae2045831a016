//! The chart of how fast a large file is in each of several folders, by where it lies on its disk: outer against inner.

use super::companions::{self, Visits};
use super::data::word;
use super::naming::{Names, Sketch, lines_described, top_of};
use super::{Axis, Chart, ChartedRun, Layer, Mark, Place, Point, Series};
use crate::hostile::harmless;
use model::file_work::{DiskShare, FileLayout};
use model::finding::{Finding, FindingCode, Outcome};
use model::run::Run;
use std::collections::BTreeMap;

/// The figures of a large file, and what they are called here.
const FIGURES: [(FindingCode, &str); 3] = [
    (FindingCode::FileWriteRate, "write"),
    (FindingCode::FileRewriteRate, "read, change and write back"),
    (FindingCode::FileReadRate, "read"),
];
/// One folder is no comparison.
const FOLDERS_MIN: usize = 2;
/// More names than this hide the legend of what was measured.
const NAMES_MAX: usize = 4;
/// Columns of the name of a folder.
const NAME_COLUMNS_MAX: usize = 24;

/// Where the files of a folder lay.
struct Lying<'run> {
    folder: &'run str,
    disk: &'run str,
    disk_bytes: f64,
    /// The mean place of their bytes, over all rounds.
    middle: f64,
}

/// Rates of reading and writing a large file by its place on the disk.
pub fn file_rate_over_place(runs: &[ChartedRun<'_>]) -> Option<Chart> {
    let names = Names::of(runs);
    let (mut series, mut marks, mut disk_bytes): (_, Vec<Mark>, f64) = (Vec::new(), Vec::new(), 0.0);
    for (index, charted) in runs.iter().enumerate() {
        let places = places(charted.run);
        let first_of_run = series.len();
        for (disk, folders) in by_disk(&places) {
            let of_disk =
                if folders.len() < places.len() { format!(", {}", named(disk)) } else { String::new() };
            for (code, what) in FIGURES {
                let points: Vec<Point> =
                    folders.iter().filter_map(|lying| point(charted.run, code, lying)).collect();
                if points.len() >= FOLDERS_MIN {
                    let name = names.series(index, &format!("{what}{of_disk}"));
                    series.push(Series::new(name, vec![Layer::Line(points)]).of_run(index));
                    disk_bytes = folders.iter().map(|lying| lying.disk_bytes).fold(disk_bytes, f64::max);
                }
            }
        }
        if series.len() > first_of_run && runs.len() == 1 && places.len() <= NAMES_MAX {
            marks.extend(marks_of(&places));
        }
    }
    let y = Axis::of_rates("Rate", top_of(&series));
    let x = Axis { label: "Place on the disk".into(), ..Axis::of_positions(disk_bytes, false) };
    let strips = companions::scattered(&x, companions::of_each(runs, visits));
    let chart = names.chart(Sketch {
        name: "file-rate-over-place",
        title: "A large file by where it lies".into(),
        description: lines_described(&series, &x, &y),
        x,
        y,
        series,
        marks,
        findings: FIGURES.map(|(code, _)| code).into_iter().chain([FindingCode::FilePlaceEffect]).collect(),
    })?;
    Some(chart.with_strips(strips))
}

/// When the files of which folder were worked with, and where these lie.
fn visits(run: &Run) -> Visits {
    let places = places(run);
    Visits::of(run, |_, phase| {
        let folder = &phase.files.as_deref()?.folder;
        let lying = places.iter().find(|lying| lying.folder == folder)?;
        Some((lying.middle, lying.middle))
    })
}

/// The folders whose files lie on one known disk, from its start to its end.
fn places(run: &Run) -> Vec<Lying<'_>> {
    let mut seen: BTreeMap<&str, Vec<&DiskShare>> = BTreeMap::new();
    for work in run.phases.iter().filter_map(|phase| phase.files.as_deref()) {
        if let Some(Ok(FileLayout { disks, unplaced: None, .. })) = &work.layout
            && let [disk] = disks.as_slice()
            && disk.disk_bytes > 0
        {
            seen.entry(&work.folder).or_default().push(disk);
        }
    }
    let mut places: Vec<Lying<'_>> =
        seen.into_iter().filter_map(|(folder, shares)| lying(folder, &shares)).collect();
    places.sort_by(|a, b| a.middle.total_cmp(&b.middle));
    places
}

/// Where the files of a folder lay on the average; none when they were not all on one disk.
fn lying<'run>(folder: &'run str, shares: &[&'run DiskShare]) -> Option<Lying<'run>> {
    let first = shares.first()?;
    shares.iter().all(|share| share.disk == first.disk).then(|| Lying {
        folder,
        disk: &first.disk,
        disk_bytes: first.disk_bytes as f64,
        middle: shares.iter().map(|share| share.middle).sum::<f64>() / shares.len() as f64,
    })
}

fn by_disk<'places, 'run>(places: &'places [Lying<'run>]) -> BTreeMap<&'run str, Vec<&'places Lying<'run>>> {
    let mut disks: BTreeMap<&str, Vec<&Lying<'_>>> = BTreeMap::new();
    places.iter().for_each(|lying| disks.entry(lying.disk).or_default().push(lying));
    disks
}

fn point(run: &Run, code: FindingCode, lying: &Lying<'_>) -> Option<Point> {
    let finding = run.findings.iter().find(|finding| finding.code == code && is_of(finding, lying.folder))?;
    let estimate = finding.estimate()?;
    Some(Point { at: lying.middle, value: estimate.value, interval: Some((estimate.low, estimate.high)) })
}

fn is_of(finding: &Finding, folder: &str) -> bool {
    let Outcome::Known(conclusion) = &finding.outcome else { return false };
    word(&conclusion.data, "folder") == Some(folder)
}

/// A line at each place; their one name has the folders in the order of the lines.
fn marks_of(places: &[Lying<'_>]) -> Vec<Mark> {
    let folders: Vec<String> = places.iter().map(|lying| named(lying.folder)).collect();
    let name = format!("files of {}, from left to right", folders.join(", "));
    let mark = |lying: &Lying<'_>| Mark {
        name: name.clone(),
        series: None,
        place: Place::At(lying.middle),
        finding: None,
    };
    places.iter().map(mark).collect()
}

fn named(text: &str) -> String {
    harmless(text, NAME_COLUMNS_MAX)
}
