//! The document `drivescope.run/1` of a run; of several, `drivescope.runs/1` with a list of them.

use super::job::{Export, ExportJob, Goal, all_runs, give};
use crate::error::UserError;
use model::run::Run;
use report::finding::documents;

pub const JSON: Export = Export {
    name: "json",
    ending: Some("json"),
    about: "Everything but the series, as drivescope itself keeps it",
    write,
};

pub fn document(run: &Run) -> String {
    store::document::to_json(run, &documents(run))
}

fn write(job: &dyn ExportJob) -> Result<(), UserError> {
    if let Goal::Folder(_) = job.goal() {
        for name in job.names() {
            let run = job.read(name)?.run;
            give(job, &document(&run), &format!("{}.json", run.id))?;
        }
        return Ok(());
    }
    let documents: Vec<String> = all_runs(job)?.iter().map(document).collect();
    match documents.as_slice() {
        [one] => give(job, one, ""),
        several => {
            let runs = several.join(",\n");
            give(job, &format!("{{\"schema\": \"drivescope.runs/1\",\n\"runs\": [\n{runs}]}}\n"), "")
        }
    }
}
