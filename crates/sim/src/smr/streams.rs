//! Which writes are part of a sequential stream. The drive remembers where the last few runs of writes ended; a write
//! that goes on there lengthens the run, and from a threshold on the run goes straight to the bands.

#[derive(Clone, Debug)]
pub struct Streams {
    threshold_bytes: u64,
    runs_max: usize,
    runs: Vec<Run>,
}

#[derive(Clone, Copy, Debug)]
struct Run {
    next_byte: u64,
    bytes: u64,
    direct: bool,
}

impl Streams {
    pub fn new(threshold_bytes: u64, runs_max: u32) -> Streams {
        Streams { threshold_bytes, runs_max: runs_max as usize, runs: Vec::new() }
    }

    /// Whether a write at `first_byte`, of which `known_bytes` are there already, is part of a stream.
    pub fn is_stream(&self, first_byte: u64, known_bytes: u64) -> bool {
        let followed = self.runs.iter().rev().find(|run| run.next_byte == first_byte);
        let run_bytes = match followed {
            Some(run) => run.bytes,
            None => 0,
        };
        debug_assert!(run_bytes <= first_byte, "a run that ends here began before");
        run_bytes.saturating_add(known_bytes) >= self.threshold_bytes
    }

    /// Notes a write. Answers where a stream ended that is not followed any more: its band has to be put in order.
    pub fn note(&mut self, first_byte: u64, end_byte: u64, direct: bool) -> Option<u64> {
        let bytes = end_byte - first_byte;
        if let Some(index) = self.runs.iter().rposition(|run| run.next_byte == first_byte) {
            let run = self.runs.remove(index);
            self.runs.push(Run { next_byte: end_byte, bytes: run.bytes.saturating_add(bytes), direct });
            return None;
        }
        let forgotten = if self.runs.len() == self.runs_max { Some(self.runs.remove(0)) } else { None };
        self.runs.push(Run { next_byte: end_byte, bytes, direct });
        forgotten.filter(|run| run.direct).map(|run| run.next_byte)
    }

    /// Stops following the stream that was written to least recently; where it ended.
    pub fn forget_stream(&mut self) -> Option<u64> {
        let index = self.runs.iter().position(|run| run.direct)?;
        Some(self.runs.remove(index).next_byte)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_is_a_stream_from_the_threshold_on() {
        let mut streams = Streams::new(100, 2);
        for (first, expected) in [(1000, false), (1030, false), (1060, false), (1090, true), (1120, true)] {
            let direct = streams.is_stream(first, 30);
            assert_eq!(direct, expected, "{first}");
            streams.note(first, first + 30, direct);
        }
        assert!(!streams.is_stream(1160, 30), "a gap begins anew");
        assert!(streams.is_stream(5000, 100), "what is long enough by itself needs no history");
    }

    #[test]
    fn the_least_recently_written_is_forgotten() {
        let mut streams = Streams::new(10, 2);
        assert_eq!(streams.note(0, 50, true), None);
        assert_eq!(streams.note(100, 101, false), None);
        assert_eq!(streams.note(50, 60, true), None);
        assert_eq!(streams.note(200, 201, false), None, "a run that was no stream left nothing behind");
        assert_eq!(streams.note(300, 301, false), Some(60));
        streams.note(400, 450, true);
        assert_eq!((streams.forget_stream(), streams.forget_stream()), (Some(450), None));
    }
}
