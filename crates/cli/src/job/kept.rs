//! What `tanist run` holds of a job: its keeper.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Signal, getpgrp};
use tokio::net::UnixStream;

use super::channel::Channel;
use super::descendants;
use super::ending::Ending;
use super::keeper::{OWN_NAME, OWN_PROGRAM, Order, Report};
use super::terminal;
use crate::process::descriptors;
use crate::process::reaper::{self, Awaited};
use crate::terminal::output;

/// A job that runs.
#[derive(Debug)]
pub(crate) struct Kept {
    keeper: Child,
    channel: Channel,
    _awaited: Awaited,
}

/// How a job ended. No process of it is left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Over {
    /// In order.
    Ended {
        /// How the command ended.
        ending: Ending,
        /// Whether it had been told to before.
        was_told: bool,
    },
    /// The keeper was killed.
    KeeperLost,
}

/// What a job holds until it is over.
#[derive(Debug)]
pub(crate) struct Held<'a> {
    /// The connection to the agent.
    pub(crate) connection: BorrowedFd<'a>,
    /// The node's port.
    pub(crate) port: Option<OwnedFd>,
}

impl Kept {
    /// Starts a command under a keeper. If it fails, no process is left.
    pub(crate) async fn start(
        command: &[OsString],
        environment: &BTreeMap<String, String>,
        grace: Duration,
        held: Held<'_>,
    ) -> io::Result<Self> {
        let (ours, theirs) = std::os::unix::net::UnixStream::pair()?;
        ours.set_nonblocking(true)?;
        let mut command_line = Command::new(OWN_PROGRAM);
        command_line
            .arg0(OWN_NAME)
            .arg("keep")
            .args(descriptors::original().map(|files| format!("--files={files}")))
            .arg("--")
            .args(command)
            .envs(environment)
            .stdin(Stdio::from(OwnedFd::from(theirs)))
            .process_group(0);
        let (keeper, awaited) = reaper::start(|| command_line.spawn(), |keeper| Some(keeper.id()))?;
        // It holds the keeper's end of the channel, whose closing must be noticed.
        drop(command_line);
        let channel = Channel::new(UnixStream::from_std(ours)?);
        let mut kept = Self { keeper, channel, _awaited: awaited };
        let started = kept.begin(grace, held).await;
        if started.is_err() {
            descendants::end_all().await;
        }
        started.map(|()| kept)
    }

    async fn begin(&mut self, grace: Duration, held: Held<'_>) -> io::Result<()> {
        // Before it listens, a key of the terminal would stop or end it.
        match self.channel.next().await? {
            Some(Report::Ready) => {}
            Some(Report::Refused | Report::Ended { .. }) | None => {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
        }
        let stdin = io::stdin();
        // Before the command can want it.
        let is_given = terminal::give(&stdin, Pid::from_child(&self.keeper));
        let order = Order::Start {
            grace_ms: u64::try_from(grace.as_millis()).unwrap_or(u64::MAX),
            terminal_of: is_given.then(|| getpgrp().as_raw_pid()),
        };
        let mut descriptors = vec![stdin.as_fd(), held.connection];
        descriptors.extend(held.port.as_ref().map(AsFd::as_fd));
        self.channel.put(&order, &descriptors).await
    }

    /// Asks all processes to end; those that have not within the grace are killed.
    pub(crate) async fn stop(&self) {
        self.tell(Order::Stop).await;
    }

    /// Kills all processes.
    pub(crate) async fn kill(&self) {
        self.tell(Order::Kill).await;
    }

    /// Sends the command a signal.
    pub(crate) async fn pass(&self, signal: Signal) {
        self.tell(Order::Pass { signal: signal.as_raw() }).await;
    }

    async fn tell(&self, order: Order) {
        // A keeper that is gone is noticed where its report is awaited.
        let _ = self.channel.put(&order, &[]).await;
    }

    /// Waits until no process of the job is left. May be cancelled and begun again.
    pub(crate) async fn over(&mut self) -> Over {
        let over = loop {
            match self.channel.next().await {
                // It was, before it was told to start.
                Ok(Some(Report::Ready)) => {}
                Ok(Some(Report::Refused)) => output::complain(REFUSED),
                Ok(Some(Report::Ended { ending, was_told })) => {
                    break Over::Ended { ending, was_told };
                }
                Ok(None) | Err(_) => break Over::KeeperLost,
            }
        };
        match over {
            // It has said its last word.
            Over::Ended { .. } => drop(self.keeper.wait()),
            Over::KeeperLost => descendants::end_all().await,
        }
        over
    }
}

const REFUSED: &str = "\
tanist: a process of the job has rights that this user does not have and cannot be told to end. \
Nobody else can run the job before it ends; end it with the rights that it has";
