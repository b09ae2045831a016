//! The targets' calls to the kernel, each with its error: all `unsafe` but that of `passthrough`.
#![allow(
    unsafe_code,
    reason = "ioctl, statx, leases and positioned reads into aligned memory have no safe form"
)]

use super::identity::{DeviceNumber, FileNumber, Identity, LoopExtent, Place};
use super::sysfs::or_not_mounted;
use rustix::fs::{self, Advice, AtFlags, FallocateFlags, Mode, OFlags, SeekFrom, Stat, StatVfsMountFlags};
use rustix::io::{Errno, retry_on_intr};
use std::ffi::{CString, OsStr};
use std::fs::ReadDir;
use std::io;
use std::num::NonZeroU64;
use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

const BLKGETSIZE64: libc::c_ulong = 0x8008_1272;
/// `linux/fs.h`: a number that is never used twice, so a device that was replaced under the same name is noticed.
const BLKGETDISKSEQ: libc::c_ulong = 0x8008_1280;
const BLKROGET: libc::c_ulong = 0x125e;
/// `linux/fs.h`: tells the device that a range holds nothing of use.
const BLKDISCARD: libc::c_ulong = 0x1277;
/// `linux/loop.h`: what a loop device lies on.
const LOOP_GET_STATUS64: libc::c_ulong = 0x4c05;

/// Opens `path`; the descriptor is closed when a program is started.
pub(crate) fn open(path: &Path, flags: libc::c_int) -> io::Result<OwnedFd> {
    open_with_mode(path, flags, 0)
}

fn open_with_mode(path: &Path, flags: libc::c_int, mode: libc::mode_t) -> io::Result<OwnedFd> {
    let flags = OFlags::from_bits_retain(flags as u32) | OFlags::CLOEXEC;
    Ok(retry_on_intr(|| fs::open(path, flags, Mode::from_raw_mode(mode)))?)
}

pub(crate) fn create_in(directory: BorrowedFd<'_>, name: &OsStr, mode: libc::mode_t) -> io::Result<OwnedFd> {
    let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC | OFlags::NOFOLLOW;
    Ok(fs::openat(directory, name, flags, Mode::from_raw_mode(mode))?)
}

pub(crate) fn remove(directory: BorrowedFd<'_>, name: &OsStr) -> io::Result<()> {
    Ok(fs::unlinkat(directory, name, AtFlags::empty())?)
}

/// Opens again what `descriptor` is open on, with other flags: the same inode, whatever its path is now.
pub(crate) fn reopen(descriptor: BorrowedFd<'_>, flags: libc::c_int) -> io::Result<OwnedFd> {
    reopen_with_mode(descriptor, flags, 0)
}

pub(super) fn reopen_with_mode(
    descriptor: BorrowedFd<'_>,
    flags: libc::c_int,
    mode: libc::mode_t,
) -> io::Result<OwnedFd> {
    let opened = open_with_mode(&path_of(descriptor), flags, mode);
    opened.map_err(|error| or_not_mounted(Path::new("/proc"), error))
}

/// Where proc shows what a descriptor is open on.
fn path_of(descriptor: BorrowedFd<'_>) -> PathBuf {
    format!("/proc/self/fd/{}", descriptor.as_raw_fd()).into()
}

/// What a folder contains, whatever its path is now.
pub(crate) fn entries_of(folder: BorrowedFd<'_>) -> io::Result<ReadDir> {
    std::fs::read_dir(path_of(folder)).map_err(|error| or_not_mounted(Path::new("/proc"), error))
}

/// Makes requests on the descriptor wait, as they do on one that was opened without `O_NONBLOCK`.
pub(super) fn make_blocking(descriptor: BorrowedFd<'_>) -> io::Result<()> {
    Ok(fs::fcntl_setfl(descriptor, fs::fcntl_getfl(descriptor)? - OFlags::NONBLOCK)?)
}

pub(crate) fn status(descriptor: BorrowedFd<'_>) -> io::Result<Stat> {
    Ok(fs::fstat(descriptor)?)
}

pub(super) fn extended_status(descriptor: BorrowedFd<'_>, mask: libc::c_uint) -> io::Result<libc::statx> {
    statx(descriptor.as_raw_fd(), c"", libc::AT_EMPTY_PATH, mask)
}

/// The extended status of a path, following links, from the kernel's memory: no dead server can hold us up.
pub(super) fn extended_status_of_path(path: &Path, mask: libc::c_uint) -> io::Result<libc::statx> {
    let path = CString::new(path.as_os_str().as_bytes())?;
    statx(libc::AT_FDCWD, &path, libc::AT_STATX_DONT_SYNC, mask)
}

pub(super) fn place(path: &Path) -> io::Result<Place> {
    let status = extended_status_of_path(path, libc::STATX_BASIC_STATS)?;
    Ok(match u32::from(status.stx_mode) & libc::S_IFMT {
        libc::S_IFBLK => {
            Place::Device(DeviceNumber { major: status.stx_rdev_major, minor: status.stx_rdev_minor })
        }
        _ => Place::File(FileNumber {
            file_system: DeviceNumber { major: status.stx_dev_major, minor: status.stx_dev_minor },
            inode: status.stx_ino,
        }),
    })
}

fn statx(
    directory: libc::c_int,
    path: &std::ffi::CStr,
    flags: libc::c_int,
    mask: libc::c_uint,
) -> io::Result<libc::statx> {
    let mut status = std::mem::MaybeUninit::<libc::statx>::zeroed();
    // SAFETY: `path` is a C string, `status` a valid struct for the kernel to fill; neither pointer is kept.
    match unsafe { libc::statx(directory, path.as_ptr(), flags, mask, status.as_mut_ptr()) } {
        // SAFETY: zeroes are a valid statx, and the kernel has overwritten what it knows.
        0 => Ok(unsafe { status.assume_init() }),
        _ => Err(io::Error::last_os_error()),
    }
}

pub(crate) struct FileSystemRoom {
    pub size: u64,
    pub available: u64,
    pub is_read_only: bool,
}

pub(crate) fn file_system_room(descriptor: BorrowedFd<'_>) -> io::Result<FileSystemRoom> {
    let status = fs::fstatvfs(descriptor)?;
    Ok(FileSystemRoom {
        size: status.f_blocks.saturating_mul(status.f_frsize),
        available: status.f_bavail.saturating_mul(status.f_frsize),
        is_read_only: status.f_flag.contains(StatVfsMountFlags::RDONLY),
    })
}

pub(super) fn is_in_memory(descriptor: BorrowedFd<'_>) -> io::Result<bool> {
    // From linux/magic.h: TMPFS_MAGIC and RAMFS_MAGIC.
    Ok(matches!(fs::fstatfs(descriptor)?.f_type as u32, 0x0102_1994 | 0x8584_58f6))
}

/// The identifier of the file system that a path leads to, which most keep for good.
pub(super) fn file_system_id(path: &Path) -> io::Result<u64> {
    Ok(fs::statvfs(path)?.f_fsid)
}

pub(super) fn device_size(descriptor: BorrowedFd<'_>) -> io::Result<u64> {
    ask_number(descriptor, BLKGETSIZE64, 0u64)
}

/// The sequence number of the disk: another one means another disk. An error before Linux 5.15.
fn disk_sequence(descriptor: BorrowedFd<'_>) -> io::Result<u64> {
    ask_number(descriptor, BLKGETDISKSEQ, 0u64)
}

pub(super) fn is_read_only(descriptor: BorrowedFd<'_>) -> io::Result<bool> {
    Ok(ask_number(descriptor, BLKROGET, 0 as libc::c_int)? != 0)
}

pub(super) fn logical_block(descriptor: BorrowedFd<'_>) -> io::Result<u64> {
    Ok(u64::from(fs::ioctl_blksszget(descriptor)?))
}

pub(super) fn physical_block(descriptor: BorrowedFd<'_>) -> io::Result<u64> {
    Ok(u64::from(fs::ioctl_blkpbszget(descriptor)?))
}

/// Tells a block device that these bytes hold nothing of use. `descriptor` must be open for writing.
pub(super) fn discard(descriptor: BorrowedFd<'_>, offset: u64, length: u64) -> io::Result<()> {
    // SAFETY: the request takes a pointer to two such numbers, which it only reads.
    unsafe { ioctl(descriptor, BLKDISCARD, &mut [offset, length]) }.map(drop)
}

/// # Safety
/// The request is one that takes a pointer to such a value, for as long as the call lasts.
pub(crate) unsafe fn ioctl<Argument>(
    descriptor: BorrowedFd<'_>,
    request: libc::c_ulong,
    argument: *mut Argument,
) -> io::Result<u32> {
    // SAFETY: the caller's promise.
    match unsafe { libc::ioctl(descriptor.as_raw_fd(), request, argument) } {
        answer if answer >= 0 => Ok(answer as u32),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Asks for one number. Private, since `request` must be one that fills a `Number`.
fn ask_number<Number>(
    descriptor: BorrowedFd<'_>,
    request: libc::c_ulong,
    mut number: Number,
) -> io::Result<Number> {
    // SAFETY: each caller above names a request whose argument is a pointer to exactly this integer type.
    unsafe { ioctl(descriptor, request, &raw mut number) }?;
    Ok(number)
}

/// `linux/major.h`: the driver of loop devices. To others the numbers of its requests may mean something else.
const LOOP_MAJOR: u32 = 7;

/// `struct loop_info64` of `linux/loop.h`, which is 232 bytes; only the first five fields are of interest.
#[repr(C)]
struct LoopInfo {
    device: u64,
    inode: u64,
    rdevice: u64,
    offset: u64,
    size_limit: u64,
    rest: [u8; 192],
}

const _: () = assert!(size_of::<LoopInfo>() == 232);

pub(super) fn loop_extent(descriptor: BorrowedFd<'_>) -> io::Result<LoopExtent> {
    let mut info = LoopInfo { device: 0, inode: 0, rdevice: 0, offset: 0, size_limit: 0, rest: [0; 192] };
    // SAFETY: `info` has the size and layout that this request fills.
    unsafe { ioctl(descriptor, LOOP_GET_STATUS64, &raw mut info) }?;
    let backing = match info.rdevice {
        0 => Place::File(FileNumber { file_system: DeviceNumber::from_raw(info.device), inode: info.inode }),
        number => Place::Device(DeviceNumber::from_raw(number)),
    };
    Ok(LoopExtent { backing, offset: info.offset, size_limit: info.size_limit })
}

pub(super) fn device_identity(descriptor: BorrowedFd<'_>, number: DeviceNumber) -> io::Result<Identity> {
    let loop_extent = if number.major == LOOP_MAJOR { Some(loop_extent(descriptor)?) } else { None };
    Ok(Identity::Device { number, disk_sequence: disk_sequence(descriptor).ok(), loop_extent })
}

/// Whether nobody else, in any process, has the file open: a write lease can be had only then.
/// `descriptor` must be open for reading only, and this process must have no other one.
/// The lease is given back at once, since holding it would make other programs wait for us.
pub(super) fn is_open_nowhere_else(descriptor: BorrowedFd<'_>) -> io::Result<bool> {
    // SAFETY: the call takes integers only.
    let taken = unsafe { libc::fcntl(descriptor.as_raw_fd(), libc::F_SETLEASE, libc::F_WRLCK) };
    if taken != 0 {
        let error = io::Error::last_os_error();
        return match error.raw_os_error() {
            Some(libc::EAGAIN) => Ok(false),
            _ => Err(error),
        };
    }
    // SAFETY: as above.
    match unsafe { libc::fcntl(descriptor.as_raw_fd(), libc::F_SETLEASE, libc::F_UNLCK) } {
        0 => Ok(true),
        _ => Err(io::Error::last_os_error()),
    }
}

pub(super) fn reserve(descriptor: BorrowedFd<'_>, offset: u64, size: u64) -> io::Result<()> {
    Ok(retry_on_intr(|| fs::fallocate(descriptor, FallocateFlags::empty(), offset, size))?)
}

/// The first place from there on that is or is not a hole; none past the last data.
pub(super) fn seek(descriptor: BorrowedFd<'_>, from: SeekFrom) -> io::Result<Option<u64>> {
    match fs::seek(descriptor, from) {
        Ok(found) => Ok(Some(found)),
        Err(Errno::NXIO) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

#[repr(C)]
struct CacheRange {
    offset: u64,
    length: u64,
}

/// `struct cachestat` of `linux/mman.h`, all in pages.
#[repr(C)]
#[derive(Default)]
struct CacheStatus {
    cached: u64,
    dirty: u64,
    written_back: u64,
    evicted: u64,
    recently_evicted: u64,
}

/// How many pages of the range are in the page cache. An error before Linux 6.5.
pub(super) fn cached_pages(descriptor: BorrowedFd<'_>, offset: u64, length: u64) -> io::Result<u64> {
    const CACHESTAT: libc::c_long = 451;
    let range = CacheRange { offset, length };
    let mut status = CacheStatus::default();
    // SAFETY: both structs have the layout of the kernel's and outlive the call; no pointer is kept.
    let result =
        unsafe { libc::syscall(CACHESTAT, descriptor.as_raw_fd(), &raw const range, &raw mut status, 0) };
    if result == 0 { Ok(status.cached) } else { Err(io::Error::last_os_error()) }
}

/// The same by mapping the range, which reads nothing in, for older kernels.
pub(super) fn mapped_cached_pages(descriptor: BorrowedFd<'_>, offset: u64, length: u64) -> io::Result<u64> {
    Ok(mapped_pages(descriptor, offset, length)?.iter().filter(|is_cached| **is_cached).count() as u64)
}

/// For each page of the range whether it is in memory and can be read. Pages that are being read are not.
pub(super) fn mapped_pages(descriptor: BorrowedFd<'_>, offset: u64, length: u64) -> io::Result<Vec<bool>> {
    let size = length as usize;
    // SAFETY: a new mapping at a place of the kernel's choice; nobody reads through it.
    let start = unsafe {
        libc::mmap(
            std::ptr::null_mut(),
            size,
            libc::PROT_READ,
            libc::MAP_SHARED,
            descriptor.as_raw_fd(),
            offset as libc::off_t,
        )
    };
    if start == libc::MAP_FAILED {
        return Err(io::Error::last_os_error());
    }
    assert!(offset.is_multiple_of(rustix::param::page_size() as u64), "a mapping begins with a page");
    let mut pages = vec![0u8; size.div_ceil(rustix::param::page_size())];
    // SAFETY: the range was just mapped, and `pages` has a byte for each of its pages.
    let result = unsafe { libc::mincore(start, size, pages.as_mut_ptr()) };
    let error = io::Error::last_os_error();
    // SAFETY: mapped above, and no reference into it was made.
    unsafe { libc::munmap(start, size) };
    match result {
        0 => Ok(pages.iter().map(|page| page & 1 != 0).collect()),
        _ => Err(error),
    }
}

/// Writes out what waits, so that the kernel may forget it, and asks it to forget the range; all with length zero.
pub(crate) fn forget_cached(descriptor: BorrowedFd<'_>, offset: u64, length: u64) -> io::Result<()> {
    let synced = fs::fdatasync(descriptor);
    let forgotten = forget_written(descriptor, offset, length);
    synced?;
    forgotten
}

/// Asks the kernel to forget what it holds of the range and has written out; all with length zero.
pub(crate) fn forget_written(descriptor: BorrowedFd<'_>, offset: u64, length: u64) -> io::Result<()> {
    Ok(fs::fadvise(descriptor, offset, NonZeroU64::new(length), Advice::DontNeed)?)
}

const EXTENTS: usize = 128;
const FIEMAP_EXTENT_UNWRITTEN: u32 = 0x800;
/// `linux/fiemap.h`: where it lies is not known yet, it has no place yet, it is compressed or encrypted, or it lies among what
/// the file system keeps of the file: then its place is no place of its bytes.
const FIEMAP_EXTENT_WITHOUT_PLACE: u32 = 0x2 | 0x4 | 0x8 | 0x80 | 0x200 | 0x400;
const FIEMAP_EXTENT_LAST: u32 = 0x1;
const FS_IOC_FIEMAP: libc::c_ulong = 0xc020_660b;

#[repr(C)]
#[derive(Clone, Copy, Default)]
struct RawExtent {
    logical: u64,
    physical: u64,
    length: u64,
    reserved64: [u64; 2],
    flags: u32,
    reserved: [u32; 3],
}

/// `struct fiemap` of `linux/fiemap.h` with room for extents.
#[repr(C)]
struct ExtentMap {
    start: u64,
    length: u64,
    flags: u32,
    mapped: u32,
    count: u32,
    reserved: u32,
    extents: [RawExtent; EXTENTS],
}

const _: () = assert!(size_of::<RawExtent>() == 56 && size_of::<ExtentMap>() == 32 + EXTENTS * 56);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FileExtent {
    pub end: u64,
    pub length: u64,
    /// Where it begins on the device that the file system lies on, as the file system counts; none where it has no such place.
    pub place: Option<u64>,
    pub is_unwritten: bool,
    pub is_last: bool,
}

pub(crate) fn extents(descriptor: BorrowedFd<'_>, start: u64) -> io::Result<Vec<FileExtent>> {
    let mut map = ExtentMap {
        start,
        length: u64::MAX - start,
        flags: 0,
        mapped: 0,
        count: EXTENTS as u32,
        reserved: 0,
        extents: [RawExtent::default(); EXTENTS],
    };
    // SAFETY: `map` has the layout of the kernel's struct and tells how many extents it has room for.
    unsafe { ioctl(descriptor, FS_IOC_FIEMAP, &raw mut map) }?;
    let found = &map.extents[..(map.mapped as usize).min(EXTENTS)];
    Ok(found.iter().map(FileExtent::of).collect())
}

impl FileExtent {
    fn of(raw: &RawExtent) -> FileExtent {
        let has_place = raw.flags & FIEMAP_EXTENT_WITHOUT_PLACE == 0;
        FileExtent {
            end: raw.logical.saturating_add(raw.length),
            length: raw.length,
            place: if has_place { Some(raw.physical) } else { None },
            is_unwritten: raw.flags & FIEMAP_EXTENT_UNWRITTEN != 0,
            is_last: raw.flags & FIEMAP_EXTENT_LAST != 0,
        }
    }
}

pub(super) struct AlignedBuffer {
    start: std::ptr::NonNull<u8>,
    layout: std::alloc::Layout,
}

/// No drive known asks for more than a page; 4 KiB is the page of most machines, and the largest logical block.
const BUFFER_ALIGNMENT: usize = 4096;

impl AlignedBuffer {
    /// `size` zero bytes, rounded up to whole pages. Panics when `size` is zero.
    pub fn new(size: usize) -> AlignedBuffer {
        assert!(size > 0, "a buffer holds something");
        let layout =
            std::alloc::Layout::from_size_align(size.next_multiple_of(BUFFER_ALIGNMENT), BUFFER_ALIGNMENT)
                .expect("a buffer is far smaller than the address space");
        // SAFETY: the layout has a size above zero.
        let start = unsafe { std::alloc::alloc_zeroed(layout) };
        let Some(start) = std::ptr::NonNull::new(start) else { std::alloc::handle_alloc_error(layout) };
        AlignedBuffer { start, layout }
    }
}

impl std::ops::Deref for AlignedBuffer {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        // SAFETY: `start` points to `layout.size()` initialised bytes that are ours until the drop.
        unsafe { std::slice::from_raw_parts(self.start.as_ptr(), self.layout.size()) }
    }
}

impl std::ops::DerefMut for AlignedBuffer {
    fn deref_mut(&mut self) -> &mut [u8] {
        // SAFETY: as above, and `&mut self` means that nobody else looks.
        unsafe { std::slice::from_raw_parts_mut(self.start.as_ptr(), self.layout.size()) }
    }
}

impl Drop for AlignedBuffer {
    fn drop(&mut self) {
        // SAFETY: allocated in `new` with this layout, and freed only here.
        unsafe { std::alloc::dealloc(self.start.as_ptr(), self.layout) }
    }
}

/// Reads at a position into the whole of `buffer`, or up to the end; answers how much.
pub(super) fn read_at(descriptor: BorrowedFd<'_>, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
    let mut done = 0;
    while done < buffer.len() {
        debug_assert!(i64::try_from(offset).is_ok(), "a place that the kernel can name");
        match retry_on_intr(|| rustix::io::pread(descriptor, &mut buffer[done..], offset + done as u64))? {
            0 => break,
            count => done += count,
        }
    }
    Ok(done)
}
