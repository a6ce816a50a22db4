//! Every change of the node's role, as it happens, to as many as want to know.
//!
//! All watchers read the one history of the agent; each holds only the number of the last change
//! that it was sent. So a watcher that went away comes back with that number, and one that is
//! slower than the history remembers is told to start over.
//!
//! ```text
//!   first time, or lost -> snapshot (status; `reset` if something may have been missed) -> changes
//!   came back           ->                                                                 changes
//! ```

use std::sync::Arc;
use std::time::Duration;

use hyper::StatusCode;
use hyper::body::Bytes;
use hyper::header::HeaderMap;
use serde::Serialize;
use serde_json::json;
use tokio::sync::{OwnedSemaphorePermit, mpsc};

use super::Site;
use super::answer::{Content, Reply, reply};
use super::query::Query;
use super::refusal::Refusal;
use crate::agent::change::{ChangeId, ParseChangeIdError};

/// How events are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// Server-sent events, for browsers and `curl -N`.
    Sse,
    /// A line of JSON each.
    Ndjson,
}

impl Form {
    /// The form that a client wants: lines if it names them.
    pub(super) fn accepted(accept: &str) -> Self {
        let is_lines = |part: &str| {
            let kind = part.split(';').next().unwrap_or_default().trim();
            ["application/x-ndjson", "application/jsonl"].contains(&kind)
        };
        if accept.split(',').any(is_lines) { Self::Ndjson } else { Self::Sse }
    }

    /// The answer to a HEAD.
    pub(super) fn empty(self) -> Reply {
        reply(StatusCode::OK, self.kind(), Content::Whole(Bytes::new()))
    }

    const fn kind(self) -> &'static str {
        match self {
            Self::Sse => "text/event-stream",
            Self::Ndjson => "application/x-ndjson",
        }
    }

    fn event(self, id: ChangeId, name: &str, data: &impl Serialize) -> Bytes {
        match self {
            Self::Sse => {
                let data = serde_json::to_string(data).unwrap_or_default();
                format!("id: {id}\nevent: {name}\ndata: {data}\n\n").into()
            }
            Self::Ndjson => {
                let line = json!({"id": id.to_string(), "event": name, "data": data});
                format!("{line}\n").into()
            }
        }
    }

    /// Something that readers skip, so that both sides learn when the other is gone.
    const fn nothing(self) -> Bytes {
        match self {
            Self::Sse => Bytes::from_static(b":\n\n"),
            Self::Ndjson => Bytes::from_static(b"\n"),
        }
    }
}

/// What a watcher has seen already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Seen {
    Nothing,
    UpTo(ChangeId),
    /// Something that cannot be read.
    Unknown,
}

/// Begins to watch.
pub(super) fn watch(
    site: &Arc<Site>,
    query: &Query,
    headers: &HeaderMap,
    form: Form,
) -> Result<Reply, Refusal> {
    query.only(&["after"])?;
    let header = headers.get("last-event-id").filter(|id| !id.is_empty());
    // A browser that comes back repeats the address of its first visit, so the header is newer.
    let seen = match (header, query.text("after")) {
        (Some(id), _) => {
            id.to_str().ok().and_then(|id| id.parse().ok()).map_or(Seen::Unknown, Seen::UpTo)
        }
        (None, Some(id)) => {
            let wrong = |what| Refusal::BadQuery(format!("after={id} is not an id: {what}"));
            Seen::UpTo(id.parse().map_err(|error: ParseChangeIdError| wrong(error))?)
        }
        (None, None) => Seen::Nothing,
    };
    let permit = place(site)?;
    // One waits while one is written: the history is the buffer.
    let (to, pieces) = mpsc::channel(1);
    let feeding = Feeding { site: Arc::clone(site), form, to, _permit: permit };
    tokio::spawn(async move {
        // None: the watcher or the node has gone.
        feeding.feed(seen).await;
    });
    Ok(reply(StatusCode::OK, form.kind(), Content::Pieces(pieces)))
}

/// A place among those who watch or wait.
pub(super) fn place(site: &Site) -> Result<OwnedSemaphorePermit, Refusal> {
    let permit = Arc::clone(&site.watchers).try_acquire_owned();
    permit.map_err(|_| Refusal::TooManyWatchers(site.limits.watchers))
}

/// One watcher.
struct Feeding {
    site: Arc<Site>,
    form: Form,
    to: mpsc::Sender<Bytes>,
    _permit: OwnedSemaphorePermit,
}

impl Feeding {
    /// Sends everything that the watcher has not seen. None: one side has gone.
    async fn feed(self, seen: Seen) -> Option<()> {
        let history = self.site.agent.history();
        let incarnation = history.incarnation();
        let newest = history.index();
        let mut index = match seen {
            Seen::UpTo(id) if id.incarnation == incarnation && id.index <= newest => {
                self.send(self.form.nothing()).await?;
                id.index
            }
            Seen::UpTo(_) | Seen::Unknown => self.snapshot(true).await?,
            Seen::Nothing => self.snapshot(false).await?,
        };
        loop {
            tokio::select! {
                biased;
                () = self.to.closed() => return None,
                later = history.after(Some(index)) => {
                    let later = later?;
                    if later.has_gap {
                        index = self.snapshot(true).await?;
                        continue;
                    }
                    for change in later.changes {
                        index = change.index;
                        let change = change.called(self.site.agent.group().names());
                        let id = ChangeId { incarnation, index };
                        self.send(self.form.event(id, "change", &change)).await?;
                    }
                }
                () = tokio::time::sleep(KEEP_ALIVE) => self.send(self.form.nothing()).await?,
            }
        }
    }

    /// Sends the whole state; the number of the change that made it.
    async fn snapshot(&self, is_reset: bool) -> Option<u64> {
        let status = self.site.agent.status();
        let id = ChangeId { incarnation: status.incarnation, index: status.index };
        let data = json!({"reset": is_reset, "status": status});
        self.send(self.form.event(id, "snapshot", &data)).await?;
        Some(id.index)
    }

    async fn send(&self, piece: Bytes) -> Option<()> {
        self.to.send(piece).await.ok()
    }
}

/// Sooner than proxies close a connection that says nothing.
const KEEP_ALIVE: Duration = Duration::from_secs(15);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_for_those_who_ask_for_them() {
        for (accept, form) in [
            ("", Form::Sse),
            ("*/*", Form::Sse),
            ("text/event-stream", Form::Sse),
            ("application/x-ndjson", Form::Ndjson),
            ("text/html, application/x-ndjson;q=0.5", Form::Ndjson),
        ] {
            assert_eq!(Form::accepted(accept), form, "{accept}");
        }
    }
}
