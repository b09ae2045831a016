//! Why a request cannot be carried out. Options are named as they are typed.

use crate::pattern_file::StepError;
use model::experiment_name::ExperimentName;
use model::quantity_text::{duration_text, size_text};
use model::share::Share;
use model::units::{Bytes, Nanos};
use thiserror::Error;

#[derive(Clone, Debug, PartialEq, Error)]
pub enum PlanError {
    #[error(
        "the target is an empty word. Name a device, a file, a folder or sim:NAME, or leave it out for this folder"
    )]
    NoTarget,
    #[error("--time-limit: a time limit of {} is too short to measure anything; give 5s or more", duration_text(*.0))]
    TimeLimitTooShort(Nanos),
    #[error("--precision: a precision of {0} cannot be reached; give 0.01% or more")]
    PrecisionTooFine(Share),
    #[error("--max-size: a scratch file of {} is too small to measure anything; give {needs} or more", size_text(*size))]
    ScratchTooSmall { size: Bytes, needs: Bytes },
    #[error("{option}: zero measures nothing; give {example}")]
    Zero { option: &'static str, example: &'static str },
    #[error("{option}: {share} leaves {leaves}; give less than 100%")]
    WholeShare { option: &'static str, share: Share, leaves: &'static str },
    #[error("{option}: {} is above the largest request, {most}", size_text(*size))]
    BlockTooLarge { option: &'static str, size: Bytes, most: Bytes },
    #[error("{option}: {block} is no multiple of the target's blocks of {logical}")]
    OddBlock { option: &'static str, block: Bytes, logical: Bytes },
    #[error("--blocks: {block} is too large for a range of {range}, which has no room for {count} of them")]
    NoRoomForBlocks { block: Bytes, range: Bytes, count: u64 },
    #[error("the range holds {holds}; {experiment} needs at least {needs}. Give a larger --range")]
    RangeTooSmall { experiment: ExperimentName, holds: Bytes, needs: Bytes },
    #[error("the range to go over holds no whole block. Give a larger --range")]
    NoWholeBlock,
    #[error(
        "{experiment} writes, and {path} may only be read. Add --write if what is on it may be lost, or name a folder to write \
         to a scratch file in it{}", if *experiment == ExperimentName::Verify { ". To compare what a run wrote: --read-back RUN" } else { "" }
    )]
    NeedsWrite { experiment: ExperimentName, path: String },
    #[error("--sizes: a commit of {} is outside 512B to 64KiB", size_text(*size))]
    CommitSize { size: Bytes },
    #[error(
        "commits cannot be preserved: their logs are as long as the drive is fast. Omit --preserve, or name a folder"
    )]
    NotPreserved,
    #[error("{0} only reads. Omit --write")]
    OnlyReads(ExperimentName),
    #[error(
        "a scratch file that was just made is read without its drive, and where it lies is not known: name the drive itself, as in \
         drivescope geometry /dev/sdX. `drivescope list` shows the drives"
    )]
    ScratchHasNoPlace,
    #[error(
        "{count} areas of {size} are more than the {room} to measure. Give fewer with --areas, or smaller ones with --area-size"
    )]
    AreasTooMany { count: u64, size: String, room: Bytes },
    #[error("an area of {size} is too small to show a rate; give {needs} or more")]
    AreaTooSmall { size: Bytes, needs: Bytes },
    #[error("there is nothing to verify, since nothing is written. Add --write")]
    NothingToVerify,
    #[error(
        "--sizes: none of them is a multiple of the target's blocks of {logical} that fits into the range four times"
    )]
    NoSizeFits { logical: Bytes },
    #[error("--bytes: that is less than one block, and shows nothing. Give more")]
    LessThanABlock,
    #[error("--endurance: what this drive endures is not in the table of data sheets. Give --bytes instead")]
    EnduranceUnknown,
    #[error("--over: whole and halves stand alone, or give parts such as 0%..25%,25%..50%")]
    MixedAreas,
    #[error("--over: a part is not within the range of {range}, or holds less than {needs}")]
    PartOutside { range: Bytes, needs: Bytes },
    #[error("name a plan; --list shows some")]
    NoPlan,
    #[error("there is no plan {0}")]
    PlanMissing(String),
    #[error("step {number} of {plan} (`{name}`): {reason}")]
    Step { number: usize, plan: String, name: String, reason: StepError },
    #[error(
        "what is given back at the end of the run cannot be compared later. Leave --write-only or --preserve out"
    )]
    GivenBack,
    #[error("what a run wrote to it is gone with that run, so writing and comparing are one run there")]
    GoneWithItsRun,
    #[error(
        "--compare: one folder cannot be set against others; name two or more: files --compare /outer /inner"
    )]
    OneFolder,
    #[error("{0} is named twice; name each folder once")]
    FolderTwice(String),
    #[error("{option}: a file of {size} is too short; give {needs} or more")]
    FileTooShort { option: &'static str, size: Bytes, needs: Bytes },
    #[error("--block: give a size from 1 byte to {most}, such as 1MiB")]
    FileBlock { most: Bytes },
    #[error(
        "--file-size: `{text}` are no sizes of small files; give one, or the smallest and the largest, up to {most}"
    )]
    SmallFileSize { text: String, most: Bytes },
    #[error("--beyond-memory: the system does not report how much memory it has; give --size")]
    MemoryUnknown,
    #[error(
        "{folder} has no room: a tenth of the file system must stay free, so that {left} are left for files, and {needed} are \
         needed. Make room, choose another folder, or a smaller --size"
    )]
    NoRoom { folder: String, left: Bytes, needed: Bytes },
}
