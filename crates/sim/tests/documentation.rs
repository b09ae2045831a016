//! `docs/reference/profiles.md` against the schema: its tables are made from the declarations of the keys, and its examples work.

use sim::profile::{Key, Profile, SECTIONS, WORDS, preset_names, preset_text};
use std::collections::BTreeSet;
use toml::{Table, Value};

const PAGE: &str = include_str!("../../../docs/reference/profiles.md");
/// Where the page has the words of a key.
const WORDS_AT: &[(&str, &str)] = &[
    ("TrackLayout", "#### `layout`"),
    ("QueuePolicy", "#### `policy`"),
    ("DefectKind", "#### `kind` of a defect"),
    ("CleaningPolicy", "#### `cleaning`"),
    ("CleaningOrder", "#### `cleaning_order`"),
    ("Initial", "#### `initial`"),
    ("WhenFull", "#### `when_full`"),
    ("VolumeKind", "#### `kind` of a volume"),
    ("ReadPolicy", "#### `read_policy`"),
    ("LinkKind", "#### `kind` of a link"),
    ("Duplex", "#### `duplex`"),
    ("Corruption", "#### `corruption`"),
    ("FlushPolicy", "#### `flush`"),
];
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
    ("constant", "[[faults]]\nkind = \"host-delay\"\nmean_us = 50\nlate_share = 0.01\nlate_ms = 1\n"),
    ("constant", "[[faults]]\nkind = \"times-out\"\nfirst_byte = 0\nbytes = 4096\n"),
    ("constant", "[[faults]]\nkind = \"hangs-past-depth\"\nqueue_depth = 2\n"),
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

/// By the end of its name, else by its type.
fn unit(key: &Key) -> &'static str {
    let units = [
        ("_mb_per_s", "MB/s"),
        ("bytes_per_second", "B/s"),
        ("per_minute", "per minute"),
        ("celsius_per_gb", "°C per GB"),
        ("_celsius", "°C"),
        ("_us", "µs"),
        ("_ms", "ms"),
        ("_s", "s"),
        ("_s_min", "s"),
        ("_seconds", "s"),
        ("_kib", "KiB"),
        ("_kib_max", "KiB"),
        ("_mib", "MiB"),
        ("bytes", "bytes"),
        ("first_byte", "byte"),
        ("_bytes_max", "bytes"),
        ("_turns", "turns"),
        ("_tracks", "tracks"),
        ("_share", "share"),
    ];
    if let Some((_, unit)) = units.iter().find(|(ending, _)| key.name.ends_with(ending)) {
        return unit;
    }
    let kind = key.kind.trim_start_matches("Option<").trim_start_matches("Vec<").trim_end_matches('>');
    match kind {
        "u32" | "u64" | "f64" => "number",
        "bool" => "true, false",
        "String" => "text",
        kind if WORDS.iter().any(|words| words.kind == kind) => "word",
        _ => "section",
    }
}

fn default(key: &Key) -> String {
    match key.default {
        None => "needed".into(),
        Some("None" | "Vec::new()") => "none".into(),
        Some(default) if default.contains("::") => "see below".into(),
        Some(default) => default.replace('_', "").trim_end_matches(".0").into(),
    }
}

fn row(key: &Key) -> String {
    let range = match key.bounds {
        Some((low, high)) => format!("{low} to {high}"),
        None => String::new(),
    };
    format!("| `{}` | {} | {} | {range} | {} |", key.name, unit(key), default(key), key.meaning)
}

/// The page with what stands below a heading replaced: its first paragraph, and its table.
fn replaced(page: &str, heading: &str, meaning: &str, table: &[String]) -> String {
    let from = page.find(&format!("{heading}\n")).unwrap_or_else(|| panic!("the page has no {heading}"));
    let (before, below) = page.split_at(from + heading.len() + 1);
    let (_, after_meaning) = below.trim_start().split_once('\n').expect("a paragraph and a table");
    let starts = after_meaning.find("| ").expect("a table");
    let ends = after_meaning[starts..].find("\n\n").map_or(after_meaning.len(), |length| starts + length + 1);
    let between = &after_meaning[..starts];
    format!("{before}\n{meaning}\n{between}{}\n{}", table.join("\n"), &after_meaning[ends..])
}

/// The page as the declarations of the keys make it.
fn page() -> String {
    let mut page = PAGE.to_string();
    for section in SECTIONS {
        let heading = if section.path.starts_with('[') {
            format!("### `{}`", section.path)
        } else {
            format!("### {}", section.path)
        };
        let head = ["| key | unit | default | range | meaning |", "|---|---|---|---|---|"].map(String::from);
        let table: Vec<String> = head.into_iter().chain(section.keys.iter().map(row)).collect();
        page = replaced(&page, &heading, section.meaning, &table);
    }
    for words in WORDS {
        let heading = WORDS_AT.iter().find(|(kind, _)| *kind == words.kind).expect("a place on the page").1;
        let head = ["| word | meaning |", "|---|---|"].map(String::from);
        let rows = words.words.iter().map(|(word, meaning)| format!("| `{word}` | {meaning} |"));
        page = replaced(&page, heading, words.meaning, &head.into_iter().chain(rows).collect::<Vec<_>>());
    }
    page
}

#[test]
fn the_tables_are_those_of_the_schema() {
    assert_eq!(page(), PAGE, "make it anew: cargo test -p sim --test documentation -- --ignored");
}

#[test]
#[ignore = "writes docs/reference/profiles.md"]
#[allow(clippy::disallowed_methods, reason = "the page is made here")]
fn write_the_page() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/reference/profiles.md");
    std::fs::write(path, page()).expect("the page can be written");
}

#[test]
fn each_key_stands_on_the_page() {
    let keys = keys();
    assert!(keys.len() > 120, "{keys:?}");
    let missing: Vec<&String> = keys.iter().filter(|key| !PAGE.contains(&format!("`{key}`"))).collect();
    assert!(missing.is_empty(), "docs/reference/profiles.md does not name {missing:?}");
}

#[test]
fn the_small_profile_of_the_page_is_one() {
    let complete = PAGE.split("```toml\n").skip(1).map(|block| block.split("```").next().unwrap_or_default());
    let profiles: Vec<&str> = complete.filter(|block| block.starts_with("version = 1")).collect();
    assert_eq!(profiles.len(), 1);
    let profile =
        Profile::parse(profiles[0], "docs/reference/profiles.md").unwrap_or_else(|error| panic!("{error}"));
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
