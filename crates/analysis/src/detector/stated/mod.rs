//! What follows from figures that other programs stated: the same findings as from measurements, with an interval if stated repeatedly.

mod link;
mod random;
mod ratio;
mod sizes;
mod speed;

pub(super) use link::link;
pub(super) use random::{access, gain};
pub(super) use ratio::ratio;
pub(super) use sizes::sizes;
pub(super) use speed::{pass_time, rates};

use crate::stated::stated;
use model::run::RunView;

pub(super) fn is_stated(run: &RunView<'_>) -> bool {
    !stated(run).is_empty()
}
