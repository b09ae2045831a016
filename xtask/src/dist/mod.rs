//! `cargo xtask dist`: everything that people install, made into `dist/`; `--check` installs each in a clean place and uses it.
//!
//! ```text
//! static program ──► staged tree (program, man pages, completions, units, licences, SBOM) ──► tar.gz, .deb, .rpm, image
//!        └─────────► wheel                                                                     └──► SHA256SUMS
//! ```
//! The program is linked with a static glibc: one file that runs on every Linux of its architecture, whatever its C library.
//! Everything is dated by the last commit, so that one commit may give the same bytes twice; `--reproduce` tries it.

mod check;
mod components;
mod files;
mod packages;
mod release;
mod stage;

use std::fs;

use crate::failure::Failure;
use crate::workspace::target_folder;
use files::{create, folder, read};
use release::Release;

const USAGE: &str = "Usage: cargo xtask dist [--check | --reproduce]";

/// Makes everything, or checks what was made.
pub fn run(arguments: &[String]) -> Result<(), Failure> {
    match arguments {
        [] => make(),
        [argument] if argument == "--check" => check::run(&Release::of_workspace()?),
        [argument] if argument == "--reproduce" => reproduce(),
        _ => Err(Failure::cannot(USAGE)),
    }
}

fn make() -> Result<(), Failure> {
    let release = Release::of_workspace()?;
    release.build(&target_folder())?;
    create(&folder())?;
    let staged = stage::stage(&release)?;
    let mut made = vec![packages::archive(&release, &staged)?];
    made.extend(packages::debian(&release, &staged)?);
    made.extend(packages::rpm(&release, &staged)?);
    made.extend(packages::wheel(&release)?);
    made.extend(packages::image(&release, &staged)?);
    packages::checksums(&made)?;
    for path in &made {
        let bytes = fs::metadata(path).map_or(0, |file| file.len());
        println!("{:>12} bytes  {}", bytes, path.display());
    }
    Ok(())
}

/// Builds the program a second time in another folder, and compares the bytes.
fn reproduce() -> Result<(), Failure> {
    let release = Release::of_workspace()?;
    let again = target_folder().join("again");
    release.build(&again)?;
    let second = again.join(&release.target).join("dist/drivescope");
    let (first, second) = (read(&release.program)?, read(&second)?);
    if first == second {
        println!("Both builds have the same {} bytes.", first.len());
        return Ok(());
    }
    println!("The two builds differ: {} and {} bytes.", first.len(), second.len());
    Err(Failure::checks_failed())
}
