//! Who may ask. Everybody on this machine can reach the port, and so can every web page that the user's browser shows; so a
//! request needs the token, and it must have been made for this address.
//!
//! A page elsewhere that has made its own name point here (DNS rebinding) sends its own name as the host; one that only
//! sends requests here is another origin. Both are refused before anything else is looked at.
//!
//! A browser sends cookies to every port of a host, so that a server of somebody else on this machine would be sent ours. It is
//! only sent along a path that nobody else knows, and is worth nothing elsewhere.

use super::request::{Refusal, Request};
use std::fs::File;
use std::hint::black_box;
use std::io::{self, Read};

/// 256 bits: nobody guesses them.
const SECRET_BYTES: usize = 32;

/// The host, the token, and the cookie that stands for it afterwards, below a path of its own.
pub(super) struct Gate {
    hosts: [String; 3],
    port: u16,
    token: String,
    folder: String,
    secret: String,
}

/// How somebody came in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Entrance {
    /// By the link that was printed: gets a cookie, and an address without the token.
    ByLink,
    /// By the cookie or the header.
    Open,
}

/// What everybody may have: it is in the program.
const PUBLIC_FILES: [&str; 3] = ["style.css", "live.js", "favicon.ico"];
const WRONG_HOST: Refusal =
    Refusal::new(421, "this address is not where drivescope serves. Open the address that it printed");
const WRONG_ORIGIN: Refusal = Refusal::new(403, "another site asked for this, and none gets it");
const NO_TOKEN: Refusal = Refusal::new(
    401,
    "this browser is not known here. Open the whole address that drivescope serve printed, with its token",
);

impl Gate {
    pub(super) fn new(port: u16) -> io::Result<Gate> {
        let hosts = ["127.0.0.1", "[::1]", "localhost"].map(|name| format!("{name}:{port}"));
        Ok(Gate { hosts, port, token: secret()?, folder: secret()?, secret: secret()? })
    }

    /// What the link carries.
    pub(super) fn token(&self) -> &str {
        &self.token
    }

    /// The path below which all pages lie.
    pub(super) fn root(&self) -> String {
        format!("/{}", self.folder)
    }

    /// The parts of a path below the root; none when it lies elsewhere.
    fn below_root<'request>(&self, request: &'request Request) -> Option<&'request [String]> {
        let (folder, parts) = request.path.split_first()?;
        are_same(folder, &self.folder).then_some(parts)
    }

    /// The parts of the path of a page: the same below the root as without it, for who has the token.
    pub(super) fn parts<'request>(&self, request: &'request Request) -> &'request [String] {
        self.below_root(request).unwrap_or(&request.path)
    }

    /// What the browser keeps, until it ends. Cookies know no ports, so that its name has it.
    pub(super) fn cookie(&self) -> String {
        format!("{}={}; Path={}; HttpOnly; SameSite=Strict", self.cookie_name(), self.secret, self.root())
    }

    fn cookie_name(&self) -> String {
        format!("drivescope-{}", self.port)
    }

    pub(super) fn check(&self, request: &Request) -> Result<Entrance, Refusal> {
        let host = request.one("host")?.ok_or(WRONG_HOST)?;
        if !self.is_ours(host) {
            return Err(WRONG_HOST);
        }
        if let Some(origin) = request.one("origin")?
            && !origin.strip_prefix("http://").is_some_and(|host| self.is_ours(host))
        {
            return Err(WRONG_ORIGIN);
        }
        if self.is_of_another_site(request)? {
            return Err(WRONG_ORIGIN);
        }
        // How a page looks and moves is no secret, and the page that refuses somebody should look like one.
        if matches!(request.path.as_slice(), [file] if PUBLIC_FILES.contains(&file.as_str())) {
            return Ok(Entrance::Open);
        }
        self.check_token(request)
    }

    fn is_ours(&self, host: &str) -> bool {
        self.hosts.iter().any(|ours| ours.eq_ignore_ascii_case(host))
    }

    /// What browsers say of their own accord. Somebody may follow a link to here; a page may not load from here.
    fn is_of_another_site(&self, request: &Request) -> Result<bool, Refusal> {
        let is_foreign =
            request.one("sec-fetch-site")?.is_some_and(|site| site == "cross-site" || site == "same-site");
        let is_followed = request.one("sec-fetch-mode")? == Some("navigate")
            && request.one("sec-fetch-dest")? == Some("document");
        Ok(is_foreign && !is_followed)
    }

    fn check_token(&self, request: &Request) -> Result<Entrance, Refusal> {
        let bearer = request.one("authorization")?.and_then(|value| value.strip_prefix("Bearer "));
        if bearer.is_some_and(|token| are_same(token, &self.token)) {
            return Ok(Entrance::Open);
        }
        if request.path.is_empty()
            && request.query_value("token").is_some_and(|token| are_same(token, &self.token))
        {
            return Ok(Entrance::ByLink);
        }
        if self.below_root(request).is_none() {
            return Err(NO_TOKEN);
        }
        let name = self.cookie_name();
        let cookies = request.one("cookie")?.unwrap_or_default();
        let has_ours = cookies
            .split(';')
            .filter_map(|cookie| cookie.trim().split_once('='))
            .any(|(found, value)| found == name && are_same(value, &self.secret));
        if has_ours { Ok(Entrance::Open) } else { Err(NO_TOKEN) }
    }
}

/// In a time that says nothing of where they differ.
fn are_same(given: &str, secret: &str) -> bool {
    if given.len() != secret.len() {
        return false;
    }
    let difference = given.bytes().zip(secret.bytes()).fold(0, |sum, (a, b)| black_box(sum | (a ^ b)));
    difference == 0
}

fn secret() -> io::Result<String> {
    let mut bytes = [0; SECRET_BYTES];
    File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_differ_and_compare() {
        let (a, b) = (secret().expect("random"), secret().expect("random"));
        assert_eq!(a.len(), 64);
        assert!(are_same(&a, &a.clone()) && !are_same(&a, &b));
        assert!(!are_same("", &a) && !are_same(&a[..63], &a));
    }
}
