//! The arm against arithmetic by hand.
