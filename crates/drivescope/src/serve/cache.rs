//! Pages that were made. Making one may read and analyse a large run, on the machine that may be measuring: it is done for one
//! reader at a time, and as long as nothing changed, once. Who asks for a page that is kept does not wait for one that is being made.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Pages that are kept: a report is below a megabyte or two.
const PAGES_MAX: usize = 16;
const BYTES_MAX: usize = 32 << 20;
/// A run that is under way is looked at again after this time, and after so many times what the last look took: so that
/// looking takes a twentieth of one processor at most.
const LIVE_REST_MIN: Duration = Duration::from_millis(900);
const LIVE_REST_TIMES: u32 = 20;

/// What is kept of a page.
struct Kept {
    key: String,
    state: String,
    page: Arc<String>,
    made: Instant,
    took: Duration,
}

/// Pages by what was asked for.
#[derive(Default)]
pub(super) struct Cache {
    pages: Mutex<Vec<Kept>>,
    /// Held while a page is made.
    making: Mutex<()>,
}

impl Cache {
    /// The page that was asked for. `state` says what it is made from: it is made anew when that differs. Whoever makes it is given
    /// the one before.
    pub(super) fn page<Error>(
        &self,
        key: &str,
        state: &str,
        make: impl FnOnce(Option<&str>) -> Result<String, Error>,
    ) -> Result<Arc<String>, Error> {
        self.kept(key, state, |kept| kept.state == state, make)
    }

    /// The page of something that goes on: made anew when it was not for a while.
    pub(super) fn live<Error>(
        &self,
        key: &str,
        make: impl FnOnce(Option<&str>) -> Result<String, Error>,
    ) -> Result<Arc<String>, Error> {
        let is_young = |kept: &Kept| kept.made.elapsed() < LIVE_REST_MIN.max(kept.took * LIVE_REST_TIMES);
        self.kept(key, "", is_young, make)
    }

    fn kept<Error>(
        &self,
        key: &str,
        state: &str,
        is_good: impl Fn(&Kept) -> bool,
        make: impl FnOnce(Option<&str>) -> Result<String, Error>,
    ) -> Result<Arc<String>, Error> {
        if let Some(kept) = self.find(key, &is_good) {
            return Ok(kept);
        }
        // A page that panicked while it was made left nothing behind.
        let _making = self.making.lock().unwrap_or_else(PoisonError::into_inner);
        // Somebody may have made it in the meantime.
        if let Some(kept) = self.find(key, &is_good) {
            return Ok(kept);
        }
        let began = Instant::now();
        let before = self.find(key, |_| true);
        let page = Arc::new(make(before.as_ref().map(|page| page.as_str()))?);
        let mut pages = self.pages.lock().unwrap_or_else(PoisonError::into_inner);
        pages.retain(|kept| kept.key != key);
        pages.push(Kept {
            key: key.to_owned(),
            state: state.to_owned(),
            page: Arc::clone(&page),
            made: Instant::now(),
            took: began.elapsed(),
        });
        while pages.len() > PAGES_MAX || pages.iter().map(|kept| kept.page.len()).sum::<usize>() > BYTES_MAX {
            pages.remove(0);
        }
        Ok(page)
    }

    /// The page that is kept, if it is good.
    fn find(&self, key: &str, is_good: impl Fn(&Kept) -> bool) -> Option<Arc<String>> {
        let pages = self.pages.lock().unwrap_or_else(PoisonError::into_inner);
        pages.iter().find(|kept| kept.key == key && is_good(kept)).map(|kept| Arc::clone(&kept.page))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::convert::Infallible;

    fn page(cache: &Cache, key: &str, state: &str, text: &str) -> String {
        cache.page(key, state, |_| Ok::<_, Infallible>(text.to_owned())).expect("it cannot fail").to_string()
    }

    #[test]
    fn a_page_is_made_anew_when_its_state_changes() {
        let cache = Cache::default();
        assert_eq!(page(&cache, "a", "1", "first"), "first");
        assert_eq!(page(&cache, "a", "1", "second"), "first");
        assert_eq!(page(&cache, "a", "2", "third"), "third");
        assert_eq!(page(&cache, "b", "2", "other"), "other");
    }

    #[test]
    fn a_page_that_is_kept_does_not_wait_for_one_that_is_being_made() {
        let cache = Cache::default();
        page(&cache, "quick", "", "kept");
        let slow = cache.page("slow", "", |_| {
            let meanwhile = std::thread::scope(|scope| {
                let reader = scope.spawn(|| page(&cache, "quick", "", "made again"));
                reader.join().expect("it did not panic")
            });
            Ok::<_, Infallible>(meanwhile)
        });
        assert_eq!(slow.expect("it cannot fail").as_str(), "kept");
    }

    #[test]
    fn it_keeps_no_more_than_it_may() {
        let cache = Cache::default();
        (0..100).for_each(|number| drop(page(&cache, &number.to_string(), "", &"x".repeat(4 << 20))));
        let pages = cache.pages.lock().expect("nobody panicked");
        assert!(pages.len() <= 8, "{}", pages.len());
    }
}
