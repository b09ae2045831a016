//! How drives make a volume.

use crate::profile::schema::words;

words! {
    VolumeKind = "How the members are combined." {
        Stripe = "stripe" => "Chunks on the members in turn: RAID 0, striped logical volume.";
        Mirror = "mirror" => "Same data on all members: RAID 1. One working member is enough.";
        Concatenation = "concatenation" => "Members one after the other: linear.";
    }
}
