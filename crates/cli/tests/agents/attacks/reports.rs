//! What an operator sees: log lines and `/readyz`.

use std::io::{Read, Write};
use std::os::unix::net::UnixStream;

use crate::support::agent::Agent;
use crate::support::fleet::Fleet;
use crate::support::wait::LIMIT;

/// Whether a line of the log at level ERROR has all of these words, and one of these names.
pub(crate) fn has_error(agent: &Agent, names: &[&str], words: &[&str]) -> bool {
    agent.log().lines().any(|line| {
        line.contains("ERROR")
            && words.iter().all(|word| line.contains(word))
            && names.iter().any(|name| line.contains(name))
    })
}

/// The status and body of `/readyz`, asked over the agent's Unix socket for HTTP.
pub(crate) fn readyz(fleet: &Fleet, name: &str) -> (u16, String) {
    get(fleet, name, "/readyz")
}

/// The status and body of a page, asked over the agent's Unix socket for HTTP.
pub(crate) fn get(fleet: &Fleet, name: &str, path: &str) -> (u16, String) {
    let mut stream = UnixStream::connect(fleet.file(&format!("{name}.sock.http"))).unwrap();
    stream.set_read_timeout(Some(LIMIT)).unwrap();
    let request = format!("GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let status = answer.split(' ').nth(1).and_then(|code| code.parse().ok());
    let body = answer.split("\r\n\r\n").nth(1).unwrap_or_default().to_owned();
    (status.unwrap_or_else(|| panic!("no status in {answer:?}")), body)
}
