//! Tests of the store's parts. Those of the whole store, through its public face, are in `tests/store*.rs`.

mod journal;
mod records;
mod segment;
