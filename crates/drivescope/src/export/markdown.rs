//! What was found as a table in Markdown, for forums and issue trackers.

use super::job::{Export, ExportJob, all_runs, give};
use crate::error::UserError;
use report::finding::documents;
use report::hostile::harmless;

pub const MARKDOWN: Export = Export {
    name: "markdown",
    ending: Some("md"),
    about: "Findings as a table, for forums and issue trackers",
    write,
};

fn write(job: &dyn ExportJob) -> Result<(), UserError> {
    let mut text = String::new();
    for run in all_runs(job)? {
        let drive = run.target.model.as_ref().unwrap_or(&run.target.path);
        let heading = format!("{} ({}, {})", plain(drive), plain(&run.command), run.started);
        text.push_str(&format!("### {heading}\n\n| finding | |\n|---|---|\n"));
        for finding in documents(&run) {
            let said = finding.statement.or(finding.unknown).unwrap_or_default();
            text.push_str(&format!("| {} | {} |\n", finding.code, plain(&said)));
        }
        text.push('\n');
    }
    give(job, &text, "findings.md")
}

/// One line of text that is no markup and ends no cell: a drive may call itself what it likes.
fn plain(text: &str) -> String {
    let mut plain = String::new();
    for character in harmless(text, usize::MAX).chars() {
        match character {
            '<' => plain.push_str("&lt;"),
            '&' => plain.push_str("&amp;"),
            '\\' | '|' | '*' | '_' | '`' | '[' | ']' | '#' | '~' | '!' => plain.extend(['\\', character]),
            other => plain.push(other),
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_name_of_a_drive_is_markup() {
        assert_eq!(plain("WD_20 | [x](http://y) <b>"), "WD\\_20 \\| \\[x\\](http://y) &lt;b>");
        assert_eq!(plain("a\nb"), "a\\\\u{a}b");
    }
}
