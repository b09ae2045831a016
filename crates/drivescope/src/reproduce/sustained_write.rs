//! Article D: random writes of 128 KiB without a pause, on an SMR disk and on an SSD, and the three remedies: use less of the
//! drive, leave idle time, write sequentially.

use super::article::{Article, Reproduction};
use super::figure::{Published, Table, Unit, highest};
use super::picture::COLUMNS;
use super::published::{Figures, SUSTAINED_WRITE};
use super::shelf::Shelf;
use crate::error::UserError;
use crate::virtual_run::{PhaseResult, VirtualRun};
use model::plan::StopCondition;
use model::range::ByteRange;
use model::units::{Bytes, Nanos};
use model::workload::{OperationMix, Pattern, Workload};
use report::chart::{Axis, Chart, Layer, Series, Stretch, chart_of_series, reduced_line};

const SMR_DISK: &str = "smr-2tb";
const SSD: &str = "sata-tlc-500gb";
const SMALL_SSD: &str = "x25-m";
const BLOCK: Bytes = Bytes::from_kib(128);
/// The article reads its figures from a chart.
const TOLERANCE: f64 = 0.05;
/// The article gives the rate after the cliff to one digit, as a maximum.
const AFTER_TOLERANCE: f64 = 0.15;
/// As 40 GB of 120 GB.
const CLIPPED_SHARE: f64 = 1.0 / 3.0;
/// Random writes until steady state, as a multiple of the range in use.
const STEADY_AFTER: f64 = 1.5;

pub(super) struct Trial {
    drive: &'static str,
    word: &'static str,
    title: &'static str,
    /// Far past the cliff. For the disk once round all bands, since inner bands take longer to clean.
    bytes: Bytes,
    slice: Nanos,
    idle: Nanos,
    after_idle: Bytes,
}

pub(super) const SMR_TRIAL: Trial = Trial {
    drive: SMR_DISK,
    word: "smr",
    title: "SMR disk of 2 TB",
    bytes: Bytes::new(62_700_000_000),
    slice: Nanos::from_secs(20),
    idle: Nanos::from_secs(3600),
    after_idle: Bytes::new(5_000_000_000),
};
pub(super) const SSD_TRIAL: Trial = Trial {
    drive: SSD,
    word: "ssd",
    title: "SSD of 500 GB",
    bytes: Bytes::new(20_000_000_000),
    slice: Nanos::from_millis(400),
    idle: Nanos::from_secs(120),
    after_idle: Bytes::new(12_000_000_000),
};
const WITHIN_CACHE: Bytes = Bytes::new(10_000_000_000);

pub(super) struct Cliff {
    before: f64,
    after: f64,
    bytes: f64,
    rates: Vec<(f64, f64)>,
}

pub fn reproduce(shelf: &Shelf) -> Result<Reproduction, UserError> {
    let (smr, smr_cliff, smr_drive) = cliff_of(shelf, &SMR_TRIAL)?;
    let (ssd, ssd_cliff, ssd_drive) = cliff_of(shelf, &SSD_TRIAL)?;
    let tables = vec![smr, ssd, smr_remedies(shelf, smr_drive, &smr_cliff)?, ssd_remedies(shelf, ssd_drive)?];
    Ok(Reproduction {
        article: Article::D,
        title: "Do SMR disks and SSDs behave alike?",
        setting: format!(
            "sim:{SMR_DISK} models a drive-managed SMR disk of 2 TB with a media cache of 23 GB. sim:{SSD} models a SATA TLC \
             SSD with an SLC cache of 7 GB. Both get random writes of 128 KiB over their whole capacity, at QD 1, without \
             idle time. The time to clean a band is not published. The profile is calibrated to 0.6 MB/s over one round of \
             all bands, so that figure is not a prediction. The article divides throughput by 128,000 bytes instead of \
             131,072, so its writes per second are 2 % high."
        ),
        tables,
        pictures: vec![
            picture("d-smr", &SMR_TRIAL, &smr_cliff, "SMR disk of 2 TB"),
            picture("d-ssd", &SSD_TRIAL, &ssd_cliff, "SATA SSD of 500 GB"),
        ],
        conclusion: conclusion(&smr_cliff, &ssd_cliff),
    })
}

pub(super) fn cliff_of(shelf: &Shelf, trial: &Trial) -> Result<(Table, Cliff, VirtualRun), UserError> {
    let published = Figures::read(SUSTAINED_WRITE);
    let mut drive = shelf.run(trial.drive)?;
    let whole = ByteRange::whole(drive.capacity());
    let cliff =
        find_cliff(&write(&mut drive, whole, Pattern::RandomWithReplacement, trial.bytes, trial.slice)?);
    let before = published.number_of(trial.word, "before_mbps") * 1e6;
    let after = published.number_of(trial.word, "after_mbps") * 1e6;
    let bytes = published.number_of(trial.word, "bytes_before_fall_gb") * 1e9;
    let writes_before = (published.number_of(trial.word, "before_per_s"), cliff.before / BLOCK.as_f64());
    let writes_after = (published.number_of(trial.word, "after_per_s"), cliff.after / BLOCK.as_f64());
    let shares = (after / before, cliff.after / cliff.before);
    let mut table = Table::new(trial.title, "");
    table.compare("before the cliff", Unit::Rate, (before, cliff.before), TOLERANCE);
    table.compare("before the cliff", Unit::PerSecond, writes_before, TOLERANCE);
    table.compare("written before the cliff", Unit::Bytes, (bytes, cliff.bytes), TOLERANCE);
    table.compare("after the cliff", Unit::Rate, (after, cliff.after), AFTER_TOLERANCE);
    table.compare("after the cliff", Unit::PerSecond, writes_after, AFTER_TOLERANCE);
    table.compare("after the cliff to before it", Unit::Share, shares, AFTER_TOLERANCE);
    Ok((table, cliff, drive))
}

/// The article says that each of the three keeps the rate; it gives no figures.
fn smr_remedies(shelf: &Shelf, mut worn: VirtualRun, cliff: &Cliff) -> Result<Table, UserError> {
    let trial = &SMR_TRIAL;
    let whole = ByteRange::whole(worn.capacity());
    let random = Pattern::RandomWithReplacement;
    let mut fresh = shelf.run(trial.drive)?;
    let confined =
        write(&mut fresh, ByteRange::whole(WITHIN_CACHE), random.clone(), trial.bytes, trial.slice)?;
    worn.idle(trial.idle)?;
    let rested = find_cliff(&write(&mut worn, whole, random, trial.after_idle, trial.slice)?);
    let mut fresh = shelf.run(trial.drive)?;
    let streamed = write(&mut fresh, whole, Pattern::Sequential, trial.bytes, trial.slice)?;
    let regained = rested.bytes / trial.idle.seconds();
    let least = Published::AtLeast(cliff.before * 0.9);
    let method = "Write within a smaller range, leave idle time, or write sequentially. The article states no figures, only that each \
         sustains throughput. Required here: at least 90 % of throughput before the cliff.";
    let mut table = Table::new("Three remedies, SMR disk", method);
    table.bound("random within 10 GB, past 23 GB written", Unit::Rate, least, last_third(&confined));
    table.show("written before the cliff, after 1 h idle", Unit::Bytes, rested.bytes);
    table.show("media cache recovered per idle second", Unit::Rate, regained);
    table.bound("sequential, past 23 GB written", Unit::Rate, least, last_third(&streamed));
    Ok(table)
}

fn ssd_remedies(shelf: &Shelf, mut worn: VirtualRun) -> Result<Table, UserError> {
    let trial = &SSD_TRIAL;
    let whole = ByteRange::whole(worn.capacity());
    worn.idle(trial.idle)?;
    let rested =
        find_cliff(&write(&mut worn, whole, Pattern::RandomWithReplacement, trial.after_idle, trial.slice)?);
    let (full, streamed) = steady_rate(shelf, 1.0)?;
    let (clipped, _) = steady_rate(shelf, CLIPPED_SHARE)?;
    let method = format!(
        "Idle time is tested on the same SSD. Over-provisioning and sequential writes are tested on sim:{SMALL_SSD} in steady \
         state: filled, then random writes of 1.5 × the range in use. The article states no figures. Required here: at least \
         1.5 × the throughput."
    );
    let mut table = Table::new("Three remedies, SSD", method);
    table.show("500 GB, written before the cliff, after 2 min idle", Unit::Bytes, rested.bytes);
    table.show("80 GB in use, random, steady state", Unit::Rate, full);
    table.show("27 GB of 80 GB in use, random, steady state", Unit::Rate, clipped);
    table.bound("27 GB in use to 80 GB", Unit::Ratio, Published::AtLeast(1.5), clipped / full);
    table.show("80 GB in use, then sequential", Unit::Rate, streamed);
    table.bound("sequential to random", Unit::Ratio, Published::AtLeast(1.5), streamed / full);
    Ok(table)
}

/// Steady state of random writes with that share of the small SSD in use, and of the second sequential pass: the first cleans up.
fn steady_rate(shelf: &Shelf, share: f64) -> Result<(f64, f64), UserError> {
    let mut drive = shelf.run(SMALL_SSD)?;
    let used = Bytes::new((drive.capacity().as_f64() * share) as u64).round_down_to(BLOCK);
    let range = ByteRange::whole(used);
    let slice = Nanos::from_secs(1);
    let fill = Workload::new(range, Pattern::Sequential, OperationMix::Write, Bytes::from_mib(1), 1);
    drive.measure(fill, StopCondition::one_pass(), slice)?;
    let random = Bytes::new((used.as_f64() * STEADY_AFTER) as u64);
    let random = write(&mut drive, range, Pattern::RandomWithReplacement, random, slice)?;
    write(&mut drive, range, Pattern::Sequential, used, slice)?;
    let streamed = write(&mut drive, range, Pattern::Sequential, used, slice)?;
    Ok((last_third(&random), streamed.rate()))
}

fn write(
    drive: &mut VirtualRun,
    range: ByteRange,
    pattern: Pattern,
    bytes: Bytes,
    slice: Nanos,
) -> Result<PhaseResult, UserError> {
    let workload = Workload::new(range, pattern, OperationMix::Write, BLOCK, 1);
    let stop = StopCondition { bytes: Some(bytes), ..StopCondition::default() };
    drive.measure(workload, stop, slice)
}

fn last_third(phase: &PhaseResult) -> f64 {
    phase.rate_between(phase.seconds * 2.0 / 3.0, phase.seconds)
}

/// Before is the second tenth of what was written, since the first also fills buffers; the cliff is in the first slice that
/// is nearer to the last third of the time; after is everything behind it.
fn find_cliff(phase: &PhaseResult) -> Cliff {
    let tenth = phase.bytes / 10;
    let before = tenth as f64 / (phase.seconds_to(2 * tenth) - phase.seconds_to(tenth));
    let mut after = last_third(phase);
    let mut bytes = 0;
    for slice in &phase.slices {
        if slice.rate() < (before + after) / 2.0 {
            after = phase.rate_between(slice.start_s + slice.seconds, phase.seconds);
            break;
        }
        bytes += slice.bytes;
    }
    Cliff { before, after, bytes: bytes as f64, rates: phase.rates_by_bytes() }
}

fn picture(name: &'static str, trial: &Trial, cliff: &Cliff, subject: &str) -> Chart {
    let published = Figures::read(SUSTAINED_WRITE);
    let cliff_bytes = published.number_of(trial.word, "bytes_before_fall_gb") * 1e9;
    let end = trial.bytes.as_f64();
    let mut levels = Vec::new();
    for (first, end, column) in [(0.0, cliff_bytes, "before_mbps"), (cliff_bytes, end, "after_mbps")] {
        levels.push(Stretch { first, end, value: published.number_of(trial.word, column) * 1e6 });
    }
    let series = vec![
        Series::new("reproduced", reduced_line(cliff.rates.iter().copied(), end, COLUMNS)),
        Series::new("published", vec![Layer::Levels(levels)]),
    ];
    let highest = highest(cliff.rates.iter().map(|point| point.1));
    let axes = (Axis::of_amounts("Random writes", end), Axis::of_rates("Throughput", highest));
    let chart = chart_of_series(name, ("Random write throughput by bytes written", subject), axes, series);
    Chart { level_name: "published level", ..chart }
}

fn conclusion(smr: &Cliff, ssd: &Cliff) -> String {
    format!(
        "Both drives have a write cliff for the same reason: writes go to a cache first, and when it is full its cleaning \
         competes with the host. The SMR disk drops from {} to {}: each random write rewrites a band of 30 MB. The SSD drops \
         from {} to {}, the throughput of its TLC cells. Data sheets do not state the cliff. Measure it over the whole drive: \
         random writes within the media cache show none. All three remedies work. For hours of random writes, use an SSD or \
         a CMR disk.",
        Unit::Rate.text(smr.before),
        Unit::Rate.text(smr.after),
        Unit::Rate.text(ssd.before),
        Unit::Rate.text(ssd.after),
    )
}
