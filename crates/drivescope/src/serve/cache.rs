//! Rendered pages. Rendering may read and analyse a large run on the machine that is measuring: one page at a time, and
//! once for each state of a run. A cached page never waits for one that is being rendered.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// A report is below a megabyte or two.
const PAGES_MAX: usize = 16;
const BYTES_MAX: usize = 32 << 20;
/// The page of a run in progress is rendered again after this time and this many times what rendering took: a twentieth of a processor.
const LIVE_REST_MIN: Duration = Duration::from_millis(900);
const LIVE_REST_TIMES: u32 = 20;

#[derive(Clone, Copy)]
pub(super) enum Freshness<'page> {
    /// As long as what it was made from is in this state.
    State(&'page str),
    Recent,
}

struct CachedPage {
    key: String,
    state: String,
    page: Arc<String>,
    made: Instant,
    took: Duration,
}

impl CachedPage {
    fn is_fresh(&self, freshness: Freshness<'_>) -> bool {
        match freshness {
            Freshness::State(state) => self.state == state,
            Freshness::Recent => self.made.elapsed() < LIVE_REST_MIN.max(self.took * LIVE_REST_TIMES),
        }
    }
}

#[derive(Default)]
pub(super) struct Cache {
    pages: Mutex<Vec<CachedPage>>,
    making: Mutex<()>,
}

/// A page that panicked while it was rendered left nothing behind.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Cache {
    /// The page of that key, rendered by `make` if none is fresh. `make` gets the outdated one.
    pub(super) fn page<Error>(
        &self,
        key: &str,
        freshness: Freshness<'_>,
        make: impl FnOnce(Option<&str>) -> Result<String, Error>,
    ) -> Result<Arc<String>, Error> {
        if let Some(page) = self.fresh(key, freshness) {
            return Ok(page);
        }
        let _making = lock(&self.making);
        // Another reader may have rendered it in the meantime.
        if let Some(page) = self.fresh(key, freshness) {
            return Ok(page);
        }
        let began = Instant::now();
        let before = self.outdated(key);
        let page = Arc::new(make(before.as_deref().map(String::as_str))?);
        let state = match freshness {
            Freshness::State(state) => state.to_owned(),
            Freshness::Recent => String::new(),
        };
        let (key, made, took) = (key.to_owned(), Instant::now(), began.elapsed());
        self.keep(CachedPage { key, state, page: Arc::clone(&page), made, took });
        Ok(page)
    }

    fn keep(&self, page: CachedPage) {
        let mut pages = lock(&self.pages);
        pages.retain(|cached| cached.key != page.key);
        pages.push(page);
        while pages.len() > PAGES_MAX || bytes_of(&pages) > BYTES_MAX {
            pages.remove(0);
        }
    }

    fn fresh(&self, key: &str, freshness: Freshness<'_>) -> Option<Arc<String>> {
        let pages = lock(&self.pages);
        let cached = pages.iter().find(|cached| cached.key == key)?;
        if cached.is_fresh(freshness) { Some(Arc::clone(&cached.page)) } else { None }
    }

    fn outdated(&self, key: &str) -> Option<Arc<String>> {
        let pages = lock(&self.pages);
        let cached = pages.iter().find(|cached| cached.key == key)?;
        Some(Arc::clone(&cached.page))
    }
}

fn bytes_of(pages: &[CachedPage]) -> usize {
    pages.iter().map(|cached| cached.page.len()).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::convert::Infallible;

    fn page(cache: &Cache, key: &str, state: &str, text: &str) -> String {
        cache
            .page(key, Freshness::State(state), |_| Ok::<_, Infallible>(text.to_owned()))
            .expect("it cannot fail")
            .to_string()
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
        let slow = cache.page("slow", Freshness::State(""), |_| {
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
