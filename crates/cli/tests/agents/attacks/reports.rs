//! What an operator is told: log lines, `/readyz` and `tanist doctor`.

use std::io::{Read, Write};
use std::os::unix::net::UnixStream;

use serde_json::Value;

use crate::agents::{Agent, Home};
use crate::support::dev::LIMIT;

/// Whether a line of the log at level ERROR has all of these words, and one of these names.
pub(crate) fn has_error(agent: &Agent, names: &[&str], words: &[&str]) -> bool {
    agent.log().lines().any(|line| {
        line.contains("ERROR")
            && words.iter().all(|word| line.contains(word))
            && names.iter().any(|name| line.contains(name))
    })
}

/// The status and body of `/readyz`, asked over the agent's Unix socket for HTTP.
pub(crate) fn readyz(home: &Home, name: &str) -> (u16, String) {
    get(home, name, "/readyz")
}

/// The status and body of a page, asked over the agent's Unix socket for HTTP.
pub(crate) fn get(home: &Home, name: &str, path: &str) -> (u16, String) {
    let mut stream = UnixStream::connect(home.path().join(format!("{name}.sock.http"))).unwrap();
    stream.set_read_timeout(Some(LIMIT)).unwrap();
    let request = format!("GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let status = answer.split(' ').nth(1).and_then(|code| code.parse().ok());
    let body = answer.split("\r\n\r\n").nth(1).unwrap_or_default().to_owned();
    (status.unwrap_or_else(|| panic!("no status in {answer:?}")), body)
}

/// What `tanist doctor` calls a problem of an agent, one line each.
pub(crate) fn problems(home: &Home, name: &str) -> String {
    let socket = format!("{name}.sock");
    let output = home.run(&["doctor", "--socket", &socket, "-o", "json"]);
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let is_problem = |finding: &&Value| finding["severity"] == "problem";
    let all: Vec<String> = report["findings"]
        .as_array()
        .unwrap()
        .iter()
        .filter(is_problem)
        .map(|finding| format!("{}: {}", finding["place"], finding["what"]))
        .collect();
    assert_eq!(output.status.code(), Some(i32::from(!all.is_empty())), "{output:?}");
    all.join("\n")
}
