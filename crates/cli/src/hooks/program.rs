//! One run of a program: started without a shell, given its input, listened to, and ended if it
//! takes too long.
//!
//! It gets a process group of its own, `/` as its directory, a fixed `PATH` and nothing else of the
//! agent's environment or descriptors. What it leaves running in the background when it ends in
//! time is left alone, but nobody listens to it any more.

use std::collections::BTreeMap;
use std::io;
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::{ExitStatus, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process_group};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::process::{Child, Command};
use tokio::sync::mpsc;
use tokio::time::{Instant as Deadline, timeout, timeout_at};

use super::permission::{self, Refusal};
use crate::reaper::{self, Awaited};

/// A program to run.
#[derive(Clone, Debug)]
pub(crate) struct Program {
    /// Its absolute path.
    pub(crate) path: PathBuf,
    /// Its arguments.
    pub(crate) arguments: Vec<String>,
    /// Its environment, beside `PATH`.
    pub(crate) variables: BTreeMap<String, String>,
    /// What it can read.
    pub(crate) input: Vec<u8>,
    /// It is ended if it runs for longer.
    pub(crate) limit: Duration,
}

/// How a program that was started ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ran {
    /// In which way.
    pub(crate) end: End,
    /// After how long.
    pub(crate) took: Duration,
}

/// In which way a program ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// By itself, with this code.
    Code(i32),
    /// By a signal that was not ours.
    Signal(i32),
    /// It ran for too long.
    TimedOut,
}

/// Why a program was not run to its end.
#[derive(Debug, thiserror::Error)]
pub(crate) enum RunError {
    /// Others could have changed it, or it is not there.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// The system cannot start it.
    #[error("{path} cannot be started: {error}. Check that it is executable and its first line")]
    Start {
        /// The program.
        path: PathBuf,
        /// What the system says.
        error: io::Error,
    },
    /// The system lost it.
    #[error("nobody knows how {path} ended: {error}. Look for it with: ps -ef")]
    Lost {
        /// The program.
        path: PathBuf,
        /// What the system says.
        error: io::Error,
    },
}

impl Program {
    /// Runs it to its end, and hands on every line that it writes.
    pub(crate) async fn run(self, mut hear: impl FnMut(&str)) -> Result<Ran, RunError> {
        let (path, limit) = (self.path.clone(), self.limit);
        let lost = |error| RunError::Lost { path: path.clone(), error };
        let began = Instant::now();
        // A file system that hangs makes this wait, and nothing else of the agent.
        let started = tokio::task::spawn_blocking(move || self.start()).await;
        let (mut child, _awaited, input) =
            started.map_err(|error| lost(io::Error::other(error)))??;
        let mut group = ProcessGroup::of(&child);
        let mut lines = listen(&mut child);
        feed(&mut child, input);

        let deadline = Deadline::now() + limit;
        let mut is_late = false;
        let status = match timeout_at(deadline, attend(&mut child, &mut lines, &mut hear)).await {
            Ok(status) => status,
            Err(_) => {
                is_late = true;
                end(&mut child, &group, &mut lines, &mut hear).await
            }
        };
        group.release();
        let status = status.map_err(lost)?;
        let took = began.elapsed();
        // Something in the background may hold the pipes for ever.
        let rest = async {
            while let Some(line) = lines.recv().await {
                hear(&line);
            }
        };
        let _ = timeout(LAST_WORDS, rest).await;
        Ok(Ran { end: if is_late { End::TimedOut } else { way(status) }, took })
    }

    fn start(self) -> Result<(Child, Awaited, Vec<u8>), RunError> {
        permission::check(&self.path, rustix::process::geteuid().as_raw())?;
        let mut command = Command::new(&self.path);
        command
            .args(&self.arguments)
            .env_clear()
            .env("PATH", PATH)
            .envs(&self.variables)
            .current_dir("/")
            .process_group(0)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true);
        let started = reaper::start(|| command.spawn(), Child::id);
        let (child, awaited) =
            started.map_err(|error| RunError::Start { path: self.path, error })?;
        Ok((child, awaited, self.input))
    }
}

/// Asks the whole process group to end, and ends it.
async fn end(
    child: &mut Child,
    group: &ProcessGroup,
    lines: &mut mpsc::Receiver<String>,
    hear: &mut impl FnMut(&str),
) -> io::Result<ExitStatus> {
    group.signal(Signal::TERM);
    let polite = timeout(GRACE, attend(child, lines, hear)).await;
    // Whoever of the group is left, whether or not its first process has gone.
    group.signal(Signal::KILL);
    match polite {
        Ok(status) => status,
        Err(_) => child.wait().await,
    }
}

/// The processes of a run. Whoever stops waiting for its end ends it.
struct ProcessGroup {
    id: Option<Pid>,
}

impl ProcessGroup {
    fn of(child: &Child) -> Self {
        Self { id: child.id().and_then(|id| Pid::from_raw(i32::try_from(id).ok()?)) }
    }

    fn signal(&self, signal: Signal) {
        if let Some(id) = self.id {
            // An error means that nobody is left.
            let _ = kill_process_group(id, signal);
        }
    }

    /// It has ended: what it left in the background is its own.
    const fn release(&mut self) {
        self.id = None;
    }
}

impl Drop for ProcessGroup {
    fn drop(&mut self) {
        self.signal(Signal::KILL);
    }
}

/// Waits for the end, and hears what is said until then.
async fn attend(
    child: &mut Child,
    lines: &mut mpsc::Receiver<String>,
    hear: &mut impl FnMut(&str),
) -> io::Result<ExitStatus> {
    let mut is_silent = false;
    loop {
        tokio::select! {
            status = child.wait() => return status,
            line = lines.recv(), if !is_silent => match line {
                Some(line) => hear(&line),
                None => is_silent = true,
            },
        }
    }
}

/// Writes the input and closes it. A program that does not read it is none the worse.
fn feed(child: &mut Child, input: Vec<u8>) {
    if let Some(mut stdin) = child.stdin.take() {
        tokio::spawn(async move {
            let _ = timeout(FEED_MAX, stdin.write_all(&input)).await;
        });
    }
}

fn listen(child: &mut Child) -> mpsc::Receiver<String> {
    let (to, lines) = mpsc::channel(16);
    if let Some(stdout) = child.stdout.take() {
        tokio::spawn(pass_on(stdout, to.clone()));
    }
    if let Some(stderr) = child.stderr.take() {
        tokio::spawn(pass_on(stderr, to));
    }
    lines
}

/// Passes lines on, as long as somebody listens; of a flood only the beginning.
async fn pass_on(mut from: impl AsyncRead + Unpin, to: mpsc::Sender<String>) {
    let mut chunk = [0; 4096];
    let mut line = Vec::new();
    let mut told = 0;
    loop {
        let read = tokio::select! {
            read = from.read(&mut chunk) => read.unwrap_or(0),
            () = to.closed() => return,
        };
        for byte in &chunk[..read] {
            if *byte != b'\n' && line.len() < LINE_MAX {
                line.push(*byte);
                continue;
            }
            put(&to, &mut line, &mut told).await;
            if *byte != b'\n' {
                line.push(*byte);
            }
        }
        if read == 0 {
            if !line.is_empty() {
                put(&to, &mut line, &mut told).await;
            }
            return;
        }
    }
}

async fn put(to: &mpsc::Sender<String>, line: &mut Vec<u8>, told: &mut usize) {
    *told += 1;
    let text = match *told {
        ..=LINES_MAX => crate::output::plain(&String::from_utf8_lossy(line)),
        AFTER_LAST => format!("(more than {LINES_MAX} lines; the rest is not shown)"),
        _ => String::new(),
    };
    line.clear();
    if *told <= AFTER_LAST {
        // Nobody listens any more: the reader notices at its next turn.
        let _ = to.send(text).await;
    }
}

fn way(status: ExitStatus) -> End {
    match (status.code(), status.signal()) {
        (Some(code), _) => End::Code(code),
        (None, signal) => End::Signal(signal.unwrap_or_default()),
    }
}

/// Where programs that a program names are found.
const PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
/// From the request to end to the end.
pub(crate) const GRACE: Duration = Duration::from_secs(2);
/// For what is still in the pipes when a program has ended.
const LAST_WORDS: Duration = Duration::from_millis(200);
/// A program that has not read its input by then does not want it.
const FEED_MAX: Duration = Duration::from_secs(60);
const LINE_MAX: usize = 4096;
const LINES_MAX: usize = 200;
const AFTER_LAST: usize = LINES_MAX + 1;
