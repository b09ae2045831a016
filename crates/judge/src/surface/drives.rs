//! The virtual drives that are gone over: those that come with the program, some drawn at random, some of our own.

use crate::failure::Failure;
use crate::virtual_drive::{Drive, Folder, named, text};
use model::prng::Prng;

/// Disks and shingled ones, then links that are the limit everywhere, nowhere, and in the outer zones, then some drawn at
/// random, so that nobody tuned anything for them.
const DRIVES: &str = "st3250823a sata-160gb wd3000bkhg wd20ears hds723030ala640 st3000dm001 dt01aca300 disk-4tb \
    x300-hdwe150 exos-x20 failing-disk smr-2tb st8000as0002 st8000dm004 wd20ears-usb2 wd20ears-usb3 \
    exos-x20-on-sata-3 random-hard-disk-101 random-hard-disk-102 random-hard-disk-103 random-shingled-101";
/// A disk that reads 285 MB/s outside, on a port that carries 280.
const SLOW_PORT: &str = "exos-x20-on-sata-3";

pub fn chosen(chosen: &[String], folder: &Folder) -> Result<Vec<Drive>, Failure> {
    let names: Vec<&str> = match chosen {
        [] => DRIVES.split(' ').collect(),
        chosen => chosen.iter().map(String::as_str).collect(),
    };
    let mut drives = Vec::new();
    for name in names {
        drives.push(if name == SLOW_PORT { slow_port(folder)? } else { named(name)? });
    }
    Ok(drives)
}

fn slow_port(folder: &Folder) -> Result<Drive, Failure> {
    let text = text("exos-x20")?.replace("kind = \"sata-6\"", "kind = \"sata-3\"");
    folder.drive(SLOW_PORT, &text)
}

pub const SPOTS: u64 = 20;
/// How much longer each request to one takes, in milliseconds: a retry or three of the drive.
const SPOT_MS: u64 = 25;

/// A 4 TB disk with weak spots of a size that the seed places, none nearer to another than a thousandth of the drive.
pub fn weak(folder: &Folder, seed: u64, bytes: u64) -> Result<Drive, Failure> {
    let mut text = text("disk-4tb")?;
    let drive = named("disk-4tb")?;
    let capacity = drive.profile.capacity().map_or(0, model::units::Bytes::get);
    let mut prng = Prng::new(seed, 7);
    for number in 0..SPOTS {
        let part = capacity / SPOTS;
        let first = number * part + prng.below(part - capacity / 1000 - bytes) / 4096 * 4096;
        text.push_str(&format!(
            "\n[[faults]]\nkind = \"slow\"\nfirst_byte = {first}\nbytes = {bytes}\nmilliseconds = {SPOT_MS}\n"
        ));
    }
    folder.drive(&format!("weak-{seed}-{bytes}"), &text)
}

#[cfg(test)]
mod tests {
    use super::{DRIVES, SLOW_PORT, SPOTS, slow_port, weak};
    use crate::truth::Truths;
    use crate::virtual_drive::{Folder, named};
    use model::finding::FindingCode;

    #[test]
    fn all_drives_can_be() {
        let folder = Folder::make().expect("a folder");
        for name in DRIVES.split(' ').filter(|name| *name != SLOW_PORT) {
            named(name).expect("a drive");
        }
        let truths = Truths::of(&slow_port(&folder).expect("a drive").profile).expect("a sound drive");
        let limit = truths.value(FindingCode::InterfaceLimit);
        assert!(limit.is_some_and(|limit| (270e6..285e6).contains(&limit)), "{limit:?}");
        let truths =
            Truths::of(&weak(&folder, 3, 64 << 20).expect("a drive").profile).expect("a sound drive");
        assert_eq!(truths.value(FindingCode::SlowRegions), Some(SPOTS as f64));
        assert!(folder.loaded("disk-4tb", "shared", "per_second = 5").is_ok());
    }
}
