//! What a drive keeps of what it read, and how far it reads on: from single reads that are answered sooner than any medium could.

mod answers;
mod interleaved;
mod kept;
mod read_on;
mod streams;

pub use answers::NotTold;
pub use kept::{Kept, kept};
pub use read_on::{ReadOn, read_on};
pub(crate) use read_on::{first_reads_ns, memory_answer_s};
pub use streams::streams;
