//! Files as targets: what uses a file, and that a refusal changes nothing in it.

mod loopdev;

use io::targets::{Exclusion, NeverWrite, Target, WriteConsent, WritePermit};
use loopdev::{
    Image, LoopDevice, Mounted, SwappedOn, alone, alone_with_loop_devices, has_program, make_ext4, run,
};
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

fn consent(target: &Target) -> WriteConsent {
    WriteConsent { destroy_data: true, confirm: Some(target.confirmation().to_owned()) }
}

/// A file of 1 MiB with data.
fn file_in(directory: &Path) -> PathBuf {
    let path = directory.join("data");
    std::fs::write(&path, vec![0x5a; 1 << 20]).unwrap();
    path
}

/// Why no permit is granted with full consent. Checks that the file did not change.
#[track_caller]
fn refusal(path: &Path) -> String {
    let before = loopdev::checksum(path);
    let target = Target::open(path).unwrap();
    let error = WritePermit::grant(&target, &consent(&target), &NeverWrite::default())
        .expect_err("a permit was granted");
    assert_eq!(loopdev::checksum(path), before);
    error.to_string()
}

#[track_caller]
fn assert_names(why: &str, expected: &[&str]) {
    for text in expected {
        assert!(why.contains(text), "{why:?} does not name {text:?}");
    }
}

#[test]
fn a_file_of_the_user_needs_consent_and_its_path() {
    let _alone = alone();
    let directory = tempfile::tempdir().unwrap();
    let path = file_in(directory.path());
    let before = loopdev::checksum(&path);
    let target = Target::open(&path).unwrap();
    let typed = path.to_str().unwrap();
    let with = |destroy_data, confirm: Option<&str>| {
        WritePermit::grant(
            &target,
            &WriteConsent { destroy_data, confirm: confirm.map(str::to_owned) },
            &NeverWrite::default(),
        )
    };
    assert_names(
        &with(false, Some(typed)).unwrap_err().to_string(),
        &["it holds data (1 MiB)", "--destroy-data"],
    );
    assert_names(&with(true, None).unwrap_err().to_string(), &[&format!("--confirm {typed}")]);
    assert_names(&with(true, Some("other")).unwrap_err().to_string(), &[&format!("--confirm {typed}")]);
    assert_eq!(loopdev::checksum(&path), before);

    let permit = with(true, Some(typed)).unwrap();
    permit.revalidate().unwrap();
    let page = loopdev::Page([1; 4096]);
    let reader = File::from(target.descriptor().try_clone_to_owned().unwrap());
    assert_eq!(reader.write_at(&page.0, 0).unwrap_err().raw_os_error(), Some(9), "EBADF");
    let writer = File::from(permit.descriptor().try_clone_to_owned().unwrap());
    writer.write_all_at(&page.0, 4096).unwrap();
    assert_eq!(std::fs::read(&path).unwrap()[4096..8192], page.0);
}

#[test]
fn a_file_under_a_loop_device_is_refused_by_each_of_its_names() {
    let Some(_alone) = alone_with_loop_devices("a_file_under_a_loop_device_is_refused_by_each_of_its_names")
    else {
        return;
    };
    let image = Image::new(24);
    let device = LoopDevice::over(&image.path);
    let folder = image.directory.path();
    let (hard, symbolic) = (folder.join("hard"), folder.join("symbolic"));
    std::fs::hard_link(&image.path, &hard).unwrap();
    std::os::unix::fs::symlink(&hard, &symbolic).unwrap();
    for path in [&image.path, &hard, &symbolic] {
        assert_names(&refusal(path), &["will not write to", &format!("it is used by {}", device.text())]);
    }
}

#[test]
fn a_file_under_a_read_only_loop_device_is_refused_too() {
    let Some(_alone) = alone_with_loop_devices("a_file_under_a_read_only_loop_device_is_refused_too") else {
        return;
    };
    let image = Image::new(24);
    let device = LoopDevice::with_options(&image.path, &["--read-only"]);
    assert_names(&refusal(&image.path), &[&format!("it is used by {}", device.text())]);
}

#[test]
fn a_loop_device_that_comes_later_is_seen_before_the_next_phase() {
    let Some(_alone) =
        alone_with_loop_devices("a_loop_device_that_comes_later_is_seen_before_the_next_phase")
    else {
        return;
    };
    let image = Image::new(24);
    let target = Target::open(&image.path).unwrap();
    let permit = WritePermit::grant(&target, &consent(&target), &NeverWrite::default()).unwrap();
    permit.revalidate().unwrap();
    let device = LoopDevice::over(&image.path);
    assert_names(
        &permit.revalidate().unwrap_err().to_string(),
        &[&format!("it is used by {}", device.text())],
    );
}

#[test]
fn a_file_that_shrinks_is_seen_before_the_next_phase() {
    let _alone = alone();
    let directory = tempfile::tempdir().unwrap();
    let path = file_in(directory.path());
    let target = Target::open(&path).unwrap();
    let permit = WritePermit::grant(&target, &consent(&target), &NeverWrite::default()).unwrap();
    File::options().write(true).open(&path).unwrap().set_len(4096).unwrap();
    assert_names(&permit.revalidate().unwrap_err().to_string(), &["it shrank from 1048576 to 4096 bytes"]);
}

#[test]
fn a_swap_file_is_refused() {
    let Some(_alone) = alone_with_loop_devices("a_swap_file_is_refused") else { return };
    let image = Image::new(24);
    let device = LoopDevice::over(&image.path);
    make_ext4(&device.path);
    let mounted = Mounted::new(&device.path, "rw");
    let path = mounted.place().join("swap file");
    std::fs::write(&path, vec![0; 4 << 20]).unwrap();
    File::open(&path).unwrap().sync_all().unwrap();
    run("chmod", &["600", path.to_str().unwrap()]);
    let swap = SwappedOn::new(&path);
    let target = Target::open(&path).unwrap();
    let why = WritePermit::grant(&target, &consent(&target), &NeverWrite::default()).unwrap_err().to_string();
    drop((target, swap));
    assert_names(&why, &["it is used as swap"]);
}

#[test]
fn a_file_that_another_program_has_open_is_refused() {
    let _alone = alone();
    let directory = tempfile::tempdir().unwrap();
    let path = file_in(directory.path());
    for (redirection, expected) in
        [("3<", "it is open in process"), ("3<>", "it is open for writing in process")]
    {
        let mut other = std::process::Command::new("sh")
            .args(["-c", &format!("exec {redirection} {}; echo open; read wait", path.display())])
            .stdin(std::process::Stdio::piped())
            .stdout(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        let mut output = std::io::BufReader::new(other.stdout.as_mut().unwrap());
        std::io::BufRead::read_line(&mut output, &mut line).unwrap();
        let why = refusal(&path);
        drop(other.stdin.take());
        other.wait().unwrap();
        assert_names(&why, &[expected, "(sh)"]);
    }
    let target = Target::open(&path).unwrap();
    WritePermit::grant(&target, &consent(&target), &NeverWrite::default())
        .expect("nobody has it open any more");
}

#[test]
fn a_file_that_this_program_has_open_once_more_is_refused() {
    let _alone = alone();
    let directory = tempfile::tempdir().unwrap();
    let path = file_in(directory.path());
    let kept = File::open(&path).unwrap();
    assert_names(&refusal(&path), &["open in another program, or twice in this one"]);
    drop(kept);
}

#[test]
fn an_immutable_file_and_a_read_only_mount_are_refused() {
    let name = "an_immutable_file_and_a_read_only_mount_are_refused";
    let Some(_alone) = alone_with_loop_devices(name) else { return };
    if !has_program(name, "chattr") {
        return;
    }
    let image = Image::new(24);
    let device = LoopDevice::over(&image.path);
    make_ext4(&device.path);
    let mounted = Mounted::new(&device.path, "rw");
    let path = file_in(mounted.place());
    let text = path.to_str().unwrap().to_owned();
    run("chattr", &["+i", &text]);
    let why = refusal(&path);
    run("chattr", &["-i", &text]);
    assert_names(&why, &["it is marked immutable"]);
    run("mount", &["-o", "remount,ro", mounted.place().to_str().unwrap()]);
    assert_names(&refusal(&path), &["is mounted read-only"]);
}

#[test]
fn a_file_that_takes_the_name_of_another_is_not_written_to() {
    let _alone = alone();
    let directory: TempDir = tempfile::tempdir().unwrap();
    let path = file_in(directory.path());
    let target = Target::open(&path).unwrap();
    let other = directory.path().join("precious");
    std::fs::write(&other, vec![7; 1 << 20]).unwrap();
    std::fs::rename(&other, &path).unwrap();
    let before = loopdev::checksum(&path);
    // The permit is for the file that was opened, which has no name any more.
    let permit = WritePermit::grant(&target, &consent(&target), &NeverWrite::default()).unwrap();
    let writer = File::from(permit.descriptor().try_clone_to_owned().unwrap());
    writer.write_all_at(&loopdev::Page([1; 4096]).0, 0).unwrap();
    assert_eq!(loopdev::checksum(&path), before);
}

#[test]
fn the_path_without_links_confirms_a_file_too() {
    let _alone = alone();
    let directory = tempfile::tempdir().unwrap();
    let path = file_in(directory.path()).canonicalize().unwrap();
    let link = directory.path().join("link");
    std::os::unix::fs::symlink(&path, &link).unwrap();
    let target = Target::open(&link).unwrap();
    let with = |confirm: &Path| {
        let confirm = Some(confirm.to_str().unwrap().to_owned());
        WritePermit::grant(&target, &WriteConsent { destroy_data: true, confirm }, &NeverWrite::default())
    };
    with(&link).expect("as it was typed");
    with(&path).expect("without links");
    with(directory.path()).expect_err("another path");
}

#[test]
fn a_file_is_excluded_by_its_name() {
    let _alone = alone();
    let directory = tempfile::tempdir().unwrap();
    let path = file_in(directory.path());
    let target = Target::open(&path).unwrap();
    let by = |pattern: &Path| {
        let drives = pattern.to_str().unwrap().parse().unwrap();
        let list = NeverWrite(vec![Exclusion { drives, origin: "list:1".into() }]);
        WritePermit::grant(&target, &consent(&target), &list)
    };
    let before = loopdev::checksum(&path);
    for pattern in [path.clone(), directory.path().join("*")] {
        assert_names(&by(&pattern).unwrap_err().to_string(), &["list:1 excludes"]);
    }
    assert_eq!(loopdev::checksum(&path), before);
    by(&directory.path().join("other")).expect("another file is excluded");
}
