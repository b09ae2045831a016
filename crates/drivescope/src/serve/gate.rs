//! Access control. Every user of this machine and every web page in the user's browser can reach the port, so a request
//! needs the token and must be addressed to this server.
//!
//! A DNS rebinding page sends its own name as host, any other page its own origin: both are refused first. Browsers send
//! cookies to every port of a host, also to the server of another user: ours is bound to a secret path.

use super::problem::Problem;
use super::request::Request;
use std::fs::File;
use std::hint::black_box;
use std::io::{self, Read};

const SECRET_BYTES: usize = 32;

pub(super) struct Gate {
    hosts: [String; 3],
    port: u16,
    token: String,
    folder: String,
    secret: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Entrance {
    /// By the printed link: gets a cookie and an address without the token.
    ByLink,
    Open,
}

const PUBLIC_FILES: [&str; 3] = ["style.css", "live.js", "favicon.ico"];
const WRONG_HOST: Problem =
    Problem::new(421, "drivescope does not serve this address. Open the address that it printed");
const WRONG_ORIGIN: Problem = Problem::new(403, "cross-site requests are refused");
const NO_TOKEN: Problem =
    Problem::new(401, "no access without the token. Open the complete address that drivescope serve printed");

impl Gate {
    pub(super) fn new(port: u16) -> io::Result<Gate> {
        let hosts = ["127.0.0.1", "[::1]", "localhost"].map(|name| format!("{name}:{port}"));
        Ok(Gate { hosts, port, token: secret()?, folder: secret()?, secret: secret()? })
    }

    pub(super) fn token(&self) -> &str {
        &self.token
    }

    pub(super) fn root(&self) -> String {
        format!("/{}", self.folder)
    }

    fn below_root<'request>(&self, request: &'request Request) -> Option<&'request [String]> {
        let (folder, parts) = request.path.split_first()?;
        are_same(folder, &self.folder).then_some(parts)
    }

    /// The path of a page, without the root. A client with the token may leave the root out.
    pub(super) fn parts<'request>(&self, request: &'request Request) -> &'request [String] {
        self.below_root(request).unwrap_or(&request.path)
    }

    /// A session cookie. Cookies ignore ports, so the port is part of the name.
    pub(super) fn cookie(&self) -> String {
        format!("{}={}; Path={}; HttpOnly; SameSite=Strict", self.cookie_name(), self.secret, self.root())
    }

    fn cookie_name(&self) -> String {
        format!("drivescope-{}", self.port)
    }

    pub(super) fn check(&self, request: &Request) -> Result<Entrance, Problem> {
        match request.one("host")? {
            Some(host) if self.is_ours(host) => {}
            _ => return Err(WRONG_HOST),
        }
        match request.one("origin")? {
            Some(origin) if !self.is_our_origin(origin) => return Err(WRONG_ORIGIN),
            _ => {}
        }
        if self.is_of_another_site(request)? {
            return Err(WRONG_ORIGIN);
        }
        // The page of a refusal needs the style too.
        if matches!(request.path.as_slice(), [file] if PUBLIC_FILES.contains(&file.as_str())) {
            return Ok(Entrance::Open);
        }
        self.check_token(request)
    }

    fn is_ours(&self, host: &str) -> bool {
        self.hosts.iter().any(|ours| ours.eq_ignore_ascii_case(host))
    }

    fn is_our_origin(&self, origin: &str) -> bool {
        match origin.strip_prefix("http://") {
            Some(host) => self.is_ours(host),
            None => false,
        }
    }

    /// Fetch metadata of browsers: following a link to here is allowed, loading from here is not.
    fn is_of_another_site(&self, request: &Request) -> Result<bool, Problem> {
        let is_foreign = matches!(request.one("sec-fetch-site")?, Some("cross-site" | "same-site"));
        let is_followed = request.one("sec-fetch-mode")? == Some("navigate")
            && request.one("sec-fetch-dest")? == Some("document");
        Ok(is_foreign && !is_followed)
    }

    fn check_token(&self, request: &Request) -> Result<Entrance, Problem> {
        if let Some(authorization) = request.one("authorization")?
            && let Some(token) = authorization.strip_prefix("Bearer ")
            && are_same(token, &self.token)
        {
            return Ok(Entrance::Open);
        }
        if request.path.is_empty()
            && let Some(token) = request.query_value("token")
            && are_same(token, &self.token)
        {
            return Ok(Entrance::ByLink);
        }
        if self.below_root(request).is_none() {
            return Err(NO_TOKEN);
        }
        let name = self.cookie_name();
        for cookie in request.one("cookie")?.unwrap_or_default().split(';') {
            if let Some((found, value)) = cookie.trim().split_once('=')
                && found == name
                && are_same(value, &self.secret)
            {
                return Ok(Entrance::Open);
            }
        }
        Err(NO_TOKEN)
    }
}

fn are_same(given: &str, secret: &str) -> bool {
    if given.len() != secret.len() {
        return false;
    }
    let mut difference = 0;
    for (a, b) in given.bytes().zip(secret.bytes()) {
        difference = black_box(difference | (a ^ b));
    }
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
