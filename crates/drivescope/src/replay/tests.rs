//! Stored runs, told again: the same as what was seen live.

use super::Feed;
use crate::control::Controls;
use crate::event::{Event, EventSink};
use crate::screen::state::{Quantiles, ScreenState};
use crate::session::Session;
use crate::stamp::{self, Occasion};
use crate::store::{Store, StoredRun};
use experiment::Setup;
use experiment::check::Check;
use io::rig::Rig;
use model::experiment_name::ExperimentName;
use model::plan::StopReason;
use model::range::ByteRange;
use model::run::{Asked, Consent, Run, RunStatus};
use model::units::Nanos;
use std::sync::atomic::AtomicBool;

struct Watcher<'keys> {
    state: ScreenState,
    phases: u32,
    controls: &'keys Controls,
    skips: Option<u32>,
}

impl EventSink for Watcher<'_> {
    fn event(&mut self, event: &Event<'_>) {
        self.state.event(event);
        match event {
            Event::PhaseBegan(number, ..) if self.skips == Some(*number) => self.controls.skip(),
            Event::PhaseEnded(..) => self.phases += 1,
            _ => {}
        }
    }
}

fn check(store: &Store, skips: Option<u32>) -> (Run, ScreenState) {
    let drive = sim::open("zoned", 1).unwrap();
    let facts = drive.facts().clone();
    let rig = Rig::on_virtual_drive(drive);
    let setup = Setup {
        range: ByteRange::whole(facts.capacity),
        facts: facts.clone(),
        may_write: false,
        empty: false,
        seed: 1,
        time_limit: Some(Nanos::from_secs(10)),
        precision: None,
    };
    let run = stamp::begin(Occasion {
        asked: Asked { experiment: ExperimentName::Check, consent: Consent::Read },
        command: "drivescope check sim:zoned --time-limit 10s --seed 1".into(),
        seed: 1,
        facts,
        profile: None,
        engine: rig.engine(),
        direct: rig.is_direct(),
        overhead: None,
        warnings: Vec::new(),
        state_before: Vec::new(),
    });
    let controls = Controls::default();
    let mut watcher = Watcher { state: ScreenState::default(), phases: 0, controls: &controls, skips };
    let interrupt = AtomicBool::new(false);
    let session = Session {
        rig,
        writer: store.begin(&run).unwrap(),
        run,
        events: &mut watcher,
        interrupt: &interrupt,
        controls: &controls,
        trace: false,
        owed: None,
        preserving: None,
    };
    let run = session.run(&mut Check::new(setup).unwrap()).unwrap();
    assert_eq!(watcher.phases as usize, run.phases.len());
    (run, watcher.state)
}

fn points(state: &ScreenState) -> Vec<(f64, f64)> {
    let rated = |(at, bin): (f64, &crate::screen::Bin)| Some((at, bin.rate()?));
    state.places.points(0).chain(state.times.points(0).filter_map(rated)).collect()
}

fn stored(skips: Option<u32>) -> (tempfile::TempDir, StoredRun, ScreenState) {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path()).unwrap();
    let (_, live) = check(&store, skips);
    let mut stored = store.read("last").unwrap();
    stored.run.findings = analysis::analyse(&stored.run.view(&stored.series));
    (folder, stored, live)
}

#[test]
fn a_replay_ends_with_the_screen_that_was_seen() {
    let (_folder, stored, live) = stored(None);
    let mut feed = Feed::new(&stored);
    let mut replayed = ScreenState::default();
    feed.jump(Nanos::ZERO, &mut replayed);
    let mut at = Nanos::ZERO;
    while !feed.advance(at, &mut replayed) {
        at += Nanos::from_millis(730);
    }
    assert!(points(&live).len() > 100);
    assert_eq!(points(&replayed), points(&live));
    assert_eq!(Quantiles::of(&replayed.latency.run), Quantiles::of(&live.latency.run));
    assert_eq!(replayed.findings, live.findings);
    assert_eq!((replayed.ended, live.ended), (Some(RunStatus::Complete), Some(RunStatus::Complete)));
    assert_eq!((replayed.subject, replayed.errors), (live.subject, live.errors));
    a_jump_lands_where_playing_comes_by(&stored);
}

fn a_jump_lands_where_playing_comes_by(stored: &StoredRun) {
    let half = Nanos::new(Feed::new(stored).total().get() / 2);
    let mut played = ScreenState::default();
    let mut feed = Feed::new(stored);
    feed.jump(Nanos::ZERO, &mut played);
    feed.advance(half, &mut played);
    let mut jumped = ScreenState::default();
    Feed::new(stored).jump(half, &mut jumped);
    assert_eq!(jumped.elapsed_s(), half.seconds());
    assert_eq!(jumped.phase, played.phase);
    assert_eq!(
        jumped.groups.iter().map(|group| group.left).sum::<u32>(),
        played.groups.iter().map(|group| group.left).sum::<u32>()
    );
    assert_eq!(
        jumped.places.points(0).map(|(at, _)| at).collect::<Vec<_>>(),
        played.places.points(0).map(|(at, _)| at).collect::<Vec<_>>()
    );
    let mut again = ScreenState::default();
    feed.jump(Nanos::ZERO, &mut again);
    assert_eq!(again.elapsed_s(), 0.0);
    assert_eq!(again.ended, None);
}

#[test]
fn a_skipped_phase_is_recorded_as_such_and_what_was_altered_still_plays_to_its_end() {
    let (_folder, mut stored, _) = stored(Some(3));
    let reasons: Vec<_> = stored.run.phases.iter().map(|phase| phase.stopped).collect();
    assert_eq!(reasons[3], Some(StopReason::Skipped));
    assert!(reasons.len() > 10, "{reasons:?}");
    assert_eq!(reasons.iter().filter(|reason| **reason == Some(StopReason::Skipped)).count(), 1);
    assert_eq!(stored.run.status, RunStatus::Complete);

    stored.run.phases[2].duration_ns = u64::MAX;
    stored.run.phases[3].start_ns = u64::MAX - 1;
    let mut state = ScreenState::default();
    let mut feed = Feed::new(&stored);
    feed.jump(Nanos::ZERO, &mut state);
    assert!(feed.advance(feed.total(), &mut state));
    drop(feed);

    stored.run.phases.clear();
    let mut state = ScreenState::default();
    Feed::new(&stored).jump(Nanos::ZERO, &mut state);
    assert_eq!(state.ended, Some(RunStatus::Complete));
}
