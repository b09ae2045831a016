//! From the bytes of a socket to a request. Everything has a limit: how large, how many, how long. What does not look like a
//! browser's request is refused with a reason.

use super::response::Response;
use std::io::{ErrorKind, Read};
use std::net::TcpStream;
use std::time::{Duration, Instant};

/// The line and all headers together. Browsers send 1 to 2 KiB.
const HEAD_BYTES_MAX: usize = 8 << 10;
const HEADERS_MAX: usize = 64;
const TARGET_BYTES_MAX: usize = 2 << 10;
/// From the connection to the end of the headers, however slowly they drip.
const HEAD_TIME_MAX: Duration = Duration::from_secs(5);

/// What was asked for.
#[derive(Debug)]
pub(super) struct Request {
    /// Whether only the headers are wanted.
    pub head_only: bool,
    /// The parts of the path, decoded: none is empty, `.` or `..`, and none holds a slash or a control character.
    pub path: Vec<String>,
    /// The query, decoded, in its order.
    pub query: Vec<(String, String)>,
    headers: Vec<(String, Vec<u8>)>,
}

/// Why a request is not answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Refusal {
    /// The status of HTTP.
    pub status: u16,
    /// What to tell.
    pub why: &'static str,
}

impl Refusal {
    pub(super) const fn new(status: u16, why: &'static str) -> Refusal {
        Refusal { status, why }
    }

    /// As a page.
    pub(super) fn response(self) -> Response {
        Response::problem(self.status, self.why, None)
    }
}

impl Request {
    /// Reads a request; none when the other end went away without one.
    pub(super) fn read(stream: &mut TcpStream) -> Result<Option<Request>, Refusal> {
        let deadline = Instant::now() + HEAD_TIME_MAX;
        let mut head = Vec::with_capacity(1 << 10);
        loop {
            if let Some(request) = Request::parse(&head)? {
                return Ok(Some(request));
            }
            if head.len() >= HEAD_BYTES_MAX {
                return Err(Refusal::new(431, "the headers of this request are longer than 8 KiB"));
            }
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() || stream.set_read_timeout(Some(left)).is_err() {
                return Err(TOO_SLOW);
            }
            let mut piece = [0; 1 << 10];
            let room = piece.len().min(HEAD_BYTES_MAX - head.len());
            match stream.read(&mut piece[..room]) {
                Ok(0) => return Ok(None),
                Ok(read) => head.extend_from_slice(&piece[..read]),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {
                    return Err(TOO_SLOW);
                }
                Err(_) => return Ok(None),
            }
        }
    }

    /// The request in these bytes; none while its end is missing. What comes after it is never looked at.
    fn parse(head: &[u8]) -> Result<Option<Request>, Refusal> {
        let mut headers = [httparse::EMPTY_HEADER; HEADERS_MAX];
        let mut parsed = httparse::Request::new(&mut headers);
        match parsed.parse(head) {
            Ok(httparse::Status::Complete(_)) => {}
            Ok(httparse::Status::Partial) => return Ok(None),
            Err(httparse::Error::TooManyHeaders) => {
                return Err(Refusal::new(431, "this request has more than 64 headers"));
            }
            Err(_) => return Err(Refusal::new(400, "this is no request that a browser makes")),
        }
        let head_only = match parsed.method {
            Some("GET") => false,
            Some("HEAD") => true,
            _ => return Err(Refusal::new(405, "here is only reading: GET and HEAD")),
        };
        let target = parsed.path.unwrap_or_default();
        let (path, query) = target_parts(target)?;
        let headers: Vec<(String, Vec<u8>)> = parsed
            .headers
            .iter()
            .map(|header| (header.name.to_ascii_lowercase(), header.value.to_vec()))
            .collect();
        let request = Request { head_only, path, query, headers };
        if request.has("transfer-encoding")
            || request.one("content-length")?.is_some_and(|length| length != "0")
        {
            return Err(Refusal::new(400, "a request to read has no content"));
        }
        Ok(Some(request))
    }

    fn has(&self, name: &str) -> bool {
        self.headers.iter().any(|(found, _)| found == name)
    }

    /// The value of a header; none when it is not there. Twice the same header means that two readers could each take
    /// another one.
    pub(super) fn one(&self, name: &str) -> Result<Option<&str>, Refusal> {
        let mut found = self.headers.iter().filter(|(found, _)| found == name);
        let Some((_, value)) = found.next() else { return Ok(None) };
        let text = std::str::from_utf8(value).ok().filter(|_| found.next().is_none());
        text.map(Some).ok_or(Refusal::new(400, "a header of this request is there twice, or is no text"))
    }

    /// The first value of the query with that name.
    pub(super) fn query_value(&self, name: &str) -> Option<&str> {
        self.query.iter().find(|(found, _)| found == name).map(|(_, value)| value.as_str())
    }
}

const TOO_SLOW: Refusal = Refusal::new(408, "this request took longer than 5 s to arrive");
const BAD_ADDRESS: Refusal = Refusal::new(400, "this address cannot be: a path here consists of plain names");

type Parts = (Vec<String>, Vec<(String, String)>);

fn target_parts(target: &str) -> Result<Parts, Refusal> {
    if target.len() > TARGET_BYTES_MAX {
        return Err(Refusal::new(414, "this address is longer than 2 KiB"));
    }
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let path = path.strip_prefix('/').ok_or(BAD_ADDRESS)?;
    let parts = if path.is_empty() {
        Vec::new()
    } else {
        path.split('/').map(path_part).collect::<Result<_, _>>()?
    };
    let pair = |pair: &str| {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        let plus = |text: &str| decoded(&text.replace('+', " "));
        Ok((plus(name)?, plus(value)?))
    };
    let query = query.split('&').filter(|pair| !pair.is_empty()).map(pair).collect::<Result<_, _>>()?;
    Ok((parts, query))
}

fn path_part(part: &str) -> Result<String, Refusal> {
    let part = decoded(part)?;
    let is_plain = !part.is_empty() && part != "." && part != ".." && !part.contains(['/', '\\', '%']);
    if is_plain { Ok(part) } else { Err(BAD_ADDRESS) }
}

/// Percent-decoded once. Control characters, and bytes that are no text, are in no address of ours.
fn decoded(text: &str) -> Result<String, Refusal> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&byte, after)) = rest.split_first() {
        let (value, after) = match (byte, after) {
            (b'%', [high, low, after @ ..]) => (hexadecimal(*high, *low).ok_or(BAD_ADDRESS)?, after),
            (b'%', _) => return Err(BAD_ADDRESS),
            _ => (byte, after),
        };
        bytes.push(value);
        rest = after;
    }
    let text = String::from_utf8(bytes).map_err(|_| BAD_ADDRESS)?;
    if text.contains(char::is_control) { Err(BAD_ADDRESS) } else { Ok(text) }
}

fn hexadecimal(high: u8, low: u8) -> Option<u8> {
    let digit = |byte: u8| char::from(byte).to_digit(16);
    u8::try_from(digit(high)? * 16 + digit(low)?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn parsed(text: &str) -> Result<Option<Request>, u16> {
        Request::parse(text.as_bytes()).map_err(|refusal| refusal.status)
    }

    fn status(text: &str) -> u16 {
        parsed(text).map(|request| request.is_some()).expect_err("it is refused")
    }

    #[test]
    fn a_browsers_request_is_read() {
        let request = parsed("GET /run/a%2Db?x=1+2&y HTTP/1.1\r\nHost: localhost:1\r\nCookie: a=b\r\n\r\n");
        let request = request.expect("sound").expect("complete");
        assert_eq!(request.path, ["run", "a-b"]);
        assert_eq!(request.query, [("x".into(), "1 2".into()), ("y".into(), String::new())]);
        assert_eq!(request.one("host"), Ok(Some("localhost:1")));
        assert!(parsed("GET / HTTP/1.1\r\nHost: a\r\n").expect("sound").is_none());
    }

    #[test]
    fn paths_lead_nowhere_else() {
        for path in [
            "/../x",
            "/%2e%2e/x",
            "/a/%2e/b",
            "/a//b",
            "/a%2fb",
            "/a%5cb",
            "/%00",
            "/a%",
            "/a%4",
            "/a%zz",
            "/%252e",
            "/%ff",
            "*",
            "http://other/",
            "/a%0d%0ab",
        ] {
            assert_eq!(status(&format!("GET {path} HTTP/1.1\r\n\r\n")), 400, "{path}");
        }
    }

    #[test]
    fn nothing_but_reading() {
        for method in ["POST", "PUT", "DELETE", "OPTIONS", "CONNECT", "TRACE", "get"] {
            assert_eq!(status(&format!("{method} / HTTP/1.1\r\n\r\n")), 405, "{method}");
        }
        assert_eq!(status("GET / HTTP/1.1\r\nContent-Length: 5\r\n\r\nhello"), 400);
        assert_eq!(status("GET / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n"), 400);
        assert_eq!(status(&format!("GET /{} HTTP/1.1\r\n\r\n", "a".repeat(3000))), 414);
        assert_eq!(status(&format!("GET / HTTP/1.1\r\n{}\r\n", "A: b\r\n".repeat(65))), 431);
        assert_eq!(status("GET / HTTP/1.1\r\nHost: a\0b\r\n\r\n"), 400);
    }

    #[test]
    fn a_header_counts_once() {
        let request =
            parsed("GET / HTTP/1.1\r\nHost: a\r\nhost: b\r\n\r\n").expect("sound").expect("complete");
        assert_eq!(request.one("host").map_err(|refusal| refusal.status), Err(400));
    }

    proptest! {
        #[test]
        fn no_bytes_bring_a_bad_path(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let head = [b"GET /", &bytes[..], b" HTTP/1.1\r\nHost: a\r\n\r\n"].concat();
            if let Ok(Some(request)) = Request::parse(&head) {
                for part in &request.path {
                    prop_assert!(!part.is_empty() && part != ".." && part != ".");
                    prop_assert!(!part.contains(['/', '\\', '\0', '\r', '\n']));
                }
            }
        }

        #[test]
        fn any_bytes_are_answered(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
            let _ = Request::parse(&bytes);
        }
    }
}
