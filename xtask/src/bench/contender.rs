//! Who is compared, on what, and with which options.

use std::path::Path;
use std::process::Command;

use super::measurement::{self, Measurement};
use crate::Failure;

/// Requests of our null engine for each second asked for: about as long as that at 100 ns each.
const NULL_OPERATIONS_PER_SECOND: u64 = 10_000_000;

/// What is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// A loop device over memory, past the page cache.
    Loop,
    /// `/dev/zero` through io_uring: no wait and no drive, so what is left is the way into the kernel and back.
    Zero,
    /// No kernel at all: what the program itself costs.
    Null,
}

/// One target at one queue depth.
pub struct Case {
    /// What is read.
    pub target: Target,
    /// How many requests are under way.
    pub depth: u32,
    /// Where it is.
    pub path: String,
}

/// A program with its options.
pub struct Contender {
    /// As the table shows it.
    pub name: &'static str,
    /// Options of fio; none for ours.
    fio_options: Option<&'static [&'static str]>,
    /// Waits until a number of completions are there: it sees most of them later than it could.
    pub sees_late: bool,
    /// It is not given more requests at once than there are under way.
    batch: u32,
}

const OURS: Contender = Contender { name: "drivescope", fio_options: None, sees_late: false, batch: 1 };

/// fio's own ways to be fast; the best of them is the one to beat.
const FIO_URING: [Contender; 6] = [
    fio("fio io_uring", &[], false, 1),
    fio("fio io_uring, fixed buffers and file", &["--fixedbufs", "--registerfiles"], false, 1),
    fio(
        "fio the same, batches to 16",
        &[
            "--fixedbufs",
            "--registerfiles",
            "--iodepth_batch_submit=16",
            "--iodepth_batch_complete_min=1",
            "--iodepth_batch_complete_max=16",
        ],
        false,
        16,
    ),
    fio(
        "fio the same, batches to 32",
        &[
            "--fixedbufs",
            "--registerfiles",
            "--iodepth_batch_submit=32",
            "--iodepth_batch_complete_min=1",
            "--iodepth_batch_complete_max=32",
        ],
        false,
        32,
    ),
    fio(
        "fio the same, waits for 16",
        &["--fixedbufs", "--registerfiles", "--iodepth_batch_submit=16", "--iodepth_batch_complete_min=16"],
        true,
        16,
    ),
    fio(
        "fio the same, waits for 32",
        &["--fixedbufs", "--registerfiles", "--iodepth_batch_submit=32", "--iodepth_batch_complete_min=32"],
        true,
        32,
    ),
];

const FIO_NULL: Contender = fio("fio null", &[], false, 1);

const fn fio(name: &'static str, options: &'static [&'static str], sees_late: bool, batch: u32) -> Contender {
    Contender { name, fio_options: Some(options), sees_late, batch }
}

impl Target {
    /// All of them, in the order of the table.
    pub const ALL: [Target; 3] = [Target::Loop, Target::Zero, Target::Null];

    /// The word for `--only`.
    pub fn name(self) -> &'static str {
        match self {
            Target::Loop => "loop",
            Target::Zero => "zero",
            Target::Null => "null",
        }
    }

    /// Where it is, given the loop device.
    pub fn path(self, loop_device: &str) -> &str {
        match self {
            Target::Loop => loop_device,
            Target::Zero => "/dev/zero",
            Target::Null => "none",
        }
    }
}

impl Contender {
    /// Ours first, then fio with every setting that makes sense there.
    pub fn for_case(case: &Case) -> Vec<Contender> {
        let peers: Vec<Contender> = match case.target {
            Target::Null => vec![FIO_NULL],
            _ => FIO_URING.into_iter().filter(|peer| peer.batch <= case.depth).collect(),
        };
        std::iter::once(OURS).chain(peers).collect()
    }

    /// Whether it is ours.
    pub fn is_ours(&self) -> bool {
        self.fio_options.is_none()
    }

    /// Its turn.
    pub fn measure(&self, case: &Case, program: &Path, seconds: u64) -> Result<Measurement, Failure> {
        match self.fio_options {
            Some(options) => {
                measurement::of_fio(&output(Command::new("fio").args(fio_arguments(case, options, seconds)))?)
            }
            None => measure_ours(case, program, seconds),
        }
    }
}

fn measure_ours(case: &Case, program: &Path, seconds: u64) -> Result<Measurement, Failure> {
    let operations = (case.target == Target::Null).then(|| seconds * NULL_OPERATIONS_PER_SECOND);
    let engine = match case.target {
        Target::Loop => "uring",
        Target::Zero => "uring-raw",
        Target::Null => "null",
    };
    let (unit, count) =
        operations.map_or_else(|| ("seconds", seconds), |operations| ("operations", operations));
    let before_ns = measurement::children_cpu_ns()?;
    let printed = output(
        Command::new(program)
            .args([engine, &case.path, &case.depth.to_string(), unit])
            .arg(count.to_string()),
    )?;
    measurement::of_ours(&printed, operations, measurement::children_cpu_ns()? - before_ns)
}

/// fio keeps all its statistics, as we do; its map of blocks already read is off, since we draw with replacement.
fn fio_arguments(case: &Case, options: &[&str], seconds: u64) -> Vec<String> {
    let mut arguments: Vec<String> = [
        "--name=bench",
        "--rw=randread",
        "--bs=4k",
        "--size=1g",
        "--time_based",
        "--norandommap",
        "--randrepeat=0",
        "--thread",
        "--output-format=json",
    ]
    .map(str::to_owned)
    .to_vec();
    arguments.push(format!("--runtime={seconds}"));
    arguments.push(format!("--iodepth={}", case.depth));
    arguments.push(format!("--ioengine={}", if case.target == Target::Null { "null" } else { "io_uring" }));
    if case.target != Target::Null {
        arguments.push(format!("--filename={}", case.path));
        arguments.push("--allow_file_create=0".to_owned());
    }
    if case.target == Target::Loop {
        arguments.push("--direct=1".to_owned());
    }
    arguments.extend(options.iter().map(|option| (*option).to_owned()));
    arguments
}

pub fn output(command: &mut Command) -> Result<String, Failure> {
    let program = command.get_program().to_string_lossy().into_owned();
    let output =
        command.output().map_err(|error| Failure::cannot(format!("Cannot run {program}: {error}.")))?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    let reason = String::from_utf8_lossy(&output.stderr).trim().to_owned();
    Err(Failure::cannot(format!("{program} failed: {reason}")))
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
        let arguments = super::fio_arguments(&case(Target::Loop, 32), &["--fixedbufs"], 2);
        for argument in ["--direct=1", "--allow_file_create=0", "--iodepth=32", "--runtime=2", "--fixedbufs"]
        {
            assert!(arguments.iter().any(|given| given == argument), "{argument}");
        }
        assert!(!super::fio_arguments(&case(Target::Zero, 1), &[], 2).contains(&"--direct=1".to_owned()));
    }
}
