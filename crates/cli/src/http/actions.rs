//! Telling the node to do something: a POST with a token, or over the Unix socket.

use std::future::poll_fn;
use std::pin::Pin;
use std::time::Duration;

use hyper::body::{Body, Incoming};
use hyper::header::CONTENT_TYPE;
use hyper::{Request, StatusCode};
use serde_json::{Map, Value, json};
use tokio::time::timeout;

use super::answer::{Reply, json};
use super::refusal::Refusal;
use super::{BODY_MAX, REQUEST_MAX, Site, SocketKind, access};
use crate::agent::action::{Action, ActionError};
use crate::renamed::new_name;

/// Does the action of this name, with what the body says.
pub(super) async fn act(
    site: &Site,
    socket: SocketKind,
    name: &str,
    request: Request<Incoming>,
) -> Result<Reply, Refusal> {
    // The body of a client that may not act is not read.
    access::authorize(site, socket, request.headers())?;
    let kind = request.headers().get(CONTENT_TYPE).cloned();
    let limit = timeout(REQUEST_MAX, collect(request.into_body()));
    let body = limit.await.map_err(|_| Refusal::Slow(REQUEST_MAX))??;
    let kind = kind.as_ref().and_then(|kind| kind.to_str().ok()).unwrap_or("nothing");
    let is_json = kind.split(';').next().is_some_and(|kind| kind.trim() == "application/json");
    if !body.is_empty() && !is_json {
        return Err(Refusal::NotJson(kind.to_owned()));
    }
    let Order { action, expected } = Order::read(name, &body)?;
    if let Some(expected) = expected {
        let found = site
            .agent
            .status()
            .group_number
            .map_or_else(|| "none".to_owned(), |number| number.to_string());
        if found != expected {
            return Err(Refusal::GroupChanged { expected, found });
        }
    }
    let action = timeout(ACTION_MAX, site.agent.act(&action));
    match action.await.map_err(|_| Refusal::Unfinished(ACTION_MAX))? {
        Ok(done) => {
            let mut what = json!({"done": done.text, "status": site.agent.status()});
            if let Some(handover) = done.handover {
                what["handover"] = json!(handover);
            }
            Ok(json(StatusCode::ACCEPTED, &what))
        }
        Err(ActionError::Refused(why)) => Err(Refusal::Refused(why)),
        Err(ActionError::Ended) => Err(Refusal::Ended),
    }
}

/// What is to be done.
#[derive(Debug, PartialEq, Eq)]
struct Order {
    action: Action,
    /// The number of the group that it is meant for.
    expected: Option<String>,
}

impl Order {
    /// Reads it from a body, which may be empty.
    fn read(name: &str, body: &[u8]) -> Result<Self, Refusal> {
        let wrong = |error: serde_json::Error| Refusal::BadBody(error.to_string());
        let mut fields: Map<String, Value> = match body {
            [] => Map::new(),
            _ => serde_json::from_slice(body).map_err(wrong)?,
        };
        if let Some((old, new)) = fields.keys().find_map(|name| Some((name, new_name(name)?))) {
            return Err(Refusal::BadBody(format!("`{old}` is called `{new}`")));
        }
        let expected = match fields.remove("expect_group_number") {
            None => None,
            Some(Value::String(expected)) => Some(expected),
            Some(_) => {
                return Err(Refusal::BadBody(
                    "expect_group_number is a string: \"42.n3\"".to_owned(),
                ));
            }
        };
        // The path has said which action it is.
        if fields.insert("action".to_owned(), name.into()).is_some() {
            return Err(Refusal::BadBody("unknown field `action`".to_owned()));
        }
        let action: Action =
            serde_json::from_value(Value::Object(fields.clone())).map_err(wrong)?;
        // An action without fields would take any: so unknown fields are refused here.
        let known = serde_json::to_value(&action).map_err(wrong)?;
        if let Some(name) = fields.keys().find(|name| known.get(name.as_str()).is_none()) {
            return Err(Refusal::BadBody(format!("unknown field `{name}`")));
        }
        Ok(Self { action, expected })
    }
}

/// The whole body, if it is not too long.
async fn collect(mut body: Incoming) -> Result<Vec<u8>, Refusal> {
    let length = usize::try_from(body.size_hint().lower()).unwrap_or(usize::MAX);
    if length > BODY_MAX {
        return Err(Refusal::BodyTooLong);
    }
    let mut whole = Vec::with_capacity(length);
    while let Some(frame) = poll_fn(|cx| Pin::new(&mut body).poll_frame(cx)).await {
        let frame = frame.map_err(|error| Refusal::BadBody(error.to_string()))?;
        // Trailers say nothing to us.
        let Ok(piece) = frame.into_data() else { continue };
        if whole.len() + piece.len() > BODY_MAX {
            return Err(Refusal::BodyTooLong);
        }
        whole.extend_from_slice(&piece);
    }
    Ok(whole)
}

/// Longer than any hand-over takes.
const ACTION_MAX: Duration = Duration::from_secs(30);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_body_says_how_and_the_path_says_what() {
        let order =
            Order::read("priority", b"{\"value\": 7, \"expect_group_number\": \"42.n3\"}").unwrap();
        let action = Action::Priority { value: 7 };
        assert_eq!(order, Order { action, expected: Some("42.n3".to_owned()) });
        assert_eq!(Order::read("pause", b"").unwrap().action, Action::Pause);
        for (name, body) in [
            ("priority", "{}"),
            ("pause", "{\"value\": 7}"),
            ("pause", "{\"action\": \"leave\"}"),
            ("pause", "[]"),
            ("pause", "{"),
            ("pause", "{\"expect_group_number\": 7}"),
        ] {
            let refusal = Order::read(name, body.as_bytes()).unwrap_err();
            assert!(matches!(refusal, Refusal::BadBody(_)), "{name} {body}: {refusal}");
        }
    }

    #[test]
    fn an_old_field_is_refused_with_its_new_name() {
        let refusal = Order::read("pause", b"{\"expect_epoch\": \"42.n3\"}").unwrap_err();
        assert!(refusal.to_string().contains("`expect_group_number`"), "{refusal}");
    }
}
