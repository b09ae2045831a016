//! A run in a dozen lines, as a block for forums and issue trackers.

use super::heading::{description, identity, path};
use crate::quantity::readable_moment;
use crate::style::{Style, columns_of, pad_end};
use crate::verdict::{Verdict, is_weighty, weightiest};
use model::run::Run;
use model::target::TargetKind;

/// Findings in a post; with head and foot it stays within a dozen lines.
const FINDINGS: usize = 8;
/// Forums show a block of this width on a telephone.
const STYLE: Style = Style { width: 100, colour: false, unicode: true, draws: true };

/// The verdict, the findings that say most, and how it was measured, in a Markdown code block.
pub fn post(run: &Run) -> String {
    let drive = identity(&run.target, STYLE).unwrap_or_else(|| path(&run.target, STYLE));
    let drive = drive.split(", serial number").next().unwrap_or_default();
    let Verdict { title, headline, .. } = Verdict::of(run, STYLE);
    let mut rows = weightiest(run, STYLE, FINDINGS);
    rows.retain(is_weighty);
    let width = rows.iter().map(|row| columns_of(&row.label)).max().unwrap_or(0);
    let mut lines = vec!["```".to_string(), format!("{drive}: {}", description(&run.target, STYLE))];
    lines.push(format!("{title}: {headline}"));
    for row in &rows {
        let value = format!("{} {}", row.number, row.unit);
        let interval = if row.interval.is_empty() { String::new() } else { format!(" ({})", row.interval) };
        lines.push(format!("  {}  {}{interval}", pad_end(&row.label, width), value.trim_end()));
    }
    let started = match run.target.kind {
        TargetKind::Sim => "virtual drive".into(),
        _ => readable_moment(&STYLE.name(&run.started)),
    };
    lines.push(format!("drivescope {}, {started}; ranges are 95 % CIs", STYLE.name(&run.version)));
    lines.push("```".into());
    lines.join("\n") + "\n"
}
