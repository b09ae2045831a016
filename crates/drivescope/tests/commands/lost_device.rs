//! A drive that goes away in the middle of a check: what was measured is kept, the run is called failed, and the
//! finding says when it went.

use crate::program::Home;
use drivescope::control::Controls;
use drivescope::event::{Event, EventSink};
use drivescope::session::Session;
use drivescope::stamp::{self, Occasion};
use experiment::check::Check;
use experiment::sustain::{Sustain, SustainRequest, WritePattern};
use experiment::{Experiment, Setup};
use io::rig::Rig;
use model::finding::FindingCode;
use model::plan::StopReason;
use model::range::ByteRange;
use model::run::{Asked, Consent, Run, RunStatus, Series};
use model::units::{Bytes, Instant, Offset};
use sim::fault::{Fault, FaultyDrive};
use std::sync::atomic::AtomicBool;
use store::Store;

const GONE_AT: Instant = Instant::new(3_000_000_000);

/// Counts what a screen would have been told.
#[derive(Default)]
struct Told {
    began: u32,
    ended: u32,
}

impl EventSink for Told {
    fn event(&mut self, event: &Event<'_>) {
        match event {
            Event::RunBegan(..) => self.began += 1,
            Event::RunEnded(_) => self.ended += 1,
            _ => {}
        }
    }
}

/// `sim:constant` with that fault, measured by an experiment of that name.
fn run_on_faulty(
    store: &Store,
    fault: Fault,
    name: &'static str,
    plan: impl FnOnce(Setup) -> Box<dyn Experiment>,
) -> Run {
    let sound = sim::open("constant", 1).expect("a drive that ships");
    let facts = sound.facts().clone();
    let rig = Rig::on_virtual_drive(Box::new(FaultyDrive::new(sound, vec![fault])));
    let setup = Setup {
        range: ByteRange::whole(facts.capacity),
        facts: facts.clone(),
        may_write: true,
        empty: false,
        seed: 1,
        time_limit: None,
        precision: None,
    };
    let run = stamp::begin(Occasion {
        asked: Asked { experiment: name.into(), consent: Consent::Overwrite },
        command: format!("drivescope {name} sim:constant --seed 1"),
        seed: 1,
        facts,
        profile: None,
        engine: rig.engine(),
        direct: rig.is_direct(),
        overhead: None,
        warnings: Vec::new(),
        state_before: Vec::new(),
    });
    let writer = store.begin(&run).expect("a store that can be written");
    let mut told = Told::default();
    let interrupt = AtomicBool::new(false);
    let session = Session {
        rig,
        writer,
        run,
        events: &mut told,
        interrupt: &interrupt,
        controls: &Controls::default(),
        trace: false,
        owed: None,
        preserving: None,
    };
    let run = session.run(plan(setup).as_mut()).expect("a lost drive is no error of the program");
    assert_eq!((told.began, told.ended), (1, 1));
    run
}

#[test]
fn a_drive_that_goes_away_leaves_a_failed_run_and_a_finding() {
    let home = Home::new();
    let store = Store::open(&home.store()).expect("a store");
    let run = run_on_faulty(&store, Fault::GoneAt(GONE_AT), "check", |setup| {
        let setup = Setup { may_write: false, ..setup };
        Box::new(Check::new(setup).expect("a drive with room for a check"))
    });
    assert_eq!(run.status, RunStatus::Failed);
    let last = run.phases.last().expect("phases");
    assert_eq!(last.stopped, Some(StopReason::DeviceGone));
    assert!(run.phases.len() > 5 && run.phases[..5].iter().all(|phase| phase.operations() > 0));
    let lost =
        run.findings.iter().find(|finding| finding.code() == FindingCode::DeviceLost).expect("device-lost");
    let at_s = lost.estimate().expect("a time").value;
    assert!((3.0..3.01).contains(&at_s), "it went after 3 s, not {at_s}");

    let stored = Store::open(&home.store()).expect("a store").read("last").expect("the run is kept");
    assert_eq!(stored.run.status, RunStatus::Failed);
    assert!(stored.damage.is_empty(), "{:?}", stored.damage);
    assert!(stored.series.intervals(1).next().is_some(), "its records are kept");
    let page = home.print(&["show"]);
    assert!(page.contains("FAILED") && page.contains("The device went away 3.0 s after the start"), "{page}");
    assert!(home.print(&["runs"]).contains("failed"));
}

/// There is no end by bytes where nothing more can be written: a drive that has gone read-only, or answers no more.
#[test]
fn writes_that_all_fail_come_to_an_end() {
    let home = Home::new();
    let store = Store::open(&home.store()).expect("a store");
    let refused = ByteRange::new(Offset::new(1 << 30), Bytes::from_gib(100)).expect("a range");
    let run = run_on_faulty(&store, Fault::Unreadable(refused), "sustain", |setup| {
        let request = SustainRequest { pattern: Some(WritePattern::Sequential), ..SustainRequest::default() };
        Box::new(Sustain::new(setup, request).expect("a drive that may be written"))
    });
    assert!(run.phases.last().expect("phases").has_all_failed());
    let warnings = run.environment.warnings.join(" ");
    assert!(warnings.contains("Too many requests failed"), "{warnings}");
}
