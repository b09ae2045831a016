//! The program: options, experiments, session, store, screens. A library, so that tests reach its parts.
#![forbid(unsafe_code)]

pub mod store;
