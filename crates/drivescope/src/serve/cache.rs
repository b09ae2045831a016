//! Pages that were made. Making one may read and analyse a large run, on the machine that may be measuring: it is done for one
//! reader at a time, and as long as nothing changed, once.

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
        // A page that panicked while it was made left nothing behind.
        let mut pages = self.pages.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(kept) = pages.iter().find(|kept| kept.key == key).filter(|kept| is_good(kept)) {
            return Ok(Arc::clone(&kept.page));
        }
        let began = Instant::now();
        let before = pages.iter().find(|kept| kept.key == key).map(|kept| kept.page.as_str());
        let page = Arc::new(make(before)?);
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
    fn it_keeps_no_more_than_it_may() {
        let cache = Cache::default();
        (0..100).for_each(|number| drop(page(&cache, &number.to_string(), "", &"x".repeat(4 << 20))));
        let pages = cache.pages.lock().expect("nobody panicked");
        assert!(pages.len() <= 8, "{}", pages.len());
    }
}
