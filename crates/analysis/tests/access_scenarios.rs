//! Drives of which we know how they take many requests and small spans: what must be found, and what must not.

mod bench;

use bench::*;
use model::finding::{Datum, FindingCode};
use model::plan::{PhaseKind, StopCondition, StopReason};
use model::range::ByteRange;
use model::target::TargetKind;
use model::units::{Bytes, Nanos};
use model::workload::{OperationMix, Pattern, Workload};

fn built_in(name: &str) -> Bench {
    Bench::new(sim::open(name, 1).unwrap(), 2)
}

/// Single reads of 4 KiB within shares of the drive from its start, so many rounds.
fn spans(bench: &mut Bench, shares: &[f64], rounds: usize) {
    for _ in 0..rounds {
        for share in shares {
            let bytes = Bytes((bench.target.capacity.0 as f64 * share) as u64).round_down_to(Bytes(4096));
            let range = ByteRange::new(bench.whole().first(), bytes).unwrap();
            let workload = Workload::new(range, Pattern::RandomOnce, OperationMix::Read, Bytes(4096), 1);
            bench.run(PhaseKind::Measure, workload, StopCondition::after(Nanos::from_secs(2)));
        }
    }
}

/// Eight servers of equal speed: nothing is lost up to eight, and nothing gained after that.
#[test]
fn eight_servers_have_their_knee_at_eight() {
    let mut bench = built_in("constant");
    bench.random(bench.whole(), OperationMix::Read, &[1, 2, 4, 8, 16, 32, 64], 3);
    let finding = find(&bench, FindingCode::ConcurrencyKnee).unwrap();
    let estimate = finding.estimate().unwrap();
    assert_eq!((estimate.low, estimate.value, estimate.high), (5.0, 8.0, 15.0));
    let statement = statement(&bench, FindingCode::ConcurrencyKnee);
    assert!(
        statement.starts_with("Past 8 at a time more brings less than it costs: 8 bring 80000 per second"),
        "{statement}"
    );
    assert!(statement.contains("Kneedle agrees"), "{statement}");
    assert_eq!(datum(&finding, "kneedle"), Some(Datum::Number(8.0)));
}

#[test]
fn a_disk_that_takes_one_at_a_time_has_its_knee_at_one() {
    let mut bench = built_in("st3250823a");
    bench.random(bench.whole(), OperationMix::Read, &[1, 2, 4, 8], 3);
    let finding = find(&bench, FindingCode::ConcurrencyKnee).unwrap();
    let estimate = finding.estimate().unwrap();
    assert_eq!((estimate.low, estimate.value, estimate.high), (1.0, 1.0, 1.0));
    let statement = statement(&bench, FindingCode::ConcurrencyKnee);
    assert!(statement.starts_with("One request at a time is the best balance"), "{statement}");
}

/// 256 at a time wait for three seconds each at a disk that answers 85 in a second: in phases of four seconds only those end that
/// were quick, and their 99th percentile would be less than the mean of all.
#[test]
fn phases_that_are_no_longer_than_a_request_have_no_percentiles() {
    let mut bench = built_in("st3250823a");
    for _ in 0..3 {
        for depth in [1, 256] {
            let pattern = Pattern::RandomWithReplacement;
            let workload = Workload::new(bench.whole(), pattern, OperationMix::Read, Bytes(4096), depth);
            bench.run(PhaseKind::Measure, workload, StopCondition::after(Nanos::from_secs(4)));
        }
    }
    let gain = find(&bench, FindingCode::ConcurrencyGain).unwrap();
    let Some(Datum::List(points)) = datum(&gain, "points") else { panic!("no points") };
    let has_p99 = |point: &Datum| matches!(point, Datum::Record(fields) if fields.iter().any(|(name, _)| name == "p99_s"));
    assert_eq!(points.iter().map(has_p99).collect::<Vec<_>>(), [true, false]);
}

/// By the profile a read within the first hundredth of this disk takes 0.2 ms of overhead, a short seek and half a turn.
#[test]
fn a_hundredth_of_a_disk_is_faster_than_all_of_it() {
    let mut bench = built_in("st3000dm001");
    spans(&mut bench, &[1.0, 0.1, 0.01], 3);
    let gain = value(&bench, FindingCode::SpanEffect).unwrap();
    assert!((1.6..2.2).contains(&gain), "{gain}");
    let points = datum(&find(&bench, FindingCode::SpanEffect).unwrap(), "points");
    assert!(matches!(points, Some(Datum::List(points)) if points.len() == 3));
}

#[test]
fn what_has_no_arm_is_as_fast_everywhere() {
    let mut bench = built_in("constant");
    spans(&mut bench, &[1.0, 0.01], 3);
    assert_eq!(value(&bench, FindingCode::SpanEffect), Some(1.0));
    assert_eq!(
        statement(&bench, FindingCode::SpanEffect),
        "Reads within a small part of it are as quick as over all of it: it has no arm to move."
    );
}

#[test]
fn one_span_asks_nothing_of_others() {
    let mut bench = built_in("st3000dm001");
    spans(&mut bench, &[1.0], 3);
    assert_eq!(find(&bench, FindingCode::SpanEffect), None);
}

/// Around the knee more rounds are made than elsewhere: they are no rounds of the best.
#[test]
fn the_gain_is_that_of_the_best_however_many_rounds_each_has() {
    let mut bench = built_in("constant");
    bench.random(bench.whole(), OperationMix::Read, &[1, 2, 4, 8, 16], 3);
    bench.random(bench.whole(), OperationMix::Read, &[2], 2);
    let gain = value(&bench, FindingCode::ConcurrencyGain).unwrap();
    assert!((gain - 8.0).abs() < 0.01, "{gain}");
    let statement = statement(&bench, FindingCode::ConcurrencyGain);
    assert!(statement.contains("80000 instead of 10000"), "{statement}");
}

/// Two disks answer twice as much whatever more is asked at a time: the gain rests on all depths, and so do both rates beside it.
#[test]
fn the_rates_beside_a_gain_are_that_many_times_each_other() {
    let mut bench = built_in("raid1-2");
    bench.random(bench.whole(), OperationMix::Read, &[1, 4, 8, 16], 4);
    let gain = value(&bench, FindingCode::ConcurrencyGain).unwrap();
    let statement = statement(&bench, FindingCode::ConcurrencyGain);
    let words = statement.split_whitespace().map(|word| word.trim_end_matches(['.', ':']));
    let numbers = words.filter_map(|word| word.parse::<f64>().ok());
    let rates: Vec<f64> = numbers.filter(|number| *number > 40.0).collect();
    assert!((rates[0] / rates[1] / gain - 1.0).abs() < 0.02, "{statement}");
}

/// The clock of a run stands still while it is stopped, and platters do not.
#[test]
fn angles_from_before_and_after_a_stop_are_not_put_together() {
    let mut bench = built_in("st3000dm001");
    bench.random(bench.whole(), OperationMix::Read, &[1, 2], 1);
    bench.target.kind = TargetKind::Device;
    assert!(analysis::geometry::all_readings(&bench.view()).is_ok());
    bench.phases[0].stopped = Some(StopReason::Interrupted);
    assert!(analysis::geometry::all_readings(&bench.view()).is_err_and(|why| why.contains("stopped")));
    bench.target.kind = TargetKind::Sim;
    assert!(analysis::geometry::all_readings(&bench.view()).is_ok(), "virtual time goes on where it stood");
}

/// Single reads of 4 KiB over all of a drive as `access` makes them.
fn single_reads(text: &str, rounds: usize) -> Bench {
    let profile = sim::profile::Profile::parse(text, "own").unwrap();
    let mut bench = Bench::new(sim::profile::open_profile(&profile, "own", 1).unwrap(), 2);
    bench.ask("access");
    bench.random(bench.whole(), OperationMix::Read, &[1], rounds);
    bench
}

/// 100 µs, and 1 ms in the last tenth: the shares of about 5300 reads a second in each of three rounds.
#[test]
fn two_kinds_of_answers_are_told_with_their_shares() {
    let text = sim::profile::preset_text("constant").unwrap();
    let slow = "\n[[faults]]\nkind = \"slow\"\nfirst_byte = 900000000000\nmilliseconds = 0.9\n";
    let bench = single_reads(&format!("{text}{slow}"), 3);
    let finding = find(&bench, FindingCode::LatencyModes).unwrap();
    assert_eq!(value(&bench, FindingCode::LatencyModes), Some(2.0));
    let Some(Datum::List(modes)) = datum(&finding, "modes") else { panic!("no modes") };
    let number = |mode: &Datum, wanted: &str| match mode {
        Datum::Record(parts) => match parts.iter().find(|(name, _)| name == wanted) {
            Some((_, Datum::Number(number))) => *number,
            _ => panic!("no {wanted}"),
        },
        _ => panic!("no record"),
    };
    for (mode, seconds, share) in [(&modes[0], 100e-6, 0.9), (&modes[1], 1000e-6, 0.1)] {
        assert!((number(mode, "seconds") / seconds - 1.0).abs() < 0.005, "{mode:?}");
        assert!((number(mode, "share_low")..=number(mode, "share_high")).contains(&share), "{mode:?}");
        assert!(number(mode, "share_high") - number(mode, "share_low") < 0.02, "{mode:?}");
    }
}

#[test]
fn one_kind_of_answers_is_one() {
    for name in ["constant", "st3250823a", "sata-tlc-500gb"] {
        let text = sim::profile::preset_text(name).unwrap();
        let bench = single_reads(&text, 3);
        assert_eq!(value(&bench, FindingCode::LatencyModes), Some(1.0), "{name}");
    }
}

/// 20 reads cannot hold two kinds that a chance would not make.
#[test]
fn a_few_reads_do_not_say_how_many_kinds_there_are() {
    let mut bench = built_in("constant");
    bench.ask("access");
    let workload = Workload::new(bench.whole(), Pattern::RandomOnce, OperationMix::Read, Bytes(4096), 1);
    bench.run(PhaseKind::Measure, workload, StopCondition::after(Nanos::from_millis(2)));
    let finding = find(&bench, FindingCode::LatencyModes).unwrap();
    assert!(finding.estimate().is_none(), "{finding:?}");
}
