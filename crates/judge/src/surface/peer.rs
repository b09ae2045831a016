//! What people do today, on the same virtual drives: 55 areas with dd, HD Tune's 200 points, zcav.

use model::finding::FindingCode;
use model::request::{Operation, Request, Tag};
use model::units::{Instant, KIB, MIB};
use sim::profile::open_profile;
use std::collections::BTreeMap;

use super::measured::{Figure, Measured};
use crate::failure::{Doing, Failure};
use crate::virtual_drive::Drive;

pub struct Peer {
    pub name: &'static str,
    pub what: &'static str,
    go: fn(&mut Reader) -> Measured,
}

pub const PEERS: &[Peer] = &[
    Peer {
        name: "55 areas",
        what: "dd over 55 areas at equal distances, 50 GiB each or what fills 90 % of the drive, in reads of 1 MiB with \
               four under way as the system's read-ahead keeps them; first and last area, and the mean time for each byte",
        go: areas,
    },
    Peer {
        name: "200 points",
        what: "HD Tune's benchmark: 200 points at equal distances, at each 1 MiB in reads of 64 KiB one after the other, \
               timed from the end of a read that gets the arm there; its maximum, minimum and mean of rates",
        go: points,
    },
    Peer {
        name: "zcav",
        what: "zcav 2.00 as it comes: all of the drive in blocks of 512 MiB and reads of 1 MiB, with four under way as \
               the system's read-ahead keeps them; its first and its last whole block, and its time",
        go: zcav,
    },
];

const AREAS: u64 = 55;
const AREA_BYTES: u64 = 50 << 30;
const AREAS_SHARE: f64 = 0.9;
const POINTS: u64 = 200;
const BLOCK_BYTES: u64 = 512 << 20;
const DEPTH: u32 = 4;

impl Peer {
    pub fn measure(&self, drive: &Drive, seed: u64) -> Result<Measured, Failure> {
        let inner =
            open_profile(&drive.profile, &drive.target, seed).doing(format_args!("open {}", drive.name))?;
        let capacity = inner.facts().capacity.get();
        Ok((self.go)(&mut Reader { drive: inner, capacity, now: Instant::START, bytes: 0 }))
    }
}

struct Reader {
    drive: Box<dyn sim::Drive + Send>,
    capacity: u64,
    now: Instant,
    bytes: u64,
}

impl Reader {
    fn read(&mut self, first: u64, bytes: u64, request_bytes: u64, depth: u32) -> f64 {
        let (began, end) = (self.now, (first + bytes).min(self.capacity));
        let mut next = first;
        let mut under_way = 0;
        let mut free: Vec<u32> = (0..depth).collect();
        while next < end || under_way > 0 {
            while next < end
                && let Some(tag) = free.pop()
            {
                let length_bytes = request_bytes.min(end - next) as u32;
                let request =
                    Request { tag: Tag(tag), operation: Operation::Read, offset_bytes: next, length_bytes };
                self.drive.submit(request, self.now);
                (next, under_way) = (next + u64::from(length_bytes), under_way + 1);
            }
            let Some(moment) = self.drive.next_completion_at() else { break };
            self.now = moment.max(self.now);
            while let Some(completion) = self.drive.take_completion(self.now) {
                free.push(completion.tag.0);
                under_way -= 1;
                self.bytes += u64::from(completion.transferred_bytes);
            }
        }
        self.now.since(began).seconds()
    }

    fn measured(&self, outer: f64, inner: f64, seconds_per_byte: f64) -> Measured {
        Measured {
            device_s: self.now.since(Instant::START).seconds(),
            bytes: self.bytes as f64,
            capacity: self.capacity as f64,
            figures: BTreeMap::from([
                (FindingCode::FullPassTime, Figure::point(seconds_per_byte * self.capacity as f64)),
                (FindingCode::ReadRateOuter, Figure::point(outer)),
                (FindingCode::ReadRateInner, Figure::point(inner)),
                (FindingCode::ZoneRatio, Figure::point(outer / inner)),
            ]),
            ..Measured::default()
        }
    }
}

fn areas(reader: &mut Reader) -> Measured {
    let bytes = AREA_BYTES.min((AREAS_SHARE * (reader.capacity / AREAS) as f64) as u64) / MIB * MIB;
    let mut seconds = Vec::new();
    for area in 0..AREAS {
        let first = reader.capacity / AREAS * area / MIB * MIB;
        seconds.push(reader.read(first, bytes, MIB, DEPTH) / bytes as f64);
    }
    let mean = seconds.iter().sum::<f64>() / AREAS as f64;
    reader.measured(1.0 / seconds[0], 1.0 / seconds[AREAS as usize - 1], mean)
}

fn points(reader: &mut Reader) -> Measured {
    const READ: u64 = 64 * KIB;
    let (mut sum, mut least, mut most) = (0.0, f64::INFINITY, 0.0_f64);
    for point in 0..POINTS {
        let first = reader.capacity / POINTS * point / READ * READ;
        reader.read(first, READ, READ, 1);
        let rate = MIB as f64 / reader.read(first + READ, MIB, READ, 1);
        (sum, least, most) = (sum + rate, least.min(rate), most.max(rate));
    }
    reader.measured(most, least, 1.0 / (sum / POINTS as f64))
}

fn zcav(reader: &mut Reader) -> Measured {
    let blocks = reader.capacity / BLOCK_BYTES;
    let mut seconds = Vec::new();
    for block in 0..blocks {
        seconds.push(reader.read(block * BLOCK_BYTES, BLOCK_BYTES, MIB, DEPTH));
    }
    let rate = |seconds: Option<&f64>| BLOCK_BYTES as f64 / seconds.copied().unwrap_or(f64::NAN);
    let mean = seconds.iter().sum::<f64>() / (blocks * BLOCK_BYTES) as f64;
    reader.measured(rate(seconds.first()), rate(seconds.last()), mean)
}

#[cfg(test)]
mod tests {
    use super::{FindingCode, PEERS, Peer};
    use crate::surface::score::{Errors, Truth};
    use crate::virtual_drive::named;

    fn errors(peer: &Peer) -> (f64, Errors) {
        let drive = named("zoned").expect("a drive");
        let truth = Truth::of(&drive.profile).expect("a drive");
        let measured = peer.measure(&drive, 1).expect("a drive");
        (measured.bytes / measured.capacity, Errors::of_run(&measured, &truth))
    }

    /// On a disk without stripes who reads nearly all of it knows it.
    #[test]
    fn who_reads_everything_is_right() {
        for (number, share) in [(0, 0.9), (2, 1.0)] {
            let (read, errors) = errors(&PEERS[number]);
            assert!((read - share).abs() < 0.01, "{read}");
            assert!(
                errors.of(FindingCode::FullPassTime).is_some_and(|error| error.abs() < 0.005),
                "{errors:?}"
            );
            assert!(
                errors.of(FindingCode::ReadRateOuter).is_some_and(|error| error.abs() < 0.005),
                "{errors:?}"
            );
        }
    }

    #[test]
    fn points_read_little() {
        let (read, errors) = errors(&PEERS[1]);
        assert!(read < 0.001, "{read}");
        assert!(errors.of(FindingCode::FullPassTime).is_some_and(|error| error.abs() < 0.3), "{errors:?}");
    }
}
