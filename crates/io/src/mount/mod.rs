//! A virtual drive in real time: one file in a mounted folder, whose reads and writes take as long as the model says.
//! ```text
//! any tool ──► kernel ──► /dev/fuse ──► serve ──► sim::Drive   when the answer is due
//!                  ▲                      │  └──► Contents     what the answer is
//!                  └──── at that moment ──┘
//! ```
//! The crate `fuser` mounts and agrees on terms with the kernel; then the calls are read here, by one thread that also
//! keeps the time (see [`serve`]). Latency counts from the moment that a request was read from `/dev/fuse`.

mod error;
mod flight;
mod lateness;
mod listing;
mod loop_device;
mod pacing;
mod place;
mod protocol;
mod serve;
mod system_call;

pub use error::MountError;
pub use lateness::{LATE, Lateness};

use crate::clock::MonotonicClock;
use fuser::{Config, InitFlags, KernelConfig, MountOption, Session, SessionACL};
use listing::Listing;
use loop_device::LoopDevice;
use model::units::Nanos;
use place::MountPlace;
use rustix::mount::UnmountFlags;
use serve::{Order, Server, TRANSFER_BYTES_MAX};
use sim::Drive;
use sim::contents::Contents;
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Sender, channel};
use std::thread::JoinHandle;
use std::time::{SystemTime, UNIX_EPOCH};

/// How many requests of programs that do not wait the kernel may hand over at a time; by default only 12.
const QUEUE_DEPTH_MAX: u16 = 1024;
/// Above all ordinary threads and in the middle of the real-time ones; clients may be given 40.
const PRIORITY: i32 = 50;

#[derive(Clone, Debug)]
pub struct MountOptions {
    /// The folder; it must be empty, or not be there.
    pub folder: PathBuf,
    pub file_name: String,
    pub loop_device: bool,
    /// How long the drive turns once, for the report.
    pub turn: Option<Nanos>,
}

/// A mounted drive. Unmounts when dropped.
pub struct Mount {
    file: PathBuf,
    loop_device: Option<LoopDevice>,
    thread: Option<JoinHandle<Lateness>>,
    orders: Sender<Order>,
    bell: UnixStream,
    scheduling_refusal: Option<String>,
    session: Option<Session<Terms>>,
    place: MountPlace,
}

#[derive(Debug)]
pub struct Stopped {
    /// How late the answers were; none when the thread that answers has failed.
    pub lateness: Option<Lateness>,
    /// Who still used it, and finds no drive any more.
    pub still_in_use: Option<PathBuf>,
}

impl Mount {
    /// Mounts the drive and serves it. `ended` is called when it is served no more, whoever unmounted it.
    pub fn start(
        drive: Box<dyn Drive + Send>,
        contents: Contents,
        options: &MountOptions,
        ended: impl FnOnce() + Send + 'static,
    ) -> Result<Mount, MountError> {
        let name = &options.file_name;
        if name.is_empty() || name.contains('/') || matches!(name.as_str(), "." | "..") {
            return Err(MountError::Name(name.clone()));
        }
        let place = MountPlace::prepare(&options.folder)?;
        let failed = |error| MountError::mounting(&options.folder, error);
        let session = Session::new(Terms, &place.path, &terms_of_mount(name)).map_err(failed)?;
        let facts = drive.facts().clone();
        let block_bytes = facts.logical_block.get() as u32;
        let seconds = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs());
        let user = system_call::user_and_group();
        let listing = Listing::new(name, facts.capacity.get(), block_bytes, user, seconds);
        let Started { thread, orders, bell, scheduling_refusal } =
            start_thread(&session, drive, contents, listing, options.turn, ended).map_err(failed)?;
        let mut mount = Mount {
            file: place.path.join(name),
            loop_device: None,
            thread: Some(thread),
            orders,
            bell,
            scheduling_refusal,
            session: Some(session),
            place,
        };
        if options.loop_device {
            let rotational = facts.rotational.unwrap_or(false);
            mount.loop_device = Some(LoopDevice::attach(&mount.file, block_bytes, rotational)?);
        }
        Ok(mount)
    }

    pub fn file(&self) -> &Path {
        &self.file
    }

    pub fn loop_device(&self) -> Option<&Path> {
        self.loop_device.as_ref().map(|device| device.path.as_path())
    }

    /// Why the system does not let the thread that answers run before all others; none when it does.
    pub fn scheduling_refusal(&self) -> Option<&str> {
        self.scheduling_refusal.as_deref()
    }

    pub fn lateness(&mut self) -> Option<Lateness> {
        let (to, from) = channel();
        self.order(Order::Report(to));
        from.recv().ok()
    }

    pub fn stop(mut self) -> Stopped {
        self.end()
    }

    fn order(&mut self, order: Order) {
        // A thread that has ended needs no orders.
        let _ = self.orders.send(order);
        let _ = self.bell.write_all(&[1]);
    }

    fn end(&mut self) -> Stopped {
        let is_served = matches!(&self.thread, Some(thread) if !thread.is_finished());
        if !is_served {
            // Before the loop device, which would wait for an answer to its flush. A child forked just now has a copy of
            // the descriptor, and may wait for an answer itself before it closes that.
            let _ = system_call::unmount(&self.place.path, UnmountFlags::FORCE | UnmountFlags::DETACH);
            self.session = None;
        }
        let mut still_in_use = None;
        if let Some(mut device) = self.loop_device.take()
            && !device.detach()
        {
            still_in_use = Some(device.path.clone());
        }
        if is_served && !self.unmount() && still_in_use.is_none() {
            still_in_use = Some(self.file.clone());
        }
        self.order(Order::Stop);
        let lateness = self.thread.take().and_then(|thread| thread.join().ok());
        // As above: whoever still waits is told that nobody is there.
        self.session = None;
        self.place.leave();
        Stopped { lateness, still_in_use }
    }

    fn unmount(&mut self) -> bool {
        match system_call::unmount(&self.place.path, UnmountFlags::empty()) {
            Ok(()) => true,
            Err(error) if error.raw_os_error() == Some(libc::EBUSY) => {
                // What it answers changes nothing: without the thread it is dead either way.
                let _ = system_call::unmount(&self.place.path, UnmountFlags::DETACH);
                false
            }
            // Not ours to unmount: fusermount3 can, which the session calls.
            Err(_) => {
                if let Some(session) = &mut self.session {
                    let _ = session.unmount();
                }
                true
            }
        }
    }
}

impl Drop for Mount {
    fn drop(&mut self) {
        if self.session.is_some() {
            self.end();
        }
    }
}

struct Started {
    thread: JoinHandle<Lateness>,
    orders: Sender<Order>,
    bell: UnixStream,
    scheduling_refusal: Option<String>,
}

fn start_thread(
    session: &Session<Terms>,
    drive: Box<dyn Drive + Send>,
    contents: Contents,
    listing: Listing,
    turn: Option<Nanos>,
    ended: impl FnOnce() + Send + 'static,
) -> io::Result<Started> {
    let device = File::from(session.as_fd().try_clone_to_owned()?);
    system_call::make_non_blocking(device.as_fd())?;
    let (bell, bell_of_thread) = UnixStream::pair()?;
    bell_of_thread.set_nonblocking(true)?;
    bell.set_nonblocking(true)?;
    let (orders, orders_of_thread) = channel();
    let (say_refusal, refusal) = channel();
    let serve = move || {
        let _ended = AtEnd(Some(ended));
        system_call::make_timers_exact();
        let refusal = system_call::schedule_first(PRIORITY).err().map(|error| error.to_string());
        // Whoever started us waits for it.
        let _ = say_refusal.send(refusal.clone());
        let lateness = Lateness::new(turn, refusal);
        let clock = MonotonicClock::start();
        let (orders, bell) = (orders_of_thread, bell_of_thread);
        Server { device, orders, bell, drive, contents, listing, lateness, clock }.run()
    };
    let thread = std::thread::Builder::new().name("drive".to_owned()).spawn(serve)?;
    let scheduling_refusal = refusal.recv().unwrap_or(None);
    Ok(Started { thread, orders, bell, scheduling_refusal })
}

/// Calls it when dropped: at the end of a thread, also when it panics.
struct AtEnd<F: FnOnce()>(Option<F>);

impl<F: FnOnce()> Drop for AtEnd<F> {
    fn drop(&mut self) {
        if let Some(ended) = self.0.take() {
            ended();
        }
    }
}

/// What is agreed with the kernel when mounting. Nothing else goes through it.
struct Terms;

impl fuser::Filesystem for Terms {
    fn init(&mut self, _request: &fuser::Request, terms: &mut KernelConfig) -> io::Result<()> {
        let wanted = [
            // Without it the requests of one io_uring or libaio wait for each other.
            InitFlags::FUSE_ASYNC_DIO,
            // Without it nobody can map the file, since it is opened past the page cache.
            InitFlags::FUSE_DIRECT_IO_ALLOW_MMAP,
        ];
        for flag in wanted {
            // An older kernel goes on without.
            let _ = terms.add_capabilities(flag);
        }
        let within = |_: u16| io::Error::from_raw_os_error(libc::EINVAL);
        terms.set_max_background(QUEUE_DEPTH_MAX).map_err(within)?;
        terms.set_congestion_threshold(QUEUE_DEPTH_MAX).map_err(within)?;
        terms.set_max_write(TRANSFER_BYTES_MAX).map_err(|_| io::Error::from_raw_os_error(libc::EINVAL))?;
        Ok(())
    }
}

fn terms_of_mount(name: &str) -> Config {
    let mut config = Config::default();
    config.mount_options = vec![
        // A comma would end the option.
        MountOption::FSName(format!("sim:{}", name.replace(',', "_"))),
        MountOption::Subtype("drivescope".to_owned()),
        MountOption::DefaultPermissions,
        MountOption::NoAtime,
    ];
    // Root may let others use the file by its permissions, as with a device.
    let is_root = system_call::user_and_group().0 == 0;
    config.acl = if is_root { SessionACL::All } else { SessionACL::Owner };
    config
}
