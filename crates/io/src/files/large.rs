//! Tasks on one large file: byte by byte through a small buffer, block by block, and reading, changing and writing back.

use super::job::Job;
use super::recorder::{Call, Go, Recorder};
use super::workspace::{Room, Workspace};
use crate::targets::system_call as target_call;
use model::file_work::FileTask;
use model::prng::Prng;
use model::request::Operation;
use std::fs::File;
use std::hint::black_box;
use std::io;
use std::os::fd::AsFd;
use std::os::unix::fs::FileExt;

/// The buffer of tasks that go byte by byte: what the C library's streams have on file systems with blocks of 4 KiB.
const SMALL_BUFFER: usize = 4096;
/// Written data is drawn from so much noise, from a place that moves on: nothing can be compressed or deduplicated.
const NOISE: usize = 1 << 20;
/// By which the place moves on: odd, so that all places come before one comes again.
const NOISE_STEP: usize = 4099;

/// Counts in `done` how many bytes were moved, also where it fails.
pub(super) fn run(
    workspace: &Workspace,
    file: &File,
    job: &Job,
    recorder: &mut Recorder<'_>,
    done: &mut u64,
) -> io::Result<Go> {
    let mut task = LargeTask { file, job, recorder, room: workspace.room(), done: 0 };
    let outcome = match job.task {
        FileTask::PerByteWrite => task.per_byte_write(),
        FileTask::PerByteRead => task.per_byte_read(),
        FileTask::BlockRead => task.block_read(),
        FileTask::Rewrite => task.rewrite(),
        _ => task.block_write(),
    };
    *done = task.done;
    outcome
}

struct LargeTask<'task, 'phase> {
    file: &'task File,
    job: &'task Job,
    recorder: &'task mut Recorder<'phase>,
    room: Room<'task>,
    done: u64,
}

impl LargeTask<'_, '_> {
    fn block_write(&mut self) -> io::Result<Go> {
        let block = self.job.block.get() as usize;
        let noise = noise(self.job.seed, block);
        let (mut place, mut waiting) = (0, 0);
        while self.done < self.job.file_bytes.get() {
            let length = block.min((self.job.file_bytes.get() - self.done) as usize);
            let go = self.write(&noise[place..place + length])?;
            place = (place + NOISE_STEP) % NOISE;
            waiting += length as u64;
            if let Some(every) = self.job.flush_every
                && waiting >= every.get()
            {
                waiting = 0;
                self.recorder.flush_meanwhile(self.file.as_fd())?;
            }
            if go != Go::On {
                return Ok(go);
            }
        }
        Ok(Go::On)
    }

    fn block_read(&mut self) -> io::Result<Go> {
        let mut buffer = vec![0; self.job.block.get() as usize];
        while self.done < self.job.file_bytes.get() {
            let (length, go) = self.read(&mut buffer)?;
            if length == 0 || go != Go::On {
                return Ok(go);
            }
        }
        Ok(Go::On)
    }

    fn rewrite(&mut self) -> io::Result<Go> {
        let mut buffer = vec![0; self.job.block.get() as usize];
        while self.done < self.job.file_bytes.get() {
            let offset = self.done;
            let (length, go) = self.read(&mut buffer)?;
            if length == 0 || go != Go::On {
                return Ok(go);
            }
            buffer[0] = buffer[0].wrapping_add(1);
            self.done = offset;
            match self.write(&buffer[..length])? {
                Go::On => {}
                go => return Ok(go),
            }
        }
        Ok(Go::On)
    }

    fn per_byte_write(&mut self) -> io::Result<Go> {
        let noise = noise(self.job.seed, 0);
        let mut small = SmallBuffer { bytes: [0; SMALL_BUFFER], length: 0 };
        let mut place = 0;
        while self.done < self.job.file_bytes.get() {
            for byte in &noise[place..place + SMALL_BUFFER] {
                small.put(*byte);
            }
            place = (place + SMALL_BUFFER) % (NOISE - SMALL_BUFFER);
            small.length = 0;
            match self.write(&small.bytes)? {
                Go::On => {}
                go => return Ok(go),
            }
        }
        Ok(Go::On)
    }

    fn per_byte_read(&mut self) -> io::Result<Go> {
        let mut small = SmallBuffer { bytes: [0; SMALL_BUFFER], length: 0 };
        let mut counts = [0u32; 256];
        while self.done < self.job.file_bytes.get() {
            let (length, go) = self.read(&mut small.bytes)?;
            small.length = 0;
            for _ in 0..length {
                // Something has to be done with the bytes, or they need not be looked at.
                counts[usize::from(small.get())] += 1;
            }
            if length == 0 || go != Go::On {
                return Ok(go);
            }
        }
        black_box(counts);
        Ok(Go::On)
    }

    /// One call that writes, at where the task is. Fewer bytes than asked for are gone on from.
    fn write(&mut self, data: &[u8]) -> io::Result<Go> {
        let began = self.recorder.now();
        let offset = self.done;
        let written = self.file.write_all_at(data, offset);
        let ended = self.recorder.now();
        if let Err(error) = written {
            self.recorder.fail(Operation::Write, offset, data.len() as u64, &error);
            return Err(error);
        }
        self.done += data.len() as u64;
        let bytes = data.len() as u64;
        let go = self.recorder.count(Call { operation: Operation::Write, offset, bytes, began, ended });
        self.room.check(ended)?;
        Ok(go)
    }

    fn read(&mut self, buffer: &mut [u8]) -> io::Result<(usize, Go)> {
        let wanted = buffer.len().min((self.job.file_bytes.get() - self.done) as usize);
        let began = self.recorder.now();
        let offset = self.done;
        let read = self.file.read_at(&mut buffer[..wanted], offset);
        let ended = self.recorder.now();
        let length = read.inspect_err(|error| {
            self.recorder.fail(Operation::Read, offset, wanted as u64, error);
        })?;
        assert!(length <= wanted, "a read fills no more than its buffer");
        self.done += length as u64;
        let bytes = length as u64;
        let go = self.recorder.count(Call { operation: Operation::Read, offset, bytes, began, ended });
        Ok((length, go))
    }
}

/// A buffer that is filled and emptied byte by byte, each by a call of its own as in the C library.
struct SmallBuffer {
    bytes: [u8; SMALL_BUFFER],
    length: usize,
}

impl SmallBuffer {
    #[inline(never)]
    fn put(&mut self, byte: u8) {
        self.bytes[self.length % SMALL_BUFFER] = byte;
        self.length += 1;
    }

    #[inline(never)]
    fn get(&mut self) -> u8 {
        let byte = self.bytes[self.length % SMALL_BUFFER];
        self.length += 1;
        byte
    }
}

/// Random bytes, as many as the place in them can move over and one block more.
fn noise(seed: u64, block: usize) -> Vec<u8> {
    let mut noise = vec![0; NOISE + block];
    Prng::new(seed, 0xf11e).fill(&mut noise);
    noise
}

/// Puts the file out of memory; the share that stayed, where the system tells.
pub(super) fn forget(file: &File, bytes: u64) -> io::Result<Option<f64>> {
    target_call::forget_cached(file.as_fd(), 0, 0)?;
    Ok(crate::targets::page_cache::cached_share(file.as_fd(), bytes).ok())
}
