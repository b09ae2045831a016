//! The dashboard and the alerts that packages bring: they ask for metrics that the program exports.

use crate::program::*;
use std::collections::BTreeSet;

const DASHBOARD: &str = include_str!("../../../../packaging/grafana/drivescope.json");
const ALERTS: &str = include_str!("../../../../packaging/prometheus/drivescope.rules.yml");

/// The words of a text that are names of our metrics.
fn metrics(text: &str) -> BTreeSet<&str> {
    let words = text.split(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_');
    words.filter(|word| word.starts_with("drivescope_")).collect()
}

#[test]
fn the_dashboard_and_the_alerts_ask_for_what_is_exported() {
    let home = Home::new();
    home.print(&["check", "sim:st3000dm001", "--seed", "1", "-q"]);
    // A virtual drive has no date, and finds all that is asked for; a real one has a date.
    let folder = tempfile::tempdir().expect("a temporary folder");
    let folder = folder.path().to_str().expect("a plain path");
    home.print(&["check", folder, "--max-size", "16MiB", "--time-limit", "5s", "-q"]);
    let exported = home.print(&["export", "--all", "--format", "openmetrics", "-o", "-"]);
    let families: BTreeSet<&str> =
        exported.lines().filter_map(|line| line.strip_prefix("# TYPE ")?.split(' ').next()).collect();
    for (name, text) in [("dashboard", DASHBOARD), ("alerts", ALERTS)] {
        let asked = metrics(text);
        assert!(asked.len() >= 3, "{name}: {asked:?}");
        let absent: Vec<_> = asked.difference(&families).collect();
        assert!(absent.is_empty(), "{name} asks for {absent:?}, exported are {families:?}");
    }
}

/// The rules of Grafana's dashboard schema that a change can break: unique panels on a grid of 24 columns, each with a query to
/// the chosen data source and a unit.
#[test]
fn the_dashboard_is_as_grafana_reads_it() {
    let dashboard: serde_json::Value = serde_json::from_str(DASHBOARD).expect("JSON");
    assert!(dashboard["schemaVersion"].as_u64().is_some_and(|version| version >= 36));
    assert!(dashboard["title"].is_string() && dashboard["uid"].as_str().is_some_and(|uid| uid.len() <= 40));
    let variables = dashboard["templating"]["list"].as_array().expect("variables");
    let names: Vec<_> = variables.iter().filter_map(|variable| variable["name"].as_str()).collect();
    assert_eq!(names, ["datasource", "device"]);
    let mut ids = BTreeSet::new();
    let mut taken = BTreeSet::new();
    for panel in dashboard["panels"].as_array().expect("panels") {
        let title = panel["title"].as_str().expect("a title");
        assert!(ids.insert(panel["id"].as_u64().expect("a number")), "{title}");
        assert!(
            ["stat", "timeseries", "table"].contains(&panel["type"].as_str().expect("a type")),
            "{title}"
        );
        assert_eq!(panel["datasource"]["uid"], "${datasource}", "{title}");
        let side = |name: &str| panel["gridPos"][name].as_u64().expect("a side");
        assert!(side("w") >= 1 && side("h") >= 1 && side("x") + side("w") <= 24, "{title}");
        for x in side("x")..side("x") + side("w") {
            for y in side("y")..side("y") + side("h") {
                assert!(taken.insert((x, y)), "{title} lies over another panel");
            }
        }
        let mut references = BTreeSet::new();
        for target in panel["targets"].as_array().expect("queries") {
            let expression = target["expr"].as_str().expect("a query");
            assert!(expression.contains("device=~\"$device\""), "{title}: {expression}");
            assert!(references.insert(target["refId"].as_str().expect("a name")), "{title}");
        }
        assert!(!references.is_empty(), "{title}");
    }
    assert!(ids.len() >= 6);
}
