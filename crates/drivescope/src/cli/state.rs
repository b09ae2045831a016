//! `drivescope state`: what a drive went through.

use super::args::StateArguments;
use super::output;
use super::stored::existing_store;
use crate::error::{UserError, exit};
use crate::state;
use std::path::Path;

pub fn run(arguments: &StateArguments, store: Option<&Path>) -> Result<u8, UserError> {
    if arguments.target.starts_with("sim:") {
        return Err(UserError::usage(
            "a virtual drive begins anew with each run, so it has no past. Name a device, a file or a folder",
        ));
    }
    let store = existing_store(store)?;
    let page = state::page_of(store.as_ref(), &arguments.target)?;
    output::give_page(|style| report::terminal::state_page(&page, style), &page, &arguments.page)?;
    Ok(exit::SUCCESS)
}
