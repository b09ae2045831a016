//! What was measured, and how to speak of it.

use super::numbers::size;
use crate::quantity::count;
use crate::shell_words::quoted;
use model::experiment_name::ExperimentName;
use model::range::ByteRange;
use model::target::{Caveat, TargetFacts, TargetKind};

/// The subject of a sentence: a drive, a file, or a target where something other than a drive may have answered.
pub(crate) struct Subject<'run> {
    pub target: &'run TargetFacts,
    has_caveats: bool,
}

impl<'run> Subject<'run> {
    pub(crate) fn new(target: &'run TargetFacts, caveats: &[&str]) -> Subject<'run> {
        Subject { target, has_caveats: !caveats.is_empty() }
    }

    pub(crate) fn noun(&self) -> &'static str {
        match self.target.kind {
            TargetKind::File | TargetKind::Folder => "file",
            TargetKind::Device | TargetKind::Sim if self.has_caveats => "target",
            TargetKind::Device | TargetKind::Sim => "drive",
        }
    }

    /// A command for this target that can be pasted: "`drivescope surface /dev/sdx --full`".
    pub(crate) fn command(&self, experiment: &ExperimentName, options: &str) -> String {
        Subject::pasted(&["drivescope", experiment.name(), &self.argument(), options])
    }

    /// The same for one that writes, which needs consent except on a scratch file, where consent is refused.
    pub(crate) fn writing(&self, experiment: &ExperimentName, options: &str) -> String {
        let consent = if self.is_scratch() { "" } else { "--write" };
        Subject::pasted(&["drivescope", experiment.name(), &self.argument(), consent, options])
    }

    fn pasted(words: &[&str]) -> String {
        let words: Vec<&str> = words.iter().copied().filter(|word| !word.is_empty()).collect();
        format!("`{}`", words.join(" "))
    }

    fn argument(&self) -> String {
        if self.is_scratch() { String::new() } else { quoted(&self.target.path) }
    }

    fn is_scratch(&self) -> bool {
        self.target.path == "."
    }

    /// Whether the start is the outer diameter of a single disk.
    fn is_one_disk(&self) -> bool {
        let is_remapped = self.target.caveats.contains(&Caveat::Remapped);
        let turns = self.target.rotational == Some(true) && self.target.link.is_some();
        self.noun() == "drive" && turns && !is_remapped
    }

    /// "at the outer diameter", "at the start of the file", "at the end of the measured range".
    pub(crate) fn place(&self, start: bool, whole: bool, may_rotate: bool) -> String {
        let end = if start { "start" } else { "end" };
        if !whole {
            format!("at the {end} of the measured range")
        } else if may_rotate && self.is_one_disk() {
            format!("at the {} diameter", if start { "outer" } else { "inner" })
        } else {
            format!("at the {end} of the {}", self.noun())
        }
    }

    /// Blocks that do not fit are left out at the end.
    pub(crate) fn is_whole(&self, range: ByteRange) -> bool {
        let capacity = self.target.capacity.get();
        range.first().get() <= capacity / 100 && range.end().get() >= capacity - capacity / 100
    }

    pub(crate) fn extent(&self, range: ByteRange) -> String {
        if self.is_whole(range) {
            return format!("the whole {}", self.noun());
        }
        let (bytes, noun) = (size(range.bytes().get()), self.noun());
        match range.first().get() {
            0 => format!("the first {bytes} of the {noun}"),
            first => format!("{bytes} of the {noun} from byte {}", count(first)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::units::Bytes;

    #[test]
    fn a_command_names_the_target() {
        let target = |path: &str| TargetFacts::unidentified(TargetKind::File, path.into(), Bytes::new(1));
        let command =
            |path, options| Subject::new(&target(path), &[]).command(&ExperimentName::Surface, options);
        let writing =
            |path, options| Subject::new(&target(path), &[]).writing(&ExperimentName::Sustain, options);
        assert_eq!(command("/dev/sdx", "--full"), "`drivescope surface /dev/sdx --full`");
        assert_eq!(command("/mnt/my disk", ""), "`drivescope surface '/mnt/my disk'`");
        assert_eq!(command(".", "--full"), "`drivescope surface --full`");
        assert_eq!(writing("/dev/sdx", "--idle"), "`drivescope sustain /dev/sdx --write --idle`");
        assert_eq!(writing(".", "--idle"), "`drivescope sustain --idle`");
    }
}
