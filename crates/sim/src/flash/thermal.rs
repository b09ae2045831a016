//! Heat: every byte written warms the drive, its surroundings cool it, and when it is too warm it writes slower.

use crate::flash::profile::ThermalProfile;

#[derive(Clone, Debug)]
pub(crate) struct Thermal {
    profile: ThermalProfile,
    excess_celsius: f64,
    at_s: f64,
    throttled: bool,
}

impl Thermal {
    pub(crate) fn new(profile: ThermalProfile) -> Thermal {
        Thermal { profile, excess_celsius: 0.0, at_s: 0.0, throttled: false }
    }

    /// Writes `bytes` from `start_s` on, which would take `seconds` when cool; the seconds that it takes.
    pub(crate) fn write(&mut self, bytes: f64, start_s: f64, seconds: f64) -> f64 {
        self.cool_until(start_s);
        let celsius = self.profile.ambient_celsius + self.excess_celsius;
        if celsius >= self.profile.throttle_celsius {
            self.throttled = true;
        } else if celsius <= self.profile.resume_celsius {
            self.throttled = false;
        }
        let taken_s = if self.throttled { seconds / self.profile.rate_factor } else { seconds };
        self.excess_celsius += bytes * 1e-9 * self.profile.celsius_per_gb;
        self.cool_until(start_s + taken_s);
        taken_s
    }

    fn cool_until(&mut self, at_s: f64) {
        if at_s > self.at_s {
            self.excess_celsius *= (-(at_s - self.at_s) / self.profile.cooling_s).exp();
            self.at_s = at_s;
        }
    }
}

/// After how many seconds of writing at that rate the drive throttles, from cold; none if never.
#[cfg(test)]
pub fn seconds_to_throttle(profile: &ThermalProfile, bytes_per_second: f64) -> Option<f64> {
    let limit = bytes_per_second * 1e-9 * profile.celsius_per_gb * profile.cooling_s;
    let needed = profile.throttle_celsius - profile.ambient_celsius;
    (limit > needed).then(|| -profile.cooling_s * (1.0 - needed / limit).ln())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn profile() -> ThermalProfile {
        ThermalProfile {
            ambient_celsius: 25.0,
            celsius_per_gb: 0.5,
            cooling_s: 100.0,
            throttle_celsius: 80.0,
            resume_celsius: 70.0,
            rate_factor: 0.4,
        }
    }

    /// At 2 GB/s the excess tends to 100 °C; 55 °C are reached after −100 · ln(1 − 0.55) = 79.85 s.
    #[test]
    fn it_slows_down_when_it_is_too_warm_and_recovers() {
        let profile = profile();
        let expected_s = seconds_to_throttle(&profile, 2e9).unwrap();
        assert!((expected_s - 79.85).abs() < 0.01, "{expected_s}");
        assert_eq!(seconds_to_throttle(&profile, 1e9), None);
        let mut thermal = Thermal::new(profile);
        let (mut at_s, mut taken_s) = (0.0, 0.0);
        while taken_s < 0.006 {
            taken_s = thermal.write(10e6, at_s, 0.005);
            at_s += taken_s;
        }
        assert!((at_s - expected_s).abs() < 0.1, "{at_s}");
        assert!((taken_s - 0.0125).abs() < 1e-12);
        // 70 °C are reached after 100 · ln(55 / 45) = 20.07 s without writing.
        assert!(thermal.write(1.0, at_s + 19.8, 1.0) > 2.0);
        assert_eq!(thermal.write(1.0, at_s + 21.0 + 1.5, 1.0), 1.0);
    }
}
