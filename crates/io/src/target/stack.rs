//! What lies under a target, from it down to the drives.
