//! The JSON Schema of every document that the program writes: what docs/schema/ is made of.

use super::{config, declarations, help, list, restore, runs, sim};
use model::schema::of;

pub fn schemas() -> Vec<schemars::Schema> {
    let mut all = store::document::schemas();
    all.push(store::drive_note_schema());
    all.extend(report::json::schemas::<::sim::truth::TruthData>());
    all.extend([
        of::<declarations::HelpDocument>("drivescope.help/1"),
        of::<config::ConfigDocument>("drivescope.config/1"),
        of::<help::TermDocument>("drivescope.term/1"),
        of::<list::ListDocument>("drivescope.list/1"),
        of::<restore::RestoredDocument>("drivescope.restored/1"),
        of::<restore::JournalsDocument>("drivescope.journals/1"),
        of::<runs::RunListDocument>("drivescope.run-list/1"),
        of::<sim::list::SimListDocument>("drivescope.sim-list/1"),
        of::<sim::show::ProfileDocument>("drivescope.profile/1"),
    ]);
    all
}
