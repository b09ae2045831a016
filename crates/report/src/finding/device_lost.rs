//! Words for the finding of device lost.

use super::{Group, Subject, Wording};
use crate::quantity::count;
use crate::style::Tone;
use model::finding::{DeviceLost, FindingCode, Known};

impl Wording for DeviceLost {
    const PLACE: (Group, &'static str) = (Group::Sound, "Device lost after");

    fn statement(known: &Known<DeviceLost>, _: FindingCode, _: &Subject<'_>) -> String {
        let DeviceLost { at_s, failed } = known.conclusion;
        match failed {
            Some(failed) => format!(
                "From {at_s:.1} s on every request failed, at any offset: {} failed. The drive or its connection stopped working.",
                count(failed)
            ),
            None => {
                format!("The device went away {at_s:.1} s after the start; nothing was measured after that.")
            }
        }
    }

    fn advice(_: &Known<DeviceLost>, _: FindingCode, _: &Subject<'_>) -> Option<String> {
        Some("Check cable, power supply, enclosure and `dmesg` before you blame the drive. Keep no data on it until it runs without this.".into())
    }

    fn alarm(_: &Known<DeviceLost>, _: FindingCode) -> Option<Tone> {
        Some(Tone::Bad)
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{known, statement};
    use super::*;

    #[test]
    fn a_silence_names_the_failures() {
        assert_eq!(
            statement(&known(DeviceLost { at_s: 100.04, failed: Some(1234) }), FindingCode::DeviceLost),
            "From 100.0 s on every request failed, at any offset: 1,234 failed. The drive or its connection stopped working."
        );
    }
}
