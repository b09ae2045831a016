//! Article E: write dips ("valleys") in sequential writes on an X25-M: their cause, where they are, and what removes them.
//!
//! The article conditioned the drive for up to 27 hours. Here half of its capacity is written, after which more changes
//! little: what matters is how much was written where, not for how long.

use super::article::{Article, Reproduction};
use super::figure::{Published, Table, Unit, highest};
use super::picture::COLUMNS;
use super::published::{Figures, VALLEYS};
use super::shelf::Shelf;
use crate::error::UserError;
use crate::virtual_run::{PhaseResult, Slice, VirtualRun};
use model::plan::StopCondition;
use model::range::ByteRange;
use model::units::{Bytes, KIB, MIB, Nanos, Offset};
use model::workload::{BlockSizes, OperationMix, Pattern, Workload};
use report::chart::{Axis, Chart, Series, Strip, chart_of_series, reduced_line};

const DRIVE: &str = "x25-m";
/// Mixed writes before a measurement, as a share of what is conditioned; a table shows that more changes little.
const MIXED_SHARE: f64 = 0.5;
/// A pass of HD Tune writes the first part of each region: 24 GB of 80 GB.
const TOUCHED_SHARE: f64 = 0.3;
const REGIONS: u64 = 80;
/// Or one request if that is larger: 14 ms at 70 MB/s.
const SLICE_BYTES: u64 = MIB;
/// A slice below this share of the median rate is in a valley.
const VALLEY_RATE_SHARE: f64 = 0.75;
/// After these passes over one half the article found its drive stable.
const PASSES: usize = 6;
const SMALL: Bytes = Bytes::from_kib(64);
const LARGE: Bytes = Bytes::from_mib(8);

#[derive(Clone, Copy, Debug)]
struct Valley {
    start_s: f64,
    width_s: f64,
}

pub(super) struct Pass {
    valleys: Vec<Valley>,
    seconds: f64,
    rate: f64,
    rates: Vec<(f64, f64)>,
}

pub fn reproduce(shelf: &Shelf) -> Result<Reproduction, UserError> {
    let published = Figures::read(VALLEYS);
    let (halves, [first, last, other]) = halves(shelf, &published)?;
    let tables = vec![
        halves,
        conditioning(shelf)?,
        filled(shelf)?,
        split(shelf)?,
        size_sweep(shelf, &published)?,
        random_access(shelf, &published)?,
    ];
    Ok(Reproduction {
        article: Article::E,
        title: "Valleys in sequential writes of an X25-M",
        setting: format!(
            "sim:{DRIVE} models an 80 GB SSD with the housekeeping observed on an X25-M. It runs in bursts, longer and more frequent \
             on fragmented regions. What the firmware does is unknown: interval and width of bursts are fitted to the article. \
             Their location, cause and cure follow from the model. Mixed writes are half random, half sequential, 4 KiB to \
             64 KiB, and amount to half the conditioned capacity. A pass writes the first 30 % of each GB, as HD Tune \
             does. A valley is at least 1 MiB written at less than 75 % of the median throughput."
        ),
        tables,
        pictures: vec![picture(&[&first, &last, &other])],
        conclusion: conclusion(&first, &last),
    })
}

fn fresh(shelf: &Shelf) -> Result<(VirtualRun, ByteRange), UserError> {
    let drive = shelf.run(DRIVE)?;
    let whole = ByteRange::whole(drive.capacity().round_down_to(LARGE));
    Ok((drive, whole))
}

fn mix(drive: &mut VirtualRun, range: ByteRange, share: f64) -> Result<(), UserError> {
    let sizes = vec![(Bytes::from_kib(4), 0.2), (Bytes::from_kib(16), 0.3), (SMALL, 0.5)];
    let workload = Workload {
        block_sizes: BlockSizes::mix(sizes).expect("the shares add up to more than zero"),
        ..Workload::new(
            range,
            Pattern::Mixed { random_share: 0.5 },
            OperationMix::Write,
            Bytes::from_kib(4),
            1,
        )
    };
    let bytes = Bytes::new((range.bytes().as_f64() * share) as u64);
    let stop = StopCondition { bytes: Some(bytes), ..StopCondition::default() };
    drive.measure(workload, stop, Nanos::from_secs(60))?;
    Ok(())
}

fn fill(drive: &mut VirtualRun, range: ByteRange, block: Bytes) -> Result<(), UserError> {
    let workload = Workload::new(range, Pattern::Sequential, OperationMix::Write, block, 1);
    drive.measure(workload, StopCondition::one_pass(), Nanos::from_secs(60))?;
    Ok(())
}

/// A pass of HD Tune's benchmark: the first part of each region, sequentially.
fn pass(drive: &mut VirtualRun, range: ByteRange, block: Bytes) -> Result<Pass, UserError> {
    let regions = (REGIONS * range.bytes().get()).div_ceil(drive.capacity().get());
    let mut offsets = Vec::new();
    for index in 0..regions {
        let region = range.part(index, regions);
        let first = region.first().get().next_multiple_of(LARGE.get());
        let bytes = Bytes::new((region.bytes().as_f64() * TOUCHED_SHARE) as u64).round_down_to(LARGE).get();
        for number in 0..bytes / block.get() {
            offsets.push(Offset::new(first + number * block.get()));
        }
    }
    let workload = Workload::new(range, Pattern::Listed { offsets }, OperationMix::Write, block, 1);
    let phase = drive.measure_by_bytes(workload, StopCondition::one_pass(), SLICE_BYTES)?;
    let rates = phase.slices.iter().map(|slice| (slice.start_s, slice.rate())).collect();
    Ok(Pass { valleys: valleys(&phase), seconds: phase.seconds, rate: phase.rate(), rates })
}

fn valleys(phase: &PhaseResult) -> Vec<Valley> {
    let mut rates: Vec<f64> = phase.slices.iter().map(Slice::rate).collect();
    rates.sort_by(f64::total_cmp);
    let limit = rates.get(rates.len() / 2).copied().unwrap_or(0.0) * VALLEY_RATE_SHARE;
    let mut valleys: Vec<Valley> = Vec::new();
    let mut inside = false;
    for slice in &phase.slices {
        let is_low = slice.rate() < limit;
        match valleys.last_mut() {
            Some(valley) if is_low && inside => valley.width_s += slice.seconds,
            _ if is_low => valleys.push(Valley { start_s: slice.start_s, width_s: slice.seconds }),
            _ => {}
        }
        inside = is_low;
    }
    valleys
}

impl Pass {
    fn count(&self) -> f64 {
        self.valleys.len() as f64
    }

    fn width_s(&self) -> f64 {
        self.valleys.iter().map(|valley| valley.width_s).sum::<f64>() / self.count().max(1.0)
    }

    fn width_s_max(&self) -> f64 {
        highest(self.valleys.iter().map(|valley| valley.width_s))
    }

    fn share(&self) -> f64 {
        self.count() * self.width_s() / self.seconds
    }
}

fn interval_s(passes: &[Pass]) -> f64 {
    let (mut starts, mut before_s) = (Vec::new(), 0.0);
    for pass in passes {
        for valley in &pass.valleys {
            starts.push(before_s + valley.start_s);
        }
        before_s += pass.seconds;
    }
    match (starts.first(), starts.last()) {
        (Some(first), Some(last)) if starts.len() > 1 => (last - first) / (starts.len() - 1) as f64,
        _ => f64::INFINITY,
    }
}

fn picture(passes: &[&Pass; 3]) -> Chart {
    let end = highest(passes.iter().map(|pass| pass.seconds));
    let y = Axis::of_rates("", highest(passes.iter().flat_map(|pass| &pass.rates).map(|point| point.1)));
    let label = "First pass after mixed writes".to_string();
    let axes = (Axis::of_duration("Time", end), Axis { label, ..y.clone() });
    let title = ("Sequential write throughput over time", "Intel X25-M, blocks of 64 KiB");
    let names = [
        format!("Pass {PASSES} over the same half"),
        "First pass over the other half, after 8 h idle".to_string(),
    ];
    let mut strips = Vec::new();
    for (name, pass) in names.into_iter().zip(&passes[1..]) {
        let (y, series) = (y.clone(), write_rate(pass, end));
        strips.push(Strip { name, y, series, marks: Vec::new(), is_equal: true });
    }
    Chart { strips, ..chart_of_series("e-valleys", title, axes, write_rate(passes[0], end)) }
}

fn write_rate(pass: &Pass, end: f64) -> Vec<Series> {
    vec![Series::new("write throughput", reduced_line(pass.rates.iter().copied(), end, COLUMNS))]
}

/// The first experiment: passes over the first half until it is stable, then over the other half.
pub(super) fn halves(shelf: &Shelf, published: &Figures) -> Result<(Table, [Pass; 3]), UserError> {
    let (mut drive, whole) = fresh(shelf)?;
    let (first, second) = (whole.part(0, 2), whole.part(1, 2));
    mix(&mut drive, whole, MIXED_SHARE)?;
    let mut passes = Vec::new();
    for _ in 0..PASSES {
        passes.push(pass(&mut drive, first, SMALL)?);
    }
    let mut last_three: Vec<Pass> = passes.drain(PASSES - 3..).collect();
    drive.idle(Nanos::from_secs(8 * 3600))?;
    let other = pass(&mut drive, second, SMALL)?;
    let method = "Passes over the first half with blocks of 64 KiB, after mixed writes over the whole drive. After 8 h idle, one pass over \
         the other half. It has as many valleys as the first half had: overwriting removes them, idle time does not.";
    let mut table = Table::new("After mixed writes", method);
    for (number, pass) in (1..).zip(passes.iter().chain(&last_three)) {
        table.show(format!("pass {number}, valleys"), Unit::Count, pass.count());
        table.show(format!("pass {number}, mean width"), Unit::Seconds, pass.width_s());
    }
    let fewer = last_three[2].count() / passes[0].count();
    let narrower = last_three[2].width_s_max() / passes[0].width_s_max();
    let less = Published::AtMost(0.5);
    table.bound("valleys, last pass to first", Unit::Ratio, less, fewer);
    table.bound("widest valley, last pass to first", Unit::Ratio, less, narrower);
    let intervals = (published.number_of("valley_interval_s", "value"), interval_s(&last_three));
    let widest = highest(last_three.iter().map(Pass::width_s_max));
    let bound = Published::AtMost(published.number_of("valley_width_max_s", "value"));
    let rates = (published.number_of("pass_mbps", "value") * 1e6, last_three[0].rate);
    table.compare("valley interval, when stable", Unit::Seconds, intervals, 0.25);
    table.bound("widest valley, when stable", Unit::Seconds, bound, widest);
    table.compare("throughput of a pass, when stable", Unit::Rate, rates, 0.25);
    table.show("other half, after 8 h idle, valleys", Unit::Count, other.count());
    table.show("other half, mean width", Unit::Seconds, other.width_s());
    let untouched = other.width_s_max() / passes[0].width_s_max();
    table.compare("widest valley, other half to first pass", Unit::Ratio, (1.0, untouched), 0.15);
    let first = passes.remove(0);
    let last = last_three.remove(last_three.len() - 1);
    Ok((table, [first, last, other]))
}

fn conditioning(shelf: &Shelf) -> Result<Table, UserError> {
    let method = "The article conditioned for 19 and 27 hours. Here, on a quarter of the drive, conditioning is enough when the widest valley of \
         the first pass stops growing.";
    let mut table = Table::new("How much conditioning is enough", method);
    let mut widths = Vec::new();
    for share in [0.125, 0.25, 0.5, 1.0] {
        let (mut drive, whole) = fresh(shelf)?;
        let quarter = whole.part(0, 4);
        mix(&mut drive, quarter, share)?;
        let width_s = pass(&mut drive, quarter, SMALL)?.width_s_max();
        let name = format!("after {:.1} GB of mixed writes", quarter.bytes().as_f64() * share / 1e9);
        table.show(name, Unit::Seconds, width_s);
        widths.push(width_s);
    }
    let ratio = widths[3] / widths[2];
    table.bound("20 GB to 10 GB", Unit::Ratio, Published::AtMost(1.15), ratio);
    Ok(table)
}

/// The fourth experiment: a fill of the whole drive with large blocks, then passes with large and smaller ones.
fn filled(shelf: &Shelf) -> Result<Table, UserError> {
    let (mut drive, whole) = fresh(shelf)?;
    mix(&mut drive, whole, MIXED_SHARE)?;
    fill(&mut drive, whole, LARGE)?;
    let cases = [
        ("8 MB blocks, third pass, valleys", LARGE, 3, Published::AtMost(1.0)),
        ("then 4 MB, sixth pass, valleys", Bytes::from_mib(4), 6, Published::AtLeast(1.0)),
        ("then 2 MB, sixth pass, valleys", Bytes::from_mib(2), 6, Published::AtLeast(1.0)),
        ("then 64 KB, third pass, valleys", SMALL, 3, Published::AtLeast(3.0)),
    ];
    let method = "After mixed writes, the whole drive is filled once with blocks of 8 MiB (twice in the article). The bounds render the \
         article's words: almost none at 8 MB, some at 4 MB, more at 2 MB, as usual at 64 KB.";
    let mut table = Table::new("A whole-drive fill removes valleys", method);
    for (name, block, passes, bound) in cases {
        for _ in 1..passes {
            pass(&mut drive, whole, block)?;
        }
        let last = pass(&mut drive, whole, block)?;
        table.bound(name, Unit::Count, bound, last.count());
        table.show("  mean width", Unit::Seconds, last.width_s());
    }
    Ok(table)
}

fn split(shelf: &Shelf) -> Result<Table, UserError> {
    let (mut drive, whole) = fresh(shelf)?;
    let (first, second) = (whole.part(0, 2), whole.part(1, 2));
    mix(&mut drive, first, MIXED_SHARE)?;
    fill(&mut drive, second, LARGE)?;
    let bad = pass(&mut drive, first, LARGE)?;
    let (mut drive, _) = fresh(shelf)?;
    mix(&mut drive, first, MIXED_SHARE)?;
    fill(&mut drive, second, LARGE)?;
    let good = pass(&mut drive, second, LARGE)?;
    let method = "The first half gets mixed writes, the second a fill with 8 MiB. Then one pass of 8 MiB over each. As in the article, both \
         halves have valleys: partitions do not isolate them.";
    let mut table = Table::new("Splitting the drive", method);
    table.bound("half with mixed writes, valleys", Unit::Count, Published::AtLeast(1.0), bad.count());
    table.bound("half filled with 8 MB, valleys", Unit::Count, Published::AtLeast(1.0), good.count());
    table.show("half filled with 8 MB, mean width", Unit::Seconds, good.width_s());
    Ok(table)
}

/// Block sizes of two seconds each, as HD Tune's File Benchmark has them, and which of them a valley affects.
fn size_sweep(shelf: &Shelf, published: &Figures) -> Result<Table, UserError> {
    const TRIALS: usize = 6;
    let (mut drive, _) = fresh(shelf)?;
    let file = ByteRange::whole(Bytes::from_mib(256));
    mix(&mut drive, ByteRange::whole(Bytes::from_gib(1)), 4.0)?;
    let sizes: Vec<Bytes> = (0..15).map(|power| Bytes::new((KIB / 2) << power)).collect();
    let mut rates = vec![Vec::new(); sizes.len()];
    for _ in 0..TRIALS {
        for (index, size) in sizes.iter().enumerate() {
            for mix in [OperationMix::Write, OperationMix::Read] {
                let workload = Workload::new(file, Pattern::Sequential, mix, *size, 1);
                let result = drive.measure(
                    workload,
                    StopCondition::after(Nanos::from_secs(2)),
                    Nanos::from_secs(2),
                )?;
                if mix == OperationMix::Write {
                    rates[index].push(result.rate());
                }
            }
        }
    }
    let method = "After mixed writes on 1 GB, a file of 256 MiB is written and read in blocks of 512 bytes to 8 MiB, two seconds each, six \
         times. A block size is distorted below 95 % of its best throughput.";
    let mut table = Table::new("A valley distorts a block-size sweep", method);
    for (size, rates) in sizes.iter().zip(&rates) {
        let usual = highest(rates.iter().copied());
        for (trial, rate) in (1..).zip(rates) {
            if *rate < 0.95 * usual {
                let name = format!("trial {trial}, blocks of {size}, share of best");
                table.show(name, Unit::Share, rate / usual);
            }
        }
    }
    let each = table.figures.len() as f64 / TRIALS as f64;
    let was = published.number_of("size_sweep_falls_hd_tune", "value");
    const BY_HEALING: &str = "Each trial overwrites the same file several times, which narrows valleys in this model. They recur after a minute of \
         writing; a trial writes for half a minute. The article shows one trial with two of them as an example.";
    table.compare("distorted block sizes per trial", Unit::Count, (was, each), 0.5).because(BY_HEALING);
    Ok(table)
}

fn random_access(shelf: &Shelf, published: &Figures) -> Result<Table, UserError> {
    const BY_BURST: &str = "During housekeeping this model still writes at a tenth of its throughput, so 1 MiB takes 150 ms. That is near the article's \
         later figure. Its first figure, 500 ms, is a full stall, which is not modelled.";
    let (mut drive, whole) = fresh(shelf)?;
    mix(&mut drive, whole, 1.0)?;
    let method = "Random writes of 1 MiB after 80 GB of mixed writes: 10,000, then another 10,000.";
    let mut table = Table::new("Random writes of 1 MB", method);
    for (name, row, tolerance) in [
        ("slowest at first", "random_1mb_outlier_first_ms", 0.3),
        ("slowest later", "random_1mb_outlier_later_ms", 0.6),
    ] {
        let workload =
            Workload::new(whole, Pattern::RandomWithReplacement, OperationMix::Write, Bytes::from_mib(1), 1);
        let stop = StopCondition { operations: Some(10_000), ..StopCondition::default() };
        let slowest_s = drive.measure(workload, stop, Nanos::from_secs(1))?.latency_s_max();
        let was = published.number_of(row, "value") / 1e3;
        table.compare(name, Unit::Seconds, (was, slowest_s), tolerance).because(BY_BURST);
    }
    Ok(table)
}

fn conclusion(first: &Pass, last: &Pass) -> String {
    format!(
        "Valleys depend on the write history: after mixed writes they take {} of the time, after six passes {}. Sequential \
         overwriting removes them where it writes. Idle time removes none. A whole-drive fill with large blocks removes all, \
         until smaller blocks bring them back. Means over minutes hide valleys; a test of two seconds may hit one. Before \
         you compare drives by short sequential writes, condition them alike and repeat slow results.",
        Unit::Share.text(first.share()),
        Unit::Share.text(last.share()),
    )
}
