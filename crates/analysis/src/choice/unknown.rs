//! Why it is not known how long a drive takes for a day's writes.

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WritesUnknown {
    #[error("Sequential writes were not measured. Measure them: drivescope surface TARGET --write")]
    InOrder,
    #[error(
        "Random writes were not measured, or not for long enough. Measure them: drivescope sustain TARGET --write"
    )]
    AtRandom,
}
