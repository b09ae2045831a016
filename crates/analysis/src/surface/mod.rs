//! The map of a drive: how long a byte takes at each place, made from visits to many places.
//!
//! A visit is one short sequential phase. On a disk its time per byte is that of the zone it lies in and, on top of it, noise
//! of about 2 %: which surface it met (surfaces differ by up to ±3 %: 8thway 2013, HTS541010A9E680), and which part of a track
//! was cut. Zones step by 0.1 to 5 %. A map therefore needs many visits, and says how small a step it may have missed.
//! ```text
//! phases -> visits -> places -> clumps -> levels -> borders
//!                       |                   |
//!                 slow, disturbed     zones, suspects, pass time
//! ```

mod border;
mod change;
mod clump;
mod edge;
mod in_step;
mod level;
mod load;
mod map;
mod noise;
mod pass;
mod pause;
mod place;
mod sorting;
mod touch;
mod visit;

pub(crate) use change::{GROUP_VISITS_MIN, limit_between, mean_rate};
pub use edge::Edge;
pub use level::Level;
pub use load::Disturbances;
pub use map::SurfaceMap;
pub(crate) use pass::interval;
pub use pause::Pauses;
pub(crate) use pause::is_used_constantly;
pub use sorting::SlowPlace;
pub use visit::Visit;
pub(crate) use visit::visits_from_to;
