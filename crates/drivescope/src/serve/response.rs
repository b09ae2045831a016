//! An answer: status, headers that keep a browser strict, content. Then the connection is closed.

use super::page_text::escaped;
use std::borrow::Cow;
use std::io::{Read, Write};
use std::net::{Shutdown, TcpStream};
use std::time::{Duration, Instant};

/// A reader that takes longer for a page is no browser.
const WRITE_TIME_MAX: Duration = Duration::from_secs(30);
/// What the other end still sends is read for so long and so much: else the system would cut the answer off.
const DRAIN_TIME_MAX: Duration = Duration::from_millis(300);
const DRAIN_BYTES_MAX: usize = 64 << 10;

/// What our own pages may do: our style, our script, our pictures, our forms.
const POLICY: &str = "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; connect-src 'self'; \
    form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

/// An answer.
#[derive(Debug)]
pub(super) struct Response {
    status: u16,
    content_type: &'static str,
    policy: Cow<'static, str>,
    cookie: Option<String>,
    content: Content,
}

/// Made for this answer, or kept for several.
#[derive(Debug)]
pub(super) enum Content {
    Own(Vec<u8>),
    Shared(std::sync::Arc<String>),
}

impl Content {
    fn bytes(&self) -> &[u8] {
        match self {
            Content::Own(bytes) => bytes,
            Content::Shared(text) => text.as_bytes(),
        }
    }
}

impl Response {
    fn new(status: u16, content_type: &'static str, content: Content) -> Response {
        Response { status, content_type, policy: POLICY.into(), cookie: None, content }
    }

    /// A page of ours.
    pub(super) fn page(text: String) -> Response {
        Response::new(200, HTML, Content::Own(text.into_bytes()))
    }

    /// The same with another status.
    pub(super) fn with_status(self, status: u16) -> Response {
        Response { status, ..self }
    }

    /// The same with a cookie.
    pub(super) fn with_cookie(self, cookie: &str) -> Response {
        Response { cookie: Some(cookie.to_owned()), ..self }
    }

    /// A report, which says itself what it may do. That no page may frame it only a header can say.
    pub(super) fn report(text: std::sync::Arc<String>) -> Response {
        let policy = format!("{}; frame-ancestors 'none'", report::html::content_security_policy());
        Response { policy: policy.into(), ..Response::new(200, HTML, Content::Shared(text)) }
    }

    /// A page that is kept.
    pub(super) fn shared_page(text: std::sync::Arc<String>) -> Response {
        Response::new(200, HTML, Content::Shared(text))
    }

    /// Something that is no page.
    pub(super) fn file(content_type: &'static str, content: impl Into<Vec<u8>>) -> Response {
        Response::new(200, content_type, Content::Own(content.into()))
    }

    /// What went wrong, as a page. Whoever is refused at the gate has no root to go back to.
    pub(super) fn problem(status: u16, why: &str, root: Option<&str>) -> Response {
        Response::page(super::pages::problem(&escaped(&sentence(why)), root)).with_status(status)
    }

    /// Writes it and closes the connection. Nobody can be told that the reader has gone.
    pub(super) fn write(&self, stream: &mut TcpStream, head_only: bool) {
        let deadline = Instant::now() + WRITE_TIME_MAX;
        let content = self.content.bytes();
        let mut head = format!(
            "HTTP/1.1 {} {}\r\nContent-Type: {}\r\nContent-Length: {}\r\nConnection: close\r\nCache-Control: no-store\r\n\
             Content-Security-Policy: {}\r\nX-Content-Type-Options: nosniff\r\nX-Frame-Options: DENY\r\n\
             Referrer-Policy: no-referrer\r\nCross-Origin-Opener-Policy: same-origin\r\n\
             Cross-Origin-Resource-Policy: same-origin\r\n",
            self.status,
            reason(self.status),
            self.content_type,
            content.len(),
            self.policy,
        );
        if let Some(cookie) = &self.cookie {
            head.push_str(&format!("Set-Cookie: {cookie}\r\n"));
        }
        if self.status == 405 {
            head.push_str("Allow: GET, HEAD\r\n");
        }
        head.push_str("\r\n");
        let written = write_all(stream, head.as_bytes(), deadline)
            && (head_only || write_all(stream, content, deadline));
        if written && stream.shutdown(Shutdown::Write).is_ok() {
            drain(stream);
        }
    }
}

const HTML: &str = "text/html; charset=utf-8";

fn sentence(why: &str) -> String {
    let mut letters = why.chars();
    let first = letters.next().map(|first| first.to_uppercase().to_string()).unwrap_or_default();
    let end = if why.ends_with('.') { "" } else { "." };
    format!("{first}{}{end}", letters.as_str())
}

fn write_all(stream: &mut TcpStream, mut bytes: &[u8], deadline: Instant) -> bool {
    while !bytes.is_empty() {
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() || stream.set_write_timeout(Some(left)).is_err() {
            return false;
        }
        match stream.write(bytes) {
            Ok(0) => return false,
            Ok(written) => bytes = &bytes[written..],
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(_) => return false,
        }
    }
    true
}

fn drain(stream: &mut TcpStream) {
    let deadline = Instant::now() + DRAIN_TIME_MAX;
    let mut piece = [0; 4 << 10];
    let mut left_bytes = DRAIN_BYTES_MAX;
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() || left_bytes == 0 || stream.set_read_timeout(Some(left)).is_err() {
            return;
        }
        match stream.read(&mut piece) {
            Ok(read) if read > 0 => left_bytes = left_bytes.saturating_sub(read),
            _ => return,
        }
    }
}

fn reason(status: u16) -> &'static str {
    match status {
        200 => "OK",
        400 => "Bad Request",
        401 => "Unauthorized",
        403 => "Forbidden",
        404 => "Not Found",
        405 => "Method Not Allowed",
        408 => "Request Timeout",
        414 => "URI Too Long",
        421 => "Misdirected Request",
        431 => "Request Header Fields Too Large",
        _ => "Internal Server Error",
    }
}
