//! The knee of a virtual drive by its definition: random reads at many numbers at a time, for long, and the number with the most
//! throughput for its latency. This runs the drive itself, without the program.

use model::prng::Prng;
use model::request::{Operation, Request, Tag};
use model::units::Instant;
use sim::profile::{Profile, open_profile};

/// Numbers at a time, half as far apart as those that `access` measures at first.
pub const NUMBERS: [u32; 17] = [1, 2, 3, 4, 5, 7, 10, 16, 25, 50, 70, 100, 158, 250, 500, 750, 1000];
/// Reads at each number: those that fill the queue are left out.
const READS: u64 = 3000;
const READS_FOR_EACH_AT_ONCE: u64 = 5;
const BLOCK: u64 = 4096;

pub fn knee(profile: &Profile) -> Option<f64> {
    let mut best = (0.0, None);
    for number in NUMBERS {
        let throughput = throughput(profile, number)?;
        let power = throughput * throughput / f64::from(number);
        if power > best.0 {
            best = (power, Some(f64::from(number)));
        }
    }
    best.1
}

fn throughput(profile: &Profile, number: u32) -> Option<f64> {
    let mut drive = open_profile(profile, "knee", 1).ok()?;
    let blocks = drive.facts().capacity.get() / BLOCK;
    let mut prng = Prng::new(u64::from(number), 0x6b_6e_65_65);
    let mut read = |tag: u32| Request {
        tag: Tag(tag),
        operation: Operation::Read,
        offset_bytes: prng.below(blocks) * BLOCK,
        length_bytes: BLOCK as u32,
    };
    let mut now = Instant::START;
    for tag in 0..number {
        drive.submit(read(tag), now);
    }
    let filling = u64::from(number);
    let wanted = filling + READS.max(READS_FOR_EACH_AT_ONCE * filling);
    let (mut done, mut began) = (0, now);
    while done < wanted {
        now = drive.next_completion_at()?;
        // A drive that answers in no time always has another answer at the same moment.
        while done < wanted
            && let Some(completion) = drive.take_completion(now)
        {
            done += 1;
            if done == filling {
                began = now;
            }
            drive.submit(read(completion.tag.0), now);
        }
    }
    let seconds = now.since(began).seconds();
    if seconds > 0.0 { Some((done - filling) as f64 / seconds) } else { None }
}

#[cfg(test)]
mod tests {
    use super::{knee, throughput};
    use sim::profile::preset;

    #[test]
    fn eight_equal_servers() {
        let profile = preset("constant").expect("it ships");
        assert!((throughput(&profile, 4).expect("a rate") / 40_000.0 - 1.0).abs() < 0.01);
        assert_eq!(knee(&preset("null").expect("it ships")), None, "nothing takes time there");
        // Of the numbers tried, 7 brings 7 times as much in the same time, and 10 only 8 times in a longer one.
        assert_eq!(knee(&profile), Some(7.0));
    }
}
