//! A small HTTP/1.1 client, which can also send wrong requests.

use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use serde_json::Value;

use crate::support::wait::LIMIT;

/// An answer.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: String,
}

impl Answer {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error} in {self:?}"))
    }

    /// The code of a refusal; every refusal has a text and a hint too.
    pub(crate) fn code(&self) -> String {
        let error = &self.json()["error"];
        assert!(!error["text"].as_str().unwrap().is_empty(), "{self:?}");
        assert!(!error["hint"].as_str().unwrap().is_empty(), "{self:?}");
        error["code"].as_str().unwrap().to_owned()
    }
}

pub(crate) fn get(to: SocketAddr, path: &str) -> Answer {
    request(to, "GET", path, &[], "")
}

pub(crate) fn request(
    to: SocketAddr,
    method: &str,
    path: &str,
    headers: &[(&str, &str)],
    body: &str,
) -> Answer {
    raw(to, &head(to, method, path, headers, body)).unwrap()
}

/// The bytes of a request; given headers replace the usual ones.
pub(crate) fn head(
    to: SocketAddr,
    method: &str,
    path: &str,
    headers: &[(&str, &str)],
    body: &str,
) -> String {
    let mut text = format!("{method} {path} HTTP/1.1\r\nConnection: close\r\n");
    let mut put = |name: &str, value: &str| write!(text, "{name}: {value}\r\n").unwrap();
    let has = |name| headers.iter().any(|(known, _)| *known == name);
    if !has("Host") {
        put("Host", &to.to_string());
    }
    if !body.is_empty() && !has("Content-Length") {
        put("Content-Length", &body.len().to_string());
    }
    for (name, value) in headers {
        put(name, value);
    }
    text + "\r\n" + body
}

/// Sends bytes and reads the answer.
pub(crate) fn raw(to: SocketAddr, bytes: &str) -> std::io::Result<Answer> {
    let mut stream = connect(to)?;
    // A server that refuses early may not read all of it.
    let _ = stream.write_all(bytes.as_bytes());
    let mut lines = BufReader::new(stream);
    let (status, headers) = read_head(&mut lines)?;
    let mut answer = Answer { status, headers, body: String::new() };
    if bytes.starts_with("HEAD ") {
        let mut rest = String::new();
        lines.read_to_string(&mut rest)?;
        assert_eq!(rest, "", "a HEAD has no body");
    } else if answer.header("transfer-encoding") == Some("chunked") {
        while let Some(piece) = chunk(&mut lines)? {
            answer.body.push_str(&piece);
        }
    } else if let Some(length) = answer.header("content-length") {
        let mut body = vec![0; length.parse().unwrap()];
        lines.read_exact(&mut body)?;
        answer.body = String::from_utf8(body).unwrap();
    }
    Ok(answer)
}

pub(crate) fn connect(to: SocketAddr) -> std::io::Result<TcpStream> {
    let stream = TcpStream::connect_timeout(&to, Duration::from_secs(10))?;
    stream.set_read_timeout(Some(LIMIT))?;
    stream.set_write_timeout(Some(LIMIT))?;
    Ok(stream)
}

pub(crate) fn read_head(lines: &mut impl BufRead) -> std::io::Result<(u16, Vec<(String, String)>)> {
    let mut first = String::new();
    lines.read_line(&mut first)?;
    let broken = || std::io::Error::other(format!("no status in {first:?}"));
    let status = first.split(' ').nth(1).and_then(|code| code.parse().ok()).ok_or_else(broken)?;
    let mut headers = Vec::new();
    loop {
        let mut line = String::new();
        lines.read_line(&mut line)?;
        let Some((name, value)) = line.trim_end().split_once(':') else { break };
        headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
    }
    Ok((status, headers))
}

/// The next piece of a chunked body; none is the end.
fn chunk(lines: &mut impl BufRead) -> std::io::Result<Option<String>> {
    let mut size = String::new();
    lines.read_line(&mut size)?;
    let broken = || std::io::Error::other(format!("no size in {size:?}"));
    let length = usize::from_str_radix(size.trim_end(), 16).map_err(|_| broken())?;
    let mut piece = vec![0; length + 2];
    lines.read_exact(&mut piece)?;
    piece.truncate(length);
    Ok((length > 0).then(|| String::from_utf8(piece).unwrap()))
}

/// One event of a watch.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Event {
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) data: Value,
}

impl Event {
    pub(crate) fn index(&self) -> u64 {
        self.id.split('.').nth(1).unwrap().parse().unwrap()
    }
}

/// A client that watches.
pub(crate) struct Watch {
    lines: BufReader<TcpStream>,
    text: String,
}

impl Watch {
    pub(crate) fn start(to: SocketAddr, last: Option<&str>) -> Self {
        let headers: Vec<(&str, &str)> = last.map(|id| ("Last-Event-ID", id)).into_iter().collect();
        let mut stream = connect(to).unwrap();
        stream.write_all(head(to, "GET", "/v1/watch", &headers, "").as_bytes()).unwrap();
        let mut lines = BufReader::new(stream);
        let (status, headers) = read_head(&mut lines).unwrap();
        assert_eq!(status, 200, "{headers:?}");
        assert!(headers.contains(&("content-type".to_owned(), "text/event-stream".to_owned())));
        Self { lines, text: String::new() }
    }

    /// The next event; comments are skipped. None: the node has closed the stream.
    pub(crate) fn next(&mut self) -> Option<Event> {
        loop {
            while let Some((block, rest)) = self.text.split_once("\n\n") {
                let (block, rest) = (block.to_owned(), rest.to_owned());
                self.text = rest;
                if let Some(event) = event(&block) {
                    return Some(event);
                }
            }
            self.text.push_str(&chunk(&mut self.lines).unwrap()?);
        }
    }
}

fn event(block: &str) -> Option<Event> {
    let field = |name: &str| block.lines().find_map(|line| line.strip_prefix(name));
    let data = serde_json::from_str(field("data: ")?).unwrap();
    Some(Event { id: field("id: ")?.to_owned(), name: field("event: ")?.to_owned(), data })
}
