//! `tanist keep`: the process between `tanist run` and its command, which nothing outlives.
//!
//! ```text
//!               told to stop, or the command ended         grace is over, told to kill,
//!   Running  ------------------------------------> Stopping ----+   `tanist run` or the agent gone
//!      |            TERM, CONT to all processes                  v
//!      +--------------------------------------------------> Killing --> none left: report, end
//! ```
//!
//! Its standard input is the channel to `tanist run`; the command's own comes over that channel. It
//! leads the process group of the command, so that it may give the terminal back in the end. It
//! holds, until the last process of the job is gone, the connection to the agent (so the agent does
//! not take the job for ended) and the node's port (so other nodes do not take the node for dead).

use std::ffi::{OsStr, OsString};
use std::future::pending;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::Context;
use rustix::net::Shutdown;
use rustix::process::{
    Pid, Signal, getpid, getppid, kill_process, set_parent_process_death_signal,
};
use serde::{Deserialize, Serialize};
use tokio::io::Interest;
use tokio::net::UnixStream;
use tokio::signal::unix::{self, SignalKind};
use tokio::time::Instant;

use super::channel::Channel;
use super::descendants;
use super::ending::{Ending, NOT_EXECUTABLE, NOT_FOUND};
use super::terminal;
use crate::exit::Exit;
use crate::terminal::output;

/// What a keeper is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "order", rename_all = "snake_case")]
pub(crate) enum Order {
    /// Start the command. With it come its standard input, the connection to the agent, and the
    /// node's port if there is one to hold.
    Start {
        /// How long the command has to end, once it is asked to.
        grace_ms: u64,
        /// The group that gets the terminal back, if the job was given one.
        terminal_of: Option<i32>,
    },
    /// Ask all processes to end; kill those that have not after the grace.
    Stop,
    /// Kill all processes.
    Kill,
    /// Send the command a signal.
    Pass {
        /// Its number.
        signal: i32,
    },
}

/// What a keeper says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "report", rename_all = "snake_case")]
pub(crate) enum Report {
    /// It hears every signal that a terminal sends, and may be given one.
    Ready,
    /// A process of the job may not be signalled by us.
    Refused,
    /// No process of the job is left.
    Ended {
        /// How its command ended.
        ending: Ending,
        /// Whether it had been told to before.
        was_told: bool,
    },
}

/// The life of a keeper.
pub(crate) fn keep(command: &[OsString]) -> anyhow::Result<Exit> {
    descendants::adopt_orphans()?;
    // One thread: the command is killed with the thread that started it.
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(live(command))?;
    Ok(Exit::Well)
}

/// The life of the process that becomes the command.
pub(crate) fn become_command(keeper: i32, command: &[OsString]) -> anyhow::Result<Exit> {
    set_parent_process_death_signal(Some(Signal::KILL))?;
    if getppid().map(Pid::as_raw_pid) != Some(keeper) {
        anyhow::bail!("error: the keeper of this command is gone, so it was not started");
    }
    let (program, arguments) = command.split_first().context("error: there is no command")?;
    let error = Command::new(program).args(arguments).exec();
    let name = program.to_string_lossy();
    output::complain(&format!(
        "error: cannot execute {name}: {error}. Nothing runs on this leader"
    ));
    let is_missing = error.kind() == io::ErrorKind::NotFound;
    Ok(Exit::Job(if is_missing { NOT_FOUND } else { NOT_EXECUTABLE }))
}

async fn live(command: &[OsString]) -> anyhow::Result<()> {
    // A group is signalled as a whole by terminals and by scripts (`kill 0`); the keeper stays.
    // They are listened to and not ignored, because what is ignored here would be ignored by the
    // command, too.
    let _heard = SWALLOWED.map(|number| unix::signal(SignalKind::from_raw(number.as_raw())));
    let children = unix::signal(SignalKind::child())?;
    let holds = unix::signal(SignalKind::from_raw(Signal::TSTP.as_raw()))?;
    let mut channel = Channel::new(control()?);
    channel.put(&Report::Ready, &[]).await?;
    let Some(Order::Start { grace_ms, terminal_of }) = channel.next().await? else {
        return Ok(());
    };
    let mut descriptors = channel.descriptors().into_iter();
    let stdin = descriptors.next().context("error: a keeper was given no standard input")?;
    let connection = descriptors.next().context("error: a keeper was given no agent")?;
    let port = descriptors.next();
    let connection = UnixStream::from_std(connection.into())?;
    let process = start(command, stdin.try_clone()?)?;
    let mut keeper = Keeper {
        channel,
        children,
        holds,
        command: process,
        ending: None,
        was_told: false,
        grace: Duration::from_millis(grace_ms),
        phase: Phase::Running,
        has_terminal: terminal_of.is_some(),
        is_led: true,
        is_attached: true,
        refusal: Refusal::None,
    };
    keeper.watch(&connection).await;
    keeper.leave(&stdin, connection, port, terminal_of).await;
    Ok(())
}

/// The channel that came as standard input.
fn control() -> io::Result<UnixStream> {
    let stream = std::os::unix::net::UnixStream::from(io::stdin().as_fd().try_clone_to_owned()?);
    stream.set_nonblocking(true)?;
    UnixStream::from_std(stream)
}

fn start(command: &[OsString], stdin: OwnedFd) -> io::Result<Pid> {
    let child = Command::new(OWN_PROGRAM)
        .arg0(OWN_NAME)
        .arg("become")
        .arg(getpid().as_raw_pid().to_string())
        .arg("--")
        .args(command.iter().map(OsStr::new))
        .stdin(Stdio::from(stdin))
        .spawn()?;
    Ok(Pid::from_child(&child))
}

#[derive(Debug)]
struct Keeper {
    channel: Channel,
    children: unix::Signal,
    /// ^Z, which the whole group gets.
    holds: unix::Signal,
    command: Pid,
    ending: Option<Ending>,
    was_told: bool,
    grace: Duration,
    phase: Phase,
    has_terminal: bool,
    /// Whether `tanist run` is there.
    is_led: bool,
    /// Whether the agent is there.
    is_attached: bool,
    refusal: Refusal,
}

/// Whether a process of the job may not be signalled by us.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Refusal {
    None,
    Seen,
    Told,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Running,
    Stopping { until: Instant },
    Killing,
}

impl Keeper {
    /// Until no process of the job is left.
    async fn watch(&mut self, connection: &UnixStream) {
        while self.reap() {
            self.tell_refusal().await;
            let phase = self.phase;
            tokio::select! {
                order = self.channel.next::<Order>(), if self.is_led => match order {
                    Ok(Some(order)) => self.on_order(order),
                    Ok(None) | Err(_) => {
                        self.is_led = false;
                        self.kill();
                    }
                },
                () = hung_up(connection), if self.is_attached => {
                    self.is_attached = false;
                    self.kill();
                }
                _ = self.children.recv() => {}
                // A shell that has called vfork cannot stop before its child continues, so neither
                // is reported to us. But the keeper is in their group and gets the key, too.
                _ = self.holds.recv() => self.go_on(),
                () = alarm(phase) => self.kill(),
            }
        }
    }

    fn on_order(&mut self, order: Order) {
        match order {
            Order::Stop => {
                self.was_told |= self.ending.is_none();
                if self.phase == Phase::Running {
                    self.stop();
                }
            }
            Order::Kill => {
                self.was_told |= self.ending.is_none();
                self.kill();
            }
            Order::Pass { signal } => {
                if let Some(signal) =
                    Signal::from_named_raw(signal).filter(|_| self.ending.is_none())
                {
                    // It may have ended already.
                    let _ = kill_process(self.command, signal);
                }
            }
            // There is one start.
            Order::Start { .. } => {}
        }
    }

    fn stop(&mut self) {
        self.signal_all(Signal::TERM);
        // Who is stopped hears it only when it goes on.
        self.signal_all(Signal::CONT);
        self.phase = Phase::Stopping { until: Instant::now() + self.grace };
    }

    fn kill(&mut self) {
        self.signal_all(Signal::KILL);
        self.phase = Phase::Killing;
    }

    fn signal_all(&mut self, signal: Signal) {
        if descendants::signal_all(signal) && self.refusal == Refusal::None {
            self.refusal = Refusal::Seen;
        }
    }

    /// Reaps children that have ended; says whether any is left.
    fn reap(&mut self) -> bool {
        let command = self.command;
        let mut ending = None;
        let mut is_held = false;
        let has_children = descendants::reap(|process, status| {
            is_held |= status.stopping_signal() == Some(Signal::TSTP.as_raw());
            if process == command {
                ending = Ending::of(status);
            }
        });
        if is_held {
            self.go_on();
        }
        self.ending = self.ending.or(ending);
        if has_children && self.ending.is_some() && self.phase == Phase::Running {
            self.stop();
        }
        has_children
    }

    /// A leader's job that ^Z holds would lead and do nothing, and no shell could continue it. The
    /// key holds the whole process group, so every process of it must continue.
    fn go_on(&mut self) {
        if self.has_terminal {
            self.signal_all(Signal::CONT);
        }
    }

    async fn tell_refusal(&mut self) {
        if self.refusal == Refusal::Seen {
            self.refusal = Refusal::Told;
            // If it is gone, the channel says so, too.
            let _ = self.channel.put(&Report::Refused, &[]).await;
        }
    }

    /// Lets go of everything, in the order in which others may rely on it.
    async fn leave(
        self,
        stdin: &OwnedFd,
        connection: UnixStream,
        port: Option<OwnedFd>,
        terminal_of: Option<i32>,
    ) {
        drop(port);
        if !self.is_attached {
            // An agent that has given us up still waits for the job's end. `tanist run` has the
            // connection, too, and may hang, so that closing ours would not tell.
            let _ = rustix::net::shutdown(&connection, Shutdown::Both);
        }
        drop(connection);
        if let Some(group) = terminal_of.and_then(Pid::from_raw) {
            terminal::give(stdin, group);
        }
        // The command was the first child and is reaped by now.
        let ending = self.ending.unwrap_or(Ending::Killed(KILLED));
        let report = Report::Ended { ending, was_told: self.was_told };
        let _ = self.channel.put(&report, &[]).await;
    }
}

/// Waits until the agent is gone or wants no more of us. What it says is for `tanist run` to read.
async fn hung_up(connection: &UnixStream) {
    while let Ok(ready) = connection.ready(Interest::READABLE).await {
        if ready.is_read_closed() {
            return;
        }
        // Nothing is read, only waited for again.
        let again = || Err::<(), _>(io::ErrorKind::WouldBlock.into());
        let _ = connection.try_io(Interest::READABLE, again);
    }
}

/// When to kill.
async fn alarm(phase: Phase) {
    match phase {
        Phase::Running => pending().await,
        Phase::Stopping { until } => tokio::time::sleep_until(until).await,
        Phase::Killing => tokio::time::sleep(descendants::AGAIN_AFTER).await,
    }
}

/// What reaches a whole group.
const SWALLOWED: [Signal; 7] = [
    Signal::TERM,
    Signal::INT,
    Signal::HUP,
    Signal::QUIT,
    Signal::USR1,
    Signal::USR2,
    Signal::ALARM,
];

const KILLED: u8 = 9;

/// This program, also when its file has been replaced meanwhile.
pub(crate) const OWN_PROGRAM: &str = "/proc/self/exe";

/// What it is called in lists of processes.
pub(crate) const OWN_NAME: &str = "tanist";
