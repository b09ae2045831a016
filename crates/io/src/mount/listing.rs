//! The folder and its one file, as `ls` and `stat` see them.

use super::protocol::{Attributes, Body, Call, Change, FILE_NODE, FOLDER_NODE, What};

const REGULAR_FILE: u32 = 0o100_000;
const FOLDER: u32 = 0o040_000;
const PERMISSIONS: u32 = 0o7777;
const NAME_BYTES_MAX: u32 = 255;

pub(super) struct Listing {
    file_name: Vec<u8>,
    file: Attributes,
    folder: Attributes,
}

impl Listing {
    /// A folder with a file of that name and size, both of them of that user and group.
    pub(super) fn new(
        file_name: &str,
        capacity: u64,
        block_bytes: u32,
        (user, group): (u32, u32),
        now_s: u64,
    ) -> Listing {
        let file = Attributes {
            node: FILE_NODE,
            size: capacity,
            changed_s: now_s,
            mode: REGULAR_FILE | 0o600,
            links: 1,
            user,
            group,
            block_bytes,
        };
        let folder = Attributes { node: FOLDER_NODE, size: 0, mode: FOLDER | 0o755, links: 2, ..file };
        Listing { file_name: file_name.as_bytes().to_vec(), file, folder }
    }

    /// The body of the answer to whatever does not reach the drive, or a number of the system.
    pub(super) fn answer(&mut self, call: &Call<'_>) -> Result<Vec<u8>, i32> {
        match &call.what {
            What::Lookup { name } if call.node == FOLDER_NODE && **name == self.file_name => {
                Ok(Body::entry(&self.file))
            }
            What::Lookup { .. } => Err(libc::ENOENT),
            What::Attributes => Ok(Body::attributes_of(self.attributes(call.node))),
            What::Change(change) => {
                self.change(call.node, change)?;
                Ok(Body::attributes_of(self.attributes(call.node)))
            }
            What::ReadFolder { first, room } => Ok(Body::folder(&self.file_name, *first, *room)),
            What::FileSystem => Ok(Body::file_system(self.file.size, self.file.block_bytes, NAME_BYTES_MAX)),
            // A drive has no room for other files.
            What::ChangeFolder => Err(libc::EPERM),
            _ => Err(libc::ENOSYS),
        }
    }

    fn attributes(&mut self, node: u64) -> &mut Attributes {
        if node == FOLDER_NODE { &mut self.folder } else { &mut self.file }
    }

    /// Owner and permissions can be changed, as those of a device can. The size cannot, but cutting it to nothing
    /// without an open file is passed over: `dd of=` does it, and a block device ignores it.
    fn change(&mut self, node: u64, change: &Change) -> Result<(), i32> {
        let attributes = self.attributes(node);
        let stays = |size: u64| size == attributes.size || (size == 0 && !change.through_file);
        if let Some(size) = change.size
            && !stays(size)
        {
            return Err(libc::EPERM);
        }
        if let Some(permissions) = change.permissions {
            attributes.mode = attributes.mode & !PERMISSIONS | permissions & PERMISSIONS;
        }
        attributes.user = change.user.unwrap_or(attributes.user);
        attributes.group = change.group.unwrap_or(attributes.group);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(listing: &mut Listing, node: u64, what: What<'_>) -> Result<Vec<u8>, i32> {
        listing.answer(&Call { unique: 1, node, what })
    }

    fn listing() -> Listing {
        Listing::new("disk", 1 << 30, 512, (7, 8), 1)
    }

    /// Where mode and size stand in `struct fuse_attr_out`.
    fn mode_and_size(body: &[u8]) -> (u32, u64) {
        let mode = u32::from_ne_bytes(body[76..80].try_into().unwrap());
        (mode, u64::from_ne_bytes(body[24..32].try_into().unwrap()))
    }

    #[test]
    fn only_the_file_is_found() {
        let mut listing = listing();
        assert!(answer(&mut listing, FOLDER_NODE, What::Lookup { name: b"disk" }).is_ok());
        let other = answer(&mut listing, FOLDER_NODE, What::Lookup { name: b"disk2" });
        assert_eq!(other, Err(libc::ENOENT));
        assert_eq!(answer(&mut listing, FOLDER_NODE, What::ChangeFolder), Err(libc::EPERM));
        assert_eq!(answer(&mut listing, FILE_NODE, What::Unknown), Err(libc::ENOSYS));
    }

    #[test]
    fn the_size_stays_and_permissions_change() {
        let mut listing = listing();
        let cut =
            |size, through_file| What::Change(Change { size: Some(size), through_file, ..Change::default() });
        assert_eq!(answer(&mut listing, FILE_NODE, cut(0, true)), Err(libc::EPERM));
        assert_eq!(answer(&mut listing, FILE_NODE, cut(4096, false)), Err(libc::EPERM));
        let opened = answer(&mut listing, FILE_NODE, cut(0, false)).unwrap();
        assert_eq!(mode_and_size(&opened), (0o100_600, 1 << 30));
        let open_to_all = What::Change(Change { permissions: Some(0o666), ..Change::default() });
        let changed = answer(&mut listing, FILE_NODE, open_to_all).unwrap();
        assert_eq!(mode_and_size(&changed), (0o100_666, 1 << 30));
    }
}
