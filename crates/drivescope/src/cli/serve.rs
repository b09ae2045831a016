//! `drivescope serve`: the store in a browser, on this machine only.

use super::args::ServeArguments;
use super::report_page::document;
use super::{existing_store, no_runs, output};
use crate::error::{UserError, exit};
use crate::interrupt;
use crate::serve::Server;
use std::fs::OpenOptions;
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Runs the command; the exit status.
///
/// # Errors
/// When there is no store, or the port cannot be had.
pub fn run(arguments: &ServeArguments, store: Option<&Path>) -> Result<u8, UserError> {
    let none = || no_runs(store).map_or_else(|error| error, UserError::failure);
    let existing = existing_store(store)?.ok_or_else(none)?;
    let stop = interrupt::flag()?;
    let server = Server::bind(existing, arguments.port, document)
        .map_err(|error| cannot_listen(arguments.port, &error))?;
    output::print(&format!("{}\n", server.url()))?;
    output::say(
        "whoever has this address may read your runs, on this machine, until you press Ctrl-C. Nobody can change anything there.",
    );
    let page = arguments.open.then(|| open(&server.url()));
    if let Some(Err(error)) = &page {
        output::say(&format!("cannot open a browser ({error}). Open the address yourself"));
    }
    let served = server.run(stop);
    if let Some(Ok(path)) = page {
        // Somebody may have removed it already.
        let _ = std::fs::remove_file(path);
    }
    served.map_err(|error| UserError::failure(format!("cannot go on listening: {error}")))?;
    Ok(exit::SUCCESS)
}

fn cannot_listen(port: u16, error: &io::Error) -> UserError {
    let advice = match error.kind() {
        io::ErrorKind::AddrInUse => "Something else listens there. Choose another, or none: drivescope serve",
        io::ErrorKind::PermissionDenied => {
            "Ports below 1024 are the administrator's. Choose another, or none: drivescope serve"
        }
        _ => "Is there a loopback interface? `ip address show lo` tells",
    };
    UserError::failure(format!("cannot listen on port {port} of 127.0.0.1: {error}. {advice}"))
}

/// Opens a page in the browser that goes on to the address. The address itself, as an argument of a program, could be seen by
/// everybody on this machine; the page can be read by its owner only.
fn open(url: &str) -> io::Result<PathBuf> {
    let folder = std::env::var_os("XDG_RUNTIME_DIR").map_or_else(std::env::temp_dir, PathBuf::from);
    let path = folder.join(format!("drivescope-{}.html", std::process::id()));
    let mut page = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path)?;
    page.write_all(
        format!("<!doctype html>\n<meta charset=\"utf-8\">\n<title>drivescope</title>\n<meta http-equiv=\"refresh\" content=\"0; url={url}\">\n")
            .as_bytes(),
    )?;
    let opened = Command::new("xdg-open")
        .arg(&path)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
    match opened {
        Ok(mut browser) => {
            // It hands over and ends; nobody waits for it otherwise.
            std::thread::spawn(move || browser.wait());
            Ok(path)
        }
        Err(error) => {
            let _ = std::fs::remove_file(&path);
            Err(io::Error::new(error.kind(), format!("xdg-open: {error}")))
        }
    }
}
