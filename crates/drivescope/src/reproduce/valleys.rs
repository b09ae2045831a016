//! Article E: short falls of the rate of sequential writes on an X25-M: what brings them, where they are, and what
//! takes them away.
//!
//! The article conditioned the drive for up to 27 hours. Here it is written until more writing changes little, which
//! takes half as much as its capacity: what counts is how much was written where, not how long it took.

use super::figure::{Figure, Published, Table, Unit};
use super::picture::COLUMNS;
use super::published::{Figures, VALLEYS};
use super::shelf::Shelf;
use super::{Article, Reproduction};
use crate::error::UserError;
use crate::virtual_run::{PhaseResult, Slice, VirtualRun};
use model::plan::StopCondition;
use model::range::ByteRange;
use model::units::{Bytes, KIB, MIB, Nanos, Offset};
use model::workload::{BlockSizes, OperationMix, Pattern, Workload};
use report::chart::{Axis, Chart, Series, Strip, chart_of_series, reduced_line};

/// The drive of the article.
const DRIVE: &str = "x25-m";
/// Mixed writes before a measurement, as a share of what is conditioned. See the table that shows that more changes
/// nothing.
const MIXED_SHARE: f64 = 0.5;
/// A pass of HD Tune touches this share of each of so many stretches of the drive: 24 GB of 80 GB.
const TOUCHED_SHARE: f64 = 0.3;
const STRETCHES: u64 = 80;
/// The rate is seen over this much, or over one request if that is larger: 14 ms at 70 MB/s.
const PIECE_BYTES: u64 = MIB;
/// A piece belongs to a valley when its rate is below this share of the median.
const VALLEY_RATE_SHARE: f64 = 0.75;
/// Passes over one half, after which the article found its drive stable.
const PASSES: usize = 6;
/// Blocks of the passes.
const SMALL: Bytes = Bytes::from_kib(64);
const LARGE: Bytes = Bytes::from_mib(8);

/// A short fall of the rate.
#[derive(Clone, Copy, Debug)]
struct Valley {
    start_s: f64,
    width_s: f64,
}

/// The valleys of one pass.
pub(super) struct Pass {
    valleys: Vec<Valley>,
    seconds: f64,
    rate: f64,
    /// When in it, and the rate then.
    course: Vec<(f64, f64)>,
}

/// Does it again.
///
/// # Errors
/// When the drive cannot be opened.
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
        title: "The valleys in the sequential writes of an X25-M",
        setting: format!(
            "sim:{DRIVE} is an SSD of 80 GB whose housekeeping works as that of an X25-M was seen to: in bursts, longer and \
             closer together the more fragmented what is being written lies. What its firmware really does is not known; \
             how often a burst comes and how long it lasts are set to what the article saw, and where they come, what brings \
             them and what takes them away follow. Mixed writes are half random, half sequential, of 4 KiB to 64 KiB, half as \
             much as the capacity of what is conditioned. A pass writes the first 30 % of each GB, as HD Tune does. A valley \
             is a stretch of at least 1 MiB at less than 75 % of the median rate."
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

/// Mixed random and sequential writes, as much as that share of the range.
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
    let bytes = Bytes((range.bytes().0 as f64 * share) as u64);
    let stop = StopCondition { bytes: Some(bytes), ..StopCondition::default() };
    drive.measure(workload, stop, Nanos::from_secs(60))?;
    Ok(())
}

/// The whole range once, sequentially.
fn fill(drive: &mut VirtualRun, range: ByteRange, block: Bytes) -> Result<(), UserError> {
    let workload = Workload::new(range, Pattern::Sequential, OperationMix::Write, block, 1);
    drive.measure(workload, StopCondition::one_pass(), Nanos::from_secs(60))?;
    Ok(())
}

/// A pass of HD Tune's benchmark: the first part of each stretch of a range, sequentially.
fn pass(drive: &mut VirtualRun, range: ByteRange, block: Bytes) -> Result<Pass, UserError> {
    let stretches = (STRETCHES * range.bytes().0).div_ceil(drive.capacity().0);
    let mut offsets = Vec::new();
    for index in 0..stretches {
        let stretch = range.part(index, stretches);
        let first = stretch.first().0.next_multiple_of(LARGE.0);
        let bytes = Bytes((stretch.bytes().0 as f64 * TOUCHED_SHARE) as u64).round_down_to(LARGE).0;
        offsets.extend((0..bytes / block.0).map(|number| Offset(first + number * block.0)));
    }
    let workload = Workload::new(range, Pattern::Listed { offsets }, OperationMix::Write, block, 1);
    let phase = drive.measure_pieces(workload, StopCondition::one_pass(), PIECE_BYTES)?;
    let course =
        phase.slices.iter().map(|slice| (slice.start_s, slice.bytes as f64 / slice.seconds)).collect();
    Ok(Pass { valleys: valleys(&phase), seconds: phase.seconds, rate: phase.rate(), course })
}

/// The valleys of a phase.
fn valleys(phase: &PhaseResult) -> Vec<Valley> {
    let rate = |slice: &Slice| slice.bytes as f64 / slice.seconds;
    let mut rates: Vec<f64> = phase.slices.iter().map(rate).collect();
    rates.sort_by(f64::total_cmp);
    let limit = rates.get(rates.len() / 2).map_or(0.0, |median| median * VALLEY_RATE_SHARE);
    let mut valleys: Vec<Valley> = Vec::new();
    let mut inside = false;
    for slice in &phase.slices {
        let is_low = rate(slice) < limit;
        match valleys.last_mut().filter(|_| is_low && inside) {
            Some(valley) => valley.width_s += slice.seconds,
            None if is_low => valleys.push(Valley { start_s: slice.start_s, width_s: slice.seconds }),
            None => {}
        }
        inside = is_low;
    }
    valleys
}

impl Pass {
    fn count(&self) -> f64 {
        self.valleys.len() as f64
    }

    /// The mean width; 0 when there are none.
    fn width_s(&self) -> f64 {
        self.valleys.iter().map(|valley| valley.width_s).sum::<f64>() / self.count().max(1.0)
    }

    fn width_s_max(&self) -> f64 {
        self.valleys.iter().map(|valley| valley.width_s).fold(0.0, f64::max)
    }

    /// Share of the time that valleys took.
    fn share(&self) -> f64 {
        self.count() * self.width_s() / self.seconds
    }
}

/// The mean time from a valley to the next over passes that followed each other.
fn interval_s(passes: &[Pass]) -> f64 {
    let (mut starts, mut before_s) = (Vec::new(), 0.0);
    for pass in passes {
        starts.extend(pass.valleys.iter().map(|valley| before_s + valley.start_s));
        before_s += pass.seconds;
    }
    match (starts.first(), starts.last()) {
        (Some(first), Some(last)) if starts.len() > 1 => (last - first) / (starts.len() - 1) as f64,
        _ => f64::INFINITY,
    }
}

/// Rows of passes over time: the first and the last over one half, then one over the other half.
fn picture(passes: &[&Pass; 3]) -> Chart {
    let names = [
        "First pass after mixed writes".to_string(),
        format!("Pass {PASSES} over the same half"),
        "Then, after a night of rest, over the other half".to_string(),
    ];
    let end = passes.iter().map(|pass| pass.seconds).fold(0.0, f64::max);
    let highest = passes.iter().flat_map(|pass| &pass.course).map(|(_, rate)| *rate).fold(0.0, f64::max);
    let y = Axis::of_rates("", highest);
    let series = |pass: &Pass| {
        vec![Series::new("write rate", reduced_line(pass.course.iter().copied(), end, COLUMNS))]
    };
    let [first, second, third] = names;
    let axes = (Axis::of_duration("Time", end), Axis { label: first, ..y.clone() });
    let title = ("Valleys in sequential writes", "Intel X25-M, blocks of 64 KiB");
    let strip = |(name, pass): (String, &&Pass)| Strip {
        name,
        y: y.clone(),
        series: series(pass),
        marks: Vec::new(),
        is_equal: true,
    };
    let strips = [second, third].into_iter().zip(&passes[1..]).map(strip).collect();
    Chart { strips, ..chart_of_series("e-valleys", title, axes, series(passes[0])) }
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
    let last_three: Vec<Pass> = passes.drain(PASSES - 3..).collect();
    drive.idle(Nanos::from_secs(8 * 3600))?;
    let other = pass(&mut drive, second, SMALL)?;
    let mut figures = Vec::new();
    for (index, pass) in passes.iter().chain(&last_three).enumerate() {
        let number = index + 1;
        figures.push(Figure::shown(format!("pass {number}, valleys"), Unit::Count, pass.count()));
        figures.push(Figure::shown(format!("pass {number}, mean width"), Unit::Seconds, pass.width_s()));
    }
    let fewer = last_three[2].count() / passes[0].count();
    let narrower = last_three[2].width_s_max() / passes[0].width_s_max();
    let less = Published::AtMost(0.5);
    figures.push(Figure::bounded("valleys, last pass to first", Unit::Ratio, less, fewer));
    figures.push(Figure::bounded("widest valley, last pass to first", Unit::Ratio, less, narrower));
    let interval = published.number_of("valley_interval_s", "value");
    let widest = last_three.iter().map(Pass::width_s_max).fold(0.0, f64::max);
    let bound = Published::AtMost(published.number_of("valley_width_max_s", "value"));
    let rate = published.number_of("pass_mbps", "value") * 1e6;
    figures.push(Figure::new(
        "from valley to valley, when stable",
        Unit::Seconds,
        interval,
        interval_s(&last_three),
        0.25,
    ));
    figures.push(Figure::bounded("widest valley, when stable", Unit::Seconds, bound, widest));
    figures.push(Figure::new("rate of a pass, when stable", Unit::Rate, rate, last_three[0].rate, 0.25));
    figures.push(Figure::shown("other half, 8 hours later, valleys", Unit::Count, other.count()));
    figures.push(Figure::shown("other half, mean width", Unit::Seconds, other.width_s()));
    let untouched = other.width_s_max() / passes[0].width_s_max();
    figures.push(Figure::new("widest valley, other half to first pass", Unit::Ratio, 1.0, untouched, 0.15));
    let first = passes.remove(0);
    let last = last_three.into_iter().last().expect("three passes were taken");
    let method = "Passes over the first half with blocks of 64 KiB, after mixed writes over the whole drive. The article goes on until the \
         valleys are few, then passes over all: the other half is as bad as at first, so it is overwriting that helps, and \
         only where it happens; rest does not.";
    Ok((Table { title: "After mixed writes".into(), method: method.into(), figures }, [first, last, other]))
}

/// Shows that conditioning by volume is enough.
fn conditioning(shelf: &Shelf) -> Result<Table, UserError> {
    let mut figures = Vec::new();
    let mut widths = Vec::new();
    for share in [0.125, 0.25, 0.5, 1.0] {
        let (mut drive, whole) = fresh(shelf)?;
        let quarter = whole.part(0, 4);
        mix(&mut drive, quarter, share)?;
        let width_s = pass(&mut drive, quarter, SMALL)?.width_s_max();
        let name = format!("after {:.1} GB of mixed writes", quarter.bytes().0 as f64 * share / 1e9);
        figures.push(Figure::shown(name, Unit::Seconds, width_s));
        widths.push(width_s);
    }
    let ratio = widths[3] / widths[2];
    figures.push(Figure::bounded("all of it to half of it", Unit::Ratio, Published::AtMost(1.15), ratio));
    let method = "The article wrote for 19 and 27 hours. How wide the widest valley of the first pass is, on a quarter of the drive, shows when \
         more writing changes little.";
    Ok(Table { title: "How much conditioning is enough".into(), method: method.into(), figures })
}

/// The fourth experiment: the whole drive filled with large blocks, then passes with large and smaller ones.
fn filled(shelf: &Shelf) -> Result<Table, UserError> {
    let (mut drive, whole) = fresh(shelf)?;
    mix(&mut drive, whole, MIXED_SHARE)?;
    fill(&mut drive, whole, LARGE)?;
    let mut figures = Vec::new();
    let mut count = |name: &str, block: Bytes, passes: u32, bound: Published| -> Result<f64, UserError> {
        let mut found = Pass { valleys: Vec::new(), seconds: 0.0, rate: 0.0, course: Vec::new() };
        for _ in 0..passes {
            found = pass(&mut drive, whole, block)?;
        }
        figures.push(Figure::bounded(name, Unit::Count, bound, found.count()));
        figures.push(Figure::shown("  their mean width", Unit::Seconds, found.width_s()));
        Ok(found.count())
    };
    count("8 MB blocks, third pass, valleys", LARGE, 3, Published::AtMost(1.0))?;
    count("then 4 MB, sixth pass, valleys", Bytes::from_mib(4), 6, Published::AtLeast(1.0))?;
    count("then 2 MB, sixth pass, valleys", Bytes::from_mib(2), 6, Published::AtLeast(1.0))?;
    count("then 64 KB, third pass, valleys", SMALL, 3, Published::AtLeast(3.0))?;
    let method = "After mixed writes the whole drive is filled once with blocks of 8 MiB (the article wrote it twice over). The bounds are \
         the article's words: none or almost none with 8 MB, some with 4 MB, more with 2 MB, as usual with 64 KB.";
    Ok(Table { title: "A whole-drive fill takes them away".into(), method: method.into(), figures })
}

/// Mixed writes on one half, sequential ones on the other.
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
    let figures = vec![
        Figure::bounded("half with mixed writes, valleys", Unit::Count, Published::AtLeast(1.0), bad.count()),
        Figure::bounded("half filled with 8 MB, valleys", Unit::Count, Published::AtLeast(1.0), good.count()),
        Figure::shown("half filled with 8 MB, mean width", Unit::Seconds, good.width_s()),
    ];
    let method = "The first half gets mixed writes, the second is filled with 8 MiB; each is then passed over with 8 MiB. The article found \
         valleys in both: splitting the drive does not keep them apart.";
    Ok(Table { title: "Splitting the drive".into(), method: method.into(), figures })
}

/// Sizes one after the other for two seconds each, as HD Tune's File Benchmark does, and which of them a valley spoils.
fn size_sweep(shelf: &Shelf, published: &Figures) -> Result<Table, UserError> {
    const TRIALS: usize = 6;
    let (mut drive, _) = fresh(shelf)?;
    let file = ByteRange::whole(Bytes::from_mib(256));
    mix(&mut drive, ByteRange::whole(Bytes::from_gib(1)), 4.0)?;
    let sizes: Vec<Bytes> = (0..15).map(|power| Bytes((KIB / 2) << power)).collect();
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
    let mut figures = Vec::new();
    let mut falls = 0;
    for (size, rates) in sizes.iter().zip(&rates) {
        let usual = rates.iter().copied().fold(0.0, f64::max);
        for (trial, rate) in rates.iter().enumerate().filter(|(_, rate)| **rate < 0.95 * usual) {
            falls += 1;
            let name = format!("trial {}, blocks of {size}: of its best rate", trial + 1);
            figures.push(Figure::shown(name, Unit::Share, rate / usual));
        }
    }
    let each = f64::from(falls) / TRIALS as f64;
    let was = published.number_of("size_sweep_falls_hd_tune", "value");
    const BY_HEALING: &str = "A trial overwrites its own file several times, so in this model its valleys are narrow after the first trial, and they come \
         once in a minute of writing, of which a trial has half. The article shows two in one trial as an example.";
    figures.push(Figure::new("sizes spoilt in a trial", Unit::Count, was, each, 0.5).because(BY_HEALING));
    let method = "After mixed writes on 1 GB, a file of 256 MiB is written and read in blocks of 512 bytes to 8 MiB, two seconds each, six \
         times. A size counts as spoilt below 95 % of its best rate.";
    Ok(Table { title: "A valley spoils a size".into(), method: method.into(), figures })
}

/// Random writes of 1 MiB after the longest conditioning.
fn random_access(shelf: &Shelf, published: &Figures) -> Result<Table, UserError> {
    const BY_BURST: &str = "In a burst of its own work this drive still writes at a tenth of its rate, so 1 MiB takes 150 ms in it. That is near the \
         article's later figure. Its first one, half a second, is a drive that stands still, which the model does not have.";
    let (mut drive, whole) = fresh(shelf)?;
    mix(&mut drive, whole, 1.0)?;
    let mut slowest = || {
        let workload =
            Workload::new(whole, Pattern::RandomWithReplacement, OperationMix::Write, Bytes::from_mib(1), 1);
        let stop = StopCondition { operations: Some(10_000), ..StopCondition::default() };
        drive.measure(workload, stop, Nanos::from_secs(1)).map(|result| result.latency_s_max())
    };
    let (at_first, later) = (slowest()?, slowest()?);
    let value = |name| published.number_of(name, "value") / 1e3;
    let figures = vec![
        Figure::new("slowest at first", Unit::Seconds, value("random_1mb_outlier_first_ms"), at_first, 0.3)
            .because(BY_BURST),
        Figure::new("slowest later", Unit::Seconds, value("random_1mb_outlier_later_ms"), later, 0.6)
            .because(BY_BURST),
    ];
    let method = "1 MiB at random places after mixed writes of 80 GB, 10,000 writes and 10,000 more.";
    Ok(Table { title: "Random writes of 1 MB".into(), method: method.into(), figures })
}

fn conclusion(first: &Pass, last: &Pass) -> String {
    format!(
        "Valleys are a matter of what the drive went through: after mixed writes they take {} of the time, after six passes {}. \
         Overwriting sequentially cures what it overwrites and nothing else, rest cures nothing, and a fill of the whole \
         drive with large blocks cures all, until smaller ones bring them back. A mean over minutes hides them and a test \
         of two seconds may hit one: whoever compares drives or sizes by short sequential writes must know what was written \
         before, and measure again what looks slow.",
        Unit::Share.text(first.share()),
        Unit::Share.text(last.share()),
    )
}
