//! Options set ahead, by files and by the environment, and what can never be set there: a consent to write.

use crate::program::*;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Writes the user's file of configuration.
fn configure(home: &Home, text: &str) -> PathBuf {
    let folder = home.folder.path().join("config/drivescope");
    fs::create_dir_all(&folder).expect("a folder");
    let path = folder.join("config.toml");
    fs::write(&path, text).expect("a file");
    path
}

/// How a row of `drivescope config` stands.
fn row(home: &Home, environment: &[(&str, &str)], option: &str) -> String {
    let mut command = home.command(&["config"]);
    command.envs(environment.iter().copied());
    let outcome = outcome(&mut command);
    assert_eq!(outcome.status, Some(0), "{}", outcome.err);
    let row = outcome.out.lines().find(|line| line.starts_with(&format!("{option} "))).map(str::to_owned);
    row.unwrap_or_else(|| panic!("no row {option}: {}", outcome.out))
}

#[test]
fn the_command_line_is_stronger_than_the_environment_and_that_than_the_file() {
    let home = Home::new();
    assert!(row(&home, &[], "engine").ends_with("default"));
    let path = configure(&home, "engine = \"psync\"\n[surface]\ntime-limit = \"7s\"\n");
    let of_file = row(&home, &[], "engine");
    assert!(of_file.contains(" psync ") && of_file.ends_with(&format!(" {}:1", path.display())), "{of_file}");
    assert!(row(&home, &[], "[surface] time-limit").contains("7s"));
    let environment = [("DRIVESCOPE_ENGINE", "uring")];
    assert!(row(&home, &environment, "engine").ends_with("DRIVESCOPE_ENGINE"));
    let plan = |arguments: &[&str], environment: &[(&str, &str)]| {
        let mut command = home.command(&[arguments, &["sim:constant", "--seed", "1", "-q"]].concat());
        command.envs(environment.iter().copied());
        let outcome = outcome(&mut command);
        assert_eq!(outcome.status, Some(0), "{}", outcome.err);
        home.json(&["show"])["run"]["command"].as_str().expect("a command").to_owned()
    };
    let command = plan(&["surface"], &[]);
    assert_eq!(command, "drivescope surface sim:constant --time-limit 7s --engine psync --seed 1");
    let command = plan(&["surface", "--time-limit", "9s"], &environment);
    assert_eq!(command, "drivescope surface sim:constant --time-limit 9s --engine uring --seed 1");
    let command = plan(&["ping"], &[("DRIVESCOPE_ENGINE", "")]);
    assert_eq!(command, "drivescope ping sim:constant --engine psync --seed 1", "an empty variable is none");
}

#[test]
fn flags_are_set_and_unset() {
    let home = Home::new();
    configure(&home, "quiet = true\ncolor = \"always\"\n");
    let ping = ["ping", "sim:constant", "--seed", "1"];
    let quiet = home.run(&ping);
    assert_eq!((quiet.status, quiet.err.as_str()), (Some(0), ""));
    assert!(quiet.out.contains('\u{1b}'), "colour in a pipe: {}", quiet.out);
    let mut loud = home.command(&ping);
    let loud = outcome(loud.env("DRIVESCOPE_QUIET", "false").env("DRIVESCOPE_COLOR", "never"));
    assert!(!loud.err.is_empty() && !loud.out.contains('\u{1b}'), "{loud:?}");
    // The help shows what holds.
    assert!(home.print(&["check", "--help"]).contains("[default: always]"));
}

#[test]
fn the_bare_command_and_resume_take_what_is_set() {
    let home = Home::new();
    configure(&home, "time-limit = \"5s\"\nmax-size = \"16MiB\"\nquiet = true\n");
    let folder = tempfile::tempdir().expect("a temporary folder");
    let outcome = outcome(home.command(&[]).current_dir(folder.path()));
    assert_eq!(outcome.status, Some(0), "{}", outcome.err);
    let document = home.json(&["show"]);
    let command = document["run"]["command"].as_str().expect("a command");
    assert!(command.starts_with("drivescope check . --max-size 16MiB --time-limit 5s"), "{command}");
    let id = document["run"]["id"].as_str().expect("a name");
    let outcome = home.run(&["check", "--resume", id]);
    assert!(outcome.err.contains("its scratch file was removed"), "no option was typed: {}", outcome.err);
}

#[test]
fn what_is_damaged_is_named_by_file_line_and_what_is_allowed() {
    let home = Home::new();
    for (text, expected) in [
        ("plain = true\ntime = \"5s\"\n", ":2: `time` cannot be set here. Allowed: color, "),
        ("engine = \"fast\"\n", ":1: engine: `fast` is none of auto, uring, psync"),
        ("\n\ntime-limit = \"5\"\n", ":3: time-limit: `5`: "),
        ("port = 99999\n", ":1: port: `99999`: "),
        ("plain = \"yes\"\n", ":1: plain: it is true or false, not `yes`"),
        ("[nothing]\nplain = true\n", ":2: unknown command `[nothing]`"),
        ("[serve]\nengine = \"auto\"\n", ":2: `engine` cannot be set here. Allowed: port"),
        ("plain = \n", ":1: it is no TOML: "),
        ("never-write = [\"sda\"]\n", ":1: `sda` in never-write: "),
    ] {
        let path = configure(&home, text);
        for command in [&["runs"][..], &["config"], &["ping", "sim:constant"]] {
            let outcome = home.run(command);
            assert_eq!(outcome.status, Some(2), "{text}: {}", outcome.err);
            let start = format!("drivescope: {}{expected}", path.display());
            assert!(outcome.err.starts_with(&start), "{text}: {}", outcome.err);
        }
        assert!(home.print(&["--version"]).starts_with("drivescope "));
    }
    configure(&home, "");
    let wrong = outcome(home.command(&["runs"]).env("DRIVESCOPE_TIME_LIMIT", "soon"));
    assert_eq!(wrong.status, Some(2));
    assert!(wrong.err.starts_with("drivescope: DRIVESCOPE_TIME_LIMIT: `soon`: "), "{}", wrong.err);
}

/// On a machine whose disks this user may not open, too.
#[test]
fn a_drive_that_is_never_written_is_marked_in_the_list() {
    let home = Home::new();
    let list = || home.json(&["list"])["drives"].as_array().expect("drives").clone();
    // Loop devices, which come and go with other tests, are the first by name.
    let last = list().pop().map(|drive| drive["path"].as_str().expect("a path").to_owned());
    let Some(path) = last.filter(|path| Path::new(path).exists()) else {
        return skip("a_drive_that_is_never_written_is_marked_in_the_list", "no drives here");
    };
    let listed = |path: &str| list().into_iter().find(|drive| drive["path"] == path).expect("it is listed");
    assert!(listed(&path)["never_written_by"].is_null());
    let file = configure(&home, &format!("plain = true\nnever-write = [\"{path}\"]\n"));
    let (drive, origin) = (listed(&path), format!("{}:2", file.display()));
    assert_eq!(
        (&drive["never_written_by"], &drive["may_be_written"]),
        (&origin.as_str().into(), &false.into())
    );
    let page = home.print(&["list"]);
    let words: Vec<&str> = page.split_whitespace().collect();
    let said = format!("no writes: {origin} excludes {path} from writes.");
    assert!(words.join(" ").contains(&said) && page.contains(" never"), "{page}");
}

#[test]
fn binary_units_are_on_pages_only() {
    let (decimal, binary) = (Home::new(), Home::new());
    configure(&binary, "units = \"binary\"\n");
    let surface = ["surface", "sim:st3000dm001", "--seed", "1", "--quiet"];
    let page = decimal.print(&surface);
    assert!(page.contains("3.00 TB") && page.contains(" 203.8 MB/s "), "{page}");
    let page = binary.print(&surface);
    assert!(page.contains("2.73 TiB") && page.contains(" 194.4 MiB/s "), "{page}");
    // A data sheet is repeated as it is.
    let (measured, _) = page.split_once("Published values").expect("the page compares with a data sheet");
    assert!(!measured.contains("MB/s") && !page.contains(" GB") && !page.contains(" TB"), "{page}");
    for home in [&decimal, &binary] {
        home.print(&["check", "sim:zoned", "--seed", "1", "--quiet"]);
    }
    for command in [
        &["show", "sim-st3000dm001"][..],
        &["show", "sim-zoned"],
        &["compare", "sim-st3000dm001", "sim-zoned"],
        &["estimate", "sim-st3000dm001", "--backup", "2TB"],
        &["plan", "sim-st3000dm001", "--at-least", "150MB/s"],
        &["choose", "sim-st3000dm001", "--daily", "200GB"],
        &["state", "/dev/null"],
        &["sim", "list"],
    ] {
        assert_eq!(decimal.json(command), binary.json(command), "{command:?}");
    }
    let svg = binary.print(&["report", "sim-st3000dm001", "--chart", "rate-over-position"]);
    assert!(svg.contains("MiB/s") && !svg.contains("MB/s"), "{svg}");
    assert!(decimal.print(&["show", "--units", "binary"]).contains("MiB/s"));
    let wrong = decimal.run(&["runs", "--units", "si"]);
    assert_eq!(wrong.status, Some(2));
    assert!(wrong.err.contains("[possible values: decimal, binary]"), "{}", wrong.err);
}

/// The names of all options that consent to a write, or say to which drive.
const CONSENTS: [&str; 7] =
    ["write", "destroy-data", "confirm", "preserve", "journal-anyway", "although-changed", "method"];

#[test]
fn a_consent_to_write_never_comes_from_configuration_or_environment() {
    let home = Home::new();
    let document = home.json(&["config"]);
    let settings = document["settings"].as_array().expect("settings");
    assert!(settings.len() > 50, "{}", settings.len());
    for name in CONSENTS {
        assert!(settings.iter().all(|setting| setting["option"] != name), "{name}");
        for text in [format!("{name} = true\n"), format!("[verify]\n{name} = true\n")] {
            configure(&home, &text);
            let outcome = home.run(&["config"]);
            assert_eq!(outcome.status, Some(2));
            assert!(outcome.err.contains(&format!("`{name}` cannot be set here")), "{}", outcome.err);
        }
    }
    configure(&home, "");
    let image = Image::blank(16);
    let before = image.bytes();
    let path = image.path.to_str().expect("a plain path");
    for typed in [&["verify", path][..], &["verify", path, "--write"], &["purge", path]] {
        let mut command = home.command(typed);
        for name in CONSENTS {
            let variable = format!("DRIVESCOPE_{}", name.to_uppercase().replace('-', "_"));
            command.env(variable, if name == "confirm" { path } else { "true" });
        }
        let outcome = outcome(&mut command);
        assert!(matches!(outcome.status, Some(1 | 2)), "{typed:?}: {outcome:?}");
    }
    assert_eq!(image.bytes(), before);
}

#[test]
fn an_excluded_file_is_not_written_with_every_consent() {
    let home = Home::new();
    let image = Image::blank(16);
    let before = image.bytes();
    let path = image.path.to_str().expect("a plain path");
    let list = configure(&home, &format!("# Ours.\nnever-write = [\"{path}\"]\n"));
    let consents = ["--write", "--destroy-data", "--confirm", path];
    for command in ["verify", "sustain", "purge"] {
        let outcome = home.run(&[&[command, path][..], &consents].concat());
        assert_eq!(outcome.status, Some(1), "{command}: {}", outcome.err);
        let expected = format!("{}:2 excludes {path} from writes", list.display());
        assert!(outcome.err.contains(&expected), "{command}: {}", outcome.err);
    }
    assert_eq!(image.bytes(), before);
    let document = home.json(&["config"]);
    assert_eq!(document["never_write"][0]["drives"], path);
    assert!(home.print(&["config"]).contains(path));
    assert_eq!(home.run(&["check", path, "--time-limit", "5s", "-q"]).status, Some(0), "reads are allowed");
}

/// In a mount namespace of its own, whose /etc is a file system in memory.
#[test]
fn the_users_variables_do_not_lead_past_the_administrators_list() {
    let test = "the_users_variables_do_not_lead_past_the_administrators_list";
    let image = Image::blank(16);
    let before = image.bytes();
    let path = image.path.to_str().expect("a plain path");
    let home = Home::new();
    configure(&home, "never-write = []\nplain = false\n");
    let script = "mount -t tmpfs none /etc && mkdir /etc/drivescope && \
                  printf 'never-write = [\"%s\"]\\nplain = true\\nquiet = true\\n' \"$2\" > /etc/drivescope/config.toml || exit 77
                  \"$1\" config && exec \"$1\" verify \"$2\" --write --destroy-data --confirm \"$2\"";
    let mut command = Command::new("unshare");
    command.args(["--mount", "sh", "-c", script, "sh", PROGRAM, path]);
    command
        .env("XDG_DATA_HOME", home.folder.path())
        .env("XDG_CONFIG_HOME", home.folder.path().join("config"));
    let outcome = outcome(&mut command);
    if outcome.status == Some(77) || outcome.err.contains("unshare failed") {
        return skip(test, "a separate mount namespace needs root");
    }
    assert_eq!(outcome.status, Some(1), "{outcome:?}");
    let expected = format!("/etc/drivescope/config.toml:1 excludes {path} from writes");
    assert!(outcome.err.contains(&expected), "{}", outcome.err);
    let has =
        |row: &str, from: &str| outcome.out.lines().any(|line| line.starts_with(row) && line.ends_with(from));
    assert!(has("quiet ", "/etc/drivescope/config.toml:3"));
    assert!(has("plain ", "config/drivescope/config.toml:2"), "the user's is stronger: {}", outcome.out);
    assert_eq!(image.bytes(), before);
}
