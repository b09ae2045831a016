//! Where everything of a store is.

use std::path::{Path, PathBuf};

#[derive(Clone, Debug)]
pub(crate) struct Places {
    folder: PathBuf,
}

impl Places {
    pub(crate) fn of(folder: &Path) -> Places {
        Places { folder: folder.to_owned() }
    }

    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    pub(crate) fn runs(&self) -> PathBuf {
        self.folder.join("runs")
    }

    pub(crate) fn run(&self, id: &str) -> PathBuf {
        self.runs().join(id)
    }
}
