//! What `sizes` is asked to vary.

use model::units::Bytes;

/// What is varied, and how often each is measured.
#[derive(Clone, Debug, PartialEq)]
pub struct SizesWish {
    /// Sizes of requests.
    pub sizes: Vec<Bytes>,
    /// Requests at a time.
    pub depths: Vec<u32>,
    /// How often each is measured.
    pub rounds: u32,
}

impl Default for SizesWish {
    /// ATTO's sizes, 0.5 KiB to 64 MiB, one at a time as File Benchmark has them and four as ATTO does.
    fn default() -> SizesWish {
        SizesWish { sizes: (9..=26).map(|power| Bytes(1 << power)).collect(), depths: vec![1, 4], rounds: 3 }
    }
}
