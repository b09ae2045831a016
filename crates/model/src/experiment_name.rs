//! The experiments and the engines by name, as they stand in phases, documents and on the command line.

use crate::open_words;

open_words! {
    pub enum ExperimentName {
        Check = "check",
        Surface = "surface",
        Access = "access",
        Geometry = "geometry",
        Sustain = "sustain",
        Valleys = "valleys",
        Run = "run",
        Sizes = "sizes",
        Ping = "ping",
        Files = "files",
        Commit = "commit",
        Verify = "verify",
        Purge = "purge",
        /// Not measured here: figures of another program.
        Import = "import",
        ..
        /// Of a bench, or in a run of another version.
    }
}

open_words! {
    pub enum EngineName {
        Uring = "uring",
        Psync = "psync",
        Files = "files",
        /// Completes at once, without a drive.
        Null = "null",
        /// A virtual drive in virtual time.
        Sim = "sim",
        ..
        /// The program, of an imported run, and what it used.
    }
}

impl Default for EngineName {
    fn default() -> EngineName {
        EngineName::from("")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_come_back_and_unknown_ones_are_kept() {
        for known in ExperimentName::KNOWN {
            assert_eq!(ExperimentName::from(known.to_string()), known);
        }
        assert_eq!(ExperimentName::from("pts").to_string(), "pts");
        assert_eq!(EngineName::from("uring"), EngineName::Uring);
        assert_eq!(EngineName::from("fio").name(), "fio");
    }
}
