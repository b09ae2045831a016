//! Many runs on two threads.

use crate::failure::Failure;
use std::sync::Mutex;
use std::thread;

/// Does so many jobs on two threads; the results in order.
pub fn on_two_threads<T: Send>(
    jobs: usize,
    job: impl Fn(usize) -> Result<T, Failure> + Sync,
) -> Result<Vec<T>, Failure> {
    let waiting = Mutex::new(0..jobs);
    let next = || waiting.lock().expect("no job panics with the lock").next();
    let work = || {
        let mut done = Vec::new();
        while let Some(number) = next() {
            done.push((number, job(number)));
        }
        done
    };
    let mut done: Vec<(usize, Result<T, Failure>)> = thread::scope(|scope| {
        let other = scope.spawn(work);
        let mut done = work();
        match other.join() {
            Ok(others) => done.extend(others),
            Err(panic) => std::panic::resume_unwind(panic),
        }
        done
    });
    done.sort_by_key(|(number, _)| *number);
    done.into_iter().map(|(_, result)| result).collect()
}

#[cfg(test)]
mod tests {
    use super::on_two_threads;
    use crate::failure::Failure;

    #[test]
    fn every_job_is_done_once_and_results_are_in_order() {
        let squares = on_two_threads(7, |number| Ok(number * number)).expect("none fails");
        assert_eq!(squares, [0, 1, 4, 9, 16, 25, 36]);
        assert!(on_two_threads(0, Ok).is_ok_and(|none| none.is_empty()));
        assert!(
            on_two_threads(3, |number| if number == 1 { Err(Failure::Missed) } else { Ok(number) }).is_err()
        );
    }
}
