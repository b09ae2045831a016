//! The store in a browser, on this machine only and read-only.
//! ```text
//! request.rs    bytes of a socket to a request, with limits on everything
//! gate.rs       access: host, origin, token
//! route.rs      which page an address asks for
//! pages.rs      our own pages; reports are made by a function of the caller
//! live.rs       the state of a run in progress
//! cache.rs      rendered pages, so that many readers cost no more than one
//! response.rs   the response, with the headers that restrict a browser
//! ```
//! One request and one thread per connection, and a bounded number of them. Text of a drive is escaped, and the policy of
//! the pages allows no script but ours. Nothing is logged, so the token is in no log.

mod cache;
mod gate;
mod live;
mod pages;
mod problem;
mod request;
mod response;
mod route;
mod site;

use crate::store::Store;
use cache::Cache;
use gate::{Entrance, Gate};
use live::Live;
use problem::Problem;
use request::Request;
use response::Response;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use site::Site;
use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

pub use site::ReportMaker;

/// A browser opens six connections; above this number they are closed and tried again.
const CONNECTIONS_MAX: usize = 64;
/// How long to wait for a connection before checking for the end. A signal ends the wait at once.
const WAIT: Timespec = Timespec { tv_sec: 0, tv_nsec: 500_000_000 };
const MISTAKE: Problem =
    Problem::new(500, "drivescope failed to make this page. The run itself is not affected");

pub struct Server {
    listener: TcpListener,
    address: SocketAddr,
    site: Arc<Site>,
    connections: Arc<AtomicUsize>,
}

impl Server {
    /// Listens on the loopback address only; port 0 takes any free one.
    pub fn bind(store: Store, port: u16, report: ReportMaker) -> io::Result<Server> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port))?;
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        let gate = Gate::new(address.port())?;
        let site = Site { store, gate, cache: Cache::default(), live: Live::default(), report };
        Ok(Server { listener, address, site: Arc::new(site), connections: Arc::default() })
    }

    /// The address with the token, which gives read access to the store.
    pub fn url(&self) -> String {
        format!("http://{}/?token={}", self.address, self.site.gate.token())
    }

    pub fn port(&self) -> u16 {
        self.address.port()
    }

    pub fn run(&self, stop: &AtomicBool) -> io::Result<()> {
        while !stop.load(Ordering::Relaxed) {
            match self.listener.accept() {
                Ok((stream, _)) => self.serve(stream),
                // No connection waits, the client has gone already, or the process is out of descriptors for a moment.
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

    /// A thread per connection. Without one the connection is closed, and the browser tries again.
    fn serve(&self, stream: TcpStream) {
        let connection = Connection { site: Arc::clone(&self.site), open: Arc::clone(&self.connections) };
        if connection.open.fetch_add(1, Ordering::Relaxed) < CONNECTIONS_MAX {
            let _ =
                std::thread::Builder::new().name("serve".into()).spawn(move || connection.respond(stream));
        }
    }
}

struct Connection {
    site: Arc<Site>,
    open: Arc<AtomicUsize>,
}

impl Connection {
    fn respond(&self, mut stream: TcpStream) {
        // A stream that stays non-blocking would let a client keep the thread.
        if stream.set_nonblocking(false).is_err() {
            return;
        }
        let (response, head_only) = match Request::read(&mut stream) {
            Ok(Some(request)) => (respond(&self.site, &request), request.head_only),
            Ok(None) => return,
            Err(problem) => (pages::problem(&problem, None), false),
        };
        response.write(&mut stream, head_only);
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.open.fetch_sub(1, Ordering::Relaxed);
    }
}

fn respond(site: &Site, request: &Request) -> Response {
    match site.gate.check(request) {
        Err(problem) => pages::problem(&problem, None),
        Ok(Entrance::ByLink) => pages::entrance(&site.gate.root(), &site.gate.cookie()),
        Ok(Entrance::Open) => match catch_unwind(AssertUnwindSafe(|| route::respond(site, request))) {
            Ok(response) => response,
            Err(_) => pages::problem(&MISTAKE, Some(&site.gate.root())),
        },
    }
}
