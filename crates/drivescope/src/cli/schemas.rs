//! The JSON Schema of every document that the program writes: what docs/schema/ is made of.

use super::{config, declarations, dry_run, list, purge, restore, runs, serve, sim, written};
use crate::reproduce::Reproduction;
use model::schema::of;
use report::glossary::Term;

pub fn schemas() -> Vec<schemars::Schema> {
    let mut all = store::document::schemas();
    all.push(store::drive_note_schema());
    all.extend(report::json::schemas());
    all.extend([
        of::<dry_run::DryRunDocument>("drivescope.dry-run/1"),
        of::<purge::PurgePlanDocument>("drivescope.purge-plan/1"),
        of::<declarations::HelpDocument>("drivescope.help/1"),
        of::<config::ConfigDocument>("drivescope.config/1"),
        of::<Term>("drivescope.term/1"),
        of::<list::ListDocument>("drivescope.list/1"),
        of::<restore::RestoredDocument>("drivescope.restored/1"),
        of::<restore::JournalsDocument>("drivescope.journals/1"),
        of::<runs::RunListDocument>("drivescope.run-list/1"),
        of::<serve::ServeDocument>("drivescope.serve/1"),
        of::<sim::list::SimListDocument>("drivescope.sim-list/1"),
        of::<sim::truth::TruthDocument>("drivescope.truth/1"),
        of::<sim::mount::MountDocument>("drivescope.mount/1"),
        of::<Reproduction>("drivescope.reproduction/1"),
        of::<written::WrittenDocument>("drivescope.written/1"),
        of::<sim::show::ProfileDocument>("drivescope.profile/1"),
    ]);
    all
}
