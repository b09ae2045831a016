//! Words for the finding of datasheet claims.

use super::numbers::number;
use super::{Group, Reason, Subject, Wording};
use model::finding::{
    Certainty, Claim, ClaimName, ClaimedFigure, ClaimedRecording, DatasheetClaims, DatasheetClaimsUnknown,
    FindingCode, Known,
};

/// A shortfall beyond the sheet's rounding and the differences between drives of a model.
pub(super) const SHORTFALL_MIN: f64 = 0.1;
/// Ratios with an interval narrower than this are told to a tenth of a percent.
const NARROW: f64 = 0.02;

impl Wording for DatasheetClaims {
    const PLACE: (Group, &'static str) = (Group::Sheet, "Comparison");
    const COUNTED: Option<(&'static str, &'static str)> = Some(("value compared", "values compared"));

    fn statement(known: &Known<DatasheetClaims>, _: FindingCode, _: &Subject<'_>) -> String {
        let sheet = &known.conclusion;
        let claims: Vec<String> = sheet.claims.iter().map(claim_words).collect();
        let judgement = if sheet.claims.iter().any(|claim| is_missed(claim, sheet.is_limited)) {
            "Misses the published values of the"
        } else if sheet.is_limited {
            "The link is the limit, so throughput is not judged against the published values of the"
        } else if sheet.claims.iter().any(is_exceeded) {
            "Exceeds the published values of the"
        } else if sheet.claims.iter().any(|claim| matches!(claim, Claim::Figure(_))) {
            "Within 10 % of the published values of the"
        } else {
            "Agrees with published data on the"
        };
        let unverified = match sheet.certainty {
            Certainty::Recalled => ", quoted second-hand",
            _ => "",
        };
        let judgement = match claims.as_slice() {
            [_] => judgement.replace("values", "value"),
            _ => judgement.into(),
        };
        format!(
            "{judgement} {} {}: {}. Source: {}{unverified}.",
            sheet.maker,
            sheet.family,
            claims.join("; "),
            sheet.source
        )
    }

    fn advice(known: &Known<DatasheetClaims>, _: FindingCode, _: &Subject<'_>) -> Option<String> {
        let sheet = &known.conclusion;
        let is_slow = |claim: &Claim| match claim {
            Claim::Figure(figure) => figure.name.is_rate() && is_missed(claim, sheet.is_limited),
            Claim::Recording(_) => false,
        };
        if !sheet.claims.iter().any(is_slow) {
            return None;
        }
        Some("The drive is slower than its data sheet. Check for background load, a slow port or cable, and wear; then repeat.".into())
    }
}

impl Reason for DatasheetClaimsUnknown {
    fn why(&self, _: FindingCode, _: &Subject<'_>) -> String {
        match self {
            Self::NothingMeasured { maker, family } => {
                format!(
                    "Not possible: this run measured none of the figures in the {maker} {family} data sheet."
                )
            }
        }
    }
}

/// Whether the whole interval is worse than stated by more than the sheet's rounding; throughput over a link that limits it is not the drive's.
fn is_missed(claim: &Claim, is_limited: bool) -> bool {
    match claim {
        Claim::Recording(recording) => recording.significant,
        Claim::Figure(figure) => match figure.name {
            name if name.is_rate() => !is_limited && figure.high / figure.stated < 1.0 - SHORTFALL_MIN,
            ClaimName::TurnsPerMinute => (figure.ratio - 1.0).abs() > SHORTFALL_MIN,
            _ => figure.low / figure.stated > 1.0 + SHORTFALL_MIN,
        },
    }
}

fn is_exceeded(claim: &Claim) -> bool {
    match claim {
        Claim::Figure(figure) if figure.name.is_rate() => figure.low / figure.stated > 1.0 + SHORTFALL_MIN,
        Claim::Figure(figure) if figure.name == ClaimName::TurnsPerMinute => false,
        Claim::Figure(figure) => figure.high / figure.stated < 1.0 - SHORTFALL_MIN,
        Claim::Recording(_) => false,
    }
}

fn claim_words(claim: &Claim) -> String {
    match claim {
        Claim::Figure(figure) => figure_words(figure),
        Claim::Recording(recording) => recording_words(recording),
    }
}

/// "average throughput 166 MB/s measured, 156 MB/s stated (+6.4 %, CI +5.1 to +7.7 %)".
fn figure_words(figure: &ClaimedFigure) -> String {
    let ClaimedFigure { unit, stated, measured, low, high, ratio, .. } = *figure;
    let is_narrow = (high - low) / 2.0 / measured < NARROW;
    let chance = if figure.significant { "" } else { ", not significant" };
    let (low, high) = (percent(low / stated, is_narrow), percent(high / stated, is_narrow));
    let interval = if low == high { String::new() } else { format!(", CI {low} to {high} %") };
    let (measured, stated) = (number(measured), number(stated));
    let difference = match percent(ratio, is_narrow) {
        _ if measured == stated => "equal after rounding".to_string(),
        difference => format!("{difference} %{interval}{chance}"),
    };
    format!("{} {measured} {unit} measured, {stated} {unit} stated ({difference})", what(figure.name))
}

fn percent(ratio: f64, is_narrow: bool) -> String {
    let percent = (ratio - 1.0) * 100.0;
    let text = if is_narrow { format!("{percent:+.1}") } else { format!("{percent:+.0}") };
    // Nothing has no sign.
    if text.trim_start_matches(['+', '-', '0', '.']).is_empty() { text[1..].to_owned() } else { text }
}

fn what(name: ClaimName) -> &'static str {
    match name {
        ClaimName::RateMax => "maximum sustained transfer rate",
        ClaimName::RateAverage => "average throughput",
        ClaimName::WriteRateMax => "highest write throughput",
        ClaimName::SeekAverage => "average seek",
        ClaimName::SeekTrackToTrack => "track-to-track seek",
        ClaimName::TurnsPerMinute => "rotational speed",
        ClaimName::Recording => "recording technology",
    }
}

fn recording_words(recording: &ClaimedRecording) -> String {
    let (found, stated) = (recording.measured.to_uppercase(), recording.stated.to_uppercase());
    format!("recording technology {found} found, {stated} stated")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figure(stated: f64, measured: f64, low: f64, high: f64) -> String {
        let significant = !(low..=high).contains(&stated);
        let ratio = measured / stated;
        let name = ClaimName::RateAverage;
        figure_words(&ClaimedFigure { name, unit: "MB/s", stated, measured, low, high, ratio, significant })
    }

    /// Article C: 166 MB/s were measured and 156 stated.
    #[test]
    fn a_claim_is_set_against_what_was_measured() {
        assert_eq!(
            figure(156.0, 166.0, 164.0, 168.0),
            "average throughput 166 MB/s measured, 156 MB/s stated (+6.4 %, CI +5.1 to +7.7 %)"
        );
        assert_eq!(
            figure(210.0, 203.6, 203.2, 204.0),
            "average throughput 204 MB/s measured, 210 MB/s stated (-3.0 %, CI -3.2 to -2.9 %)"
        );
    }

    #[test]
    fn what_lies_within_the_interval_is_not_significant() {
        assert_eq!(
            figure(156.0, 155.0, 150.0, 160.0),
            "average throughput 155 MB/s measured, 156 MB/s stated (-1 %, CI -4 to +3 %, not significant)"
        );
        assert!(figure(180.0, 179.4, 178.8, 180.1).contains("(-0.3 %, CI -0.7 to +0.1 %, not significant)"));
        assert!(figure(100.0, 100.01, 100.01, 100.01).contains("100 MB/s stated (equal after rounding)"));
    }

    #[test]
    fn recording_that_is_not_as_stated_is_said() {
        let recording = |measured: &str| {
            let significant = measured != "cmr";
            recording_words(&ClaimedRecording {
                name: ClaimName::Recording,
                stated: "cmr",
                measured: measured.into(),
                significant,
            })
        };
        assert_eq!(recording("cmr"), "recording technology CMR found, CMR stated");
        assert_eq!(recording("smr"), "recording technology SMR found, CMR stated");
    }
}
