//! A node inside a web service made with axum.
//!
//! ```text
//! cargo run --example embed_axum         # three services in one process; ends by itself
//! cargo run --example embed_axum -- n1   # in three terminals; curl -i 127.0.0.1:7601/leader
//! ```
//!
//! `/leader` answers 200 on the leader and 503 on all others, which is what a load balancer asks
//! for. `/status` is the node at a glance, as JSON.

#![allow(clippy::print_stdout, reason = "an example talks to the person who runs it")]

mod local;

use std::error::Error;

use axum::extract::State;
use axum::http::StatusCode;
use axum::routing::get;
use axum::{Json, Router};
use local::Place;
use tanist::{Group, Role, Status};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// The role is asked at the moment of the request: nothing is cached, nothing can be stale.
async fn leader(State(group): State<Group>) -> (StatusCode, String) {
    match group.role() {
        Role::Leader(lead) => (StatusCode::OK, format!("{}\n", lead.view())),
        Role::Member(view) => (StatusCode::SERVICE_UNAVAILABLE, format!("{view}\n")),
        // Between groups, or what a later release adds.
        role @ (Role::Suspended(_) | _) => {
            (StatusCode::SERVICE_UNAVAILABLE, format!("{} {role}\n", group.me()))
        }
    }
}

async fn status(State(group): State<Group>) -> Json<Status> {
    Json(group.status())
}

fn service(group: Group) -> Router {
    Router::new().route("/leader", get(leader)).route("/status", get(status)).with_state(group)
}

/// What `curl` does, for an example that needs nothing else.
async fn fetch(address: &str, path: &str) -> Result<(String, String), Box<dyn Error>> {
    let mut service = TcpStream::connect(address).await?;
    let request = format!("GET {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n");
    service.write_all(request.as_bytes()).await?;
    let mut answer = String::new();
    service.read_to_string(&mut answer).await?;
    let (head, body) = answer.split_once("\r\n\r\n").ok_or("no answer")?;
    let code = head.split(' ').nth(1).ok_or("no status")?;
    Ok((code.to_owned(), body.trim_end().to_owned()))
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    if let Some(node) = std::env::args().nth(1) {
        let group = Place::shared("embed-axum")?.node("web", &node).start().await?;
        let listener = TcpListener::bind(format!("127.0.0.1:{}", 7600 + group.me().0)).await?;
        let stopped = async {
            // If the signal cannot be had, the service runs until it is killed.
            if tokio::signal::ctrl_c().await.is_err() {
                std::future::pending::<()>().await;
            }
        };
        axum::serve(listener, service(group.clone())).with_graceful_shutdown(stopped).await?;
        return Ok(group.shutdown().await?);
    }

    let place = Place::fresh(3)?;
    let (mut groups, mut addresses) = (Vec::new(), Vec::new());
    for node in ["n1", "n2", "n3"] {
        let group = place.node("web", node).start().await?;
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        addresses.push(listener.local_addr()?.to_string());
        groups.push(group.clone());
        tokio::spawn(async move { axum::serve(listener, service(group)).await });
    }
    local::gathered(&groups).await?;
    for (group, address) in groups.iter().zip(&addresses) {
        let (code, body) = fetch(address, "/leader").await?;
        println!("{} /leader: {code} {body}", group.me());
    }
    println!("n1 /status: {}", fetch(&addresses[0], "/status").await?.1);
    for group in groups {
        group.shutdown().await?;
    }
    Ok(())
}
