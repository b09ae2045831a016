//! The store in a browser, on this machine only and read-only.
//!
//! ```text
//! request.rs    bytes from a socket to a request, with a limit on everything: size, headers, time
//! gate.rs       who may ask: right host and origin (DNS rebinding, other sites), right token
//! route.rs      which page is asked for
//! pages.rs      lists and messages; a report is made by the one who starts the server
//! live.rs       how a run that goes on stands, from what was added since somebody looked
//! cache.rs      pages that were made, so that many readers cost no more than one
//! response.rs   the answer, with the headers that keep a browser strict
//! ```
//! A connection has one request and one answer, and a thread while it lasts; there are so many at once and no more. What a
//! drive says of itself is shown and never run: it is escaped, and the page's policy allows no script but ours. Nothing
//! is logged, so that the token is in no log.

mod cache;
mod gate;
mod live;
mod page_text;
mod pages;
mod request;
mod response;
mod route;

use crate::store::{Store, StoredRun};
use cache::Cache;
use gate::Gate;
use live::Live;
use request::Request;
use response::Response;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// Connections at once. A browser opens six; what comes above waits a moment and tries again.
const CONNECTIONS_MAX: usize = 64;
/// How long to wait for a connection before looking whether to end. A signal ends the wait at once.
const WAIT: Timespec = Timespec { tv_sec: 0, tv_nsec: 500_000_000 };

/// Makes the report of runs, as a page with nothing outside of it.
pub type ReportMaker = fn(&[StoredRun]) -> String;

/// What a server needs to answer.
struct Served {
    store: Store,
    gate: Gate,
    cache: Cache,
    live: Live,
    report: ReportMaker,
    connections: AtomicUsize,
}

/// A server that listens.
pub struct Server {
    listener: TcpListener,
    address: SocketAddr,
    served: Arc<Served>,
}

impl Server {
    /// Listens on this machine's own address only; port 0 takes any that is free.
    ///
    /// # Errors
    /// When the port is taken, or the system gives no random numbers.
    pub fn bind(store: Store, port: u16, report: ReportMaker) -> io::Result<Server> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port))?;
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        let gate = Gate::new(address.port())?;
        let served = Served {
            store,
            gate,
            cache: Cache::default(),
            live: Live::default(),
            report,
            connections: AtomicUsize::new(0),
        };
        Ok(Server { listener, address, served: Arc::new(served) })
    }

    /// Where to look, with the token. Whoever has it may read the store.
    pub fn url(&self) -> String {
        format!("http://{}/?token={}", self.address, self.served.gate.token())
    }

    /// Answers until `stop` is set.
    ///
    /// # Errors
    /// When the system lets us listen no more.
    pub fn run(&self, stop: &AtomicBool) -> io::Result<()> {
        while !stop.load(Ordering::Relaxed) {
            match self.listener.accept() {
                Ok((stream, _)) => self.serve(stream),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => self.wait()?,
                // The other end has gone already, or this process has no descriptor left for a moment.
                Err(_) => self.wait()?,
            }
        }
        Ok(())
    }

    fn wait(&self) -> io::Result<()> {
        let mut waited = [PollFd::new(&self.listener, PollFlags::IN)];
        match poll(&mut waited, Some(&WAIT)) {
            Ok(_) | Err(rustix::io::Errno::INTR) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// A thread for a connection; none when there are enough. It is closed then, and the browser comes again.
    fn serve(&self, stream: TcpStream) {
        let served = Arc::clone(&self.served);
        if served.connections.fetch_add(1, Ordering::Relaxed) >= CONNECTIONS_MAX {
            served.connections.fetch_sub(1, Ordering::Relaxed);
            return;
        }
        let connection = Connection { served };
        // Without a thread the connection is dropped, which closes it.
        let _ = std::thread::Builder::new().name("serve".into()).spawn(move || connection.answer(stream));
    }
}

/// One connection, counted while it lasts.
struct Connection {
    served: Arc<Served>,
}

impl Connection {
    fn answer(&self, mut stream: TcpStream) {
        // What cannot be set here would let a reader keep the thread: then better no answer.
        if stream.set_nonblocking(false).is_err() {
            return;
        }
        let (response, head_only) = match Request::read(&mut stream) {
            Ok(Some(request)) => (self.served.answer(&request), request.head_only),
            Ok(None) => return,
            Err(refusal) => (refusal.response(), false),
        };
        response.write(&mut stream, head_only);
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.served.connections.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Served {
    /// The answer to a request: first who asks, then what for. A mistake of ours is answered too.
    fn answer(&self, request: &Request) -> Response {
        match self.gate.check(request) {
            Err(refusal) => refusal.response(),
            Ok(gate::Entrance::ByLink) => pages::entrance(&self.gate.root(), &self.gate.cookie()),
            Ok(gate::Entrance::Open) => catch_unwind(AssertUnwindSafe(|| route::answer(self, request)))
                .unwrap_or_else(|_| {
                    Response::problem(
                        500,
                        "drivescope made a mistake with this page. The run itself is unharmed.",
                        Some(&self.gate.root()),
                    )
                }),
        }
    }
}
