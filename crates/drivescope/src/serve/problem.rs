//! Why a request gets no page: the HTTP status, and the reason for a person.

use crate::store::StoreError;
use std::borrow::Cow;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Problem {
    pub status: u16,
    pub why: Cow<'static, str>,
}

impl Problem {
    pub(super) const fn new(status: u16, why: &'static str) -> Problem {
        Problem { status, why: Cow::Borrowed(why) }
    }

    pub(super) fn of(status: u16, why: String) -> Problem {
        Problem { status, why: Cow::Owned(why) }
    }
}

impl From<StoreError> for Problem {
    fn from(error: StoreError) -> Problem {
        let status = if matches!(error, StoreError::NoSuchRun { .. }) { 404 } else { 500 };
        Problem::of(status, error.to_string())
    }
}
