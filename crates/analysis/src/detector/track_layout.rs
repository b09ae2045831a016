//! Where the tracks of a disk lie.
//!
//! # What it finds
//! How many zones were seen, with the numbers of sectors on their tracks; by how much tracks are turned against each other (skew);
//! and how many surfaces there are at least.
//! # Why it matters
//! Sectors on a track decide how fast each part of a disk is, and surfaces that differ make the stripes that sequential rates show.
//! # How
//! Sectors side by side on a track pass at angles that are a whole number of sectors apart; a few reads give the number exactly.
//! See `geometry::track`, and `geometry::layout` for how zones come of it.
//! # Cannot tell when
//! Nothing turns; at most places no number of sectors fits the angles: the addresses do not follow tracks (several drives, a
//! drive that moves data), or the clock is too coarse for them.
//! # Known problems
//! Zones that no probe met are missing; that two were taken for one, or one for two, is no part of the interval. Surfaces of which two hold the same in one zone and not in
//! another are only counted at least. A number holds where it was counted;
//! drives that leave out single bad sectors have tracks with some fewer. Skews of a turn and more are seen without their whole turns.
//! # References
//! Henry Wong, "Hard disk geometry microbenchmarking", 2019. Gim and Won, "Extract and infer quickly", ACM TOS 6(2), 2010.
//! Rissanen, "Modeling by shortest data description", Automatica 14, 1978. Chao, "Nonparametric estimation of the number of classes
//! in a population", 1984.

use super::wording::size;
use super::{Detector, Need};
use crate::geometry::{Layout, Rotation, all_readings, counts_of, evidence_of, probe_count, range_of};
use model::finding::{Datum, Finding, FindingCode};
use model::run::RunView;

/// See the head of this file.
pub(super) struct TrackLayout;

/// The share of probes to which some number of sectors must fit; on a disk nearly all do, but for those at defects and at changes
/// of surface.
const FITTING_SHARE_MIN: f64 = 0.5;

/// A range from there on is all of the drive.
const WHOLE_SHARE_MIN: f64 = 0.99;
/// What lies so near to an edge lies at it: a zone is some hundredths of a drive.
const EDGE_SHARE: f64 = 0.05;

impl Detector for TrackLayout {
    fn codes(&self) -> &'static [FindingCode] {
        &[FindingCode::TrackLayout]
    }

    fn needs(&self) -> &'static [Need] {
        &[Need::Asked("geometry")]
    }

    fn detect(&self, run: &RunView<'_>) -> Vec<Finding> {
        let finding = found(run).unwrap_or_else(|why| Finding::unknown(FindingCode::TrackLayout, why));
        vec![finding]
    }
}

fn found(run: &RunView<'_>) -> Result<Finding, String> {
    let readings = all_readings(run)?;
    let rotation = Rotation::of(&readings)?;
    let sector = run.target.physical_block.max(run.target.logical_block).0;
    let counts = counts_of(&readings, &rotation, sector);
    let probes = probe_count(&readings);
    if probes == 0 {
        return Err("No tracks were looked at. Measure longer.".into());
    }
    if (counts.len() as f64) < FITTING_SHARE_MIN * probes as f64 {
        return Err(format!(
            "At {} of {probes} places the angles of sectors side by side fit no track: addresses do not follow tracks here.",
            probes - counts.len()
        ));
    }
    let layout = Layout::of(&counts, &rotation)
        .filter(|layout| layout.exact.0 as f64 >= FITTING_SHARE_MIN * counts.len() as f64)
        .ok_or("The moments at which reads are done scatter too much to count the sectors of a track.")?;
    let measured = range_of(run).ok_or("No single reads were made.")?;
    if (measured.bytes().0 as f64) < WHOLE_SHARE_MIN * run.target.capacity.0 as f64 {
        let (first, last) = (&layout.zones[0], &layout.zones[layout.zones.len() - 1]);
        return Err(format!(
            "Only a part of the drive was looked at, and in a part surfaces and zones are not told apart. Tracks there hold {} to {} \
             sectors of {sector} bytes.",
            first.sectors.iter().chain(&last.sectors).min().unwrap_or(&0),
            first.sectors.iter().chain(&last.sectors).max().unwrap_or(&0),
        ));
    }
    Ok(finding(run, &layout, sector))
}

/// "at the start", or where it is.
fn place(run: &RunView<'_>, at: u64, edge: u64, word: &str) -> String {
    let is_near = at.abs_diff(edge) as f64 <= EDGE_SHARE * run.target.capacity.0 as f64;
    if is_near { format!("at the {word}") } else { format!("at {}", size(at)) }
}

fn finding(run: &RunView<'_>, layout: &Layout, sector: u64) -> Finding {
    let zones = &layout.zones;
    let (first, last) = (&zones[0], &zones[zones.len() - 1]);
    let surfaces = layout.surfaces_min();
    let mut statement = format!(
        "Tracks hold {} sectors of {sector} bytes {} and {} {}, in {} zones that were seen",
        spread(&first.sectors),
        place(run, first.first_byte, 0, "start"),
        spread(&last.sectors),
        place(run, last.last_byte, run.target.capacity.0, "end"),
        zones.len()
    );
    match layout.surfaces() {
        Some(surfaces) => statement.push_str(&format!(", on {surfaces} surfaces")),
        None if surfaces > 1 => statement.push_str(&format!(", on {surfaces} surfaces or more")),
        None => {}
    }
    statement.push('.');
    let rows = zones.iter().map(|zone| {
        let sectors = zone.sectors.iter().map(|count| Datum::Integer(u64::from(*count))).collect();
        Datum::record([
            ("first_byte", Datum::Integer(zone.first_byte)),
            ("last_byte", Datum::Integer(zone.last_byte)),
            ("sectors", Datum::List(sectors)),
            ("probes", Datum::Integer(zone.probes as u64)),
        ])
    });
    let code = FindingCode::TrackLayout;
    let mut finding = Finding::number(code, layout.zone_count(), "count", statement, evidence_of(run))
        .with_data("sectors_per_track", Datum::List(rows.collect()))
        .with_data("surfaces_at_least", Datum::Integer(surfaces as u64))
        .with_data("tracks_counted", Datum::Integer(layout.exact.1 as u64))
        .with_data("tracks_exact", Datum::Integer(layout.exact.0 as u64))
        .with_data("same_skew_share", Datum::Number(layout.same_skew_share));
    if let Some(surfaces) = layout.surfaces() {
        finding = finding.with_data("surfaces", Datum::Integer(surfaces as u64));
    }
    if let Some(skew) = layout.skew_turns {
        finding = finding.with_data("skew", Datum::Number(skew.value));
    }
    finding
}

/// "470", "459 to 487".
fn spread(sectors: &[u32]) -> String {
    match (sectors.last(), sectors.first()) {
        (Some(least), Some(most)) if least < most => format!("{least} to {most}"),
        (Some(one), _) => one.to_string(),
        _ => "an unknown number of".into(),
    }
}
