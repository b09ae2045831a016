//! Dies and channels as servers of reads: a die reads one page at a time, a channel carries one transfer at a time.
//!
//! Consecutive pages lie on consecutive dies, from a die that is drawn for each stripe, so that a large request uses all of them and small
//! random ones fall on dies as balls fall into bins. What a die programs or erases for writes is not followed one by one: a read finds its die
//! at it with the probability with which dies are, and waits for the rest of it, or until the die suspends it.

use crate::flash::profile::FlashProfile;
use model::prng::Prng;
use model::units::KIB;

#[derive(Clone, Debug)]
pub(crate) struct Dies {
    prng: Prng,
    page_bytes: u64,
    read_s: f64,
    program_s: f64,
    erase_s: f64,
    /// The share of a die's writing time that is erasing.
    erase_share: f64,
    suspend_s: f64,
    seconds_per_byte: f64,
    die_free_s: Vec<f64>,
    channel_free_s: Vec<f64>,
    /// Streams of sequential reads, and what is read ahead for them.
    ahead_bytes: u64,
    streams: [Stream; STREAMS],
    requests: u64,
    ahead_free_s: f64,
    ahead_seconds_per_byte: f64,
}

const STREAMS: usize = 8;

#[derive(Clone, Copy, Debug, Default)]
struct Stream {
    end: u64,
    touched: u64,
    /// When its first request was read: nothing of it was read ahead before.
    known_s: f64,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct DieRead {
    pub(crate) end_s: f64,
    pub(crate) work_s: f64,
}

impl Dies {
    pub(crate) fn new(profile: &FlashProfile, seed: u64) -> Dies {
        let programming_s = f64::from(profile.pages_per_block) * profile.program_us;
        Dies {
            prng: Prng::new(seed, u64::from_le_bytes(*b"the dies")),
            page_bytes: profile.die_page_bytes(),
            read_s: profile.read_us * 1e-6,
            program_s: profile.program_us * 1e-6,
            erase_s: profile.erase_us * 1e-6,
            erase_share: profile.erase_us / (programming_s + profile.erase_us),
            suspend_s: profile.suspend_us.map_or(f64::INFINITY, |us| us * 1e-6),
            seconds_per_byte: 1e-6 / profile.channel_mb_per_s,
            die_free_s: vec![0.0; profile.dies() as usize],
            channel_free_s: vec![0.0; profile.channels as usize],
            ahead_bytes: u64::from(profile.read_ahead_kib) * KIB,
            streams: [Stream::default(); STREAMS],
            requests: 0,
            ahead_free_s: 0.0,
            ahead_seconds_per_byte: 1.0 / profile.sequential_read_rate(),
        }
    }

    /// Reads `bytes` at `offset`, which is wanted at `at_s`, while dies write with the probability `writing`.
    pub(crate) fn read(&mut self, offset: u64, bytes: u64, at_s: f64, writing: f64) -> DieRead {
        let (stream, is_continued) = self.stream_of(offset, bytes);
        if is_continued {
            // It was read while the reader was busy with what came before, up to the size of the read-ahead.
            let seconds = bytes as f64 * self.ahead_seconds_per_byte;
            let begun_s = at_s - self.ahead_bytes as f64 * self.ahead_seconds_per_byte;
            self.ahead_free_s = self.ahead_free_s.max(begun_s).max(self.streams[stream].known_s) + seconds;
            return DieRead {
                end_s: self.ahead_free_s.max(at_s),
                work_s: seconds * self.die_free_s.len() as f64,
            };
        }
        let (first, end) = (offset / self.page_bytes, (offset + bytes).div_ceil(self.page_bytes));
        let dies = self.die_free_s.len() as u64;
        let mut done = DieRead { end_s: at_s, work_s: 0.0 };
        for page in first..end.min(first + dies) {
            let pages = (end - page).div_ceil(dies);
            let within =
                (offset + bytes).min((page + 1) * self.page_bytes) - offset.max(page * self.page_bytes);
            let carried = within + (pages - 1) * self.page_bytes;
            let read = self.read_on_one_die(self.die_of(page), pages, carried, at_s, writing);
            done.end_s = done.end_s.max(read.end_s);
            done.work_s += read.work_s;
        }
        self.streams[stream].known_s = done.end_s;
        done
    }

    /// Reads `pages` pages of one die and carries `bytes` of them. The transfer of a page overlaps the read of the next.
    fn read_on_one_die(&mut self, die: usize, pages: u64, bytes: u64, at_s: f64, writing: f64) -> DieRead {
        let channel = die % self.channel_free_s.len();
        let start_s = self.die_free_s[die].max(at_s);
        let wait_s = self.wait_for_writing(writing);
        let read_s = pages as f64 * self.read_s;
        // By when the read came: a read that waits long for its die must not keep the channel from those that do not.
        let carried_s =
            self.channel_free_s[channel].max(at_s + self.read_s) + bytes as f64 * self.seconds_per_byte;
        self.channel_free_s[channel] = carried_s;
        let last_s = (bytes as f64 / pages as f64) * self.seconds_per_byte;
        let end_s = carried_s.max(start_s + wait_s + read_s + last_s);
        self.die_free_s[die] = end_s;
        DieRead { end_s, work_s: end_s - start_s - wait_s }
    }

    fn wait_for_writing(&mut self, writing: f64) -> f64 {
        if writing <= 0.0 || self.prng.unit() >= writing {
            return 0.0;
        }
        let erasing = self.prng.unit() < self.erase_share;
        let whole_s = if erasing { self.erase_s } else { self.program_s };
        (whole_s * self.prng.unit()).min(self.suspend_s)
    }

    fn die_of(&self, page: u64) -> usize {
        let dies = self.die_free_s.len() as u64;
        let stripe = page / dies;
        let drawn = stripe.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
        ((page + drawn) % dies) as usize
    }

    fn stream_of(&mut self, offset: u64, bytes: u64) -> (usize, bool) {
        self.requests += 1;
        let continued = self.streams.iter().position(|stream| stream.end == offset && stream.touched > 0);
        let oldest = || (0..STREAMS).min_by_key(|&index| self.streams[index].touched).unwrap_or(0);
        let index = continued.unwrap_or_else(oldest);
        let stream = &mut self.streams[index];
        (stream.end, stream.touched) = (offset + bytes, self.requests);
        (index, continued.is_some() && self.ahead_bytes > 0)
    }

    /// How much sooner a die that is asked nothing answers: the time of one read of so many bytes of one page.
    #[cfg(test)]
    fn undisturbed_s(&self, bytes: u64) -> f64 {
        self.read_s + bytes as f64 * self.seconds_per_byte
    }
}

#[cfg(test)]
#[path = "dies_tests.rs"]
mod dies_tests;
