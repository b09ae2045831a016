//! Where the tests make their temporary folders: somewhere with room, since drivescope refuses to measure in a file system of which
//! less than a tenth is free, and on a full machine its tests would fail for that alone.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::workspace::target_folder;

/// Room for the largest scratch files of tests that run at the same time, above the tenth that stays free.
const ROOM_BYTES: u64 = 3 << 30;

/// The first with room of: the usual place, the folder of what is built, `/var/tmp`, memory; else the first, and tests tell.
pub fn choose() -> PathBuf {
    let usual = std::env::temp_dir();
    let others = [target_folder().join("tmp"), "/var/tmp".into(), "/dev/shm".into()];
    if has_room(&usual) {
        return usual;
    }
    let chosen = others.into_iter().find(|folder| has_room(folder)).unwrap_or(usual.clone());
    println!("Temporary folders: in {}, as {} is nearly full.", chosen.display(), usual.display());
    chosen
}

fn has_room(folder: &Path) -> bool {
    matches!(size_and_free_bytes(folder), Some((size, free)) if free > size / 10 + ROOM_BYTES)
}

/// As `df` tells them; none where there is no such folder.
fn size_and_free_bytes(folder: &Path) -> Option<(u64, u64)> {
    let output =
        Command::new("df").args(["--output=size,avail", "--block-size=1"]).arg(folder).output().ok()?;
    second_line(&String::from_utf8(output.stdout).ok()?)
}

fn second_line(table: &str) -> Option<(u64, u64)> {
    let mut words = table.lines().nth(1)?.split_whitespace();
    Some((words.next()?.parse().ok()?, words.next()?.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::{second_line, size_and_free_bytes};
    use std::path::Path;

    #[test]
    fn the_second_line_has_the_numbers() {
        let table = "     1B-blocks       Avail\n270551433216 69793218560\n";
        assert_eq!(second_line(table), Some((270_551_433_216, 69_793_218_560)));
        assert_eq!(second_line("     1B-blocks       Avail\n"), None);
        assert_eq!(second_line("a\n- -\n"), None);
    }

    #[test]
    fn what_is_not_there_has_no_room() {
        assert_eq!(size_and_free_bytes(Path::new("/proc/none/such")), None);
        assert!(size_and_free_bytes(Path::new("/")).is_some_and(|(size, free)| size >= free && size > 0));
    }
}
