//! `docs/profiles.md` against the schema: each key that a profile can have stands there, and its examples work.

use sim::profile::{Profile, preset_names, preset_text};
use std::collections::BTreeSet;
use toml::{Table, Value};

const PAGE: &str = include_str!("../../../docs/profiles.md");
/// No key, and like none.
const NO_KEY: &str = "qqqqqqqqqqqqqqqq";

/// Sections that no drive that ships has, each with a drive that it can be added to.
const RARE: &[(&str, &str)] = &[
    ("dt01aca300", "[disk.standby]\nafter_idle_s = 60\nwake_up_s = 8\nasleep = true\n"),
    ("970-pro", "[flash.map_flush]\nevery_mib = 1024\nstall_ms = 10\n"),
    ("970-pro", "[flash.garbage_collection]\nidle_s = 5\n"),
    ("970-pro", "[[flash.power_states]]\nidle_ms = 100\nwake_us = 50\n"),
    (
        "970-pro",
        "[flash.thermal]\nambient_celsius = 30\ncelsius_per_gb = 0.1\ncooling_s = 60\nthrottle_celsius = 80\n\
         resume_celsius = 70\nrate_factor = 0.3\n",
    ),
    ("constant", "[[faults]]\nkind = \"stall\"\nat_s = 1\nseconds = 1\n"),
    ("constant", "[[faults]]\nkind = \"gone-at\"\nat_s = 1\n"),
    ("constant", "[[faults]]\nkind = \"gone-after-requests\"\nrequests = 1\n"),
    ("constant", "[[faults]]\nkind = \"short-reads\"\nevery_reads = 3\n"),
    ("constant", "[[faults]]\nkind = \"slow\"\nfirst_byte = 0\nbytes = 4096\nmilliseconds = 5\n"),
    ("constant", "[[faults]]\nkind = \"other-load\"\nper_second = 5\n"),
    ("constant", "[[faults]]\nkind = \"times-out\"\nfirst_byte = 0\nbytes = 4096\n"),
    ("constant", "[[faults]]\nkind = \"silent-corruption\"\ncorruption = \"zero\"\nevery_blocks = 9\n"),
];

/// The texts that together have all sections.
fn texts() -> Vec<String> {
    let text = |name| preset_text(name).unwrap_or_else(|error| panic!("{error}"));
    let rare = RARE.iter().map(|(name, section)| format!("{}\n{section}", text(name)));
    preset_names().map(|name| text(name).to_string()).chain(rare).collect()
}

/// A path to each section of a profile.
fn sections(value: &Value, path: &[String], found: &mut Vec<Vec<String>>) {
    match value {
        Value::Table(table) => {
            found.push(path.to_vec());
            for (key, part) in table {
                sections(part, &[path, std::slice::from_ref(key)].concat(), found);
            }
        }
        Value::Array(items) => {
            // All of a list are alike, but faults are not.
            for (index, item) in items.iter().enumerate().take(3) {
                sections(item, &[path, &[index.to_string()]].concat(), found);
            }
        }
        _ => {}
    }
}

/// The section at a path.
fn section_mut<'a>(mut value: &'a mut Value, path: &[String]) -> &'a mut Table {
    for step in path {
        value = match value {
            Value::Table(table) => table.get_mut(step).expect("a path that was found"),
            Value::Array(items) => {
                items.get_mut(step.parse::<usize>().expect("an index")).expect("a path that was found")
            }
            other => panic!("{other} has no parts"),
        };
    }
    value.as_table_mut().expect("a section")
}

/// The keys of all sections, from what is said of a key that there is not.
fn keys() -> BTreeSet<String> {
    let mut keys = BTreeSet::new();
    for text in texts() {
        let table: Table = text.parse().unwrap_or_else(|error| panic!("{error}: {text}"));
        let whole = Value::Table(table);
        let mut paths = Vec::new();
        sections(&whole, &[], &mut paths);
        for path in paths {
            let mut changed = whole.clone();
            section_mut(&mut changed, &path).insert(NO_KEY.into(), Value::Boolean(true));
            let text = toml::to_string(&changed).expect("TOML");
            let refusal = Profile::parse(&text, "changed").expect_err("a key that there is not").to_string();
            // What is one of several sections, such as [disk.seek], has no keys of its own.
            let Some((_, known)) = refusal.split_once("what can stand here: ") else { continue };
            keys.extend(known.split(", ").map(String::from));
        }
    }
    keys
}

#[test]
fn each_key_stands_on_the_page() {
    let keys = keys();
    assert!(keys.len() > 120, "{keys:?}");
    let missing: Vec<&String> = keys.iter().filter(|key| !PAGE.contains(&format!("`{key}`"))).collect();
    assert!(missing.is_empty(), "docs/profiles.md does not name {missing:?}");
}

#[test]
fn the_small_profile_of_the_page_is_one() {
    let complete = PAGE.split("```toml\n").skip(1).map(|block| block.split("```").next().unwrap_or_default());
    let profiles: Vec<&str> = complete.filter(|block| block.starts_with("version = 1")).collect();
    assert_eq!(profiles.len(), 1);
    let profile = Profile::parse(profiles[0], "docs/profiles.md").unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(profile.name, "mine");
}

#[test]
fn the_change_of_the_page_can_be_made() {
    let text = preset_text("st3000dm001").unwrap_or_else(|error| panic!("{error}"));
    let mut table: Table = text.parse().expect("TOML");
    let disk = table.get_mut("disk").and_then(Value::as_table_mut).expect("a disk");
    disk.insert("turns_per_minute".into(), Value::Integer(5400));
    let mut link = Table::new();
    link.insert("kind".into(), Value::String("usb-2-bot".into()));
    table.insert("link".into(), Value::Table(link));
    let text = toml::to_string(&table).expect("TOML");
    assert!(Profile::parse(&text, "my.toml").is_ok());
}
