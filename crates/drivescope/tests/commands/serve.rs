//! The server as an attacker, a browser and a crowd see it: bytes on a socket.

use crate::program::{Home, PROGRAM, schema, signal};
use crate::store_support::{complete, ended, interval, keep_small_run, phase, run};
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use store::Store;

const HOSTILE: &str = "<script>alert(1)</script>\"'&";

/// A server that runs, and ends with the test.
struct Served {
    home: Home,
    process: Child,
    port: u16,
    token: String,
}

impl Served {
    fn over(home: Home) -> Served {
        let mut process = Command::new(PROGRAM)
            .args(["serve", "--json", "-", "--store"])
            .arg(home.store())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the program starts");
        let mut text = String::new();
        let mut out = BufReader::new(process.stdout.take().expect("it is piped"));
        while !text.ends_with("}\n") {
            assert_ne!(out.read_line(&mut text).expect("it says where it is"), 0, "{text}");
        }
        let document = schema::document(&text);
        assert_eq!(document["store"], home.store().to_str().expect("a plain path"));
        let url = document["url"].as_str().expect("an address");
        let (address, token) = url.split_once("/?token=").expect("an address with a token");
        let port = address.strip_prefix("http://127.0.0.1:").expect("loopback").parse().expect("a port");
        assert_eq!(document["port"], port);
        Served { home, process, port, token: token.to_owned() }
    }

    fn with_runs() -> Served {
        let home = Home::new();
        let store = Store::open(&home.store()).expect("a store");
        keep_small_run(&store, "plain");
        keep_small_run(&store, "second");
        let mut facts = run("hostile");
        facts.target.model = Some(HOSTILE.into());
        facts.target.serial = Some(HOSTILE.into());
        let mut writer = store.begin(&facts).expect("a new run");
        facts.phases.push(phase(HOSTILE));
        writer.begin_phase(&facts).expect("begun");
        (0..3).for_each(|number| writer.append_interval(&interval(0, number)).expect("kept"));
        facts.phases = vec![ended(phase(HOSTILE), 3)];
        writer.end_phase(&facts).expect("ended");
        writer.finish(&complete(facts), &[]).expect("finished");
        let damaged = home.store().join("runs/damaged");
        fs::create_dir_all(&damaged).expect("a folder");
        fs::write(damaged.join("run.json"), "{\"schema\": <script>").expect("written");
        Served::over(home)
    }

    fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(("127.0.0.1", self.port)).expect("it listens");
        stream.set_read_timeout(Some(Duration::from_secs(30))).expect("a limit");
        stream
    }

    /// Sends these bytes and reads until the other end closes.
    fn send(&self, bytes: &[u8]) -> String {
        let mut stream = self.connect();
        // The server may have answered and closed before all was sent.
        let _ = stream.write_all(bytes);
        answer(&mut stream)
    }

    /// A request as our own page makes it, with more headers.
    fn get_with(&self, target: &str, headers: &str) -> String {
        let (port, token) = (self.port, &self.token);
        self.send(
            format!("GET {target} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nAuthorization: Bearer {token}\r\n{headers}\r\n")
                .as_bytes(),
        )
    }

    fn get(&self, target: &str) -> String {
        self.get_with(target, "")
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn answer(stream: &mut TcpStream) -> String {
    let mut bytes = Vec::new();
    let _ = stream.read_to_end(&mut bytes);
    String::from_utf8(bytes).expect("it answers with text")
}

fn status(answer: &str) -> u16 {
    answer.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(0)
}

#[test]
fn whoever_has_no_business_here_is_refused() {
    let served = Served::with_runs();
    let (port, token) = (served.port, served.token.clone());
    let ours = format!("Host: 127.0.0.1:{port}\r\n");
    let bearer = format!("Authorization: Bearer {token}\r\n");
    let get = |headers: &str| format!("GET / HTTP/1.1\r\n{headers}\r\n");
    let cases: Vec<(String, u16)> = vec![
        (get(&format!("{ours}{bearer}")), 200),
        (get(&format!("Host: localhost:{port}\r\n{bearer}")), 200),
        (get(&format!("Host: [::1]:{port}\r\n{bearer}")), 200),
        (get(&format!("{ours}{bearer}Origin: http://127.0.0.1:{port}\r\n")), 200),
        // A name that was made to point here, another port, none, two.
        (get(&format!("Host: evil.example:{port}\r\n{bearer}")), 421),
        (get(&format!("Host: 127.0.0.1.evil.example:{port}\r\n{bearer}")), 421),
        (get(&format!("Host: 127.0.0.1:{}\r\n{bearer}", port ^ 1)), 421),
        (get(&format!("Host: 127.0.0.1\r\n{bearer}")), 421),
        (get(&format!("Host: 0.0.0.0:{port}\r\n{bearer}")), 421),
        (get(&bearer), 421),
        (get(&format!("{ours}{ours}{bearer}")), 400),
        // Other sites.
        (get(&format!("{ours}{bearer}Origin: http://evil.example\r\n")), 403),
        (get(&format!("{ours}{bearer}Origin: null\r\n")), 403),
        (get(&format!("{ours}{bearer}Origin: https://127.0.0.1:{port}\r\n")), 403),
        (get(&format!("{ours}{bearer}Sec-Fetch-Site: cross-site\r\n")), 403),
        (get(&format!("{ours}{bearer}Sec-Fetch-Site: same-site\r\nSec-Fetch-Mode: no-cors\r\n")), 403),
        // Who does not know the token.
        (get(&ours), 401),
        (get(&format!("{ours}Authorization: Bearer {}\r\n", "0".repeat(64))), 401),
        (get(&format!("{ours}Authorization: Bearer \r\n")), 401),
        (get(&format!("{ours}Authorization: Basic {token}\r\n")), 401),
        (get(&format!("{ours}Cookie: drivescope-{port}={token}\r\n")), 401),
        (format!("GET /?token={} HTTP/1.1\r\n{ours}\r\n", &token[..63]), 401),
        (format!("GET /run/plain?token={token} HTTP/1.1\r\n{ours}\r\n"), 401),
        // What is no reading.
        (format!("POST / HTTP/1.1\r\n{ours}{bearer}Content-Length: 5\r\n\r\nhello"), 405),
        (format!("DELETE /run/plain HTTP/1.1\r\n{ours}{bearer}\r\n"), 405),
        (format!("GET / HTTP/1.1\r\n{ours}{bearer}Content-Length: 5\r\n\r\nhello"), 400),
        (format!("GET / HTTP/1.1\r\n{ours}{bearer}Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n"), 400),
        // What is too much, or is no request.
        (get(&format!("{ours}{bearer}X: {}\r\n", "a".repeat(9000))), 431),
        (get(&format!("{ours}{bearer}{}", "A: b\r\n".repeat(70))), 431),
        (format!("GET /{} HTTP/1.1\r\n{ours}{bearer}\r\n", "a".repeat(4000)), 414),
        ("\0\0\0\0\r\n\r\n".into(), 400),
        ("hello\r\n\r\n".into(), 400),
        (format!("GET / HTTP/1.1\r\nHost: 127.0.0.1:{port}\0\r\n{bearer}\r\n"), 400),
        (format!("GET / HTTP/1.1\r\n Host: folded\r\n{ours}{bearer}\r\n"), 400),
    ];
    for (request, expected) in cases {
        let answer = served.send(request.as_bytes());
        assert_eq!(status(&answer), expected, "{request:?} got {answer:?}");
        assert!(!answer.contains(&token), "the token is told to nobody");
        assert_eq!(answer.matches("HTTP/1.1 ").count(), 1);
    }
}

#[test]
fn no_path_leads_out_of_the_store() {
    let served = Served::with_runs();
    for target in [
        "/run/..",
        "/run/%2e%2e",
        "/run/..%2f..%2fetc%2fpasswd",
        "/../../etc/passwd",
        "/run/plain%00",
        "/run/plain/..",
        "/run//plain",
        "/run/%5c..%5c",
        "/run/plain%0d%0aX:y",
        "/./run/plain",
        "/run/.begin-plain",
        "/run/last",
        "/run/pl",
        "/run/plain/run.json",
        "/run/",
        "/live/../plain",
        "/index.sqlite",
        "/runs",
        "/run/plain.json.json",
        "//127.0.0.1/",
        "/run/%70lain%2e%2e",
        "http://127.0.0.1/",
        "*",
    ] {
        let answer = served.get(target);
        assert!([400, 404].contains(&status(&answer)), "{target} got {answer}");
        assert!(answer.contains("That did not work"), "{answer}");
    }
    assert_eq!(status(&served.get("/run/%70lain")), 200, "a letter is a letter");
}

#[test]
fn what_a_drive_says_is_shown_and_never_run() {
    let served = Served::with_runs();
    for target in [
        "/",
        "/run/hostile",
        "/live/hostile",
        "/live/hostile/state",
        "/compare?run=plain&run=hostile",
        "/run/damaged",
    ] {
        let answer = served.get(target);
        let expected = if target == "/run/damaged" { 500 } else { 200 };
        assert_eq!(status(&answer), expected, "{target} got {answer}");
        assert!(!answer.contains("<script>alert"), "{target}");
        assert!(!answer.contains(HOSTILE), "{target}");
        let (head, _) = answer.split_once("\r\n\r\n").expect("headers");
        for header in [
            "X-Content-Type-Options: nosniff",
            "Referrer-Policy: no-referrer",
            "X-Frame-Options: DENY",
            "Cache-Control: no-store",
            "frame-ancestors 'none'",
            "default-src 'none'",
        ] {
            assert!(head.contains(header), "{target} has no {header}: {head}");
        }
        assert!(!head.contains("unsafe-inline") && !head.contains("unsafe-eval"), "{head}");
    }
    let list = served.get("/");
    assert!(list.contains("&lt;script&gt;alert(1)&lt;/script&gt;"), "{list}");
    assert!(list.contains("damaged") && list.contains("value=\"plain\""), "{list}");
    let json = served.get("/run/hostile.json");
    assert!(json.contains("Content-Type: application/json\r\n"), "{json}");
    assert!(served.get("/compare?run=plain").contains("Choose 2 to 10 runs"));
    assert!(served.get("/compare?run=plain&run=second").contains("</html>"));
}

#[test]
fn the_link_gives_a_cookie_and_the_cookie_lets_in() {
    let served = Served::with_runs();
    let host = format!("Host: 127.0.0.1:{}\r\n", served.port);
    let first = served.send(format!("GET /?token={} HTTP/1.1\r\n{host}\r\n", served.token).as_bytes());
    assert_eq!(status(&first), 200);
    let cookie = first.lines().find_map(|line| line.strip_prefix("Set-Cookie: ")).expect("a cookie");
    // Servers of others on this machine have other ports, which cookies do not know; the path nobody else can name.
    let (pair, rest) = cookie.split_once("; Path=").expect("a path");
    let (root, rest) = rest.split_once("; ").expect("more");
    assert!(root.len() == 65 && rest == "HttpOnly; SameSite=Strict", "{cookie}");
    assert!(
        !root.contains(&served.token) && !pair.contains(&root[1..]) && !pair.contains(&served.token),
        "{cookie}"
    );
    assert!(first.contains(&format!("url={root}\"")), "{first}");
    let send = |method: &str, target: &str, headers: &str| {
        served.send(format!("{method} {target} HTTP/1.1\r\n{host}{headers}\r\n").as_bytes())
    };
    let cookies = format!("Cookie: a=b; {pair}\r\n");
    let second = send("GET", root, &cookies);
    assert!(status(&second) == 200 && second.contains("plain"), "{second}");
    let run = send("GET", &format!("{root}/run/plain"), &cookies);
    assert!(status(&run) == 200 && run.contains(&format!("href=\"{root}\"")), "{run}");
    // Neither the cookie nor the path is enough alone.
    let other = format!("/{}", "0".repeat(64));
    for (target, headers) in
        [("/", cookies.as_str()), ("/run/plain", &cookies), (&other, &cookies), (root, "")]
    {
        let answer = send("GET", target, headers);
        assert_eq!(status(&answer), 401, "{target} got {answer}");
        assert!(!answer.contains(&root[1..]), "the path is told to nobody");
    }
    // No link leads out of it.
    let links = second.split(['"', '\'']).filter(|text| text.starts_with('/'));
    let outside: Vec<&str> = links.filter(|link| !link.starts_with(root) && *link != "/style.css").collect();
    assert_eq!(outside, [""; 0]);
    let head = send("HEAD", root, &cookies);
    assert!(head.ends_with("\r\n\r\n") && status(&head) == 200, "{head}");
    // A second request behind the first is never looked at.
    let two =
        format!("GET {root} HTTP/1.1\r\n{host}Cookie: {pair}\r\n\r\nGET /run/plain HTTP/1.1\r\n{host}\r\n");
    assert_eq!(served.send(two.as_bytes()).matches("HTTP/1.1 ").count(), 1);
}

/// Of a run that goes on each look tells what was added up to then, and the end.
#[test]
fn a_run_that_goes_on_is_told_as_it_stands() {
    let home = Home::new();
    let store = Store::open(&home.store()).expect("a store");
    let mut facts = run("going-on");
    facts.phases = vec![ended(phase("first"), 100)];
    let mut writer = store.begin(&facts).expect("a new run");
    facts.phases.push(phase("second"));
    writer.begin_phase(&facts).expect("begun");
    let served = Served::over(home);
    let mut told = |from: u64, to: u64| {
        (from..to).for_each(|number| writer.append_interval(&interval(1, number)).expect("kept"));
        writer.write_out(&facts).expect("written");
        served.get("/live/going-on/state")
    };
    // 100 requests of 4 KiB in the first phase; each slice of the second has 8 KiB, and every other one an error.
    let state = told(0, 3);
    for line in
        ["running", "second (2 begun so far)", "<dt>Read</dt><dd>434 kB", "<dt>Failed requests</dt><dd>1<"]
    {
        assert!(state.contains(line), "no {line:?} in {state}");
    }
    let state = told(3, 103);
    for line in
        ["<dt>Read</dt><dd>1.25 MB", "<dt>Failed requests</dt><dd>51<", "<dt>Now</dt><dd>0.20 MB/s, 50 IOPS"]
    {
        assert!(state.contains(line), "no {line:?} in {state}");
    }
    facts.phases[1] = ended(phase("second"), 1000);
    writer.end_phase(&facts).expect("ended");
    writer.finish(&complete(facts), &[]).expect("finished");
    let state = served.get("/live/going-on/state");
    for line in ["ended", "<dt>Read</dt><dd>4.51 MB", "Open the report"] {
        assert!(state.contains(line), "no {line:?} in {state}");
    }
}

#[test]
fn slow_ones_are_ended_and_others_are_served() {
    let served = Served::with_runs();
    let began = Instant::now();
    let mut slow: Vec<TcpStream> = (0..100).map(|_| served.connect()).collect();
    slow.iter_mut().for_each(|stream| drop(stream.write_all(b"GET / HTTP/1.1\r\nX-Slow: ")));
    let answers: Vec<u16> = slow.iter_mut().map(|stream| status(&answer(stream))).collect();
    // Those above the most at once are closed without a word.
    assert!(answers.iter().all(|status| [0, 408].contains(status)), "{answers:?}");
    assert!(answers.contains(&408) && answers.contains(&0), "{answers:?}");
    assert!(began.elapsed() < Duration::from_secs(20), "{:?}", began.elapsed());
    drop(slow);
    // Until the last slow one has been given up there may be no room, and who comes then is closed and comes again.
    let gone = Instant::now();
    let is_served = || {
        while status(&served.get("/run/plain")) != 200 {
            assert!(gone.elapsed() < Duration::from_secs(20), "it serves again");
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..16 {
            scope.spawn(|| (0..10).for_each(|_| is_served()));
        }
    });
}

#[test]
fn thousands_of_runs_are_listed_page_by_page() {
    let home = Home::new();
    let store = Store::open(&home.store()).expect("a store");
    keep_small_run(&store, "model");
    let runs = home.store().join("runs");
    let facts = fs::read_to_string(runs.join("model/run.json")).expect("its facts");
    for number in 0..2500 {
        let id = format!("copy-{number:04}");
        fs::create_dir(runs.join(&id)).expect("a folder");
        fs::write(runs.join(&id).join("run.json"), facts.replace("\"model\"", &format!("\"{id}\"")))
            .expect("written");
    }
    let served = Served::over(home);
    let first = served.get("/");
    assert!(first.contains("Page 1 of 26") && first.len() < 100_000, "{} bytes", first.len());
    let last = served.get("/?page=26");
    assert!(last.contains("Page 26 of 26") && last.contains("Newer") && !last.contains("Older"), "{last}");
    assert_eq!(status(&served.get("/?page=99999999999999999999")), 200);
    assert!(served.get("/?drive=S-1").contains("Runs of"));
}

#[test]
fn ctrl_c_ends_it_and_nothing_was_logged() {
    let mut served = Served::with_runs();
    let folder = served.home.store().join("runs");
    let before = crate::program::names_in(&folder);
    assert_eq!(status(&served.get("/")), 200);
    assert_eq!(status(&served.get("/run/plain")), 200);
    signal("INT", served.process.id());
    let status = served.process.wait().expect("it ends");
    assert_eq!(status.code(), Some(0));
    let mut said = String::new();
    served.process.stderr.take().expect("it is piped").read_to_string(&mut said).expect("text");
    assert!(!said.contains(&served.token) && said.lines().count() == 1, "{said}");
    assert_eq!(crate::program::names_in(&folder), before);
}

#[test]
fn a_port_that_is_taken_is_said() {
    let served = Served::with_runs();
    let outcome = served.home.run(&["serve", "--port", &served.port.to_string()]);
    assert_eq!(outcome.status, Some(1));
    assert!(outcome.err.contains("Another program uses it. Choose another"), "{}", outcome.err);
    let empty = Home::new().run(&["serve"]);
    assert!(empty.err.contains("no runs in") && empty.status == Some(1), "{}", empty.err);
}
