//! What answers for an agent while its node runs: the control socket, HTTP, and its health.

use tokio::task::JoinSet;

use super::Agent;
use crate::agent::health;
use crate::config::{Config, Sources};
use crate::control::server::Server;
use crate::http::{self, Http, HttpError};
use crate::problem::Problem;

/// The sockets of an agent, bound before its node starts: one that cannot be had ends the agent
/// before the others have elected it.
pub(crate) struct Listening {
    server: Option<Server>,
    http: http::Listening,
}

impl Listening {
    /// Binds what the configuration asks for.
    pub(crate) fn bind(sources: &Sources, config: &Config) -> Result<Self, Problem> {
        let server = config.socket.as_deref().map(Server::bind).transpose().map_err(|error| {
            Problem::of_start(error.is_temporary(), format!("{}: {error}", sources.name()))
        })?;
        let http = http::Listening::bind(config).map_err(|error| of_http(sources, &error))?;
        Ok(Self { server, http })
    }
}

fn of_http(sources: &Sources, error: &HttpError) -> Problem {
    Problem::of_start(error.is_temporary(), format!("{}: {error}", sources.name()))
}

/// What answers for an agent, until it is stopped.
#[derive(Debug)]
pub(crate) struct Services {
    tasks: JoinSet<()>,
    http: Http,
}

impl Services {
    /// Starts to answer.
    pub(crate) fn start(agent: &Agent, listening: Listening) -> Result<Self, Problem> {
        let mut tasks = JoinSet::new();
        if let Some(server) = listening.server {
            tasks.spawn(server.serve(agent.clone()));
        }
        let http = Http::start(agent, listening.http)
            .map_err(|error| of_http(&agent.inner.sources, &error))?;
        tasks.spawn(health::watch(agent.clone()));
        Ok(Self { tasks, http })
    }

    /// Ends the socket and the checks. HTTP goes on until what comes back is dropped, so that
    /// watchers are told of the end of the node.
    pub(crate) async fn stop(mut self) -> Http {
        self.tasks.shutdown().await;
        self.http
    }
}
