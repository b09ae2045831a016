//! Medians, ratios, and the table.

use super::contender::{Case, Contender, Target};
use super::measurement::Measurement;
use crate::goal::{Bound, Goal, table};
use crate::machine::{conditions, spread, today};
use crate::options::EngineOptions;
use std::fmt::Write as _;

pub struct Results {
    pub case: Case,
    pub contenders: Vec<(Contender, Vec<Measurement>)>,
}

/// The largest own cost of a request without a drive, in ns of processor time, which others do not change.
const OWN_COST_ALONE: Bound = Bound::AtMost(60.0);
const OWN_COST_AT_DEPTH: Bound = Bound::AtMost(25.0);
/// We are as fast as the best peer at any depth.
const RATIO: Bound = Bound::AtLeast(1.0);
/// With many requests under way we do a fifth more for each core than the best peer.
const RATIO_PER_CORE: Bound = Bound::AtLeast(1.2);

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

    fn ratio(&self, value: fn(&Measurement) -> f64, prompt: bool) -> Option<f64> {
        Some(median(self.ours()?, value) / self.best_peer(value, prompt)?)
    }

    /// Against the peers that take each completion as it comes.
    pub fn goals(&self) -> Vec<Goal> {
        let depth = self.case.depth;
        let place = format!("{}, depth {depth}", self.case.target.name());
        let mut goals = Vec::new();
        let mut hold = |what: &str, value: Option<f64>, unit: &'static str, bound: Bound| {
            goals.extend(value.map(|value| Goal { what: format!("{place}: {what}"), value, unit, bound }));
        };
        if self.case.target == Target::Null {
            let own = self.ours().map(|ours| median(ours, Measurement::cpu_ns_per_io));
            hold("own processor time", own, "ns", if depth > 1 { OWN_COST_AT_DEPTH } else { OWN_COST_ALONE });
            return goals;
        }
        hold("IOPS over fio's best", self.ratio(Measurement::iops, true), "×", RATIO);
        if depth > 1 {
            let per_core = self.ratio(Measurement::iops_per_core, true);
            hold("IOPS per core over fio's best", per_core, "×", RATIO_PER_CORE);
        }
        goals
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
    let _ = writeln!(
        text,
        "{} Both sides met the same noise: they ran in turns of {seconds} s, {rounds} each, in random order. \
         Trust the ratios, not the absolute numbers.\n",
        conditions(load_before)
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
        "| target | depth | IOPS, takes each | per core, takes each | IOPS, any | per core, any |\n\
         |---|---:|---:|---:|---:|---:|\n",
    );
    let mut goals = Vec::new();
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
        text.push('\n');
        goals.extend(results.goals());
    }
    format!("{text}\n{}", table(&goals))
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
        for line in [
            "| loop | 1 | 1.20 × | 1.60 × | 1.20 × | 1.60 × |",
            "| loop | 32 | 1.20 × | 1.60 × | 0.60 × | 0.50 × |",
            "| loop, depth 1: IOPS over fio's best | 1.20 × | ≥ 1.00 × | 1.20 | yes |",
            "| loop, depth 32: IOPS per core over fio's best | 1.60 × | ≥ 1.20 × | 1.33 | yes |",
        ] {
            assert!(text.contains(line), "{line}\n{text}");
        }
    }
}
