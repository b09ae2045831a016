//! `request.json` in the folder of a run: what was asked for, from which it is resumed.

use super::output;
use crate::error::{Cannot, UserError};
use crate::store::Store;
use experiment::request::Request;
use std::fs;
use std::path::Path;

const REQUEST_FILE: &str = "request.json";

pub(super) fn keep(folder: &Path, request: &Request) -> Result<(), UserError> {
    let path = folder.join(REQUEST_FILE);
    fs::write(&path, output::json(request)).or_cannot(&format!("write {}", path.display()))
}

/// What a run was asked for; none of a run from before this was kept, or where it cannot be understood.
pub(super) fn of_run(store: &Store, id: &str) -> Result<Option<Request>, UserError> {
    let Ok(text) = fs::read_to_string(store.run_folder(id).join(REQUEST_FILE)) else { return Ok(None) };
    Ok(serde_json::from_str(&text).ok())
}
