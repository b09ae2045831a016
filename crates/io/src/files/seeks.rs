//! Random seeks: several threads read blocks at random places of the large file, and write one in ten back changed. Each place is
//! visited once at most: what was read is in memory, and a second visit would only find it there.

use super::job::Job;
use super::recorder::{Call, Go, Recorder};
use crate::clock::{Clock, MonotonicClock};
use model::permutation::Permutation;
use model::prng::Prng;
use model::request::Operation;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::time::Duration;

/// One block in so many is changed and written back, as bonnie++ does.
const WRITTEN_BACK_ONE_IN: u64 = 10;
/// The one who counts looks this often whether somebody wants the task to end.
const LOOK_EVERY: Duration = Duration::from_millis(20);

type Told = Result<Call, (Operation, u64, io::Error)>;

struct Places {
    order: Permutation,
    next: AtomicU64,
}

impl Places {
    fn take(&self) -> Option<u64> {
        let index = self.next.fetch_add(1, Ordering::Relaxed);
        if index < self.order.count() { Some(self.order.apply(index)) } else { None }
    }
}

pub(super) fn run(
    file: &File,
    job: &Job,
    clock: MonotonicClock,
    recorder: &mut Recorder<'_>,
) -> io::Result<Go> {
    let stop = AtomicBool::new(false);
    let count = (job.file_bytes.get() / job.block.get()).max(1);
    let stream = 0x5ee_0000 + (u64::from(job.phase) << 32);
    let order = Permutation::new(count, &mut Prng::new(job.seed, stream));
    let places = Places { order, next: AtomicU64::new(0) };
    std::thread::scope(|scope| {
        let (sender, receiver) = channel::<Told>();
        for _ in 0..job.threads {
            let (sender, stop, places) = (sender.clone(), &stop, &places);
            scope.spawn(move || seek(file, job, places, clock, stop, &sender));
        }
        drop(sender);
        let (mut ended, mut failure) = (Go::On, None);
        loop {
            let go = match receiver.recv_timeout(LOOK_EVERY) {
                Ok(Ok(call)) => recorder.count(call),
                Ok(Err((operation, offset, error))) => {
                    recorder.fail(operation, offset, job.block.get(), &error);
                    failure.get_or_insert(error);
                    stop.store(true, Ordering::Relaxed);
                    Go::On
                }
                Err(RecvTimeoutError::Timeout) => recorder.wait(),
                Err(RecvTimeoutError::Disconnected) => break,
            };
            if go != Go::On && ended == Go::On {
                ended = go;
                stop.store(true, Ordering::Relaxed);
            }
        }
        failure.map_or(Ok(ended), Err)
    })
}

fn seek(
    file: &File,
    job: &Job,
    places: &Places,
    clock: MonotonicClock,
    stop: &AtomicBool,
    sender: &Sender<Told>,
) {
    let mut buffer = vec![0; job.block.get() as usize];
    while !stop.load(Ordering::Relaxed) {
        let Some(place) = places.take() else { return };
        let offset = place * job.block.get();
        debug_assert!(offset < job.file_bytes.get().max(1), "a place lies in the file");
        let began = clock.now();
        let read = file.read_exact_at(&mut buffer, offset);
        let ended = clock.now();
        let call = Call { operation: Operation::Read, offset, bytes: job.block.get(), began, ended };
        if !tell(sender, call, read) {
            return;
        }
        // Places come in random order, so that every tenth number is a place at random.
        if place.is_multiple_of(WRITTEN_BACK_ONE_IN) {
            buffer[0] = buffer[0].wrapping_add(1);
            let began = clock.now();
            let written = file.write_all_at(&buffer, offset);
            let ended = clock.now();
            let call = Call { operation: Operation::Write, offset, bytes: job.block.get(), began, ended };
            if !tell(sender, call, written) {
                return;
            }
        }
    }
}

fn tell(sender: &Sender<Told>, call: Call, outcome: io::Result<()>) -> bool {
    match outcome {
        Ok(()) => sender.send(Ok(call)).is_ok(),
        Err(error) => {
            // Nobody is left to hear of it when this fails.
            let _ = sender.send(Err((call.operation, call.offset, error)));
            false
        }
    }
}
