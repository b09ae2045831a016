//! Who is compared, on what, and with which options.

use super::measurement::{self, Measurement};
use crate::failure::Failure;
use crate::place::output;
use clap::ValueEnum;
use std::path::Path;
use std::process::Command;

/// Requests of our null engine for each second asked for: about as long as that at 100 ns each.
const NULL_OPERATIONS_PER_SECOND: u64 = 10_000_000;

model::words! {
    #[derive(ValueEnum)]
    pub enum Target {
        /// A loop device over memory, past the page cache.
        Loop = "loop",
        /// `/dev/zero` through io_uring: no wait and no drive, so what is left is the way into the kernel and back.
        Zero = "zero",
        /// No kernel at all: what the program itself costs.
        Null = "null",
    }
}

pub struct Case {
    pub target: Target,
    pub depth: u32,
    pub path: String,
}

pub struct Contender {
    pub name: &'static str,
    fio_options: Option<&'static str>,
    /// Waits until a number of completions are there: it sees most of them later than it could.
    pub sees_late: bool,
    /// It is not given more requests at once than there are under way.
    batch: u32,
}

const OURS: Contender = Contender { name: "drivescope", fio_options: None, sees_late: false, batch: 1 };

/// fio's own ways to be fast; the best of them is the one to beat.
const FIO_URING: [Contender; 6] = [
    fio("fio io_uring", "", false, 1),
    fio("fio io_uring, fixed buffers and file", FIXED, false, 1),
    fio("fio the same, batches to 16", FIXED, false, 16),
    fio("fio the same, batches to 32", FIXED, false, 32),
    fio("fio the same, waits for 16", FIXED, true, 16),
    fio("fio the same, waits for 32", FIXED, true, 32),
];
const FIXED: &str = "--fixedbufs --registerfiles";

const FIO_NULL: Contender = fio("fio null", "", false, 1);

const fn fio(name: &'static str, options: &'static str, sees_late: bool, batch: u32) -> Contender {
    Contender { name, fio_options: Some(options), sees_late, batch }
}

impl Target {
    pub fn path(self, loop_device: &str) -> &str {
        match self {
            Target::Loop => loop_device,
            Target::Zero => "/dev/zero",
            Target::Null => "none",
        }
    }
}

impl Contender {
    pub fn for_case(case: &Case) -> Vec<Contender> {
        let peers: Vec<Contender> = match case.target {
            Target::Null => vec![FIO_NULL],
            _ => FIO_URING.into_iter().filter(|peer| peer.batch <= case.depth).collect(),
        };
        std::iter::once(OURS).chain(peers).collect()
    }

    /// Those that take a completion as soon as there is one, as we do.
    pub fn prompt(case: &Case) -> Vec<Contender> {
        Contender::for_case(case).into_iter().filter(|contender| !contender.sees_late).collect()
    }

    pub fn is_ours(&self) -> bool {
        self.fio_options.is_none()
    }

    pub fn measure(&self, case: &Case, program: &Path, seconds: u64) -> Result<Measurement, Failure> {
        match self.fio_options {
            Some(options) => {
                let arguments = fio_arguments(case, &format!("{options}{}", self.batches()), seconds);
                measurement::of_fio(&output(Command::new("fio").args(arguments))?)
            }
            None => measure_ours(case, program, seconds),
        }
    }

    fn batches(&self) -> String {
        let batch = self.batch;
        let submit = format!(" --iodepth_batch_submit={batch} --iodepth_batch_complete_min=");
        match (batch, self.sees_late) {
            (1, _) => String::new(),
            (_, true) => format!("{submit}{batch}"),
            (_, false) => format!("{submit}1 --iodepth_batch_complete_max={batch}"),
        }
    }
}

fn measure_ours(case: &Case, program: &Path, seconds: u64) -> Result<Measurement, Failure> {
    let null_operations = seconds * NULL_OPERATIONS_PER_SECOND;
    let (engine, unit, count) = match case.target {
        Target::Loop => ("uring", "seconds", seconds),
        Target::Zero => ("uring-raw", "seconds", seconds),
        Target::Null => ("null", "operations", null_operations),
    };
    let operations = if case.target == Target::Null { Some(null_operations) } else { None };
    let before_ns = measurement::children_cpu_ns()?;
    let words = [engine, &case.path, &case.depth.to_string(), unit, &count.to_string()];
    let printed = output(Command::new(program).args(words))?;
    measurement::of_ours(&printed, operations, measurement::children_cpu_ns()? - before_ns)
}

/// fio keeps all its statistics, as we do; its map of blocks already read is off, since we draw with replacement.
const FIO_ALWAYS: &str = "--name=bench --rw=randread --bs=4k --size=1g --time_based --norandommap --randrepeat=0 \
                          --thread --output-format=json";

fn fio_arguments(case: &Case, options: &str, seconds: u64) -> Vec<String> {
    let (engine, is_null) = match case.target {
        Target::Null => ("null", true),
        Target::Loop | Target::Zero => ("io_uring", false),
    };
    let mut arguments = vec![
        format!("--runtime={seconds}"),
        format!("--iodepth={}", case.depth),
        format!("--ioengine={engine}"),
    ];
    arguments.extend(FIO_ALWAYS.split(' ').map(str::to_owned));
    if !is_null {
        arguments.extend([format!("--filename={}", case.path), "--allow_file_create=0".to_owned()]);
    }
    if case.target == Target::Loop {
        arguments.push("--direct=1".to_owned());
    }
    arguments.extend(options.split_whitespace().map(str::to_owned));
    arguments
}

#[cfg(test)]
mod tests {
    use super::{Case, Contender, Target};

    fn case(target: Target, depth: u32) -> Case {
        Case { target, depth, path: "x".to_owned() }
    }

    #[test]
    fn peers_get_no_batches_beyond_the_depth() {
        let count = |target, depth| Contender::for_case(&case(target, depth)).len();
        assert_eq!((count(Target::Loop, 1), count(Target::Loop, 32), count(Target::Null, 128)), (3, 7, 2));
        assert!(Contender::for_case(&case(Target::Zero, 1))[0].is_ours());
    }

    #[test]
    fn fio_reads_a_device_directly_and_makes_no_file() {
        let arguments = super::fio_arguments(&case(Target::Loop, 32), "--fixedbufs", 2);
        for argument in ["--direct=1", "--allow_file_create=0", "--iodepth=32", "--runtime=2", "--fixedbufs"]
        {
            assert!(arguments.iter().any(|given| given == argument), "{argument}");
        }
        assert!(!super::fio_arguments(&case(Target::Zero, 1), "", 2).contains(&"--direct=1".to_owned()));
    }
}
