//! Words for the finding of wake up.

use super::numbers::short_time;
use super::{Group, Subject, Wording};
use model::finding::{FindingCode, Known, WakeUp};

impl Wording for WakeUp {
    const PLACE: (Group, &'static str) = (Group::Access, "Wake-up time");

    fn statement(known: &Known<WakeUp>, _: FindingCode, _: &Subject<'_>) -> String {
        let latency = short_time(known.conclusion.latency_s);
        format!("The drive was in standby: its first read took {latency}.")
    }

    fn advice(known: &Known<WakeUp>, _: FindingCode, _: &Subject<'_>) -> Option<String> {
        let latency = short_time(known.conclusion.latency_s);
        Some(format!("Set timeouts above {latency}, or disable standby."))
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{known, statement};
    use super::*;

    #[test]
    fn the_first_read_tells_the_wake_up_time() {
        assert_eq!(
            statement(&known(WakeUp { latency_s: 7.12 }), FindingCode::WakeUp),
            "The drive was in standby: its first read took 7.12 s."
        );
    }
}
