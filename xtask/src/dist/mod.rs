//! `cargo xtask dist`: everything that people install, made into `dist/`; `--check` installs each in a clean place and uses it.
//!
//! ```text
//! static program ──► staged tree (program, man pages, completions, units, licences, SBOM) ──► tar.gz, .deb, .rpm, image
//!        └─────────► wheel                                                                     └──► SHA256SUMS
//! ```
//! The program is linked with a static glibc: one file that runs on every Linux of its architecture, whatever its C library.
//! Everything is dated by the last commit, so that one commit gives the same bytes twice; `--reproduce` tries it.

mod check;
mod components;
pub mod files;
mod packages;
pub mod release;
mod reproduce;
mod stage;

use std::fs;

use crate::failure::Failure;
use files::{create, folder};
use release::Release;

const USAGE: &str = "Usage: cargo xtask dist [--target TARGET | --check | --reproduce]";

pub fn run(arguments: &[String]) -> Result<(), Failure> {
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words[..] {
        [] => make(&Release::of_this_machine()?),
        ["--target", target] => make(&Release::of_target(target)?),
        ["--check"] => check::run(&Release::of_this_machine()?),
        ["--reproduce"] => {
            reproduce::is_committed()?;
            make(&Release::of_this_machine()?)?;
            reproduce::run()
        }
        _ => Err(Failure::cannot(USAGE)),
    }
}

fn make(release: &Release) -> Result<(), Failure> {
    release.build()?;
    create(&folder())?;
    let staged = stage::stage(release)?;
    let mut made = vec![packages::archive(release, &staged)?];
    made.extend(packages::debian(release, &staged)?);
    made.extend(packages::rpm(release, &staged)?);
    made.extend(packages::wheel(release, &staged)?);
    made.extend(packages::image(release, &staged)?);
    packages::checksums()?;
    for path in &made {
        let bytes = fs::metadata(path).map_or(0, |file| file.len());
        println!("{:>12} bytes  {}", bytes, path.display());
    }
    Ok(())
}
