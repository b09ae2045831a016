//! The memory that takes writes before the flash does: a write is answered when the last byte of it has found room.
//!
//! What is in it leaves in the order in which it came, so the n-th byte written finds room when the byte `capacity`
//! before it has left. The flash's work for each write is known when it comes; so is its answer.

use std::collections::VecDeque;

#[derive(Clone, Copy, Debug)]
struct Draining {
    /// The number of its last byte, counted from the first ever written.
    end_byte: f64,
    bytes: f64,
    start_s: f64,
    end_s: f64,
}

#[derive(Clone, Debug)]
pub(crate) struct WriteBuffer {
    capacity: f64,
    /// Oldest first. Those before the byte `capacity` ago are gone.
    draining: VecDeque<Draining>,
    written: f64,
}

impl WriteBuffer {
    /// An empty one. Without any room, a write is answered when it is in the flash.
    pub(crate) fn new(capacity: f64) -> WriteBuffer {
        WriteBuffer { capacity, draining: VecDeque::new(), written: 0.0 }
    }

    /// A write comes that the flash will take from `start_s` to `end_s`, after earlier ones: when it has room.
    pub(crate) fn room_at(&mut self, bytes: f64, start_s: f64, end_s: f64) -> f64 {
        self.written += bytes;
        self.draining.push_back(Draining { end_byte: self.written, bytes, start_s, end_s });
        let must_have_left = self.written - self.capacity;
        while self
            .draining
            .front()
            .is_some_and(|first| first.end_byte <= must_have_left && self.draining.len() > 1)
        {
            self.draining.pop_front();
        }
        let Some(first) = self.draining.front() else { return end_s };
        let share_left = (first.end_byte - must_have_left) / first.bytes;
        if share_left > 1.0 {
            return f64::NEG_INFINITY;
        }
        first.end_s - (first.end_s - first.start_s) * share_left.max(0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn writes_are_taken_at_once_until_it_is_full() {
        let mut buffer = WriteBuffer::new(100.0);
        // A flash that takes 10 bytes a second, and 30 bytes at a time.
        let room: Vec<f64> = (0..5)
            .map(|index| buffer.room_at(30.0, f64::from(index) * 3.0, f64::from(index + 1) * 3.0))
            .collect();
        // The fourth ends at byte 120: byte 20 leaves at 2 s; the fifth at 150: byte 50 leaves at 5 s.
        assert_eq!(room, [f64::NEG_INFINITY, f64::NEG_INFINITY, f64::NEG_INFINITY, 2.0, 5.0]);
    }

    #[test]
    fn without_room_it_waits_for_the_flash() {
        let mut buffer = WriteBuffer::new(0.0);
        assert_eq!(buffer.room_at(30.0, 1.0, 4.0), 4.0);
        assert_eq!(buffer.room_at(30.0, 5.0, 8.0), 8.0);
    }

    #[test]
    fn a_write_larger_than_it_waits_for_its_own_first_part() {
        let mut buffer = WriteBuffer::new(10.0);
        assert_eq!(buffer.room_at(40.0, 0.0, 4.0), 3.0);
    }

    #[test]
    fn it_remembers_no_more_than_it_holds() {
        let mut buffer = WriteBuffer::new(1000.0);
        (0..10_000).for_each(|index| {
            buffer.room_at(10.0, f64::from(index), f64::from(index) + 0.5);
        });
        assert!(buffer.draining.len() <= 101, "{}", buffer.draining.len());
    }
}
