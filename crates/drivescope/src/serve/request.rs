//! From the bytes of a socket to a request, with a limit on size, number and time.

use super::problem::Problem;
use std::io::{ErrorKind, Read};
use std::net::TcpStream;
use std::time::{Duration, Instant};

/// Request line and headers. Browsers send 1 to 2 KiB.
const HEAD_BYTES_MAX: usize = 8 << 10;
const HEADERS_MAX: usize = 64;
const TARGET_BYTES_MAX: usize = 2 << 10;
/// From the connection to the end of the headers.
const HEAD_TIME_MAX: Duration = Duration::from_secs(5);

#[derive(Debug)]
pub(super) struct Request {
    pub head_only: bool,
    /// The parts of the path, decoded: none is empty, `.` or `..`, and none holds a slash or a control character.
    pub path: Vec<String>,
    pub query: Vec<(String, String)>,
    headers: Vec<(String, Vec<u8>)>,
}

impl Request {
    /// None when the client closed the connection without a request.
    pub(super) fn read(stream: &mut TcpStream) -> Result<Option<Request>, Problem> {
        let deadline = Instant::now() + HEAD_TIME_MAX;
        let mut head = Vec::with_capacity(1 << 10);
        loop {
            if let Some(request) = Request::parse(&head)? {
                return Ok(Some(request));
            }
            if head.len() >= HEAD_BYTES_MAX {
                return Err(Problem::new(431, "the headers of this request are longer than 8 KiB"));
            }
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() || stream.set_read_timeout(Some(left)).is_err() {
                return Err(TOO_SLOW);
            }
            let mut buffer = [0; 1 << 10];
            let room = buffer.len().min(HEAD_BYTES_MAX - head.len());
            match stream.read(&mut buffer[..room]) {
                Ok(0) => return Ok(None),
                Ok(read) => head.extend_from_slice(&buffer[..read]),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {
                    return Err(TOO_SLOW);
                }
                Err(_) => return Ok(None),
            }
        }
    }

    fn parse(head: &[u8]) -> Result<Option<Request>, Problem> {
        let mut headers = [httparse::EMPTY_HEADER; HEADERS_MAX];
        let mut parsed = httparse::Request::new(&mut headers);
        match parsed.parse(head) {
            Ok(httparse::Status::Complete(_)) => {}
            Ok(httparse::Status::Partial) => return Ok(None),
            Err(httparse::Error::TooManyHeaders) => {
                return Err(Problem::new(431, "this request has more than 64 headers"));
            }
            Err(_) => return Err(Problem::new(400, "not a valid HTTP request")),
        }
        let head_only = match parsed.method {
            Some("GET") => false,
            Some("HEAD") => true,
            _ => return Err(Problem::new(405, "only GET and HEAD are supported")),
        };
        let target = parsed.path.unwrap_or_default();
        let (path, query) = target_parts(target)?;
        let mut request = Request { head_only, path, query, headers: Vec::new() };
        for header in parsed.headers {
            request.headers.push((header.name.to_ascii_lowercase(), header.value.to_vec()));
        }
        let has_encoding = request.headers.iter().any(|(name, _)| name == "transfer-encoding");
        if has_encoding || !matches!(request.one("content-length")?, None | Some("0")) {
            return Err(Problem::new(400, "a GET or HEAD request has no body"));
        }
        Ok(Some(request))
    }

    /// The value of a header. A repeated header is refused: two readers could each take another one.
    pub(super) fn one(&self, name: &str) -> Result<Option<&str>, Problem> {
        let mut found = self.headers.iter().filter(|header| header.0 == name);
        match (found.next(), found.next()) {
            (None, _) => Ok(None),
            (Some((_, value)), None) => std::str::from_utf8(value).map(Some).or(Err(BAD_HEADER)),
            _ => Err(BAD_HEADER),
        }
    }

    pub(super) fn query_value(&self, name: &str) -> Option<&str> {
        let (_, value) = self.query.iter().find(|(found, _)| found == name)?;
        Some(value)
    }
}

const TOO_SLOW: Problem = Problem::new(408, "this request took longer than 5 s to arrive");
const BAD_HEADER: Problem = Problem::new(400, "a header of this request is repeated or is not UTF-8");
const BAD_ADDRESS: Problem = Problem::new(400, "invalid address: a path here consists of plain names");

type Parts = (Vec<String>, Vec<(String, String)>);

fn target_parts(target: &str) -> Result<Parts, Problem> {
    if target.len() > TARGET_BYTES_MAX {
        return Err(Problem::new(414, "this address is longer than 2 KiB"));
    }
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let path = path.strip_prefix('/').ok_or(BAD_ADDRESS)?;
    let mut parts = Vec::new();
    if !path.is_empty() {
        for part in path.split('/') {
            parts.push(path_part(part)?);
        }
    }
    let mut pairs = Vec::new();
    for pair in query.split('&') {
        if pair.is_empty() {
            continue;
        }
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        pairs.push((query_part(name)?, query_part(value)?));
    }
    Ok((parts, pairs))
}

fn query_part(text: &str) -> Result<String, Problem> {
    decoded(&text.replace('+', " "))
}

fn path_part(part: &str) -> Result<String, Problem> {
    let part = decoded(part)?;
    let is_plain = !part.is_empty() && part != "." && part != ".." && !part.contains(['/', '\\', '%']);
    if is_plain { Ok(part) } else { Err(BAD_ADDRESS) }
}

/// Percent-decoded once. Control characters and bytes that are not UTF-8 are refused.
fn decoded(text: &str) -> Result<String, Problem> {
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
    let text = String::from_utf8(bytes).or(Err(BAD_ADDRESS))?;
    if text.contains(char::is_control) { Err(BAD_ADDRESS) } else { Ok(text) }
}

fn hexadecimal(high: u8, low: u8) -> Option<u8> {
    let (high, low) = (char::from(high).to_digit(16)?, char::from(low).to_digit(16)?);
    u8::try_from(high * 16 + low).ok()
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
