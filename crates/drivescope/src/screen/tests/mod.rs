//! Screens, drawn into memory.
