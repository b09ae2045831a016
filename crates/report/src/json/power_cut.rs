//! What a power cut left as JSON, schema `drivescope.power-cut/1`.

use super::document::text_of;
use crate::terminal::PowerCutPage;
use serde::Serialize;

#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub(super) struct PowerCutDocument<'page> {
    schema: &'static str,
    #[serde(flatten)]
    page: &'page PowerCutPage,
}

pub fn power_cut_document(page: &PowerCutPage) -> String {
    text_of(&PowerCutDocument { schema: "drivescope.power-cut/1", page })
}
