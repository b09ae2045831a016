//! A response: status, headers that restrict the browser, content. Then the connection is closed.

use std::borrow::Cow;
use std::io::{Read, Write};
use std::net::{Shutdown, TcpStream};
use std::sync::Arc;
use std::time::{Duration, Instant};

const WRITE_TIME_MAX: Duration = Duration::from_secs(30);
/// What the client still sends is read up to these limits: unread data would reset the connection and cut the response off.
const DRAIN_TIME_MAX: Duration = Duration::from_millis(300);
const DRAIN_BYTES_MAX: usize = 64 << 10;

/// Of our own pages: our style, script, pictures and forms.
const POLICY: &str = "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; connect-src 'self'; \
    form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

#[derive(Debug)]
pub(super) struct Response {
    status: u16,
    content_type: &'static str,
    policy: Cow<'static, str>,
    cookie: Option<String>,
    content: Arc<String>,
}

impl Response {
    fn new(status: u16, content_type: &'static str, content: Arc<String>) -> Response {
        Response { status, content_type, policy: POLICY.into(), cookie: None, content }
    }

    pub(super) fn page(text: String) -> Response {
        Response::shared_page(Arc::new(text))
    }

    pub(super) fn with_status(self, status: u16) -> Response {
        Response { status, ..self }
    }

    pub(super) fn with_cookie(self, cookie: &str) -> Response {
        Response { cookie: Some(cookie.to_owned()), ..self }
    }

    /// A report, which carries its own policy. Only a header can forbid framing.
    pub(super) fn report(text: Arc<String>) -> Response {
        let policy = format!("{}; frame-ancestors 'none'", report::html::content_security_policy());
        Response { policy: policy.into(), ..Response::new(200, HTML, text) }
    }

    pub(super) fn shared_page(text: Arc<String>) -> Response {
        Response::new(200, HTML, text)
    }

    pub(super) fn file(content_type: &'static str, content: impl Into<String>) -> Response {
        Response::new(200, content_type, Arc::new(content.into()))
    }

    /// Writes it and closes the connection. A client that has gone is not an error.
    pub(super) fn write(&self, stream: &mut TcpStream, head_only: bool) {
        let deadline = Instant::now() + WRITE_TIME_MAX;
        let content = self.content.as_bytes();
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
    let mut buffer = [0; 4 << 10];
    let mut left_bytes = DRAIN_BYTES_MAX;
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() || left_bytes == 0 || stream.set_read_timeout(Some(left)).is_err() {
            return;
        }
        match stream.read(&mut buffer) {
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
