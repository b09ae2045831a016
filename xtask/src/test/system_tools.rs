//! The programs that tests call, and the Debian packages that bring them.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::failure::Failure;
use crate::workspace::succeeds;

/// Programs the tests call, with their package in Debian and Ubuntu.
const TOOLS: &[(&str, &str)] = &[
    ("losetup", "mount"),
    ("mount", "mount"),
    ("umount", "mount"),
    ("partx", "util-linux"),
    ("mkswap", "util-linux"),
    ("sfdisk", "fdisk"),
    ("mkfs.ext4", "e2fsprogs"),
    ("mkfs.xfs", "xfsprogs"),
    ("mkfs.btrfs", "btrfs-progs"),
    ("mkfs.vfat", "dosfstools"),
    ("fio", "fio"),
    ("bon_csv2txt", "bonnie++"),
    ("valgrind", "valgrind"),
    ("chromium", "chromium"),
    ("node", "nodejs"),
    ("npm", "npm"),
    ("python3", "python3-venv"),
    ("ip", "iproute2"),
    ("ssh", "openssh-client"),
    // Spark runs on 17 and 21, which are those of Debian 12 and 13.
    ("java", "default-jre-headless"),
];
/// The hosts of the tests of Ansible run it. Where systemd runs, its package would start it on the machine itself.
const SSH_SERVER: (&str, &str) = ("sshd", "openssh-server");
/// It exists where systemd runs (sd_booted(3)).
const SYSTEMD: &str = "/run/systemd/system";
/// Where system programs are, although the search path of an ordinary user leaves these out.
const SYSTEM_FOLDERS: [&str; 3] = ["/usr/local/sbin", "/usr/sbin", "/sbin"];

/// Sees to it that all tools are there: installs what is missing, as root and with apt-get, or says what to install.
pub fn provide(without_system_tests: bool) -> Result<(), Failure> {
    let missing = missing();
    if missing.is_empty() {
        println!("System tools: all {} are there.", TOOLS.len());
        return Ok(());
    }
    let advice = advice(&missing);
    if without_system_tests {
        println!("{advice}\nGoing on without them: tests that need them are skipped and counted.");
        return Ok(());
    }
    if !is_root() || find("apt-get").is_none() {
        return Err(Failure::cannot(format!(
            "{advice}\nInstalling needs root and apt-get. Install them and try again, \
             or run 'cargo xtask test --without-system-tests'."
        )));
    }
    println!("{advice}\nInstalling them now, as root.");
    apt_get(&["update"])?;
    apt_get(&[&["install", "--yes", "--no-install-recommends"], &packages(&missing)[..]].concat())?;
    match self::missing().first() {
        Some((tool, package)) => {
            Err(Failure::cannot(format!("Package {package} is installed, but it did not bring {tool}.")))
        }
        None => Ok(()),
    }
}

fn missing() -> Vec<(&'static str, &'static str)> {
    let mut missing = TOOLS.to_vec();
    if !Path::new(SYSTEMD).exists() {
        missing.push(SSH_SERVER);
    }
    missing.retain(|(tool, _)| find(tool).is_none() || *tool == "python3" && !makes_environments());
    missing
}

/// Whether Python can make environments: Debian has the part with pip in a package of its own.
fn makes_environments() -> bool {
    let mut python = Command::new("timeout");
    python.args(["30", "python3", "-c", "import ensurepip, venv"]).stdin(Stdio::null()).stderr(Stdio::null());
    python.status().is_ok_and(|status| status.success())
}

/// What is missing and the command that brings it.
fn advice(missing: &[(&str, &str)]) -> String {
    let tools: Vec<&str> = missing.iter().map(|(tool, _)| *tool).collect();
    let packages = packages(missing).join(" ");
    format!(
        "System tools missing: {}.\nPackages that bring them: {packages}\n  \
         apt-get update && apt-get install --no-install-recommends {packages}",
        tools.join(", ")
    )
}

fn packages<'a>(missing: &[(&str, &'a str)]) -> Vec<&'a str> {
    let unique: BTreeSet<&str> = missing.iter().map(|(_, package)| *package).collect();
    unique.into_iter().collect()
}

fn apt_get(arguments: &[&str]) -> Result<(), Failure> {
    let line = format!("apt-get {}", arguments.join(" "));
    println!("== {line}");
    let mut command = Command::new("apt-get");
    if succeeds(command.args(arguments).env("DEBIAN_FRONTEND", "noninteractive"))? {
        return Ok(());
    }
    Err(Failure::cannot(format!(
        "'{line}' failed; its reason is above. Install the packages by hand, \
         or run 'cargo xtask test --without-system-tests'."
    )))
}

/// The search path, with the folders of system programs at its end.
pub fn path_with_system_folders() -> OsString {
    let given = std::env::var_os("PATH").unwrap_or_default();
    let mut folders: Vec<PathBuf> = std::env::split_paths(&given).collect();
    for folder in SYSTEM_FOLDERS.map(PathBuf::from) {
        if !folders.contains(&folder) {
            folders.push(folder);
        }
    }
    std::env::join_paths(folders).unwrap_or(given)
}

pub fn find(tool: &str) -> Option<PathBuf> {
    for folder in std::env::split_paths(&path_with_system_folders()) {
        if folder.join(tool).is_file() {
            return Some(folder.join(tool));
        }
    }
    None
}

/// Whether this process may install packages: its effective user is 0.
fn is_root() -> bool {
    fs::read_to_string("/proc/self/status").is_ok_and(|status| effective_user(&status) == Some(0))
}

/// The effective user in `/proc/PID/status`: the second number after `Uid:` (proc_pid_status(5)).
fn effective_user(status: &str) -> Option<u32> {
    status.lines().find_map(|line| line.strip_prefix("Uid:"))?.split_whitespace().nth(1)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::{TOOLS, advice, effective_user, find};

    #[test]
    fn the_advice_names_each_tool_and_each_package_once() {
        let missing = [("sfdisk", "fdisk"), ("partx", "util-linux"), ("mkswap", "util-linux")];
        assert_eq!(
            advice(&missing),
            "System tools missing: sfdisk, partx, mkswap.\nPackages that bring them: fdisk util-linux\n  \
             apt-get update && apt-get install --no-install-recommends fdisk util-linux"
        );
    }

    #[test]
    fn the_effective_user_is_read_not_the_real_one() {
        assert_eq!(effective_user("Name:\tx\nUid:\t1000\t0\t1000\t1000\nGid:\t5\t6\t7\t8\n"), Some(0));
        assert_eq!(effective_user("Uid:\t0\t1000\t0\t0\n"), Some(1000));
        assert_eq!(effective_user("Name:\tx\n"), None);
    }

    #[test]
    fn a_program_is_found_in_the_search_path_and_a_missing_one_is_not() {
        assert!(find("sh").is_some());
        assert_eq!(find("no-such-program-of-drivescope"), None);
    }

    #[test]
    fn tools_are_listed_once() {
        for (index, (tool, _)) in TOOLS.iter().enumerate() {
            assert!(TOOLS[..index].iter().all(|(other, _)| other != tool), "{tool} twice");
        }
    }
}
