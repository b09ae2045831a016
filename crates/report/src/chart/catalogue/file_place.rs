//! The chart of how fast a large file is in each of several folders, by where it lies on its disk: outer against inner.

use crate::chart::companions::{self, Samples};
use crate::chart::naming::{Names, top_of};
use crate::chart::{Axis, Chart, ChartedRun, Mark, Place, Point};
use crate::hostile::harmless;
use model::file_work::{DiskShare, FileLayout};
use model::finding::{FileRate, FindingCode};
use model::run::Run;
use std::collections::BTreeMap;

const FIGURES: [(FindingCode, &str); 3] = [
    (FindingCode::FileWriteRate, "write"),
    (FindingCode::FileRewriteRate, "read-modify-write"),
    (FindingCode::FileReadRate, "read"),
];
const FOLDERS_MIN: usize = 2;
/// More names than this hide the legend of what was measured.
const NAMES_MAX: usize = 4;
const NAME_COLUMNS_MAX: usize = 24;

struct Lying<'run> {
    folder: &'run str,
    disk: &'run str,
    disk_bytes: f64,
    /// The mean place of their bytes, over all rounds.
    middle: f64,
}

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
                let mut points = Vec::new();
                for lying in &folders {
                    points.extend(point(charted.run, code, lying));
                }
                if points.len() >= FOLDERS_MIN {
                    series.push(names.line(index, &format!("{what}{of_disk}"), points));
                    for lying in &folders {
                        disk_bytes = disk_bytes.max(lying.disk_bytes);
                    }
                }
            }
        }
        if series.len() > first_of_run && runs.len() == 1 && places.len() <= NAMES_MAX {
            marks.extend(marks_of(&places));
        }
    }
    let y = Axis::of_rates("Throughput", top_of(&series));
    let x = Axis { label: "Offset on the disk".into(), ..Axis::of_positions(disk_bytes, false) };
    let strips = companions::scattered(&x, companions::of_each(runs, samples));
    let chart =
        names.chart("file-rate-over-place", "File throughput by offset on the disk", (x, y), series)?;
    let mut findings = FIGURES.map(|(code, _)| code).to_vec();
    findings.push(FindingCode::FilePlaceEffect);
    Some(Chart { marks, findings, strips, ..chart })
}

fn samples(run: &Run) -> Samples {
    let mut samples = Samples::default();
    let places = places(run);
    for phase in &run.phases {
        let Some(work) = &phase.files else { continue };
        for lying in &places {
            if lying.folder == work.folder {
                samples.add(phase, (lying.middle, lying.middle));
            }
        }
    }
    samples
}

fn places(run: &Run) -> Vec<Lying<'_>> {
    let mut seen: BTreeMap<&str, Vec<&DiskShare>> = BTreeMap::new();
    for phase in &run.phases {
        if let Some(work) = &phase.files
            && let Some(Ok(FileLayout { disks, unplaced: None, .. })) = &work.layout
            && let [disk] = disks.as_slice()
            && disk.disk_bytes > 0
        {
            seen.entry(&work.folder).or_default().push(disk);
        }
    }
    let mut places = Vec::new();
    for (folder, shares) in seen {
        places.extend(lying(folder, &shares));
    }
    places.sort_by(|a, b| a.middle.total_cmp(&b.middle));
    places
}

fn lying<'run>(folder: &'run str, shares: &[&'run DiskShare]) -> Option<Lying<'run>> {
    let first = shares.first()?;
    let mut sum = 0.0;
    for share in shares {
        if share.disk != first.disk {
            return None;
        }
        sum += share.middle;
    }
    let middle = sum / shares.len() as f64;
    Some(Lying { folder, disk: &first.disk, disk_bytes: first.disk_bytes as f64, middle })
}

fn by_disk<'places, 'run>(places: &'places [Lying<'run>]) -> BTreeMap<&'run str, Vec<&'places Lying<'run>>> {
    let mut disks: BTreeMap<&str, Vec<&Lying<'_>>> = BTreeMap::new();
    for lying in places {
        disks.entry(lying.disk).or_default().push(lying);
    }
    disks
}

fn point(run: &Run, code: FindingCode, lying: &Lying<'_>) -> Option<Point> {
    for finding in &run.findings {
        if finding.code() == code
            && let Some(known) = finding.as_known::<FileRate>()
            && known.conclusion.folder == lying.folder
        {
            let rate = &known.conclusion.rate;
            return Some(Point {
                at: lying.middle,
                value: rate.value,
                interval: Some((rate.low, rate.high)),
            });
        }
    }
    None
}

/// A line at each place; their one name has the folders in the order of the lines.
fn marks_of(places: &[Lying<'_>]) -> Vec<Mark> {
    let folders: Vec<String> = places.iter().map(|lying| named(lying.folder)).collect();
    let name = format!("files of {}, left to right", folders.join(", "));
    let mut marks = Vec::new();
    for lying in places {
        marks.push(Mark::new(name.as_str(), Place::At(lying.middle)));
    }
    marks
}

fn named(text: &str) -> String {
    harmless(text, NAME_COLUMNS_MAX)
}
