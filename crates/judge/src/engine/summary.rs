//! Medians, ratios, and the table.

use super::contender::{Case, Contender, Target};
use super::measurement::Measurement;
use crate::machine::{load_average, machine, spread, today};
use crate::options::EngineOptions;
use std::fmt::Write as _;

pub struct Results {
    pub case: Case,
    pub contenders: Vec<(Contender, Vec<Measurement>)>,
}

struct Goal {
    what: &'static str,
    value: f64,
    is_reached: bool,
}

/// The largest own cost of a request without a drive, in nanoseconds of processor time: what others on the machine use
/// does not count.
const OWN_COST_NS_MAX: f64 = 100.0;
/// With one request under way we are as fast as the best peer.
const RATIO_ALONE: f64 = 1.0;
/// With many we do a fifth more for each core than the best peer.
const RATIO_PER_CORE: f64 = 1.2;

impl Results {
    fn ours(&self) -> Option<&[Measurement]> {
        self.contenders.iter().find(|(contender, _)| contender.is_ours()).map(|(_, turns)| turns.as_slice())
    }

    /// The best median among the peers; with `prompt`, among those that take each completion as it comes.
    fn best_peer(&self, value: fn(&Measurement) -> f64, prompt: bool) -> Option<f64> {
        let counts = |peer: &Contender| !peer.is_ours() && (!prompt || !peer.sees_late);
        let peers = self.contenders.iter().filter(|(peer, _)| counts(peer));
        peers.map(|(_, turns)| median(turns, value)).max_by(f64::total_cmp)
    }

    /// Our median over the best peer's.
    fn ratio(&self, value: fn(&Measurement) -> f64, prompt: bool) -> Option<f64> {
        Some(median(self.ours()?, value) / self.best_peer(value, prompt)?)
    }

    fn goal(&self) -> Option<Goal> {
        let goal = match (self.case.target, self.case.depth) {
            (Target::Null, _) => {
                let value = median(self.ours()?, Measurement::cpu_ns_per_io);
                Goal { what: "own processor time ≤ 100 ns", value, is_reached: value <= OWN_COST_NS_MAX }
            }
            (_, 1) => {
                let value = self.ratio(Measurement::iops, true)?;
                Goal { what: "IOPS ≥ 1.0 × fio", value, is_reached: value >= RATIO_ALONE }
            }
            _ => {
                let value = self.ratio(Measurement::iops_per_core, true)?;
                Goal { what: "per core ≥ 1.2 × fio", value, is_reached: value >= RATIO_PER_CORE }
            }
        };
        Some(goal)
    }
}

pub fn report(options: &EngineOptions, seed: u64, all: &[Results], load_before: &str) -> String {
    let mut text = String::from("# The engine against fio\n\n");
    let EngineOptions { seconds, rounds, .. } = options;
    let only = match options.only {
        Some(only) => format!(" --only {}", only.name()),
        None => String::new(),
    };
    let command =
        format!("cargo xtask bench engine --seconds {seconds} --rounds {rounds} --seed {seed}{only}");
    let _ = writeln!(text, "Made by `{command}` on {}.", today());
    let _ = writeln!(text, "{}", machine());
    let _ = writeln!(
        text,
        "Load averages before and after: {load_before}; {}. Both sides met the same noise: they ran in turns of {} s, \
         {} each, in random order. Trust the ratios, not the absolute numbers.\n",
        load_average(),
        options.seconds,
        options.rounds
    );
    text.push_str(&ratios(all));
    text.push_str(EXPLANATION);
    text.push_str(&details(all));
    text
}

const EXPLANATION: &str = "
4 KiB random reads with all statistics kept on both sides. *per core*: IOPS for each second of processor time of the
process itself, since the kernel's worker of the loop device runs on another core. Medians of the turns; a ratio
compares our median with the best median among fio's settings. *takes each*: settings that take a completion as soon as
there is one, as drivescope always does. *any*: also those that wait until 16 or 32 are there, which costs fewer calls
but shows most completions later than they came; such latencies are not the drive's.

";

fn ratios(all: &[Results]) -> String {
    let mut text = String::from(
        "| target | depth | IOPS, takes each | per core, takes each | IOPS, any | per core, any | goal | reached |\n\
         |---|---:|---:|---:|---:|---:|---|---|\n",
    );
    for results in all {
        let _ = write!(text, "| {} | {} |", results.case.target.name(), results.case.depth);
        for prompt in [true, false] {
            for value in [Measurement::iops, Measurement::iops_per_core] {
                let _ = match results.ratio(value, prompt) {
                    Some(ratio) => write!(text, " {ratio:.2} × |"),
                    None => write!(text, " – |"),
                };
            }
        }
        let _ = match results.goal() {
            Some(Goal { what, value, is_reached: true }) => writeln!(text, " {what} | yes: {value:.2} |"),
            Some(Goal { what, value, is_reached: false }) => writeln!(text, " {what} | no: {value:.2} |"),
            None => writeln!(text, " – | – |"),
        };
    }
    text
}

fn details(all: &[Results]) -> String {
    let mut text = String::from(
        "| target | depth | program | IOPS, median (min–max) | processor time per I/O, ns (min–max) | IOPS per core |\n\
         |---|---:|---|---:|---:|---:|\n",
    );
    for results in all {
        for (contender, turns) in &results.contenders {
            let (iops, iops_min, iops_max) = spread_of(turns, Measurement::iops);
            let (cpu_ns, cpu_min, cpu_max) = spread_of(turns, Measurement::cpu_ns_per_io);
            let _ = writeln!(
                text,
                "| {} | {} | {} | {iops:.0} ({iops_min:.0}–{iops_max:.0}) | {cpu_ns:.0} ({cpu_min:.0}–{cpu_max:.0}) | {:.0} |",
                results.case.target.name(),
                results.case.depth,
                contender.name,
                median(turns, Measurement::iops_per_core),
            );
        }
    }
    text
}

fn median(turns: &[Measurement], value: fn(&Measurement) -> f64) -> f64 {
    spread_of(turns, value).0
}

fn spread_of(turns: &[Measurement], value: fn(&Measurement) -> f64) -> (f64, f64, f64) {
    spread(turns.iter().map(value).collect()).unwrap_or((f64::NAN, f64::NAN, f64::NAN))
}

#[cfg(test)]
mod tests {
    use super::super::contender::{Case, Contender, Target};
    use super::{Measurement, Results, median, ratios};

    fn turns(iops: &[f64], cpu_ns: f64) -> Vec<Measurement> {
        iops.iter().map(|&iops| Measurement { iops, cpu_ns_per_io: cpu_ns }).collect()
    }

    /// Ours: 120 at 50 ns. Peers that take each: 100 at 80 ns; those that wait: 200 at 25 ns.
    fn results(depth: u32) -> Results {
        let case = Case { target: Target::Loop, depth, path: "x".to_owned() };
        let contenders = Contender::for_case(&case)
            .into_iter()
            .map(|contender| {
                let measured = match (contender.is_ours(), contender.sees_late) {
                    (true, _) => turns(&[500.0, 120.0, 1.0], 50.0),
                    (_, false) => turns(&[100.0, 100.0, 900.0], 80.0),
                    (_, true) => turns(&[200.0], 25.0),
                };
                (contender, measured)
            })
            .collect();
        Results { case, contenders }
    }

    #[test]
    fn the_median_of_an_even_number_lies_between() {
        assert_eq!(median(&turns(&[3.0, 1.0, 2.0, 10.0], 1.0), Measurement::iops), 2.5);
    }

    #[test]
    fn ratios_are_to_the_best_peer_and_goals_to_those_that_take_each() {
        let text = ratios(&[results(1), results(32)]);
        assert!(
            text.contains("| loop | 1 | 1.20 × | 1.60 × | 1.20 × | 1.60 × | IOPS ≥ 1.0 × fio | yes: 1.20 |"),
            "{text}"
        );
        assert!(
            text.contains(
                "| loop | 32 | 1.20 × | 1.60 × | 0.60 × | 0.50 × | per core ≥ 1.2 × fio | yes: 1.60 |"
            ),
            "{text}"
        );
    }
}
