//! The names of small files. They follow from numbers, so that nobody has to remember millions of them.

use super::job::Job;
use model::file_work::FileTask;
use model::prng::Prng;
use std::ffi::CStr;

/// What each name has behind its letter, and what it may have beyond that, each length as often: as long as those of bonnie++ 2.00, 10
/// to 22. One sign more makes entries of a folder in ext4 4 % longer on average.
const DIGITS_MIN: usize = 9;
const DIGITS_MORE_MAX: usize = 12;
/// A name has a number of 32 bits.
const DIGITS_OF_NUMBER: usize = 8;
const NAME_MAX: usize = 1 + DIGITS_MIN + DIGITS_MORE_MAX + 1;

/// The name of a file, without a place on the heap: `f00000002a51…` in order, `f9c3e…0000002a` at random. They are of different
/// length, as programs' are and those of bonnie++, of which the names have the same lengths: a file system that searches a folder
/// need not look into a name of another length, and finds its way among names of one length more slowly.
pub(super) struct Name([u8; NAME_MAX]);

impl Name {
    pub(super) fn of(job: &Job, index: u64) -> Name {
        let drawn = Prng::new(job.seed ^ 0x4a4e, index).next_u64();
        let more = (drawn >> 48) as usize % (DIGITS_MORE_MAX + 1);
        let mut name = [0; NAME_MAX];
        name[0] = b'f';
        // The number stays in it, so that no two are the same.
        if is_random(job.task) {
            let (first, last) = name[1..].split_at_mut(more + DIGITS_MIN - DIGITS_OF_NUMBER);
            write_digits(first, drawn);
            write_digits(&mut last[..DIGITS_OF_NUMBER], index);
        } else {
            let (first, last) = name[1..].split_at_mut(DIGITS_MIN);
            write_digits(first, index);
            write_digits(&mut last[..more], drawn);
        }
        Name(name)
    }

    pub(super) fn text(&self) -> &CStr {
        CStr::from_bytes_until_nul(&self.0).expect("a name is shorter than its room")
    }
}

fn write_digits(room: &mut [u8], mut number: u64) {
    for digit in room.iter_mut().rev() {
        *digit = b"0123456789abcdef"[(number & 0xf) as usize];
        number >>= 4;
    }
}

pub(super) fn is_ours(name: &[u8]) -> bool {
    matches!(name.split_first(), Some((b'f', digits)) if (DIGITS_MIN..=DIGITS_MIN + DIGITS_MORE_MAX).contains(&digits.len())
        && digits.iter().all(u8::is_ascii_hexdigit))
}

pub(super) fn is_random(task: FileTask) -> bool {
    task >= FileTask::CreateAtRandom
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn names_in_order_are_in_order() {
        let name = |index| Name::of(&Job::of_test(FileTask::StatInOrder), index).text().to_owned();
        assert!(name(42).to_bytes().starts_with(b"f00000002a"));
        assert!((0..5000).map(name).is_sorted());
    }

    #[test]
    fn names_are_of_every_length_of_those_of_bonnie() {
        for task in [FileTask::CreateInOrder, FileTask::CreateAtRandom] {
            let mut counts = [0u32; 32];
            (0..13_000)
                .for_each(|index| counts[Name::of(&Job::of_test(task), index).text().to_bytes().len()] += 1);
            // Each of 13 lengths 1000 times; three in a million draws are further off than 5 of its 30.4.
            assert!(counts[10..=22].iter().all(|count| (848..=1152).contains(count)), "{counts:?}");
            assert_eq!(counts.iter().sum::<u32>(), counts[10..=22].iter().sum::<u32>());
        }
    }

    proptest! {
        #[test]
        fn names_are_the_same_for_all_tasks(index in 0u64..1 << 32, other in 0u64..1 << 32) {
            let name = |task, index| Name::of(&Job::of_test(task), index).text().to_owned();
            let made = name(FileTask::CreateAtRandom, index);
            prop_assert_eq!(&made, &name(FileTask::DeleteAtRandom, index));
            prop_assert!(is_ours(made.to_bytes()));
            prop_assert!(index == other || made != name(FileTask::StatAtRandom, other));
        }
    }
}
