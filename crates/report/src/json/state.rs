//! What a drive went through as JSON, schema `drivescope.state/1`.

use super::document::text_of;
use crate::terminal::StatePage;
use serde::Serialize;

#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub(super) struct StateDocument<'state> {
    schema: &'static str,
    #[serde(flatten)]
    state: &'state StatePage,
}

pub fn state_document(state: &StatePage) -> String {
    text_of(&StateDocument { schema: "drivescope.state/1", state })
}
