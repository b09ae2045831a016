//! A run as it is compared with others.

use model::run::{Run, Series};

#[derive(Clone, Copy)]
pub struct ComparedRun<'run> {
    pub name: &'run str,
    pub run: &'run Run,
    pub series: &'run dyn Series,
}
