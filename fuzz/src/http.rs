//! HTTP to a real agent: any bytes, over the network and over the Unix socket; and requests that
//! are whole, with a host, an origin and a token that may be wrong.
//!
//! The first byte says which. In bytes that are sent as they are, one byte that no request has cuts
//! the stream, and two stand for a long name and for many headers.

use std::cell::RefCell;

use arbitrary::{Result, Unstructured};
use tanist_cli::fuzzing::{Bench, TOKEN, Way};

/// Checks bytes as what a client sends on one connection.
pub fn check(bytes: &[u8]) {
    let Some((kind, rest)) = bytes.split_first() else { return };
    match kind % 4 {
        0 => raw(Way::Remote, rest),
        1 => raw(Way::Local, rest),
        3 => raw(Way::Reserve, rest),
        // Too few bytes for all that was to be drawn from them: nothing is left to check.
        _ => drop(request(&mut Unstructured::new(rest))),
    }
}

fn raw(way: Way, bytes: &[u8]) {
    let mut pieces = vec![Vec::new()];
    for byte in bytes {
        let long = pieces.len() * 20_000 < LENGTH_MAX;
        let piece = pieces.last_mut().expect("at least one piece");
        match byte {
            0 => pieces.push(Vec::new()),
            1 if long && piece.len() < LENGTH_MAX => piece.resize(piece.len() + 20_000, b'a'),
            2 if long && piece.len() < LENGTH_MAX => piece.extend(b"x: y\r\n".repeat(70)),
            byte => piece.push(*byte),
        }
    }
    let sent = pieces.concat();
    let answered = ask(way, pieces);
    let may_act = match way {
        Way::Remote => holds(&sent, TOKEN.as_bytes()),
        Way::Reserve => false,
        Way::Local => true,
    };
    if !may_act {
        assert!(!holds(&answered, b" 202 Accepted\r\n"), "an action was done without the token");
    }
}

/// A whole request over the network: the gate must judge it as the model does.
fn request(source: &mut Unstructured<'_>) -> Result<()> {
    let method = *source.choose(&["GET", "HEAD", "POST", "OPTIONS", "PUT"])?;
    let path = match source.int_in_range(0..=3)? {
        0 => format!("/{}", visible(source, IN_PATHS)?),
        _ => (*source.choose(PATHS)?).to_owned(),
    };
    let query = if source.arbitrary()? {
        format!("?{}", visible(source, IN_PATHS)?)
    } else {
        String::new()
    };
    let (host, is_host_ours) = *source.choose(HOSTS)?;
    let (origin, is_origin_ours) = *source.choose(ORIGINS)?;
    let (token, may_act) = *source.choose(TOKENS)?;
    let (name, value) = (*source.choose(HEADERS)?, visible(source, VISIBLE)?);
    let body = visible(source, VISIBLE)?;
    let text = format!(
        "{method} {path}{query} HTTP/1.1\r\n{host}{origin}{token}{name}: {value}\r\n\
         content-length: {}\r\n\r\n{body}",
        body.len()
    );
    let answered = ask(Way::Remote, vec![text.clone().into_bytes()]);
    // Waiting requests are given up without an answer.
    let Some(status) = status(&answered) else { return Ok(()) };
    let is_action = PATHS[..ACTIONS].contains(&path.as_str());
    let expected: &[u16] = match (is_host_ours, is_origin_ours, may_act) {
        (None, ..) => &[400],
        (Some(false), ..) => &[421],
        (_, false, _) => &[403],
        (_, true, false) if is_action && method == "POST" => &[401],
        (_, true, true) if is_action && method == "POST" => &[202, 400, 409, 412, 413, 415],
        _ if method == "OPTIONS" => &[204, 404],
        _ if !PATHS.contains(&path.as_str()) => &[404],
        _ if is_action || !["GET", "HEAD"].contains(&method) => &[405],
        _ => &[200, 400, 501, 503],
    };
    assert!(expected.contains(&status), "{status} instead of {expected:?} for {text:?}");
    Ok(())
}

/// Sends it, and checks what must hold for every answer.
fn ask(way: Way, pieces: Vec<Vec<u8>>) -> Vec<u8> {
    let answered = BENCH.with_borrow_mut(|bench| {
        let bench = bench.get_or_insert_with(|| Bench::start().expect("a group of one starts"));
        bench.http(way, pieces).expect("a token that can be read")
    });
    let Some(status) = status(&answered) else {
        assert!(answered.is_empty(), "not an answer: {}", answered.escape_ascii());
        return answered;
    };
    assert!(STATUSES.contains(&status), "status {status}");
    assert!(!holds(&answered, b"HTTP/1.1 500 "), "a defect: {}", answered.escape_ascii());
    let end = answered.windows(4).position(|end| end == b"\r\n\r\n").expect("an end of headers");
    let (head, rest) = (answered[..end].to_ascii_lowercase(), &answered[end + 4..]);
    // The answer to a HEAD has no body, and the next answer may follow it.
    let body = if rest.starts_with(b"HTTP/1.") { &[] } else { rest };
    // Hyper answers what is no request at all with a bare status.
    if holds(&head, b"\r\ncontent-type: ") {
        assert!(holds(&head, b"\r\nx-content-type-options: nosniff"));
        assert!(holds(&head, b"\r\ncache-control: no-store"));
    }
    if status >= 400 && holds(&head, b"\r\ncontent-type: application/json") && !body.is_empty() {
        let mut values = serde_json::Deserializer::from_slice(body).into_iter();
        let value: serde_json::Value = values.next().expect("a body").expect("JSON");
        let error = &value["error"];
        let is_told = |key: &str| error[key].as_str().is_some_and(|text| !text.is_empty());
        let is_health = !error.is_object();
        assert!(is_health || ["code", "text", "hint"].into_iter().all(is_told), "{value}");
    }
    answered
}

/// The status of the first answer.
fn status(answered: &[u8]) -> Option<u16> {
    let rest = answered.strip_prefix(b"HTTP/1.").and_then(|rest| rest.get(2..5))?;
    str::from_utf8(rest).ok()?.parse().ok()
}

/// A text of some of these characters.
fn visible(source: &mut Unstructured<'_>, allowed: &[u8]) -> Result<String> {
    let length = source.int_in_range(0..=40)?.min(source.len());
    let bytes = source.bytes(length)?;
    Ok(bytes.iter().map(|byte| char::from(allowed[usize::from(*byte) % allowed.len()])).collect())
}

fn holds(bytes: &[u8], part: &[u8]) -> bool {
    bytes.windows(part.len()).any(|window| window == part)
}

thread_local! {
    /// One agent for all inputs: starting one takes longer than asking it.
    static BENCH: RefCell<Option<Bench>> = const { RefCell::new(None) };
}

const IN_PATHS: &[u8] = b"abcdefghijklmnopqrstuvwxyz0123456789=&.,-_:;/%+ABCXYZ~!$*()'";
const VISIBLE: &[u8] = b"abcdefghijklmnopqrstuvwxyz0123456789=&.,-_:;/%+{}\"ABCXYZ~!$*()'";
/// Those that change something come first, and the one that would end the agent is left out.
const PATHS: &[&str] = &[
    "/v1/step-down",
    "/v1/rejoin",
    "/v1/pause",
    "/v1/resume",
    "/v1/reload",
    "/v1/priority",
    "/leader",
    "/member",
    "/primary",
    "/livez",
    "/readyz",
    "/metrics",
    "/v1/status",
    "/v1/members",
    "/v1/history",
    "/v1/config",
    "/v1/events",
    "/v1/watch",
    "/v1/openapi.json",
];
const ACTIONS: usize = 6;
/// With whether it is a name of the agent; none: there is no Host, or it is not one.
const HOSTS: &[(&str, Option<bool>)] = &[
    ("host: localhost:7480\r\n", Some(true)),
    ("Host: 127.0.0.1\r\n", Some(true)),
    ("host: [::1]:80\r\n", Some(true)),
    ("host: N1.example\r\n", Some(true)),
    ("host: evil.example\r\n", Some(false)),
    ("host: localhost.evil.example\r\n", Some(false)),
    ("host: 127.0.0.1.evil.example:7480\r\n", Some(false)),
    ("host: localhost\r\nhost: localhost\r\n", Some(false)),
    ("", None),
];
/// With whether its pages may ask.
const ORIGINS: &[(&str, bool)] = &[
    ("", true),
    ("origin: https://pages.example\r\n", true),
    ("origin: https://evil.example\r\n", false),
    ("origin: null\r\n", false),
    ("origin: https://pages.example.evil.example\r\n", false),
];
/// With whether it allows actions.
const TOKENS: &[(&str, bool)] = &[
    ("", false),
    ("authorization: Bearer 0123456789abcdef0123456789abcdef\r\n", true),
    ("authorization: bearer  0123456789abcdef0123456789abcdef \r\n", true),
    ("authorization: Bearer 0123456789abcdef0123456789abcdee\r\n", false),
    ("authorization: Bearer 0123456789abcdef\r\n", false),
    ("authorization: Bearer \r\n", false),
    ("authorization: Basic 0123456789abcdef0123456789abcdef\r\n", false),
];
const HEADERS: &[&str] = &["accept", "last-event-id", "content-type", "if-none-match", "x"];
/// Everything that docs/http.md and hyper know.
const STATUSES: &[u16] = &[
    200, 202, 204, 400, 401, 403, 404, 405, 408, 409, 412, 413, 414, 415, 421, 429, 431, 501, 503,
    504,
];
/// Beyond every limit of the agent, and of hyper.
const LENGTH_MAX: usize = 200_000;
