//! `cargo xtask dist --check`: each package as a new user installs it, in a place that has nothing else, and the program of each used.
//!
//! Whatever needs a root file system gets one of its own below the target folder; nothing is mounted, and of devices
//! it has random numbers only, as every container has. Every command has a time limit.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::files::{empty, folder, told, write};
use super::release::Release;
use crate::failure::Failure;
use crate::workspace::{root, target_folder};

/// The longest that a step may take: making a root file system.
const STEP_SECONDS: &str = "600";
const CHECK: &str = "drivescope --version && drivescope check sim:zoned --seed 1 --quiet";

/// A step's name and the lines of shell that do it; they see `$DIST`, `$PLACE`, `$ROOT` and the names of the packages.
type Step = (&'static str, &'static str);

const STEPS: [Step; 8] = [
    ("checksums", "cd $DIST && sha256sum --check --strict SHA256SUMS"),
    (
        "static file",
        "tar -xzf $DIST/$NAME.tar.gz && export PATH=$PLACE/$NAME/bin:/usr/bin:/bin XDG_DATA_HOME=$PLACE && ",
    ),
    (
        "wheel",
        "python3 -m venv venv && venv/bin/pip install --quiet --no-input --timeout 30 --retries 2 $DIST/drivescope-*.whl \
         && export PATH=$PLACE/venv/bin:/usr/bin:/bin XDG_DATA_HOME=$PLACE && python -m doctest -o ELLIPSIS -o NORMALIZE_WHITESPACE \
         readme.txt && ",
    ),
    (
        "alerts",
        "cd $SOURCE/packaging/prometheus && promtool check rules drivescope.rules.yml && promtool test rules test.yml",
    ),
    ("lintian", "lintian --fail-on error $DIST/drivescope_*.deb"),
    (
        "Debian",
        "debootstrap --variant=minbase $(. /etc/os-release; echo $VERSION_CODENAME) debian >debootstrap.log \
         && cp $DIST/drivescope_*.deb debian/tmp/ && chroot debian sh -ec 'dpkg --install /tmp/drivescope_*.deb; CHECK; \
         test -e /usr/share/man/man1/drivescope.1.gz; dpkg --install /tmp/drivescope_*.deb; dpkg --purge drivescope; \
         test ! -e /usr/bin/drivescope; test ! -e /usr/share/doc/drivescope'",
    ),
    (
        "image",
        "mkdir parts root && tar -xf $DIST/drivescope-*-image.tar -C parts && for layer in parts/*.tar; do tar -xf $layer -C root; done \
         && mkdir root/dev && mknod -m 444 root/dev/random c 1 8 && mknod -m 444 root/dev/urandom c 1 9 && HOME=/ chroot root /drivescope check sim:zoned --seed 1 --quiet",
    ),
    (
        "RPM",
        "mkdir -p rpm && rpm --root $PLACE/rpm --initdb && for round in install upgrade; do \
         rpm --root $PLACE/rpm --upgrade --replacepkgs --nodeps $DIST/drivescope-*.rpm; done \
         && mkdir rpm/dev && mknod -m 444 rpm/dev/random c 1 8 && mknod -m 444 rpm/dev/urandom c 1 9 && HOME=/ chroot rpm /usr/bin/drivescope check sim:zoned --seed 1 --quiet \
         && rpm --root $PLACE/rpm --erase drivescope && test ! -e rpm/usr/bin/drivescope",
    ),
];

/// Does every step to its end, and says which failed.
pub fn run(release: &Release) -> Result<(), Failure> {
    let mut failed = Vec::new();
    for step in STEPS {
        println!("\n== {}", step.0);
        if !is_done(release, step)? {
            failed.push(step.0);
        }
    }
    if failed.is_empty() {
        println!("\n{} passed, 0 failed", STEPS.len());
        return Ok(());
    }
    println!(
        "\nFAILED {}\n{} passed, {} failed",
        failed.join(", "),
        STEPS.len() - failed.len(),
        failed.len()
    );
    Err(Failure::checks_failed())
}

fn is_done(release: &Release, (name, lines): Step) -> Result<bool, Failure> {
    let place: PathBuf = target_folder().join("dist-check").join(name.replace(' ', "-"));
    if is_mounted_below(&place) {
        return Err(Failure::cannot(format!("Something is mounted below {}. Unmount it.", place.display())));
    }
    empty(&place)?;
    let readme = root().join("python/README.md");
    // A closing fence is no output of the example above it.
    let text = fs::read_to_string(&readme).unwrap_or_default();
    write(
        &place.join("readme.txt"),
        text.lines().filter(|line| !line.starts_with("```")).collect::<Vec<_>>().join("\n"),
    )?;
    let mut lines = lines.replace("CHECK", CHECK);
    if lines.ends_with("&& ") {
        lines.push_str(CHECK);
    }
    let mut shell = Command::new("timeout");
    shell.args(["--kill-after=10", STEP_SECONDS, "unshare", "--mount", "sh", "-ec", &lines]);
    shell.current_dir(&place).stdin(Stdio::null());
    shell.env("SOURCE", root()).env("DIST", folder()).env("PLACE", &place).env("NAME", release.name());
    let done = match shell.status() {
        Ok(status) => status.success(),
        Err(error) => return Err(Failure::to("run timeout (coreutils)", error)),
    };
    // A root file system is a quarter of a gigabyte.
    if done {
        empty(&place)?;
    }
    Ok(done)
}

fn is_mounted_below(place: &Path) -> bool {
    let mounts = told(Command::new("cat").arg("/proc/mounts")).unwrap_or_default();
    mounts.lines().any(|line| line.split(' ').nth(1).is_some_and(|point| Path::new(point).starts_with(place)))
}
