//! Contents against a plain array, and each fault of data against literals.

use super::*;
use crate::fault::Corruption;
use model::prng::Prng;
use proptest::prelude::*;

const CAPACITY: u64 = 1 << 20;

fn sound() -> Contents {
    Contents::new(Bytes::new(CAPACITY), &[], 1)
}

fn read(contents: &Contents, offset: u64, length: usize) -> Vec<u8> {
    let mut data = vec![0xee; length];
    contents.read(offset, &mut data);
    data
}

/// All blocks go wrong in that way, in the first 64 KiB.
fn all(corruption: Corruption) -> Contents {
    let fault =
        FaultProfile::SilentCorruption { corruption, every_blocks: 1, first_byte: 0, bytes: Some(65_536) };
    Contents::new(Bytes::new(CAPACITY), &[fault], 1)
}

fn incompressible(seed: u64, length: usize) -> Vec<u8> {
    let mut data = vec![0; length];
    Prng::new(seed, 0).fill(&mut data);
    data
}

#[test]
fn thirty_terabytes_take_what_is_written() {
    let mut contents = Contents::new(Bytes::new(30_000_000_000_000), &[], 1);
    assert_eq!(contents.memory(), Bytes::ZERO);
    let data = incompressible(1, 8192);
    contents.write(29_999_999_991_808, &data).unwrap();
    assert_eq!(read(&contents, 29_999_999_991_808, 8192), data);
    assert_eq!(read(&contents, 15_000_000_000_000, 4), [0; 4]);
    // Two or three pages and at most two ways of seven nodes of 512 bytes.
    assert!(contents.memory().get() <= 3 * 4096 + 14 * 512, "{:?}", contents.memory());
    contents.discard(0, 30_000_000_000_000);
    assert_eq!(contents.memory(), Bytes::ZERO);
    assert_eq!(read(&contents, 29_999_999_995_904, 4), [0; 4]);
}

#[test]
fn a_repeated_byte_takes_nothing() {
    let mut contents = sound();
    for offset in (0..CAPACITY).step_by(1000) {
        let length = 1000.min(CAPACITY - offset) as usize;
        contents.write(offset, &vec![0x55; length]).unwrap();
    }
    // The node that says where the drive ends; what is past it are zeros.
    assert_eq!(contents.memory(), Bytes::new(512));
    assert_eq!(read(&contents, 500_000, 3), [0x55; 3]);
    contents.write(4096, &incompressible(1, 4096)).unwrap();
    assert_eq!(contents.memory(), Bytes::new(512 + 512 + 4096));
    contents.write(4096, &[0x55; 4096]).unwrap();
    assert_eq!(contents.memory(), Bytes::new(512));
}

#[test]
fn full_memory_is_an_error_that_says_how_much_was_stored() {
    let mut contents = sound().with_limit(Bytes::new(64 << 10));
    let data = incompressible(2, CAPACITY as usize);
    let Err(ContentsError::MemoryFull { stored_bytes, limit_bytes }) = contents.write(0, &data) else {
        panic!("a megabyte does not fit into 64 KiB");
    };
    // 16 pages would fit, were it not for the two nodes above them.
    assert_eq!((stored_bytes, limit_bytes), (15 * 4096, 64 << 10));
    assert_eq!(read(&contents, 0, stored_bytes as usize), data[..stored_bytes as usize]);
    assert_eq!(read(&contents, stored_bytes, 4096), [0; 4096]);
    contents.write(0, &[0; 8192]).unwrap();
    contents.write(stored_bytes, &data[..8192]).unwrap();
}

#[test]
fn past_the_end_nothing_is_stored_and_zeros_are_read() {
    let mut contents = sound();
    assert_eq!(
        contents.write(CAPACITY - 1, &[1, 2]),
        Err(ContentsError::PastEnd { capacity_bytes: CAPACITY })
    );
    contents.write(CAPACITY - 1, &[1]).unwrap();
    assert_eq!(read(&contents, CAPACITY - 1, 2), [1, 0]);
}

#[test]
fn a_lying_drive_wraps() {
    let lie = FaultProfile::LyingCapacity { real_bytes: 65_536, spared_bytes: 0 };
    let mut contents = Contents::new(Bytes::new(CAPACITY), &[lie], 1);
    contents.write(65_536 - 2, &[1, 2, 3, 4]).unwrap();
    assert_eq!(read(&contents, 0, 2), [3, 4]);
    assert_eq!(read(&contents, 10 * 65_536 - 2, 4), [1, 2, 3, 4]);
    contents.discard(3 * 65_536, 4096);
    assert_eq!(read(&contents, 65_536 - 2, 4), [1, 2, 0, 0]);
}

#[test]
fn a_lying_drive_can_spare_its_start() {
    let lie = FaultProfile::LyingCapacity { real_bytes: 65_536, spared_bytes: 16_384 };
    let mut contents = Contents::new(Bytes::new(CAPACITY), &[lie], 1);
    contents.write(0, &[9; 4]).unwrap();
    contents.write(65_536 - 2, &[1, 2, 3, 4]).unwrap();
    assert_eq!((read(&contents, 0, 2), read(&contents, 16_384, 2)), (vec![9, 9], vec![3, 4]));
    assert_eq!(read(&contents, 65_536 + 49_152 - 2, 4), [1, 2, 3, 4]);
}

#[test]
fn a_drive_that_loses_writes_remembers_the_newest() {
    let lie = FaultProfile::LosesPastEnd { real_bytes: 65_536, remembers_blocks: 2 };
    let mut contents = Contents::new(Bytes::new(CAPACITY), &[lie], 1);
    contents.write(65_536 - 4096, &[7; 8192]).unwrap();
    assert_eq!(read(&contents, 65_536 - 1, 2), [7, 7], "both blocks are remembered");
    contents.write(0, &[1; 4096]).unwrap();
    assert_eq!(read(&contents, 65_536, 2), [7, 7]);
    contents.write(4096, &[2; 4096]).unwrap();
    assert_eq!(read(&contents, 65_536 - 1, 2), [7, 0], "one is there, the other is lost");
    assert_eq!(read(&contents, 0, 1), [1]);
}

#[test]
fn a_flipped_bit_is_one_bit_of_its_block() {
    let mut contents = all(Corruption::BitFlip);
    let data = incompressible(3, 3 * 4096);
    contents.write(0, &data).unwrap();
    let flipped = |contents: &Contents| -> Vec<u32> {
        let held = read(contents, 0, data.len());
        let bits = held.iter().zip(&data).map(|(held, data)| (held ^ data).count_ones());
        bits.collect::<Vec<_>>().chunks(4096).map(|block| block.iter().sum()).collect()
    };
    assert_eq!(flipped(&contents), [1, 1, 1]);
    // In pieces it is the same bit.
    (0..data.len()).step_by(512).for_each(|at| contents.write(at as u64, &data[at..at + 512]).unwrap());
    assert_eq!(flipped(&contents), [1, 1, 1]);
    contents.write(65_536, &data).unwrap();
    assert_eq!(read(&contents, 65_536, data.len()), data, "outside the stretch nothing is wrong");
}

#[test]
fn zeros_and_lost_writes_do_not_hold_what_was_written() {
    for (corruption, before) in [(Corruption::Zero, 0), (Corruption::LostWrite, 0)] {
        let mut contents = all(corruption);
        contents.write(4096, &[7; 4096]).unwrap();
        assert_eq!(read(&contents, 4096, 4096), [before; 4096], "{corruption:?}");
        contents.write(61_440, &[7; 8192]).unwrap();
        assert_eq!(read(&contents, 65_536, 4096), [7; 4096], "{corruption:?}");
    }
}

#[test]
fn a_stale_block_is_one_write_behind() {
    let mut contents = all(Corruption::Stale);
    contents.write(4096, &[1; 4096]).unwrap();
    assert_eq!(read(&contents, 4096, 2), [0, 0]);
    contents.write(4096, &[2; 512]).unwrap();
    assert_eq!(read(&contents, 4096, 2), [1, 1]);
    contents.write(4096, &[3; 4096]).unwrap();
    assert_eq!(read(&contents, 4096 + 511, 2), [2, 1]);
    contents.discard(0, CAPACITY);
    contents.write(4096, &[4; 4096]).unwrap();
    assert_eq!(read(&contents, 4096, 2), [0, 0], "what was discarded does not come back");
}

#[test]
fn a_misplaced_write_spoils_the_block_before() {
    let fault = FaultProfile::SilentCorruption {
        corruption: Corruption::MisplacedWrite,
        every_blocks: 1,
        first_byte: 8192,
        bytes: Some(4096),
    };
    let mut contents = Contents::new(Bytes::new(CAPACITY), &[fault], 1);
    (0..4u8).for_each(|block| contents.write(u64::from(block) * 4096, &[block + 1; 4096]).unwrap());
    let blocks: Vec<u8> = (0..4).map(|block| read(&contents, block * 4096, 1)[0]).collect();
    assert_eq!(blocks, [1, 3, 0, 4]);
}

/// One in seven of 256 blocks: 36 whole runs, and the place in the cut run of 4 lies before its end or not.
#[test]
fn as_many_blocks_are_wrong_as_the_fault_says() {
    let fault = FaultProfile::SilentCorruption {
        corruption: Corruption::Zero,
        every_blocks: 7,
        first_byte: 0,
        bytes: None,
    };
    let wrong = |seed: u64| {
        let mut contents = Contents::new(Bytes::new(CAPACITY), std::slice::from_ref(&fault), seed);
        contents.write(0, &vec![9; CAPACITY as usize]).unwrap();
        (0..256u64).filter(|block| read(&contents, block * 4096, 1) == [0]).collect::<Vec<_>>()
    };
    for seed in 0..20 {
        let count = wrong(seed).len() as u64;
        assert!((36..=37).contains(&count), "{count}");
        assert_eq!(count, wrong_blocks(Bytes::new(CAPACITY), std::slice::from_ref(&fault), seed));
    }
    assert_eq!(wrong(5), wrong(5));
    assert_ne!(wrong(5), wrong(6));
}

#[derive(Clone, Debug)]
enum Step {
    Write { at: u64, length: u64, byte: Option<u8> },
    Discard { at: u64, length: u64 },
}

fn step() -> impl Strategy<Value = Step> {
    let place = || (0..CAPACITY, prop_oneof![1..3000u64, 4096..200_000u64], any::<bool>());
    let aligned = |at: u64, aligned: bool| if aligned { at / 4096 * 4096 } else { at };
    prop_oneof![
        (place(), proptest::option::of(0..2u8)).prop_map(move |((at, length, whole), byte)| {
            let at = aligned(at, whole);
            Step::Write { at, length: length.min(CAPACITY - at), byte }
        }),
        place().prop_map(move |(at, length, whole)| Step::Discard { at: aligned(at, whole), length }),
    ]
}

proptest! {
    /// What is read is what was written, whatever was written and discarded, through any wrap.
    #[test]
    fn contents_are_a_plain_array(
        steps in proptest::collection::vec(step(), 1..40),
        real_blocks in proptest::option::of(1u64..200),
        seed in any::<u64>(),
    ) {
        let real = real_blocks.map_or(CAPACITY, |blocks| blocks * 4096);
        let lie = real_blocks.map(|_| FaultProfile::LyingCapacity { real_bytes: real, spared_bytes: 0 });
        let mut contents = Contents::new(Bytes::new(CAPACITY), lie.as_slice(), 1);
        let mut array = vec![0u8; real as usize];
        for (number, step) in steps.into_iter().enumerate() {
            match step {
                Step::Write { at, length, byte } => {
                    let data = match byte {
                        Some(byte) => vec![byte; length as usize],
                        None => incompressible(seed ^ number as u64, length as usize),
                    };
                    contents.write(at, &data).unwrap();
                    (at..).zip(&data).for_each(|(at, byte)| array[(at % real) as usize] = *byte);
                }
                Step::Discard { at, length } => {
                    contents.discard(at, length);
                    let pages = at.div_ceil(4096)..(at + length).min(CAPACITY) / 4096;
                    pages.for_each(|page| {
                        let first = (page * 4096 % real) as usize;
                        array[first..first + 4096].fill(0);
                    });
                }
            }
        }
        let held = read(&contents, 0, CAPACITY as usize);
        prop_assert!((0..).zip(&held).all(|(at, byte)| *byte == array[at as usize % array.len()]));
        let pages = array.chunks(4096).filter(|page| page.iter().any(|byte| *byte != page[0])).count() as u64;
        // Every page that is kept is needed; nodes: at most one way of 2 for each page, and those of filled stretches.
        prop_assert!(contents.memory().get() >= pages * 4096);
        prop_assert!(contents.memory().get() <= pages * 4096 + (1 + 8) * 512);
        contents.discard(0, CAPACITY);
        prop_assert_eq!(contents.memory(), Bytes::ZERO);
    }

    #[test]
    fn a_block_is_wrong_whoever_writes_it_however(cut in 1usize..4096, seed in any::<u64>()) {
        let fault = FaultProfile::SilentCorruption {
            corruption: Corruption::BitFlip,
            every_blocks: 5,
            first_byte: 4096,
            bytes: None,
        };
        let data = incompressible(seed, 40 * 4096);
        let mut at_once = Contents::new(Bytes::new(CAPACITY), std::slice::from_ref(&fault), seed);
        at_once.write(0, &data).unwrap();
        let mut in_parts = Contents::new(Bytes::new(CAPACITY), &[fault], seed);
        (0..data.len()).step_by(cut).for_each(|at| {
            in_parts.write(at as u64, &data[at..data.len().min(at + cut)]).unwrap();
        });
        prop_assert_eq!(read(&at_once, 0, data.len()), read(&in_parts, 0, data.len()));
    }
}
