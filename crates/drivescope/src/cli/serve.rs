//! `drivescope serve`: the store in a browser, on this machine only.

use super::args::ServeArguments;
use super::output;
use super::report_page::document;
use super::stored::{existing_store, no_runs};
use crate::error::{Cannot, UserError, exit};
use crate::interrupt;
use crate::serve::Server;
use serde::Serialize;
use std::fs::OpenOptions;
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Schema `drivescope.serve/1`, printed when connections are accepted. Keys may be added; none is renamed or changes its meaning.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "schema", rename = "drivescope.serve/1")]
pub(super) struct ServeDocument {
    /// With the token, which gives read access to the store.
    url: String,
    port: u16,
    store: PathBuf,
}

pub fn run(arguments: &ServeArguments, store: Option<&Path>) -> Result<u8, UserError> {
    let Some(existing) = existing_store(store)? else { return Err(UserError::failure(no_runs(store)?)) };
    let folder = existing.folder().to_owned();
    let stop = interrupt::flag()?;
    let server = match Server::bind(existing, arguments.port, document) {
        Ok(server) => server,
        Err(error) => return Err(cannot_listen(arguments.port, &error)),
    };
    let (url, port) = (server.url(), server.port());
    let document = ServeDocument { url, port, store: folder };
    match &arguments.json {
        Some(_) => output::print(&output::json(&document))?,
        None => output::print(&format!("{}\n", document.url))?,
    }
    output::say("this address gives read access to your runs, on this machine only, until you press Ctrl-C");
    let mut page = None;
    if arguments.open {
        match open(&server.url()) {
            Ok(path) => page = Some(path),
            Err(error) => {
                output::say(&format!("cannot open a browser ({error}). Open the address yourself"));
            }
        }
    }
    let served = server.run(stop);
    if let Some(path) = page {
        let _ = std::fs::remove_file(path);
    }
    served.or_cannot("go on listening")?;
    Ok(exit::SUCCESS)
}

fn cannot_listen(port: u16, error: &io::Error) -> UserError {
    let advice = match error.kind() {
        io::ErrorKind::AddrInUse => "Another program uses it. Choose another port, or none: drivescope serve",
        io::ErrorKind::PermissionDenied => {
            "Ports below 1024 need root. Choose another port, or none: drivescope serve"
        }
        _ => "Check the loopback interface: ip address show lo",
    };
    UserError::failure(format!("cannot listen on port {port} of 127.0.0.1: {error}. {advice}"))
}

/// Opens a page in the browser that redirects to the address. As an argument of a program the address would be visible to
/// every user of this machine; the page is readable by its owner only.
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
            std::thread::spawn(move || browser.wait());
            Ok(path)
        }
        Err(error) => {
            let _ = std::fs::remove_file(&path);
            Err(io::Error::new(error.kind(), format!("xdg-open: {error}")))
        }
    }
}
