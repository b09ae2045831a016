//! What a power cut left of acknowledged records.

use super::section::{page, toned};
use crate::quantity::count;
use crate::style::{Style, Tone, paragraph};
use model::power_cut::Survival;
use serde::Serialize;

#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "schema", rename = "drivescope.power-cut/1")]
pub struct PowerCutPage {
    pub target: String,
    #[serde(flatten)]
    pub survival: Survival,
}

pub fn power_cut_page(cut: &PowerCutPage, style: Style) -> String {
    let survival = &cut.survival;
    let target = style.name(&cut.target);
    let head = vec![style.paint(Tone::Heading, &format!("Power cut: {target}"))];
    let mut figures = Vec::new();
    for (label, number) in [
        ("Acknowledged", survival.acknowledged),
        ("Not overwritten since", survival.expected),
        ("Kept", survival.kept),
        ("Lost", survival.lost),
        ("Torn", survival.torn),
        ("Stale", survival.stale),
        ("Reordered", survival.reordered),
    ] {
        figures.push(format!("  {label:<23}{:>12}", count(number)));
    }
    let (tone, verdict, advice) = conclusion(survival);
    let verdict = toned(tone, "Verdict: ", &verdict, style);
    let advice = paragraph("  - ", &style.own(advice), style.columns());
    page([head, verdict, figures, advice])
}

fn conclusion(survival: &Survival) -> (Tone, String, &'static str) {
    let (missing, expected) = (survival.missing(), survival.expected);
    if expected == 0 {
        let verdict = "Inconclusive: no record was acknowledged before the cut.".into();
        return (Tone::Warning, verdict, "Write for some seconds before the cut.");
    }
    if missing == 0 {
        let verdict = format!("No acknowledged record is missing: all {} are there.", count(expected));
        return (
            Tone::Heading,
            verdict,
            "A cut may miss the moment at which a record is lost. Repeat it, best under load.",
        );
    }
    let mut verdict = format!(
        "Failed. {} of {} acknowledged records are missing: {} lost, {} torn, {} stale.",
        count(missing),
        count(expected),
        count(survival.lost),
        count(survival.torn),
        count(survival.stale)
    );
    if let (Some(first), Some(last)) = (survival.first_missing, survival.last_missing) {
        verdict += &format!(" They are records {} to {}.", count(first), count(last));
    }
    if survival.reordered > 0 {
        verdict += &format!(" {} are older than a record that survived.", count(survival.reordered));
    }
    verdict += " The drive or a layer above it does not honour flushes.";
    let advice = "Disable the volatile write cache (hdparm -W 0, nvme set-feature -f 6 -v 0), or use a drive with \
                  power-loss protection. In a virtual machine use cache mode none or directsync.";
    (Tone::Bad, verdict, advice)
}

#[cfg(test)]
mod tests {
    use super::*;

    const STYLE: Style = Style { width: 80, colour: false, unicode: true, draws: false };

    fn verdict(survival: Survival) -> String {
        let page = power_cut_page(&PowerCutPage { target: "sim:x".into(), survival }, STYLE);
        page.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn each_outcome_has_its_verdict() {
        assert!(verdict(Survival::default()).contains("Inconclusive: no record was acknowledged"));
        let kept = Survival { acknowledged: 9000, expected: 4000, kept: 4000, ..Survival::default() };
        assert!(verdict(kept).contains("Verdict: No acknowledged record is missing: all 4,000 are there."));
        let survival = Survival {
            acknowledged: 12,
            expected: 10,
            kept: 4,
            lost: 3,
            torn: 2,
            stale: 1,
            reordered: 5,
            first_missing: Some(6),
            last_missing: Some(11),
            newest: Some(10),
        };
        let failed = verdict(survival);
        let said = "Failed. 6 of 10 acknowledged records are missing: 3 lost, 2 torn, 1 stale. They are records 6 to 11. 5 \
                    are older than a record that survived.";
        assert!(failed.contains(said), "{failed}");
    }
}
