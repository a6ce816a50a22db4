//! What can be read under `/v1`: the same reports as over the control socket.

use std::sync::Arc;
use std::time::Duration;

use hyper::StatusCode;
use hyper::header::HeaderValue;
use serde::Serialize;
use serde_json::{Value, json};
use tokio::time::timeout;

use super::Site;
use super::answer::{self, Reply, reply};
use super::query::Query;
use super::refusal::Refusal;
use super::router::INDEX;
use super::{health, turn, watch};
use crate::config::Config;

/// The node at a glance; with `wait` and `index`, as soon as that index is over.
pub(super) async fn status(site: &Site, query: &Query) -> Result<Reply, Refusal> {
    query.only(&["wait", "index"])?;
    let (wait, index) = (query.duration("wait")?, query.number("index")?);
    match (wait, index) {
        (None, None) => {}
        (Some(wait), Some(index)) => {
            if wait > WAIT_MAX {
                let what = format!("wait is at most {}s", WAIT_MAX.as_secs());
                return Err(Refusal::BadQuery(what));
            }
            if site.agent.history().index() == index {
                let _place = watch::place(site)?;
                // However it ends, the answer is what the node is then.
                let _ = timeout(wait, site.agent.history().after(Some(index))).await;
            }
        }
        (Some(_), None) | (None, Some(_)) => {
            return Err(Refusal::BadQuery("`wait` and `index` go together".to_owned()));
        }
    }
    let status = site.agent.status();
    let mut reply = answer::json(StatusCode::OK, &status);
    reply.headers_mut().insert(INDEX, HeaderValue::from(status.index));
    Ok(reply)
}

/// All configured nodes, as this one sees them.
pub(super) async fn members(site: &Site, query: &Query) -> Result<Reply, Refusal> {
    query.only(&[])?;
    let metrics = health::metrics(site).await?;
    Ok(answer::json(StatusCode::OK, &site.agent.members_of(&metrics)))
}

/// What the node was and is, and why.
pub(super) fn history(site: &Arc<Site>, query: &Query) -> Result<Reply, Refusal> {
    query.only(&[])?;
    let history = site.agent.history();
    let mut start = Some(format!("{{\"incarnation\":{},\"changes\":[", history.incarnation()));
    let mut changes = history.all().into_iter();
    let names = site.agent.group().clone();
    let mut is_first = true;
    let content = turn::pieces(site, move |piece| {
        if let Some(start) = start.take() {
            piece.extend_from_slice(start.as_bytes());
        }
        let Some(change) = changes.next() else {
            piece.extend_from_slice(b"]}\n");
            return false;
        };
        if !std::mem::take(&mut is_first) {
            piece.push(b',');
        }
        put(piece, &change.called(names.names()));
        true
    });
    Ok(reply(StatusCode::OK, "application/json", content))
}

/// What the node was told at its start, without anything that must not be known.
pub(super) fn config(site: &Site, query: &Query) -> Result<Reply, Refusal> {
    query.only(&[])?;
    Ok(answer::json(StatusCode::OK, &shown(&site.agent.config())))
}

/// A node's file without its key and its token, and without where they are.
fn shown(file: &Config) -> Value {
    let timing = file.timing.config();
    json!({
        "group": file.group,
        "node": file.node,
        "peers": file.peer_entries(),
        "peers_version": file.peers_version,
        "algorithm": file.algorithm.name(),
        "options": file.options,
        "priorities": file.priorities,
        "listen": file.listen,
        "data_dir": file.data_dir,
        "socket": file.socket,
        "timing": {
            "message_max_ms": millis(timing.message_max),
            "processing_max_ms": millis(timing.processing_max),
            "heartbeat_ms": timing.heartbeat.map(millis),
            "suspect_after_ms": timing.suspect_after.map(millis),
            "check_every_ms": millis(timing.check_every),
        },
        "http": {
            "listen": file.http.listen,
            "agent_check": file.http.agent_check,
            "takes_actions": file.http.token_file.is_some(),
            "allowed_hosts": file.http.allowed_hosts,
            "allowed_origins": file.http.allowed_origins,
        },
    })
}

fn millis(span: Duration) -> f64 {
    span.as_secs_f64() * 1000.0
}

/// What the node did lately, message by message. Without `after` it begins with the header of a
/// trace, so that it is one; with `after=N` it goes on where an answer with that
/// `Tanist-Events-Next` ended.
pub(super) fn events(site: &Arc<Site>, query: &Query) -> Result<Reply, Refusal> {
    query.only(&["after"])?;
    let after = query.number("after")?;
    let recent = site.agent.group().recent();
    let mut header = after.is_none().then(|| site.agent.group().trace_header());
    let next = recent.forgotten + recent.entries.len() as u64;
    // An index that was never given out belongs to another incarnation: everything is new.
    let after = after.unwrap_or(0);
    let after = if after > next { 0 } else { after };
    let forgotten = recent.forgotten.saturating_sub(after);
    let skipped = usize::try_from(after.saturating_sub(recent.forgotten)).unwrap_or(usize::MAX);
    // Readers share the entries with the node; lines are made only as they are read.
    let mut entries = recent.entries.into_iter().skip(skipped);
    let content = turn::pieces(site, move |piece| {
        if let Some(header) = header.take() {
            put_line(piece, &header);
        }
        let Some(entry) = entries.next() else { return false };
        put_line(piece, &entry);
        true
    });
    let mut reply = reply(StatusCode::OK, "application/x-ndjson", content);
    reply.headers_mut().insert("tanist-events-next", HeaderValue::from(next));
    reply.headers_mut().insert("tanist-events-forgotten", HeaderValue::from(forgotten));
    Ok(reply)
}

fn put_line(piece: &mut Vec<u8>, what: &impl Serialize) {
    put(piece, what);
    piece.push(b'\n');
}

fn put(piece: &mut Vec<u8>, what: &impl Serialize) {
    // Writing into memory cannot fail, and what is written here is always JSON.
    let _ = serde_json::to_writer(piece, what);
}

/// Longer than any proxy waits.
const WAIT_MAX: Duration = Duration::from_secs(600);
