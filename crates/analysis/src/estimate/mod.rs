//! From what a run found to how long work will take: the rate over position, and times of stretches of the drive.
//!
//! Everything here is for a drive that does nothing else meanwhile, with large requests in order.

mod budget;
mod curve;
mod falling;
mod found;
mod rates;
mod unknown;
mod work;

pub use budget::{WithinBudget, depths_without_p99, within_budget};
pub use curve::{Basis, RateCurve};
pub use rates::{DriveRates, WriteTime};
pub use unknown::RateUnknown;
pub use work::{Work, WorkTime, rebuild, work_time};
