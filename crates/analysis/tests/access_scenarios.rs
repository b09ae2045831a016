//! Drives of which we know how they take many requests and small spans: what must be found, and what must not.

mod bench;

use bench::*;
use model::finding::{ConcurrencyGain, ConcurrencyKnee, FindingCode, LatencyModes, NoGeometry, SpanEffect};
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
            let bytes =
                Bytes::new((bench.target.capacity.as_f64() * share) as u64).round_down_to(Bytes::new(4096));
            let range = ByteRange::new(bench.whole().first(), bytes).unwrap();
            let workload = Workload::new(range, Pattern::RandomOnce, OperationMix::Read, Bytes::new(4096), 1);
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
    let knee = &finding.as_known::<ConcurrencyKnee>().unwrap().conclusion;
    assert_eq!(knee.knee.in_flight, 8);
    assert!((knee.knee.iops / 80_000.0 - 1.0).abs() < 0.01, "{knee:?}");
    assert_eq!((knee.kneedle, knee.disagreeing.as_slice()), (Some(8.0), &[][..]));
}

#[test]
fn a_disk_that_takes_one_at_a_time_has_its_knee_at_one() {
    let mut bench = built_in("st3250823a");
    bench.random(bench.whole(), OperationMix::Read, &[1, 2, 4, 8], 3);
    let finding = find(&bench, FindingCode::ConcurrencyKnee).unwrap();
    let estimate = finding.estimate().unwrap();
    assert_eq!((estimate.low, estimate.value, estimate.high), (1.0, 1.0, 1.0));
    assert_eq!(finding.as_known::<ConcurrencyKnee>().unwrap().conclusion.knee.in_flight, 1);
}

/// 256 at a time wait for three seconds each at a disk that answers 85 in a second: in phases of four seconds only those end that
/// were quick, and their 99th percentile would be less than the mean of all.
#[test]
fn phases_that_are_no_longer_than_a_request_have_no_percentiles() {
    let mut bench = built_in("st3250823a");
    for _ in 0..3 {
        for depth in [1, 256] {
            let pattern = Pattern::RandomWithReplacement;
            let workload = Workload::new(bench.whole(), pattern, OperationMix::Read, Bytes::new(4096), depth);
            bench.run(PhaseKind::Measure, workload, StopCondition::after(Nanos::from_secs(4)));
        }
    }
    let gain = find(&bench, FindingCode::ConcurrencyGain).unwrap();
    let points = &gain.as_known::<ConcurrencyGain>().unwrap().conclusion.points;
    assert_eq!(points.iter().map(|point| point.p99_s.is_some()).collect::<Vec<_>>(), [true, false]);
}

/// By the profile a read within the first hundredth of this disk takes 0.2 ms of overhead, a short seek and half a turn.
#[test]
fn a_hundredth_of_a_disk_is_faster_than_all_of_it() {
    let mut bench = built_in("st3000dm001");
    spans(&mut bench, &[1.0, 0.1, 0.01], 3);
    let gain = value(&bench, FindingCode::SpanEffect).unwrap();
    assert!((1.6..2.2).contains(&gain), "{gain}");
    let found = find(&bench, FindingCode::SpanEffect).unwrap();
    assert_eq!(found.as_known::<SpanEffect>().unwrap().conclusion.points.len(), 3);
}

#[test]
fn what_has_no_arm_is_as_fast_everywhere() {
    let mut bench = built_in("constant");
    spans(&mut bench, &[1.0, 0.01], 3);
    assert_eq!(value(&bench, FindingCode::SpanEffect), Some(1.0));
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
    let found = find(&bench, FindingCode::ConcurrencyGain).unwrap();
    let points = &found.as_known::<ConcurrencyGain>().unwrap().conclusion.points;
    assert!((points[0].iops / 10_000.0 - 1.0).abs() < 0.01, "{points:?}");
}

/// The clock of a run stands still while it is stopped, and platters do not.
#[test]
fn angles_from_before_and_after_a_stop_are_not_put_together() {
    let mut bench = built_in("st3000dm001");
    bench.random(bench.whole(), OperationMix::Read, &[1, 2], 1);
    bench.target.kind = TargetKind::Device;
    assert!(analysis::geometry::all_readings(&bench.view()).is_ok());
    bench.phases[0].stopped = Some(StopReason::Interrupted);
    assert!(analysis::geometry::all_readings(&bench.view()).is_err_and(|why| why == NoGeometry::Resumed));
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
    let modes = &finding.as_known::<LatencyModes>().unwrap().conclusion.modes;
    for (mode, seconds, share) in [(&modes[0], 100e-6, 0.9), (&modes[1], 1000e-6, 0.1)] {
        assert!((mode.seconds / seconds - 1.0).abs() < 0.005, "{mode:?}");
        assert!((mode.share_low..=mode.share_high).contains(&share), "{mode:?}");
        assert!(mode.share_high - mode.share_low < 0.02, "{mode:?}");
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
    let workload = Workload::new(bench.whole(), Pattern::RandomOnce, OperationMix::Read, Bytes::new(4096), 1);
    bench.run(PhaseKind::Measure, workload, StopCondition::after(Nanos::from_millis(2)));
    let finding = find(&bench, FindingCode::LatencyModes).unwrap();
    assert!(finding.estimate().is_none(), "{finding:?}");
}
