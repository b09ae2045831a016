//! Writes what each target begins with: `fuzz-seeds WORKSPACE FOLDER` makes `FOLDER/TARGET/seed-000` and so on.
#![forbid(unsafe_code)]

use fuzz::TARGETS;
use std::path::PathBuf;

fn main() -> std::io::Result<()> {
    let mut words = std::env::args_os().skip(1).map(PathBuf::from);
    let (Some(workspace), Some(folder)) = (words.next(), words.next()) else {
        return Err(std::io::Error::other("Usage: fuzz-seeds WORKSPACE FOLDER"));
    };
    for target in TARGETS {
        let own = folder.join(target.name);
        std::fs::create_dir_all(&own)?;
        for (number, seed) in target.seeds(&workspace).iter().enumerate() {
            std::fs::write(own.join(format!("seed-{number:03}")), seed)?;
        }
    }
    Ok(())
}
