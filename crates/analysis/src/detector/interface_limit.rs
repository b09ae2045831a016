//! Where a link, and not the medium, limits throughput.
//! # What it finds
//! The rate that many samples share to within some thousandths and none exceeds; and which link has it.
//! # Why it matters
//! A faster port or cable makes such a drive faster, and its zones show only where they are slower than the link.
//! # How
//! Where the medium is the limit, samples scatter by surface and by track; where the link is, they do not. The rate that most samples share at the
//! fast end is compared with the scatter of the levels that do not reach it. A disk of equal surfaces is as steady in its first zone, so that a
//! plateau counts only if it is much steadier than the rest of the drive and fits a known link. When none is known it has to fit one of the table,
//! all samples of the level have to be much steadier than those of any other, and it has to be wider than most zones; or all of a disk is flat, which
//! no medium is. For a drive without moving parts only a known link counts, and of SATA only from 0.9 of its rate on. Where smaller requests stream
//! clearly slower, a request's cost is the limit, not the link. Of imported figures, a disk whose start and end are alike to within 2 % is limited by
//! something between.
//! # Cannot tell when
//! Other load hides it.
//! # Known problems
//! A disk of equal surfaces whose outermost zones are clipped by a link looks like one with a wide outer zone: nothing is said then.
//! # References
//! Serial ATA 3.x and USB 2.0, 3.2 specifications for line rates; practical rates: see the table of links.

use super::detect::{Detector, Need};
use super::stated;
use super::zones::operation;
use crate::examined::Examined;
use crate::measured::survey_evidence;
use crate::moving_parts::turns;
use crate::stats::mean::Mean;
use crate::stats::sample::Sample;
use crate::streaming::Calibration;
use crate::surface::{SurfaceMap, interval, visits_from_to};
use model::finding::{Finding, FindingCode, InterfaceLimit, LimitReach, Outcome, SurveyUnknown};
use model::range::ByteRange;

use model::run::RunView;
use model::units::{Bytes, Offset};

/// A link by what of it data can use in practice, in MB/s.
struct KnownLink {
    name: &'static str,
    least: f64,
    most: f64,
}

/// SATA: 0.935 of the rate after 8b/10b is data at best (560 of 600 MB/s, as drives at 6 Gbit/s are sold), down to four fifths with
/// slow hosts. USB 2: at most 13 bulk packets of 512 bytes in a microframe, 10 in practice, less what commands cost; 34 MB/s in
/// article A. USB 5 Gbit/s: 440 of 500 MB/s, less by bulk-only transport. Gigabit Ethernet: 118 MB/s with frames of 1500 bytes.
const KNOWN_LINKS: [KnownLink; 7] = [
    KnownLink { name: "USB 480 Mbit/s", least: 25.0, most: 43.0 },
    KnownLink { name: "Ethernet 1 Gbit/s", least: 105.0, most: 119.0 },
    KnownLink { name: "SATA 1.5 Gbit/s", least: 120.0, most: 141.0 },
    KnownLink { name: "SATA 3.0 Gbit/s", least: 240.0, most: 282.0 },
    KnownLink { name: "USB 5 Gbit/s", least: 350.0, most: 460.0 },
    KnownLink { name: "SATA 6.0 Gbit/s", least: 500.0, most: 565.0 },
    KnownLink { name: "USB 10 Gbit/s", least: 900.0, most: 1100.0 },
];
/// What of a link's rate after coding data can use, by the name that it goes by. USB 2 carries 43 of 60 MB/s at best; a host or a bridge
/// of SATA and USB 3 can cost a fifth and more; PCIe with packets of 128 or 256 bytes.
const USABLE_SHARES: [(&str, std::ops::RangeInclusive<f64>); 4] =
    [("USB 480", 0.41..=0.72), ("SATA", 0.8..=0.945), ("USB", 0.7..=0.94), ("PCIe", 0.85..=1.0)];
const USABLE_SHARE: std::ops::RangeInclusive<f64> = 0.8..=1.0;
/// What drives without moving parts reach of a SATA link's rate where it limits them: 540 of 600 MB/s are the least that they are sold with.
/// One that is slower may have flash that is.
const SATA_SHARE_OF_FLASH: f64 = 0.9;
/// How far apart visits that share a rate may be, as a share: from a virtual drive to a busy host. The narrowest counts.
const PLATEAU_WIDTHS: [f64; 3] = [0.0015, 0.003, 0.006];
/// Visits in a plateau: at least so many, and so many times as many as in the next such step below it.
const PLATEAU_VISITS_MIN: usize = 12;
const PLATEAU_TIMES: f64 = 4.0;
/// Where the system names no link, a plateau goes over more of the range than the outermost zone of most disks has.
const WIDE_SHARE: f64 = 0.12;
/// Where the rate fits the link that the system names, less is enough: it clips the faster surfaces of the outermost zones.
const SHARE_OF_LEVELS_NAMED: f64 = 0.1;
/// From this share of all visits on the whole drive is flat.
const FLAT_SHARE: f64 = 0.95;
/// Elsewhere visits scatter so many times as much as in the plateau.
const SCATTER_TIMES: f64 = 3.0;
/// No clock shows a plateau steadier than this, as a share.
const SCATTER_MIN: f64 = 1e-3;
/// What is looked at as the fast end begins after this share of the visits: some may have met a cache.
const FASTEST_LEFT_OUT: f64 = 0.005;

pub(super) const DETECTOR: Detector =
    Detector { codes: &[FindingCode::InterfaceLimit], needs: Need::SURVEYED_OR_STATED, detect };

fn detect(run: &Examined<'_>) -> Vec<Finding> {
    if stated::is_stated(run) {
        return stated::link(run);
    }
    let outcome = match run.surface(operation(run)) {
        Err(reason) => Outcome::Unknown(reason),
        Ok(map) => match (map.other_load(), limit(run, map)) {
            (Some(load), _) => Outcome::Unknown(SurveyUnknown::OtherLoad(load)),
            (None, None) => return Vec::new(),
            (None, Some(plateau)) => {
                let evidence = survey_evidence(run, operation(run));
                Outcome::known(interface_limit(run, map, &plateau), evidence)
            }
        },
    };
    vec![Finding::InterfaceLimit(outcome)]
}

/// Whether what was measured at the fast end is what the link carries, and not what the medium could.
pub(super) fn limits(run: &RunView<'_>, map: &SurfaceMap) -> bool {
    limit(run, map).is_some()
}

fn limit(run: &RunView<'_>, map: &SurfaceMap) -> Option<Plateau> {
    let plateau = Plateau::of(map)?;
    if Calibration::of(run).is_slower_with_smaller_requests() {
        return None;
    }
    let is_limit = match turns(run) {
        Some(true) if plateau.is_flat() => true,
        Some(true) => {
            let is_named = run.target.link.is_some();
            let is_one = if is_named { plateau.is_of_named_link() } else { plateau.is_of_any_link() };
            is_one && link_of(run, plateau.rate()).is_some()
        }
        _ => plateau.is_flat() && is_rate_of_link(run, plateau.rate()),
    };
    is_limit.then_some(plateau)
}

/// Whether the link that is known explains the rate of a drive without moving parts.
fn is_rate_of_link(run: &RunView<'_>, bytes_per_second: f64) -> bool {
    let Some(link) = &run.target.link else { return false };
    let is_slower_sata = link.name.starts_with("SATA")
        && matches!(link.bytes_per_second_max, Some(most) if bytes_per_second < SATA_SHARE_OF_FLASH * most);
    !is_slower_sata && link_of(run, bytes_per_second).is_some()
}

struct Plateau {
    seconds_per_byte: Mean,
    /// The robust standard deviation of these visits, as a share.
    scatter: f64,
    share: f64,
    /// The share of the range between the first and the last visit in it.
    width: f64,
    /// Of the visits to levels that reach it, those that are in it.
    share_of_levels: f64,
    reach: Reach,
}

impl Plateau {
    fn of(map: &SurfaceMap) -> Option<Plateau> {
        PLATEAU_WIDTHS.into_iter().find_map(|width| Plateau::within(map, width))
    }

    fn within(map: &SurfaceMap, share: f64) -> Option<Plateau> {
        let mut values: Vec<f64> = map.visits.iter().map(|visit| visit.seconds_per_byte).collect();
        values.sort_by(f64::total_cmp);
        let from = (values.len() as f64 * FASTEST_LEFT_OUT).ceil() as usize;
        let fastest = *values.get(from)?;
        let end = values.partition_point(|value| *value <= fastest * (1.0 + share));
        let next = values.partition_point(|value| *value <= fastest * (1.0 + 2.0 * share));
        let is_edge = (end - from) as f64 >= PLATEAU_TIMES * (next - end) as f64;
        if end - from < PLATEAU_VISITS_MIN || !is_edge {
            return None;
        }
        let limit = fastest * (1.0 + share);
        let share = (end - from) as f64 / (values.len() - from) as f64;
        let members = Sample::new(values[from..end].to_vec())?;
        let reach = Reach::of(map, limit);
        if reach.levels.is_empty() {
            return None;
        }
        let mut inside = map.visits.iter().filter(|visit| visit.seconds_per_byte <= limit);
        let first = inside.next()?.first_byte;
        let last = inside.next_back().map_or(first, |visit| visit.first_byte);
        Some(Plateau {
            seconds_per_byte: Mean::about(members.mean(), members.values()),
            scatter: members.scaled_mad() / members.median(),
            share,
            width: (last - first) as f64 / map.range.bytes().as_f64(),
            share_of_levels: (end - from) as f64 / reach.visits as f64,
            reach,
        })
    }

    fn bytes(&self) -> u64 {
        self.reach.levels.iter().map(|level| level.bytes().get()).sum()
    }

    fn rate(&self) -> f64 {
        1.0 / self.seconds_per_byte.value
    }

    fn is_flat(&self) -> bool {
        self.share >= FLAT_SHARE
    }

    fn is_of_named_link(&self) -> bool {
        self.share_of_levels >= SHARE_OF_LEVELS_NAMED
            && is_much_more(self.reach.scatter_elsewhere, self.scatter)
    }

    /// Where only its rate tells of a link, it must be what no zone of a disk is: see [`WIDE_SHARE`] and [`Reach::steadiest`].
    fn is_of_any_link(&self) -> bool {
        self.width >= WIDE_SHARE && is_much_more(self.reach.steadiest, self.reach.scatter)
    }
}

fn is_much_more(elsewhere: Option<f64>, scatter: f64) -> bool {
    matches!(elsewhere, Some(elsewhere) if elsewhere >= SCATTER_TIMES * scatter.max(SCATTER_MIN))
}

/// Which levels reach a plateau: those of which a tenth of the visits or more does.
#[derive(Default)]
struct Reach {
    /// By how much visits to levels that do not reach it scatter; none when all do.
    scatter_elsewhere: Option<f64>,
    /// How much they do in that of the others in which they do least, between deciles; none where no other has enough. A single zone
    /// that is steady is no sign of a link: nearly all visits to it may cross as many ends of tracks alike.
    steadiest: Option<f64>,
    /// The same of all visits to the levels that reach it.
    scatter: f64,
    levels: Vec<ByteRange>,
    visits: usize,
}

impl Reach {
    fn of(map: &SurfaceMap, limit: f64) -> Reach {
        let (mut deviations, mut reaching_deviations) = (Vec::new(), Vec::new());
        let mut reach = Reach::default();
        for level in &map.levels {
            let visits = visits_from_to(&map.visits, level.first_byte, level.end_byte());
            let mean = level.seconds_per_byte.value;
            let (mut of_level, mut reaching) = (Vec::new(), 0);
            for visit in visits {
                of_level.push(visit.seconds_per_byte / mean - 1.0);
                reaching += usize::from(visit.seconds_per_byte <= limit);
            }
            if reaching * 10 >= visits.len().max(1) {
                reach.levels.extend(ByteRange::new(Offset::new(level.first_byte), Bytes::new(level.bytes)));
                reach.visits += visits.len();
                reaching_deviations.extend(of_level);
                continue;
            }
            if of_level.len() >= PLATEAU_VISITS_MIN {
                let scatter = deciles(of_level.clone());
                reach.steadiest = Some(reach.steadiest.unwrap_or(f64::INFINITY).min(scatter));
            }
            deviations.extend(of_level);
        }
        reach.scatter = deciles(reaching_deviations);
        if deviations.len() >= PLATEAU_VISITS_MIN {
            reach.scatter_elsewhere = Sample::new(deviations).as_ref().map(Sample::scaled_mad);
        }
        reach
    }
}

/// The standard deviation as the deciles tell it; none of fewer than two.
fn deciles(deviations: Vec<f64>) -> f64 {
    Sample::new(deviations).as_ref().map_or(0.0, Sample::scaled_deciles)
}

/// The link that explains a rate: the known one if it can, or one of the table when none is known.
pub(super) fn link_of(run: &RunView<'_>, bytes_per_second: f64) -> Option<String> {
    let Some(link) = &run.target.link else { return link_in_table(bytes_per_second) };
    let Some(most) = link.bytes_per_second_max else { return link_in_table(bytes_per_second) };
    let mut usable = USABLE_SHARE;
    for (start, share) in USABLE_SHARES.into_iter().rev() {
        if link.name.starts_with(start) {
            usable = share;
        }
    }
    // A link that is used up is measured above its rate as often as below.
    let usable = *usable.start()..=usable.end() * (1.0 + SCATTER_MIN);
    if usable.contains(&(bytes_per_second / most)) { Some(link.name.clone()) } else { None }
}

fn link_in_table(bytes_per_second: f64) -> Option<String> {
    let megabytes = bytes_per_second / 1e6;
    for KnownLink { name, least, most } in &KNOWN_LINKS {
        if (*least..=*most).contains(&megabytes) {
            return Some(name.to_string());
        }
    }
    None
}

fn interface_limit(run: &RunView<'_>, map: &SurfaceMap, plateau: &Plateau) -> InterfaceLimit {
    let rate = interval(&plateau.seconds_per_byte).map_monotonic(f64::recip);
    // A link that the host does not know of may lie between: a bridge in an enclosure.
    let link = link_of(run, rate.value).or(link_in_table(rate.value));
    let reach = LimitReach {
        bytes: plateau.bytes(),
        share: plateau.bytes() as f64 / map.range.bytes().as_f64(),
        places: plateau.reach.levels.clone(),
        is_everywhere: plateau.is_flat(),
    };
    InterfaceLimit { rate, link: link.unwrap_or("unknown".into()), reach: Some(reach), imported: None }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::surface::Visit;
    use model::prng::Prng;

    /// A zone: its share of the range, its rate in MB/s, the share of visits that take longer, and by what.
    type Zone = (f64, f64, f64, f64);

    fn map(zones: &[Zone]) -> SurfaceMap {
        let mut prng = Prng::new(3, 0);
        let (mut visits, mut from) = (Vec::new(), 0.0);
        for &(share, rate, longer, by) in zones {
            for _ in 0..(500.0 * share) as usize {
                let times = if prng.unit() < longer { 1.0 + by } else { 1.0 };
                visits.push(Visit {
                    phase: 0,
                    first_byte: ((from + share * prng.unit()) * 999e9) as u64,
                    bytes: 8 << 20,
                    seconds_per_byte: times * (1.0 + 2e-4 * prng.normal()) / (rate * 1e6),
                    start_ns: prng.below(1 << 40),
                    longest_ns: 0,
                });
            }
            from += share;
        }
        SurfaceMap::of_visits(ByteRange::whole(Bytes::new(1_000_000_000_000)), visits)
    }

    fn is_limited(zones: &[Zone]) -> bool {
        Plateau::of(&map(zones)).is_some_and(|plateau| plateau.is_of_any_link())
    }

    /// The outermost zone of a disk of 5900 rpm, and the outer zone of the second of two disks that follow one another: both
    /// had the rate of Ethernet by chance, and visits to them crossed as many ends of tracks.
    #[test]
    fn a_steady_zone_is_no_link() {
        let outermost = [
            (0.06, 109.4, 0.05, 0.02),
            (0.44, 104.4, 0.4, 0.02),
            (0.3, 86.5, 0.5, 0.02),
            (0.2, 54.0, 0.05, 0.02),
        ];
        assert!(!is_limited(&outermost));
        let second =
            [(0.2, 46.9, 0.1, 0.02), (0.2, 34.1, 0.0, 0.0), (0.3, 105.4, 0.3, 0.02), (0.3, 77.6, 0.5, 0.02)];
        assert!(!is_limited(&second));
    }

    /// A stripe whose samples scatter by what its members wait for each other: the fastest two dozen of 900 were alike, all over the
    /// range, and a link was told that limits 0 bytes of it.
    #[test]
    fn what_no_level_reaches_is_no_link() {
        assert!(Plateau::of(&map(&[(0.4, 260.0, 0.95, 0.4), (0.6, 376.0, 0.92, 0.5)])).is_none());
    }

    #[test]
    fn what_no_zone_is_like_is_a_link() {
        assert!(is_limited(&[(0.5, 112.0, 0.0, 0.0), (0.3, 86.5, 0.5, 0.02), (0.2, 54.0, 0.4, 0.03)]));
    }
}
