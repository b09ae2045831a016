//! How drives make a volume.

use crate::profile::schema::words;

words! {
    VolumeKind = "How drives make one." {
        Stripe = "stripe" => "Chunk after chunk on one drive after the other: RAID 0, a striped logical volume.";
        Mirror = "mirror" => "The same on all: RAID 1. One drive that works is enough.";
        Concatenation = "concatenation" => "The next begins where the one before ends.";
    }
}
