//! Article E's table of conditions: what the valleys of its drive are like after each thing that was done to it.

use crate::document::{Document, number};
use crate::failure::Failure;
use crate::program::Program;
use model::finding::FindingCode;
use std::fmt::Write as _;

const DRIVE: &str = "sim:x25-m";
const CONDITIONS: &str = "mixed,seq:1MiB,seq:8MiB,erase,halves";
/// Passes as the article made them with HD Tune: across the drive, touching a third of it, in large blocks first.
const PASSES: [&str; 6] = ["--way", "crossing", "--blocks", "8MiB,4MiB,64KiB", "--passes", "6"];
/// What the article saw, to read the table against.
const SEEN: &str = "The article saw: after mixed writes wide valleys that become narrower from pass to pass and stay, in blocks of 64 KiB \
                    and of 8 MiB;\nafter 1 MiB in order narrow ones from the beginning; after 8 MiB in order next to none in blocks of 8 MiB, \
                    and none at first but some later in\nblocks of 4 MiB, more in smaller ones; after an erase next to none in blocks of 8 MiB \
                    and some in blocks of 64 KiB; after half and half\nsome in both halves, however often it is passed over.";

pub fn table(program: &Program, seed: u64) -> Result<String, Failure> {
    let seed = seed.to_string();
    let asked = ["valleys", DRIVE, "--write", "--conditions", CONDITIONS, "--seed", &seed];
    let words = [&asked[..], &PASSES[..]].concat();
    Ok(text(&words.join(" "), &program.run(&words)?))
}

fn text(command: &str, document: &Document) -> String {
    let mut text = format!(
        "## Article E's conditions\n\n`drivescope {command}`:\nsix passes of sequential writes after each, across the drive as HD Tune does. The drive takes no TRIM, so that to \
         erase it is to write zeroes.\n\n{SEEN}\n\n| after | blocks of passes | over | valleys, first pass | last pass | width, first pass | last pass |\n\
         |---|---:|---:|---:|---:|---:|---:|\n"
    );
    for row in document.rows(FindingCode::ValleyCure, "conditions") {
        let _ = writeln!(
            text,
            "| {} | {:.0} KiB | {:.0} to {:.0} GB | {:.0} | {:.0} | {} | {} |",
            row["after"].as_str().unwrap_or("?"),
            number(row, "block_bytes") / 1024.0,
            number(row, "first_byte") / 1e9,
            number(row, "end_byte") / 1e9,
            number(row, "valleys_first"),
            number(row, "valleys_last"),
            width(number(row, "width_first_s")),
            width(number(row, "width_last_s")),
        );
    }
    let said = document.said(FindingCode::ValleyCure)["statement"].as_str();
    let _ = writeln!(text, "\n{}\n", said.unwrap_or("Nothing was said of a cure."));
    text
}

fn width(seconds: f64) -> String {
    if seconds == 0.0 { "-".to_string() } else { format!("{seconds:.2} s") }
}

#[cfg(test)]
mod tests {
    use super::text;
    use serde_json::json;

    #[test]
    fn a_condition_is_a_row() {
        let row = json!({ "after": "mixed writes", "block_bytes": 65536, "first_byte": 0, "end_byte": 40e9, "valleys_first": 6,
                          "valleys_last": 0, "width_first_s": 0.84, "width_last_s": 0.0 });
        let cure = json!({ "code": "valley-cure", "statement": "Gone.", "data": { "conditions": [row] } });
        let text = text("valleys", &json!({ "findings": [cure] }).into());
        assert!(
            text.contains("| mixed writes | 64 KiB | 0 to 40 GB | 6 | 0 | 0.84 s | - |\n\nGone.\n"),
            "{text}"
        );
    }
}
