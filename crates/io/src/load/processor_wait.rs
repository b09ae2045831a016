//! How long a thread was ready to go on and waited for a processor: what a busy machine adds to times that are taken for a drive's.

use model::units::Nanos;

/// So long this thread has waited since it began; none where the kernel does not count it.
pub(super) fn waited_by_this_thread() -> Option<Nanos> {
    parse(&std::fs::read_to_string("/proc/thread-self/schedstat").ok()?)
}

/// The second of three numbers: the time on a processor, the time waiting for one, and how often, in nanoseconds.
fn parse(schedstat: &str) -> Option<Nanos> {
    schedstat.split_ascii_whitespace().nth(1)?.parse().ok().map(Nanos::new)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_second_number_is_the_wait() {
        assert_eq!(parse("1234567 89000 42\n"), Some(Nanos::new(89_000)));
        assert_eq!(parse("1234567"), None);
        assert_eq!(parse("a b c"), None);
    }
}
