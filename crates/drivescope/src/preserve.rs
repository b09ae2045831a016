//! `--preserve`: what a run overwrites is kept in a journal and given back. Where journals lie, and which of them are unfinished.
//!
//! ```text
//! STORE/preserve/NUMBER.journal    what has to be given back; it goes when it has been
//! STORE/preserve/NUMBER.pointer    where the journal lies, if it is in another folder, and whose data it holds
//! ```

use crate::error::UserError;
use crate::store::default_folder;
use io::rig::Rig;
use io::target::Target;
use io::target::preserve::{
    Given, Journal, JournalError, JournalPlace, Keeper, Origin, SaveEnd, TargetMedium, stretches,
};
use model::plan::Phase;
use model::units::Bytes;
use report::hostile::harmless;
use std::ffi::OsString;
use std::fs::{self, DirBuilder};
use std::hash::{BuildHasher, Hasher};
use std::io::ErrorKind;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

/// The folder of journals in a store.
const FOLDER: &str = "preserve";
/// What a target is taken to have besides its data: frames of the journal.
const FRAMES_SHARE: u64 = 1000;
/// A pointer is not longer.
const POINTER_BYTES_MAX: u64 = 128 << 10;

/// What was said about preserving.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PreserveChoice {
    /// Where the journal shall lie, if not in the store.
    pub folder: Option<PathBuf>,
    /// Also where it had better not.
    pub anyway: bool,
}

/// The journal of a run that is under way.
pub struct Preserving {
    keeper: Keeper,
    pointer: Option<PathBuf>,
    restore: String,
}

impl Preserving {
    /// Makes a journal for a rig that may write, for a run that holds at most `wanted` at a time.
    ///
    /// # Errors
    /// When it would lie on the target, or there is no room for it.
    pub fn begin(
        choice: &PreserveChoice,
        store: Option<&Path>,
        rig: &Rig,
        wanted: Bytes,
        is_marked: bool,
    ) -> Result<Preserving, UserError> {
        let Some(target) = rig.target() else {
            return Err(UserError::usage("a virtual drive holds nothing to preserve. Leave --preserve out"));
        };
        let own = own_folder(store)?;
        make(&own)?;
        let folder = match &choice.folder {
            Some(folder) => folder.canonicalize().map_err(|error| {
                UserError::failure(format!("cannot keep a journal in {}: {error}", folder.display()))
            })?,
            None => own.clone(),
        };
        let place = JournalPlace::of(&folder)?;
        if let Some(why) = place.objection(target).filter(|_| !choice.anyway) {
            return Err(UserError::failure(format!(
                "will not keep what is on {} in {}: {why}. Name a folder on another drive with --journal DIR, or say \
                 --journal-anyway if that is all right",
                target.path().display(),
                folder.display()
            )));
        }
        let needed = wanted.0.saturating_add(wanted.0 / FRAMES_SHARE);
        if needed > place.room {
            return Err(UserError::failure(format!(
                "to preserve what is overwritten takes up to {}, and in {} there are {} besides the tenth that must stay \
                 free. Name another folder with --journal DIR, or a smaller --range",
                Bytes(needed),
                folder.display(),
                Bytes(place.room)
            )));
        }
        let number = std::hash::RandomState::new().build_hasher().finish();
        let name = format!("{number:016x}.journal");
        let pointer = (folder != own).then(|| own.join(format!("{number:016x}.pointer")));
        let origin = Origin::of(target, is_marked, &mut rig.medium()?);
        let restore = restore_command(&origin);
        let journal = Journal::create(&folder, &name, number, &origin).map_err(of_journal)?;
        // After the journal: where a pointer leads nowhere, the journal is lost, or its folder is not mounted.
        if let Some(pointer) = &pointer {
            write_pointer(pointer, journal.path(), &origin)?;
        }
        Ok(Preserving { keeper: Keeper::new(journal, place.room), pointer, restore })
    }

    /// What is said before it begins.
    pub fn announcement(&self, wanted: Bytes) -> String {
        format!(
            "what is overwritten is kept in {} first, about {wanted} at a time, and given back afterwards. If the program or the \
             power fails: {}",
            self.keeper.journal().path().display(),
            self.restore
        )
    }

    /// Saves all that a phase may overwrite.
    ///
    /// # Errors
    /// When the journal or the permit does not hold. Then the phase must not be run.
    pub fn save(
        &mut self,
        rig: &Rig,
        phase: &Phase,
        go_on: &mut dyn FnMut() -> bool,
    ) -> Result<SaveEnd, UserError> {
        let stretches = stretches(phase);
        if stretches.is_empty() {
            return Ok(SaveEnd::Safe);
        }
        self.keeper.save(&mut rig.medium()?, &stretches, go_on).map_err(of_journal)
    }

    /// Gives everything back that was saved; how much.
    ///
    /// # Errors
    /// When not all of it got back. What is missing stays in the journal.
    pub fn give_back(&mut self, rig: &Rig) -> Result<Bytes, UserError> {
        if self.keeper.journal().parsed().saved.is_empty() {
            return Ok(Bytes::ZERO);
        }
        let given = match rig.medium() {
            Ok(mut medium) => self.keeper.give_back(&mut medium).map_err(|error| error.to_string()),
            Err(error) => Err(error.to_string()),
        };
        match given {
            Ok(given) if given.is_complete() => Ok(Bytes(given.bytes)),
            Ok(given) => Err(self.not_back(&missing(&given))),
            Err(why) => Err(self.not_back(&why)),
        }
    }

    fn not_back(&self, why: &str) -> UserError {
        UserError::failure(format!(
            "NOT ALL DATA ARE BACK: {why}. They are kept in {}; do not delete it, and write nothing to the drive. When the drive \
             is there again: {}",
            self.keeper.journal().path().display(),
            self.restore
        ))
    }

    /// Removes the journal, after everything was given back.
    ///
    /// # Errors
    /// When it cannot be removed, which does no harm: it holds nothing.
    pub fn finish(self) -> Result<(), UserError> {
        remove_pointer(self.pointer.as_deref())?;
        self.keeper.into_journal().delete().map_err(of_journal)
    }
}

fn own_folder(store: Option<&Path>) -> Result<PathBuf, UserError> {
    let store = store.map_or_else(default_folder, |folder| Ok(folder.to_owned()))?;
    Ok(store.join(FOLDER))
}

/// Journals hold people's data: nobody else may read them.
fn make(folder: &Path) -> Result<(), UserError> {
    DirBuilder::new().recursive(true).mode(0o700).create(folder).map_err(|error| {
        UserError::failure(format!("cannot make the folder {} for journals: {error}", folder.display()))
    })
}

/// A pointer holds the path of the journal, a zero, and whose data the journal holds.
fn write_pointer(pointer: &Path, journal: &Path, origin: &Origin) -> Result<(), UserError> {
    let half = pointer.with_extension("half");
    let write = || {
        fs::write(&half, [journal.as_os_str().as_bytes(), &[0], &origin.bytes()].concat())?;
        fs::File::open(&half)?.sync_all()?;
        fs::rename(&half, pointer)?;
        sync_folder_of(pointer)
    };
    write().map_err(|error| UserError::failure(format!("cannot write {}: {error}", pointer.display())))
}

/// Lastingly, before the journal goes.
fn remove_pointer(pointer: Option<&Path>) -> Result<(), UserError> {
    let Some(pointer) = pointer else { return Ok(()) };
    fs::remove_file(pointer)
        .and_then(|()| sync_folder_of(pointer))
        .map_err(|error| UserError::failure(format!("cannot remove {}: {error}", pointer.display())))
}

fn sync_folder_of(file: &Path) -> std::io::Result<()> {
    file.parent().map_or(Ok(()), |folder| fs::File::open(folder)?.sync_all())
}

fn of_journal(error: JournalError) -> UserError {
    UserError::failure(error.to_string())
}

/// What did not get back, for a person: the first few places.
pub fn missing(given: &Given) -> String {
    let bytes: u64 = given.missing.iter().map(|(_, length)| length).sum();
    let mut places: Vec<String> = given
        .missing
        .iter()
        .take(3)
        .map(|(offset, length)| format!("{length} from byte {offset} on"))
        .collect();
    if given.missing.len() > 3 {
        places.push(format!("and {} places more", given.missing.len() - 3));
    }
    let why = given.why.as_deref().map(|why| format!(" ({why})")).unwrap_or_default();
    format!("{} could not be given back: {}{why}", Bytes(bytes), places.join(", "))
}

/// What to type to give back what is kept.
pub fn restore_command(origin: &Origin) -> String {
    let quoted = |text: &str| crate::cli::quoted_word(&harmless(text, usize::MAX));
    format!("drivescope restore {} --confirm {}", quoted(&origin.path), quoted(&origin.confirmation))
}

/// A journal that was left behind.
pub struct Unfinished {
    /// Where it lies.
    pub path: PathBuf,
    /// Where the store says so, if it lies elsewhere.
    pub pointer: Option<PathBuf>,
    /// The journal, or why it cannot be used.
    pub journal: Result<Journal, JournalError>,
}

impl Unfinished {
    /// Removes it, since everything is given back or nothing was saved.
    ///
    /// # Errors
    /// When it cannot be removed.
    pub fn finish(self) -> Result<(), UserError> {
        let journal = self.journal.map_err(of_journal)?;
        remove_pointer(self.pointer.as_deref())?;
        journal.delete().map_err(of_journal)
    }
}

/// All journals that a store knows of.
///
/// # Errors
/// When the store's folder of journals cannot be read.
pub fn unfinished(store: Option<&Path>) -> Result<Vec<Unfinished>, UserError> {
    let own = own_folder(store)?;
    let entries = match fs::read_dir(&own) {
        Ok(entries) => entries,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(UserError::failure(format!("cannot read {}: {error}", own.display()))),
    };
    let mut found = Vec::new();
    for entry in entries.flatten() {
        let path = entry.path();
        match path.extension().and_then(|extension| extension.to_str()) {
            Some("journal") => found.push((path, None)),
            // One that cannot be read leads to itself, which is no journal.
            Some("pointer") => {
                found.push((read_pointer(&path).map_or(path.clone(), |(to, _)| to), Some(path)))
            }
            _ => {}
        }
    }
    found.sort();
    let open = |(path, pointer): (PathBuf, Option<PathBuf>)| Unfinished {
        journal: Journal::open(&path),
        path,
        pointer,
    };
    Ok(found.into_iter().map(open).collect())
}

/// What a store has that leads to a journal, wherever this lies now.
///
/// # Errors
/// When there is no folder for a store.
pub fn pointer_to(store: Option<&Path>, journal: &Path) -> Result<Option<PathBuf>, UserError> {
    let pointer = journal.file_name().map(|name| Path::new(name).with_extension("pointer"));
    let own = own_folder(store)?;
    Ok(pointer.map(|name| own.join(name)).filter(|pointer| pointer.exists()))
}

/// Where it leads, and whose data lie there; those of older versions do not say.
fn read_pointer(pointer: &Path) -> Option<(PathBuf, Option<Origin>)> {
    let is_small =
        pointer.symlink_metadata().is_ok_and(|status| status.is_file() && status.len() <= POINTER_BYTES_MAX);
    let bytes = fs::read(pointer).ok().filter(|_| is_small)?;
    let mut parts = bytes.splitn(2, |byte| *byte == 0);
    let path = PathBuf::from(OsString::from_vec(parts.next()?.to_vec()));
    Some((path, parts.next().and_then(Origin::parse)))
}

/// What somebody has to know who uses a target of which data are still in a journal; none when there is none.
///
/// # Errors
/// When it would be written to: what is in the journal would be lost, or overwrite what is written now.
pub fn look_for_unfinished(
    store: Option<&Path>,
    target: Option<&Target>,
    writes: bool,
) -> Result<Option<String>, UserError> {
    let Some(target) = target else { return Ok(None) };
    let names = Origin::names_of(target);
    for left in unfinished(store)? {
        let Some(text) = objection(&left, &names) else { continue };
        if writes {
            return Err(UserError::failure(format!("will not write: {text}")));
        }
        return Ok(Some(text));
    }
    Ok(None)
}

/// Why a target must not be written to as long as a journal is there; none when that does not matter to it.
fn objection(left: &Unfinished, names: &Origin) -> Option<String> {
    let journal = match &left.journal {
        Ok(journal) => journal,
        Err(JournalError::UnderWay { .. }) => return None,
        Err(error) => return objection_of_unread(left, error, names),
    };
    let parsed = journal.parsed();
    if parsed.saved.is_empty() && !parsed.is_damaged || !parsed.origin.is_related(names) {
        return None;
    }
    let bytes = Bytes(parsed.saved.iter().map(|saved| saved.length).sum());
    let mut text = format!(
        "a run that was broken off has kept {bytes} of {}, which are still to be given back: {}",
        harmless(&parsed.origin.path, 200),
        restore_command(&parsed.origin)
    );
    if parsed.is_damaged {
        text += &format!(
            ". A part of its journal is damaged and cannot be; when the rest is back and that part is not needed, remove {}",
            shown(&left.path)
        );
    }
    Some(text)
}

/// Of a journal that cannot be read nobody knows what it holds.
fn objection_of_unread(left: &Unfinished, error: &JournalError, names: &Origin) -> Option<String> {
    // A run that was under way has ended since we looked.
    let known = left.pointer.as_ref().unwrap_or(&left.path);
    let is_gone = known.symlink_metadata().is_err_and(|error| error.kind() == ErrorKind::NotFound);
    if is_gone || (left.pointer.is_none() || left.path != *known) && Journal::holds_nothing(&left.path) {
        return None;
    }
    if let Some(pointer) = &left.pointer {
        let origin = read_pointer(pointer).and_then(|(_, origin)| origin);
        let whose = match &origin {
            Some(origin) if !origin.is_related(names) => return None,
            Some(origin) => {
                format!("It holds what is still to be given back to {}", harmless(&origin.path, 200))
            }
            None => "It may hold data that are still to be given back to this drive".into(),
        };
        return Some(format!(
            "{}. {whose}. Mount the drive that the journal lies on, and see what is kept with drivescope restore; if the journal \
             is lost for good, or not needed, remove {}",
            harmless(&error.to_string(), usize::MAX),
            shown(pointer)
        ));
    }
    Some(format!(
        "{}. It may hold data that are still to be given back to this drive. Make it readable and see what it holds with drivescope \
         restore; if it is known to be of another drive, or not needed, move {} elsewhere",
        harmless(&error.to_string(), usize::MAX),
        shown(&left.path)
    ))
}

fn shown(path: &Path) -> String {
    harmless(&path.display().to_string(), usize::MAX)
}

/// The medium of a target that is given back to.
///
/// # Errors
/// When the permit does not hold.
pub fn medium<'permit>(
    target: &Target,
    permit: &'permit io::target::WritePermit,
) -> Result<TargetMedium<'permit>, UserError> {
    Ok(TargetMedium::new(target, permit)?)
}
