//! What strangers posted: each file of `posts/` is imported without an option, and gives the figures that stand in the table beside it, as
//! the post prints them. Posts that need an option say which. Words and names are ours, figures and layout those of the posts.

use import::{Figure, Hints, Work, read_all};
use std::fs;
use std::path::Path;

/// Printed figures have three digits.
const ROUNDING: f64 = 0.012;
/// Posts that lack what only their author knows, and the option that gives it.
const NEED_AN_OPTION: [(&str, &str); 2] =
    [("dd-without-command", "--operation"), ("fio-log-without-name", "--as fio-bw-log")];

fn rates(figure: &Figure) -> (f64, f64, String, String) {
    match &figure.work {
        Work::Files(count) | Work::Flushes(count) => {
            (0.0, *count as f64 / figure.seconds, "-".into(), "-".into())
        }
        Work::Transfer(transfer) => {
            let bytes: u64 = transfer.moved.iter().map(|(_, _, bytes)| bytes).sum();
            // Of what is written back in part, programs count the reads.
            let requests = transfer.moved[0].1;
            let in_flight = transfer.queue_depth * transfer.threads;
            let block = transfer.block.get().to_string();
            (
                bytes as f64 / figure.seconds / 1e6,
                requests as f64 / figure.seconds,
                block,
                in_flight.to_string(),
            )
        }
    }
}

/// Whether a figure is what the table says of it; "-" is not checked.
fn fits(figure: &Figure, expected: &str) -> bool {
    let fields: Vec<&str> = expected.split(',').map(str::trim).collect();
    let [name, block, in_flight, rate] = fields[..] else { panic!("{expected}: four fields") };
    let (megabytes, per_second, its_block, its_in_flight) = rates(figure);
    let (its_rate, rate) = match rate.strip_suffix("/s") {
        Some(rate) => (per_second, rate),
        None => (megabytes, rate),
    };
    let rate: f64 = rate.parse().unwrap();
    figure.name == name
        && (block == "-" || block == its_block)
        && (in_flight == "-" || in_flight == its_in_flight)
        && (its_rate / rate - 1.0).abs() <= ROUNDING
}

#[test]
#[allow(clippy::disallowed_methods, reason = "each post is a file, so that one more needs no line of code")]
fn what_people_paste_is_read_without_an_option() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/posts");
    let mut left: Vec<String> = fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    let (mut imported, mut flaws) = (0, Vec::new());
    for row in include_str!("posts.csv").lines().filter(|row| !row.starts_with('#')) {
        let mut fields = row.split(';').map(str::trim);
        let (file, count) = (format!("{}.txt", fields.next().unwrap()), fields.next().unwrap());
        left.retain(|name| *name != file);
        let text = fs::read_to_string(folder.join(&file)).unwrap();
        let all = read_all(&text, &Hints::default());
        if let Some((_, option)) = NEED_AN_OPTION.iter().find(|(name, _)| format!("{name}.txt") == file) {
            let error = all.expect_err(&file).to_string();
            assert!(error.contains(option), "{file}: {error}");
            continue;
        }
        let figures: Vec<Figure> = match all {
            Ok(all) => all.into_iter().flat_map(|one| one.sets).flat_map(|set| set.figures).collect(),
            Err(error) => {
                flaws.push(format!("{file}: {error}"));
                continue;
            }
        };
        imported += 1;
        let wrong: Vec<&str> =
            fields.filter(|expected| !figures.iter().any(|figure| fits(figure, expected))).collect();
        if count != figures.len().to_string() || !wrong.is_empty() {
            let has: Vec<String> =
                figures.iter().map(|figure| format!("{} {:?}", figure.name, rates(figure))).collect();
            flaws.push(format!("{file}: lacks {wrong:?}, has {}\n  {}", figures.len(), has.join("\n  ")));
        }
    }
    assert!(flaws.is_empty(), "{}", flaws.join("\n"));
    assert!(left.is_empty(), "not in the table: {left:?}");
    assert!(imported >= 57, "{imported}");
    println!("{imported} posts imported without an option, {} need one", NEED_AN_OPTION.len());
}
