//! How often a byte is programmed that the host wrote once at random: in closed form.
//!
//! A superblock with N slots is filled, then loses its valid pages one by one, each as likely as the next, until it has
//! the j that make it the emptiest, when it is collected. From N to j valid pages takes it (H(N) − H(j)) / λ, with H the
//! harmonic numbers and λ the rate at which one page is rewritten; over that time it holds (N − j) / (H(N) − H(j)) valid
//! pages on average, which must be the share of all slots that is valid. So j is the root of
//!
//! (1 − j/N) / (H(N) − H(j)) = valid / slots, and the write amplification is N / (N − j).
//!
//! For N → ∞ this is α / (α + W₀(−α e^−α)) with α = slots / valid (Desnoyers 2012; Xiang and Kurkoski 2011).

/// The write amplification of greedy collection under uniform random writes: superblocks of `slots` pages.
pub fn greedy(slots: f64, valid_share: f64) -> f64 {
    if valid_share >= 1.0 {
        return f64::INFINITY;
    }
    let share = |j: f64| (1.0 - j / slots) / (harmonic(slots) - harmonic(j));
    // The share falls from 1 at j = N towards 0; below what j = 0 gives, whole superblocks are garbage.
    let (mut low, mut high) = (0.0, slots * (1.0 - 1e-9));
    for _ in 0..100 {
        let middle = f64::midpoint(low, high);
        if share(middle) < valid_share { low = middle } else { high = middle }
    }
    slots / (slots - low)
}

/// The limit for superblocks of many pages: α / (α + W₀(−α e^−α)) with α = 1 + spare space / valid data.
pub fn lambert(over_provisioning: f64) -> f64 {
    let alpha = 1.0 + over_provisioning;
    alpha / (alpha + lambert_w0(-alpha * (-alpha).exp()))
}

/// The spare space beside what is in use, as a share of that: trimmed or never written space is spare too.
pub fn effective_over_provisioning(over_provisioning: f64, used: f64) -> f64 {
    (1.0 + over_provisioning) / used - 1.0
}

/// 1 + 1/2 + … + 1/x, and between whole x ψ(x + 1) + γ: the series (Abramowitz, Stegun 6.3.18), lifted to 10⁻¹².
fn harmonic(x: f64) -> f64 {
    let (mut at, mut below) = (x + 1.0, 0.0);
    while at < 20.0 {
        below += 1.0 / at;
        at += 1.0;
    }
    let inverse = 1.0 / (at * at);
    let series = inverse * (1.0 / 12.0 - inverse * (1.0 / 120.0 - inverse / 252.0));
    at.ln() - 0.5 / at - series - below + 0.577_215_664_901_532_9
}

/// The w ≥ −1 with w·e^w = `x`, for −1/e ≤ x ≤ 0, by bisection: w·e^w rises there.
fn lambert_w0(x: f64) -> f64 {
    let (mut low, mut high) = (-1.0, 0.0);
    for _ in 0..100 {
        let middle = f64::midpoint(low, high);
        if middle * middle.exp() < x { low = middle } else { high = middle }
    }
    f64::midpoint(low, high)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn harmonic_numbers() {
        assert!((harmonic(0.0)).abs() < 1e-11);
        assert!((harmonic(1.0) - 1.0).abs() < 1e-11);
        assert!((harmonic(4.0) - 25.0 / 12.0).abs() < 1e-11);
        assert!((harmonic(100.0) - 5.187_377_517_639_621).abs() < 1e-11);
    }

    /// A reference calculation, row "Lambert".
    #[test]
    fn the_limit_is_as_published() {
        let row = [
            (0.05, 10.67),
            (0.07, 7.82),
            (0.0737, 7.46),
            (0.10, 5.68),
            (0.125, 4.68),
            (0.15, 4.02),
            (0.20, 3.19),
            (0.25, 2.69),
            (0.28, 2.48),
            (0.30, 2.36),
            (0.50, 1.72),
            (1.0, 1.26),
        ];
        for (spare, published) in row {
            let computed = lambert(spare);
            assert!((computed - published).abs() < 0.006, "{spare}: {computed}, published {published}");
        }
    }

    #[test]
    fn large_superblocks_come_to_the_limit() {
        for spare in [0.05, 0.1, 0.28, 1.0] {
            let (large, limit) = (greedy(1e6, 1.0 / (1.0 + spare)), lambert(spare));
            assert!((large / limit - 1.0).abs() < 1e-3, "{spare}: {large} against {limit}");
        }
    }

    #[test]
    fn half_in_use_is_as_good_as_twice_the_flash() {
        assert!((effective_over_provisioning(0.07, 0.5) - 1.14).abs() < 1e-12);
    }
}
