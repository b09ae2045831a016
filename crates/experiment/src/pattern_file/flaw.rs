//! What can be wrong with a file of patterns, and with a step of it on a drive.

use model::quantity_text::QuantityError;
use model::units::Bytes;
use model::workload::{BLOCK_BYTES_MAX, WorkloadError};
use thiserror::Error;

#[derive(Clone, Debug, PartialEq, Error)]
#[error("{file}{}: {}", line_text(flaw.line), flaw.reason)]
pub struct PatternError {
    pub file: String,
    pub flaw: Flaw,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Flaw {
    pub line: Option<usize>,
    pub reason: Reason,
}

impl From<Reason> for Flaw {
    fn from(reason: Reason) -> Flaw {
        Flaw { line: None, reason }
    }
}

fn line_text(line: Option<usize>) -> String {
    match line {
        Some(line) => format!(", line {line}"),
        None => String::new(),
    }
}

#[derive(Clone, Debug, PartialEq, Error)]
pub enum Reason {
    #[error(transparent)]
    Quantity(#[from] QuantityError),
    #[error("{key}: {reason}")]
    In { key: &'static str, reason: Box<Reason> },
    #[error("{key} {wrong}")]
    Word { key: &'static str, wrong: QuantityError },
    #[error("`{text}` is not a whole number from 1 to {most}")]
    NotACount { text: String, most: u32 },
    #[error("{value} is not in 1 to {most}")]
    OutOfBounds { value: String, most: u64 },
    #[error("{0} is above the largest, {BLOCK_BYTES_MAX}")]
    AboveLargest(String),
    #[error("{shares} add up to {percent} %, not to 100 %")]
    SharesSum { shares: String, percent: String },
    #[error("more than {most} {what}")]
    TooMany { most: usize, what: &'static str },

    #[error("its name ends in none of .toml, .icf, .fio and .job")]
    UnknownEnding,
    #[error("there is nothing to do in it")]
    NothingToDo,
    #[error("{count} steps are more than {most}")]
    TooManySteps { count: usize, most: usize },
    #[error("it cannot be read: {0}")]
    Unreadable(String),
    #[error("it is longer than {0}: that is no file of patterns")]
    TooLong(Bytes),
    #[error(
        "there is no plan of this name, and no file that ends in .toml, .icf or .fio. The plans that come with drivescope: {}",
        shipped.join(", ")
    )]
    NoSuchPlan { shipped: Vec<String> },

    #[error("this program reads plans of version {known}, not {found}")]
    PlanVersion { known: u32, found: u32 },
    #[error("{0}")]
    Toml(String),
    #[error("a purge is do = \"discard\", or do = \"write\" with data = \"zero\"")]
    NoPurge,
    #[error("an idle step does nothing: leave out `do`, `blocks` and `pattern`")]
    BusyIdle,
    #[error("an idle step needs a `time`, such as time = \"30s\"")]
    EndlessIdle,
    #[error("nothing at all measures nothing; give 1 or more")]
    NothingAtAll,
    #[error("do = \"mix\" needs `reads`, such as reads = \"40%\"")]
    MixWithoutReads,
    #[error("`{key}` belongs to {owner}")]
    BelongsTo { key: &'static str, owner: String },
    #[error("the key `{key}` is missing{example}")]
    KeyMissing { key: &'static str, example: &'static str },
    #[error("pattern = \"{pattern}\" needs `{key}`, a {kind}")]
    PatternNeeds { pattern: &'static str, key: &'static str, kind: &'static str },
    #[error("{0} requests per second is not above zero")]
    NoRate(f64),
    #[error("nothing has no size; give 512 or more")]
    NoSize,

    #[error("it has no job: no section such as [my-job] beside [global]")]
    NoJob,
    #[error(
        "jobs `{first}` and `{second}` would run at the same time, which is not supported; put `stonewall` into the second"
    )]
    Simultaneous { first: String, second: String },
    #[error("a section ends with ]")]
    OpenSection,
    #[error("`{0}` stands before the first section")]
    BeforeSections(String),
    #[error("option `{option}` is not supported. Supported are {supported}; or use a plan file")]
    UnknownOption { option: String, supported: &'static str },
    #[error("requests through the page cache are not supported; remove it or set it to 1")]
    Buffered,
    #[error("time_based needs `runtime`")]
    TimeBasedWithoutTime,
    #[error("`{0}`: values apart for reads, writes and trims are not supported; give one")]
    ValuesByOperation(String),
    #[error("splits apart for reads and writes are not supported; give one")]
    SplitsByOperation,
    #[error("`{text}`: by default fio takes {unit} for a power of 1000; write {} for a power of 1024", &unit[..1])]
    DecimalUnit { text: String, unit: String },

    #[error("it has no access specification: no line `'ACCESS SPECIFICATIONS` with one below")]
    NoSpecification,
    #[error("`{0}` is assigned but not specified")]
    NotSpecified(String),
    #[error("values before a name")]
    ValuesBeforeName,
    #[error("test type {0} goes through several settings, which is not supported; set it to NORMAL")]
    TestType(String),
    #[error("version {0} is none that this program knows: it reads 1.1 and 2003 to 2008")]
    IometerVersion(String),
    #[error("{0} values, and 8 are needed: size, % of size, % reads, % random, delay, burst, align, reply")]
    ValueCount(usize),
    #[error(
        "delay: {0} ms between bursts is not supported; set it to 0, or use a plan file with `per-second`"
    )]
    Delay(u64),
    #[error("reply: replies over a network are not supported; set it to 0")]
    Replies,
    #[error("`{0}` are not two whole numbers")]
    NotTwoNumbers(String),
    #[error("`{0}` has no line of values")]
    NoValues(String),
    #[error("lines with different alignments are not supported")]
    Alignments,
}

impl Reason {
    pub(super) fn at(self, line: usize) -> Flaw {
        Flaw { line: Some(line), reason: self }
    }
}

pub(super) fn not_a(expected: &'static str, text: &str) -> QuantityError {
    QuantityError { text: text.into(), expected }
}

pub(super) fn at_line<Value>(line: usize, read: Result<Value, Reason>) -> Result<Value, Flaw> {
    match read {
        Ok(value) => Ok(value),
        Err(reason) => Err(reason.at(line)),
    }
}

pub(super) fn in_key<Value, Wrong: Into<Reason>>(
    key: &'static str,
    read: Result<Value, Wrong>,
) -> Result<Value, Reason> {
    match read {
        Ok(value) => Ok(value),
        Err(wrong) => Err(Reason::In { key, reason: Box::new(wrong.into()) }),
    }
}

pub(super) fn count(text: &str, most: u32) -> Result<u32, Reason> {
    match text.parse::<u32>() {
        Ok(number) if (1..=most).contains(&number) => Ok(number),
        _ => Err(Reason::NotACount { text: text.into(), most }),
    }
}

pub(super) fn percent(text: &str) -> Result<f64, QuantityError> {
    match text.trim().parse::<f64>() {
        Ok(number) if (0.0..=100.0).contains(&number) => Ok(number / 100.0),
        _ => Err(not_a("a number from 0 to 100", text)),
    }
}

#[derive(Clone, Debug, PartialEq, Error)]
pub enum StepError {
    #[error("nothing says when it ends. Give the time of each step, such as --each 60s")]
    NoEnd,
    #[error(
        "it goes over {over} from {from} on, and the range has {holds}. Give a larger range or a smaller size"
    )]
    NoRoom { over: Bytes, from: Bytes, holds: Bytes },
    #[error("its part of the range holds no whole block")]
    NoWholeBlock,
    #[error(transparent)]
    Workload(#[from] WorkloadError),
}
