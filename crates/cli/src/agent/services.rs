//! What answers for an agent while its node runs: the control socket, HTTP, and its health.

use anyhow::Context;
use tokio::task::JoinSet;

use super::Agent;
use crate::health;
use crate::http::Http;
use crate::live::server::Server;
use crate::problem::Problem;

/// What answers for an agent, until it is stopped.
#[derive(Debug)]
pub(crate) struct Services {
    tasks: JoinSet<()>,
    http: Http,
}

impl Services {
    /// Starts what the configuration asks for.
    pub(crate) fn start(agent: &Agent) -> anyhow::Result<Self> {
        let mut tasks = JoinSet::new();
        if let Some(path) = &agent.config().socket {
            let fail = || format!("error: cannot listen on {}", path.display());
            let server = Server::bind(path).with_context(fail)?;
            tasks.spawn(server.serve(agent.clone()));
        }
        let http = Http::start(agent).map_err(|error| {
            Problem::BadFile(format!("{}: {error}", agent.inner.sources.name()))
        })?;
        tasks.spawn(health::watch(agent.clone()));
        Ok(Self { tasks, http })
    }

    /// Ends the socket and the checks. HTTP goes on until what comes back is dropped, so that
    /// whoever watches is told of the end of the node.
    pub(crate) async fn stop(mut self) -> Http {
        self.tasks.shutdown().await;
        self.http
    }
}
