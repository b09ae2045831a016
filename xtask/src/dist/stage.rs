//! The tree that all packages are made of, below `target/dist-stage`: as it lies in `/usr`, so that no two packages differ.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::components;
use super::files::{create, empty, read, told, write};
use super::release::Release;
use crate::failure::{Doing, Failure};
use crate::workspace::{root, target_folder};

/// Completions: the shell, and where it looks for them.
const COMPLETIONS: [(&str, &str); 3] = [
    ("bash", "share/bash-completion/completions/drivescope"),
    ("zsh", "share/zsh/vendor-completions/_drivescope"),
    ("fish", "share/fish/vendor_completions.d/drivescope.fish"),
];
/// Files that go into a package as they are: where they are here, and where they go.
const FILES: [(&str, &str); 10] = [
    ("packaging/systemd/drivescope-check@.service", "lib/systemd/system/drivescope-check@.service"),
    ("packaging/systemd/drivescope-check@.timer", "lib/systemd/system/drivescope-check@.timer"),
    ("packaging/prometheus/drivescope.rules.yml", "share/drivescope/drivescope.rules.yml"),
    ("packaging/grafana/drivescope.json", "share/drivescope/grafana.json"),
    ("packaging/grafana/fleet.json", "share/drivescope/grafana-fleet.json"),
    ("packaging/Containerfile", "share/doc/drivescope/Containerfile"),
    ("LICENSE-MIT", "share/doc/drivescope/LICENSE-MIT"),
    ("LICENSE-APACHE", "share/doc/drivescope/LICENSE-APACHE"),
    ("README.md", "share/doc/drivescope/README.md"),
    ("CHANGELOG.md", "share/doc/drivescope/CHANGELOG.md"),
];

pub fn stage(release: &Release) -> Result<PathBuf, Failure> {
    let folder = target_folder().join("dist-stage").join(release.name());
    empty(&folder)?;
    let program = folder.join("bin/drivescope");
    write(&program, read(&release.program)?)?;
    make_executable(&program)?;
    for (from, to) in FILES {
        write(&folder.join(to), read(&root().join(from))?)?;
    }
    let here = release.program_here()?;
    for (shell, to) in COMPLETIONS {
        let script = told(Command::new(&here).args(["completions", shell]))?;
        write(&folder.join(to), format!("{script}\n"))?;
    }
    manual(&here, &folder.join("share/man/man1"))?;
    let linked = components::linked(&release.target)?;
    let documents = folder.join("share/doc/drivescope");
    write(&documents.join("LICENSES-OF-CRATES.txt"), components::licences(&linked))?;
    write(&documents.join("sbom.cdx.json"), components::bill_of_materials(&release.version, &linked))?;
    Ok(folder)
}

/// Man pages, compressed as Debian and RPM want them.
fn manual(program: &Path, folder: &Path) -> Result<(), Failure> {
    create(folder)?;
    told(Command::new(program).arg("man").arg(folder))?;
    let mut compress = Command::new("gzip");
    compress.args(["-9", "-n"]);
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        compress.arg(entry.path());
    }
    told(&mut compress).map(drop)
}

/// Modes of a package do not depend on whoever makes it.
fn make_executable(program: &Path) -> Result<(), Failure> {
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(program, fs::Permissions::from_mode(0o755))
        .doing(format_args!("make {} executable", program.display()))
}
