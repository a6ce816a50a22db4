//! Which path leads where. One table, so that the document of all paths can be held against it.

use std::sync::Arc;

use hyper::body::{Bytes, Incoming};
use hyper::header::{ACCEPT, HeaderMap, HeaderName, HeaderValue};
use hyper::{Method, Request, StatusCode};

use super::answer::{Content, Reply, reply};
use super::query::Query;
use super::refusal::Refusal;
use super::{Client, Scope, Site, access, actions, health, metrics, read, watch};
use crate::renamed;

/// Every path and what is there.
pub(super) const ROUTES: &[(&str, Route)] = &[
    ("/leader", Route::Leader),
    ("/member", Route::Member),
    ("/primary", Route::Primary),
    ("/livez", Route::Livez),
    ("/readyz", Route::Readyz),
    ("/metrics", Route::Metrics),
    ("/v1/status", Route::Status),
    ("/v1/members", Route::Members),
    ("/v1/history", Route::History),
    ("/v1/config", Route::Config),
    ("/v1/events", Route::Events),
    ("/v1/watch", Route::Watch),
    ("/v1/openapi.json", Route::OpenApi),
    ("/v1/step-down", Route::Act("step-down")),
    ("/v1/switchover", Route::Act("switchover")),
    ("/v1/rejoin", Route::Act("rejoin")),
    ("/v1/pause", Route::Act("pause")),
    ("/v1/resume", Route::Act("resume")),
    ("/v1/reload", Route::Act("reload")),
    ("/v1/leave", Route::Act("leave")),
    ("/v1/priority", Route::Act("priority")),
];

/// What is at a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Route {
    Leader,
    Member,
    Primary,
    Livez,
    Readyz,
    Metrics,
    Status,
    Members,
    History,
    Config,
    Events,
    Watch,
    OpenApi,
    /// The action of this name.
    Act(&'static str),
}

impl Route {
    /// The methods that may be used, as the header Allow has them.
    pub(super) const fn allow(self) -> &'static str {
        match self {
            Self::Act(_) => "POST, OPTIONS",
            Self::Leader
            | Self::Member
            | Self::Primary
            | Self::Livez
            | Self::Readyz
            | Self::Metrics
            | Self::Status
            | Self::Members
            | Self::History
            | Self::Config
            | Self::Events
            | Self::Watch
            | Self::OpenApi => "GET, HEAD, OPTIONS",
        }
    }

    /// Whether load balancers and supervisors ask for it: answered when nothing else is.
    const fn is_health(self) -> bool {
        match self {
            Self::Leader | Self::Member | Self::Primary | Self::Livez | Self::Readyz => true,
            Self::Metrics
            | Self::Status
            | Self::Members
            | Self::History
            | Self::Config
            | Self::Events
            | Self::Watch
            | Self::OpenApi
            | Self::Act(_) => false,
        }
    }
}

/// The answer to a request, whatever it is.
pub(super) async fn answer(site: &Arc<Site>, client: Client, request: Request<Incoming>) -> Reply {
    let is_versioned = request.uri().path().starts_with("/v1/");
    let index = site.agent.history().index();
    let (mut reply, origin) = match access::admit(site, client.socket, &request) {
        Ok(origin) => {
            let routed = route(site, client, request).await;
            (routed.unwrap_or_else(|refusal| refusal.reply()), origin)
        }
        Err(refusal) => (refusal.reply(), None),
    };
    if is_versioned && !reply.headers().contains_key(INDEX) {
        reply.headers_mut().insert(INDEX, HeaderValue::from(index));
    }
    if let Some(origin) = origin {
        share(reply.headers_mut(), &origin);
    }
    site.counters.answered(reply.status().as_u16());
    reply
}

async fn route(
    site: &Arc<Site>,
    client: Client,
    request: Request<Incoming>,
) -> Result<Reply, Refusal> {
    let path = request.uri().path();
    let known = ROUTES.iter().find(|(known, _)| *known == path).map(|(_, route)| route);
    let is_health = known.is_some_and(|route| route.is_health());
    if client.scope == Scope::HealthOnly && !is_health {
        return Err(Refusal::TooManyConnections);
    }
    let Some(route) = known else {
        return Err(match renamed::new_name(path) {
            Some(new) => Refusal::RenamedPath { old: path.to_owned(), new },
            None => Refusal::UnknownPath(path.to_owned()),
        });
    };
    let wrong = || {
        let method = request.method().to_string();
        Err(Refusal::WrongMethod { method, allow: route.allow() })
    };
    let is_head = match (*request.method() == Method::OPTIONS, route) {
        (true, _) => return Ok(options(*route)),
        (false, Route::Act(name)) if *request.method() == Method::POST => {
            return actions::act(site, client.socket, name, request).await;
        }
        (false, Route::Act(_)) => return wrong(),
        (false, _) if *request.method() == Method::GET => false,
        (false, _) if *request.method() == Method::HEAD => true,
        (false, _) => return wrong(),
    };
    let query = Query::parse(request.uri().query().unwrap_or_default())?;
    read(site, *route, &query, request.headers(), is_head).await
}

/// What a GET finds.
async fn read(
    site: &Arc<Site>,
    route: Route,
    query: &Query,
    headers: &HeaderMap,
    is_head: bool,
) -> Result<Reply, Refusal> {
    match route {
        Route::Leader => health::leader(site, query),
        Route::Member => health::member(site, query),
        Route::Primary => Err(Refusal::NoPrimary),
        Route::Livez => health::livez(site, query).await,
        Route::Readyz => health::readyz(site, query).await,
        Route::Metrics => metrics::metrics(site, query).await,
        Route::Status => read::status(site, query).await,
        Route::Members => read::members(site, query).await,
        Route::History => read::history(site, query),
        Route::Config => read::config(site, query),
        Route::Events => read::events(site, query),
        Route::Watch => {
            let accept = headers.get(ACCEPT).and_then(|accept| accept.to_str().ok());
            let form = watch::Form::accepted(accept.unwrap_or_default());
            if is_head { Ok(form.empty()) } else { watch::watch(site, query, headers, form) }
        }
        Route::OpenApi => {
            query.only(&[])?;
            let document = Content::Whole(Bytes::from_static(super::OPENAPI.as_bytes()));
            Ok(reply(StatusCode::OK, "application/json", document))
        }
        Route::Act(_) => Err(Refusal::UnknownPath("an action".to_owned())),
    }
}

fn options(route: Route) -> Reply {
    let mut reply = reply(StatusCode::NO_CONTENT, "text/plain", Content::Whole(Bytes::new()));
    let headers = reply.headers_mut();
    headers.remove(hyper::header::CONTENT_TYPE);
    headers.insert(hyper::header::ALLOW, HeaderValue::from_static(route.allow()));
    headers.insert("access-control-allow-methods", HeaderValue::from_static(route.allow()));
    let asked = "authorization, content-type, last-event-id";
    headers.insert("access-control-allow-headers", HeaderValue::from_static(asked));
    reply
}

/// Lets the page that asks read the answer.
fn share(headers: &mut HeaderMap, origin: &str) {
    if let Ok(origin) = HeaderValue::from_str(origin) {
        headers.insert("access-control-allow-origin", origin);
        headers.insert("access-control-expose-headers", HeaderValue::from_static(SHOWN));
        headers.insert(hyper::header::VARY, HeaderValue::from_static("origin"));
    }
}

/// Counts the roles of this incarnation of the node.
pub(super) const INDEX: HeaderName = HeaderName::from_static("tanist-index");
const SHOWN: &str = "tanist-index, tanist-events-next, tanist-events-forgotten";

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    #[test]
    fn every_route_is_in_the_document_with_its_methods_and_nothing_else_is() {
        let document: Value = serde_json::from_str(super::super::OPENAPI).unwrap();
        let paths = document["paths"].as_object().unwrap();
        let mut written: Vec<&str> = paths.keys().map(String::as_str).collect();
        written.sort_unstable();
        let mut routed: Vec<&str> = ROUTES.iter().map(|(path, _)| *path).collect();
        routed.sort_unstable();
        assert_eq!(written, routed);
        for (path, route) in ROUTES {
            let methods: Vec<String> =
                paths[*path].as_object().unwrap().keys().map(|name| name.to_uppercase()).collect();
            let mut allowed: Vec<&str> = route.allow().split(", ").collect();
            // Described once for all paths.
            allowed.retain(|method| !["HEAD", "OPTIONS"].contains(method));
            assert_eq!(methods, allowed, "{path}");
        }
    }

    #[test]
    fn every_action_has_a_route() {
        use crate::agent::action::Action;
        let all = [
            Action::StepDown { hold_ms: 1, force: false },
            Action::Switchover { to: None, dry_run: true },
            Action::Rejoin,
            Action::Pause,
            Action::Resume,
            Action::Reload,
            Action::Leave { force: false },
            Action::Priority { value: 1 },
        ];
        for action in all {
            let value = serde_json::to_value(&action).unwrap();
            let path = format!("/v1/{}", value["action"].as_str().unwrap());
            assert!(ROUTES.iter().any(|(known, _)| *known == path), "{path}");
        }
    }
}
