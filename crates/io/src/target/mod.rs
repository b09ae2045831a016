//! Targets: what can be measured.
