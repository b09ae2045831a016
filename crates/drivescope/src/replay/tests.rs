//! Stored runs, told again.
