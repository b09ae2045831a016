//! What was in flight between two phases.

/// Between two phases of which the first ended by time: what was in flight then is used, or one less where a completion ended it. Where
/// requests wait for tokens, phases begin with a completion, and between two beginnings a whole number of tokens comes.
pub(super) struct Border {
    pub drained: f64,
    pub cost: f64,
    /// Since the first phase began, without what that is known to have used.
    pub came_back: f64,
}

impl Border {
    pub fn used(&self) -> f64 {
        let one_less = self.drained - self.cost;
        if (self.came_back - one_less).abs() < 0.5 * self.cost { one_less } else { self.drained }
    }

    /// How far it is from either, in requests; no more than one, for where no token is waited for it is anything.
    pub fn residual(&self) -> f64 {
        ((self.came_back - self.used()) / self.cost).abs().min(1.0)
    }
}
