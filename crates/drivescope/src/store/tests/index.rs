//! The tables of the index, as another program sees them; and the default folder.

use crate::store::default_folder_of;
use std::path::Path;

#[test]
fn only_absolute_folders_count() {
    let of = |data: Option<&str>, home: Option<&str>| {
        default_folder_of(data.map(Into::into), home.map(Into::into)).ok()
    };
    let is = |path: &str| Some(Path::new(path).to_owned());
    assert_eq!(of(Some("/data"), Some("/somewhere/me")), is("/data/drivescope"));
    assert_eq!(of(Some("data"), Some("/somewhere/me")), is("/somewhere/me/.local/share/drivescope"));
    assert_eq!(of(Some(""), Some("/somewhere/me")), is("/somewhere/me/.local/share/drivescope"));
    assert_eq!(of(None, None), None);
}
