//! What `access` is asked to vary.

use model::units::Bytes;
use model::workload::Caching;

/// What is varied, and how.
#[derive(Clone, Debug, PartialEq)]
pub struct AccessWish {
    /// Requests at a time in one queue.
    pub depths: Vec<u32>,
    /// Threads that each wait for one request.
    pub threads: Vec<u32>,
    /// Sizes of requests, one at a time over the whole range.
    pub blocks: Vec<Bytes>,
    /// Parts of the range from its start, one request at a time.
    pub spans: Vec<f64>,
    /// Whether a block may be asked for again before all have been.
    pub with_replacement: bool,
    /// Past the page cache, or through it.
    pub caching: Caching,
}

impl Default for AccessWish {
    /// The numbers of threads that a much-quoted measurement took, the sizes that HD Tune takes with some between, and parts
    /// of a disk that people use.
    fn default() -> AccessWish {
        AccessWish {
            depths: vec![1, 2, 5, 10, 25, 100, 250, 1000],
            threads: Vec::new(),
            blocks: [512, 16 << 10, 64 << 10, 256 << 10, 1 << 20].map(Bytes).to_vec(),
            spans: vec![0.5, 0.25, 0.1, 0.05, 0.01, 0.001],
            with_replacement: false,
            caching: Caching::Direct,
        }
    }
}
