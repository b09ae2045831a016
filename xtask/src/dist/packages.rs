//! Each kind of package, made of the staged tree with the tools of its distribution. Where a tool is not here it says so and goes on.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::files::{create, empty, folder, read, told, write};
use super::release::Release;
use crate::failure::{Doing, Failure};
use crate::workspace::{root, target_folder};

const MAINTAINER: &str = "drivescope maintainers <maintainers@drivescope.invalid>";
const SUMMARY: &str = "measures a storage drive and concludes";
const DESCRIPTION: &str = "Health, throughput, latency, SMR, caches and counterfeit capacity of a drive,\n \
     each with its confidence interval. It reads only, unless --write is given.";

/// The static file with its pages and licences, `drivescope-VERSION-TARGET.tar.gz`.
pub fn archive(release: &Release, staged: &Path) -> Result<PathBuf, Failure> {
    let path = folder().join(format!("{}.tar.gz", release.name()));
    let plain = path.with_extension("");
    let mut tar = Command::new("tar");
    tar.args(["--create", "--sort=name", "--owner=0", "--group=0", "--numeric-owner", "--mode=u=rwX,go=rX"]);
    tar.arg(format!("--mtime=@{}", release.epoch)).arg("--file").arg(&plain);
    if let Some(parent) = staged.parent() {
        tar.arg("--directory").arg(parent);
    }
    told(tar.arg(release.name()))?;
    told(Command::new("gzip").args(["--force", "-9", "-n"]).arg(&plain))?;
    Ok(path)
}

/// The package of Debian and Ubuntu, by dpkg-deb.
pub fn debian(release: &Release, staged: &Path) -> Result<Option<PathBuf>, Failure> {
    if !is_here("dpkg-deb", "the .deb") {
        return Ok(None);
    }
    let (architecture, _) = release.architecture();
    let tree = target_folder().join("dist-stage/deb");
    empty(&tree)?;
    copy(staged, &tree.join("usr"))?;
    let documents = tree.join("usr/share/doc/drivescope");
    let date = told(
        Command::new("date").args(["--utc", "--rfc-email", "--date"]).arg(format!("@{}", release.epoch)),
    )?;
    let changes = format!(
        "drivescope ({}-1) unstable; urgency=low\n\n  * changelog.gz has what users notice.\n\n -- {MAINTAINER}  {date}\n",
        release.version
    );
    write(&documents.join("changelog.Debian"), changes)?;
    told(Command::new("gzip").args(["-9", "-n"]).arg(documents.join("changelog.Debian")))?;
    let mit = read(&root().join("LICENSE-MIT"))?;
    let copyright = format!(
        "drivescope, and the crates in LICENSES-OF-CRATES.txt beside this file.\n\n\
         MIT, or the Apache License 2.0 as in /usr/share/common-licenses/Apache-2.0.\n\n{}",
        String::from_utf8_lossy(&mit)
    );
    write(&documents.join("copyright"), copyright)?;
    rename(&documents.join("CHANGELOG.md"), &documents.join("changelog"))?;
    told(Command::new("gzip").args(["-9", "-n"]).arg(documents.join("changelog")))?;
    for twice in ["LICENSE-MIT", "LICENSE-APACHE"] {
        remove(&documents.join(twice))?;
    }
    let override_file = tree.join("usr/share/lintian/overrides/drivescope");
    // One file for every C library is what it is for.
    write(
        &override_file,
        "drivescope: statically-linked-binary [usr/bin/drivescope]\n\
         drivescope: shared-library-lacks-prerequisites [usr/bin/drivescope]\n",
    )?;
    let size = told(Command::new("du").args(["--summarize", "--block-size=1K"]).arg(&tree))?;
    let size = size.split_whitespace().next().unwrap_or("0");
    let control = format!(
        "Package: drivescope\nVersion: {}-1\nArchitecture: {architecture}\n\
         Maintainer: {MAINTAINER}\nInstalled-Size: {size}\n\
         Section: utils\nPriority: optional\nHomepage: https://github.com/drivescope/drivescope\n\
         Description: {SUMMARY}\n {DESCRIPTION}\n",
        release.version
    );
    write(&tree.join("DEBIAN/control"), control)?;
    told(Command::new("chmod").args(["--recursive", "u=rwX,go=rX"]).arg(&tree))?;
    let path = folder().join(format!("drivescope_{}-1_{architecture}.deb", release.version));
    let mut build = Command::new("dpkg-deb");
    build.args(["--root-owner-group", "-Zxz", "--build"]).arg(&tree).arg(&path);
    told(build.env("SOURCE_DATE_EPOCH", &release.epoch))?;
    Ok(Some(path))
}

/// The package of Fedora, openSUSE and their kin, by rpmbuild.
pub fn rpm(release: &Release, staged: &Path) -> Result<Option<PathBuf>, Failure> {
    if !is_here("rpmbuild", "the .rpm") {
        return Ok(None);
    }
    let (_, architecture) = release.architecture();
    let (version, staged) = (&release.version, staged.display());
    let top = target_folder().join("dist-stage/rpm");
    empty(&top)?;
    let spec = format!(
        "Name: drivescope\nVersion: {version}\nRelease: 1\nSummary: {SUMMARY}\n\
         License: MIT OR Apache-2.0\nURL: https://github.com/drivescope/drivescope\n\
         AutoReqProv: no\n%global debug_package %{{nil}}\n%global __os_install_post %{{nil}}\n\
         %global _build_id_links none\n%global clamp_mtime_to_source_date_epoch 1\n\
         %global use_source_date_epoch_as_buildtime 1\n%global _buildhost drivescope\n\
         %description\n{}\n%install\nmkdir -p %{{buildroot}}/usr\ncp -R '{staged}/.' %{{buildroot}}/usr\n\
         chmod -R u=rwX,go=rX %{{buildroot}}\n\
         cd %{{buildroot}} && find usr -type f -printf '\"/%p\"\\n' | sort > %{{_topdir}}/files\n\
         %files -f %{{_topdir}}/files\n%defattr(-,root,root)\n",
        DESCRIPTION.replace("\n ", "\n")
    );
    write(&top.join("drivescope.spec"), spec)?;
    let mut build = Command::new("rpmbuild");
    build.args(["-bb", "--target", architecture, "--define"]).arg(format!("_topdir {}", top.display()));
    told(build.arg(top.join("drivescope.spec")).env("SOURCE_DATE_EPOCH", &release.epoch))?;
    let name = format!("drivescope-{version}-1.{architecture}.rpm");
    let path = folder().join(&name);
    let made = top.join("RPMS").join(architecture).join(&name);
    fs::copy(made, &path).doing(format_args!("copy {name}"))?;
    Ok(Some(path))
}

/// The wheel with program and Python package, by maturin.
pub fn wheel(release: &Release, staged: &Path) -> Result<Option<PathBuf>, Failure> {
    if !is_here("maturin", "the wheel ('pip install maturin' brings it)") {
        return Ok(None);
    }
    let made = target_folder().join("dist-stage/wheel");
    empty(&made)?;
    let mut build = Command::new("maturin");
    build.args(["build", "--locked", "--target", &release.target, "--out"]).arg(&made);
    build.arg("--sbom-include").arg(staged.join("share/doc/drivescope/sbom.cdx.json"));
    // A static program needs no library of the system, so it keeps to the oldest standard there is.
    build.args(["--compatibility", "manylinux2014"]).current_dir(root().join("python"));
    told(release.environment(&mut build).env("CARGO_TARGET_DIR", target_folder()))?;
    if let Some(entry) = fs::read_dir(&made).into_iter().flatten().flatten().next() {
        let path = folder().join(entry.file_name());
        rename(&entry.path(), &path)?;
        return Ok(Some(path));
    }
    Err(Failure::cannot(format!("maturin made no wheel in {}.", made.display())))
}

/// The image of a container, without a daemon: as `packaging/Containerfile` describes it.
pub fn image(release: &Release, staged: &Path) -> Result<Option<PathBuf>, Failure> {
    if !is_here("buildah", "the image") {
        return Ok(None);
    }
    let path =
        folder().join(format!("drivescope-{}-{}-image.tar", release.version, release.architecture().0));
    if path.exists() {
        remove(&path)?;
    }
    let storage = target_folder().join("dist-stage/image");
    let tag = format!("localhost/drivescope:{}", release.version);
    let buildah = || {
        let mut command = Command::new("buildah");
        // Files instead of overlays: nothing is mounted, so it works inside containers too.
        command.args(["--storage-driver", "vfs", "--root"]).arg(storage.join("root"));
        command.arg("--runroot").arg(storage.join("run"));
        command
    };
    let mut build = buildah();
    build.args([
        "build",
        "--isolation",
        "chroot",
        "--arch",
        release.architecture().0,
        "--timestamp",
        &release.epoch,
    ]);
    build.args(["--tag", &tag, "--file"]);
    told(build.arg(root().join("packaging/Containerfile")).arg(staged))?;
    told(buildah().arg("push").arg(&tag).arg(format!("docker-archive:{}:{tag}", path.display())))?;
    Ok(Some(path))
}

/// `SHA256SUMS` of all that is in `dist/`, as `sha256sum --check` reads it.
pub fn checksums() -> Result<(), Failure> {
    let mut names = Vec::new();
    for entry in fs::read_dir(folder()).into_iter().flatten().flatten() {
        if entry.file_name() != "SHA256SUMS" {
            names.push(entry.file_name());
        }
    }
    names.sort();
    let sums = told(Command::new("sha256sum").args(names).current_dir(folder()))?;
    write(&folder().join("SHA256SUMS"), format!("{sums}\n"))
}

fn is_here(tool: &str, what: &str) -> bool {
    let found = Command::new("sh").args(["-c", &format!("command -v {tool} >/dev/null")]).status();
    let is_here = found.is_ok_and(|status| status.success());
    if !is_here {
        println!("SKIPPED {what}: {tool} is not installed.");
    }
    is_here
}

fn copy(from: &Path, to: &Path) -> Result<(), Failure> {
    create(to)?;
    told(Command::new("cp").arg("-R").arg(from.join(".")).arg(to)).map(drop)
}

fn rename(from: &Path, to: &Path) -> Result<(), Failure> {
    fs::rename(from, to).doing(format_args!("move {} to {}", from.display(), to.display()))
}

fn remove(path: &Path) -> Result<(), Failure> {
    fs::remove_file(path).doing(format_args!("remove {}", path.display()))
}
