//! What charts read from the data of findings.

use model::finding::{Datum, Finding, FindingCode, Name, Outcome};
use model::run::Run;

/// Details by name.
pub(super) type Record<'finding> = &'finding [(Name, Datum)];

/// The conclusion with that code.
pub(super) fn finding(run: &Run, code: FindingCode) -> Option<&Finding> {
    run.findings.iter().find(|finding| finding.code == code)
}

/// The records in a list of the data of the conclusion with that code.
pub(super) fn records_of<'run>(run: &'run Run, code: FindingCode, name: &str) -> Vec<Record<'run>> {
    finding(run, code).map_or(Vec::new(), |finding| records(finding, name))
}

/// A number among the details of the conclusion with that code.
pub(super) fn detail(run: &Run, code: FindingCode, name: &str) -> Option<f64> {
    let Outcome::Known(conclusion) = &finding(run, code)?.outcome else { return None };
    number(&conclusion.data, name)
}

/// The records in a list of a finding's data.
pub(super) fn records<'finding>(finding: &'finding Finding, name: &str) -> Vec<Record<'finding>> {
    let Outcome::Known(conclusion) = &finding.outcome else { return Vec::new() };
    let datum = conclusion.data.iter().find(|(key, _)| key == name).map(|(_, datum)| datum);
    datum.map_or(Vec::new(), list)
}

/// The records in a list.
fn list(datum: &Datum) -> Vec<Record<'_>> {
    let Datum::List(list) = datum else { return Vec::new() };
    let records = list.iter().filter_map(|datum| match datum {
        Datum::Record(parts) => Some(parts.as_slice()),
        _ => None,
    });
    records.collect()
}

/// The records in a list within a detail that is a record itself.
pub(super) fn records_within<'finding>(
    finding: &'finding Finding,
    outer: &str,
    name: &str,
) -> Vec<Record<'finding>> {
    let Outcome::Known(conclusion) = &finding.outcome else { return Vec::new() };
    let outer = conclusion.data.iter().find(|(key, _)| key == outer).map(|(_, datum)| datum);
    let Some(Datum::Record(parts)) = outer else { return Vec::new() };
    parts.iter().find(|(key, _)| key == name).map_or(Vec::new(), |(_, datum)| list(datum))
}

/// From which byte to which a record says that it goes.
pub(super) fn extent(record: Record<'_>) -> Option<(f64, f64)> {
    let first = number(record, "first_byte")?;
    Some((first, first + number(record, "bytes")?))
}

/// A finite number of a record.
pub(super) fn number(record: Record<'_>, name: &str) -> Option<f64> {
    match &record.iter().find(|(key, _)| key == name)?.1 {
        Datum::Number(number) => Some(*number).filter(|number| number.is_finite()),
        Datum::Integer(number) => Some(*number as f64),
        _ => None,
    }
}

/// A word of a record.
pub(super) fn word<'finding>(record: Record<'finding>, name: &str) -> Option<&'finding str> {
    match &record.iter().find(|(key, _)| key == name)?.1 {
        Datum::Text(text) => Some(text),
        _ => None,
    }
}

/// The interval of a record, where it has one.
pub(super) fn interval(record: Record<'_>) -> Option<(f64, f64)> {
    Some((number(record, "low")?, number(record, "high")?))
}

/// Whether a record says yes to something.
pub(super) fn flag(record: Record<'_>, name: &str) -> bool {
    record.iter().any(|(key, datum)| key == name && *datum == Datum::Flag(true))
}
