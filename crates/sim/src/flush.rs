//! What a flush does on a drive with a write cache.

use crate::profile::schema::words;

words! {
    #[derive(Default)]
    FlushPolicy = "What a flush does, and what the drive reports of its write cache." {
        #[default]
        Honoured = "honoured" => "A flush completes when everything in the cache is on the medium. The drive reports a volatile cache. The default.";
        Ignored = "ignored" => "A flush completes at once and stores nothing, although the drive reports a volatile cache: a power cut loses data.";
        Protected = "protected" => "A flush completes at once, since capacitors or a battery save the cache. The drive reports no volatile cache.";
    }
}

impl FlushPolicy {
    pub fn stores(self) -> bool {
        self == FlushPolicy::Honoured
    }

    pub(crate) fn is_default(&self) -> bool {
        *self == FlushPolicy::default()
    }

    /// Whether the drive says that a power cut empties its cache.
    pub fn is_reported_volatile(self) -> bool {
        self != FlushPolicy::Protected
    }
}
