//! Connections without a listening socket, so that a fuzzer can be the client.

use std::net::Ipv4Addr;
use std::sync::Arc;

use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::oneshot;

use super::access::Token;
use super::connection::{self, Place};
use super::limits::Remote;
use super::{HttpError, Site, metrics};
use crate::agent::Agent;

/// What answers for an agent over HTTP, for one client at a time.
#[derive(Debug)]
pub(crate) struct Offline {
    site: Arc<Site>,
}

impl Offline {
    /// Answers for this agent.
    pub(crate) fn new(agent: &Agent) -> Result<Self, HttpError> {
        let token = Token::of(&agent.config().http)?;
        Ok(Self { site: Arc::new(Site::new(agent, token)) })
    }

    /// The page of metrics; none if the node does not answer.
    pub(crate) async fn metrics(&self) -> Option<String> {
        metrics::text(&self.site).await.ok()
    }

    /// Serves a client of the network for whom there is an ordinary place.
    pub(crate) async fn serve_remote<S>(&self, stream: S)
    where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        if let Some(permit) = self.site.ordinary.enter(remote()) {
            let place = Place::Ordinary { _permit: permit };
            connection::serve(stream, Arc::clone(&self.site), place).await;
        }
    }

    /// Serves a client of the network for whom there is none.
    pub(crate) async fn serve_reserve<S>(&self, stream: S)
    where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        let (done, is_done) = oneshot::channel();
        let site = Arc::clone(&self.site);
        self.site.reserve.serve(remote(), |slot| async move {
            connection::serve(stream, site, Place::Reserve(slot)).await;
            // The fuzzer waits for it, unless it has gone.
            let _ = done.send(());
        });
        // An error means that the connection was given up for another one.
        let _ = is_done.await;
    }

    /// Serves a client of the Unix socket.
    pub(crate) async fn serve_local<S>(&self, stream: S)
    where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        if let Ok(permit) = Arc::clone(&self.site.local).try_acquire_owned() {
            let place = Place::Local { _permit: permit };
            connection::serve(stream, Arc::clone(&self.site), place).await;
        }
    }
}

fn remote() -> Remote {
    Remote::from(std::net::IpAddr::from(Ipv4Addr::LOCALHOST))
}
