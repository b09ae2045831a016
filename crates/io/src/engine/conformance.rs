//! One suite that holds the contract for all engines.
