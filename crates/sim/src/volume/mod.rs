//! Several drives that look like one: striped or mirrored.
