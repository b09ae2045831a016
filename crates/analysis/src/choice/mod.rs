//! Which kind of drive to take and how to use it: by questions, and by how long somebody's writes would take.

mod chart;
mod day;
mod drive;
mod unknown;

pub use chart::{Answers, Choice, Course, Kind, Preference, Question, Way};
pub use day::{DAY_S, DAYS_BEFORE, DayOfWrites, DayTime};
pub use drive::DriveWrites;
pub use unknown::WritesUnknown;
