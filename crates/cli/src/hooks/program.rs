//! One run of a program: started without a shell, given its input, listened to, and ended if it
//! takes too long.
//!
//! One deadline covers all of it: looking at the program, starting, running and ending it. What can
//! hang happens in another process, of which [`super::launch`] is the beginning; the agent only
//! waits for it. A process that cannot even be killed keeps its place until the system lets go of
//! it; when all places are taken, further programs are not started.
//!
//! It gets a process group of its own, `/` as its directory, a fixed `PATH` and nothing else of the
//! agent's environment or descriptors. What it leaves running in the background when it ends in
//! time is left alone, but its output is not read any more.

use std::collections::BTreeMap;
use std::hash::{BuildHasher, RandomState};
use std::io;
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::{ExitStatus, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process_group};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::process::{Child, Command};
use tokio::sync::{Semaphore, mpsc};
use tokio::time::{Instant as Deadline, timeout, timeout_at};

use super::launch::Failure;
use crate::job::keeper::{OWN_NAME, OWN_PROGRAM};
use crate::process::descriptors;
use crate::process::reaper::{self, Awaited};

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
    /// Which programs it shares its places with.
    pub(crate) places: &'static Places,
}

/// How many programs of a kind may be there at once, those included that cannot be killed.
#[derive(Debug)]
pub(crate) struct Places(Semaphore);

impl Places {
    /// So many.
    pub(crate) const fn new(count: usize) -> Self {
        Self(Semaphore::const_new(count))
    }
}

/// For hooks. They run one at a time, so that all but one of these are for those that hang.
pub(crate) static HOOKS: Places = Places::new(4);

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
    #[error("{0}")]
    Refused(String),
    /// The system cannot start it.
    #[error("{0}")]
    Start(String),
    /// Earlier ones hang and cannot be killed.
    #[error(
        "{0} is not run: earlier programs hang and cannot be killed. See what they wait for, such \
         as a file server that is gone: ps -eo pid,stat,wchan:20,args"
    )]
    Stuck(PathBuf),
    /// The system lost it.
    #[error("it is not known how {path} ended: {error}. Look for it with: ps -ef")]
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
        let Ok(place) = self.places.0.try_acquire() else {
            return Err(RunError::Stuck(self.path));
        };
        let lost = |error| RunError::Lost { path: self.path.clone(), error };
        let (began, deadline) = (Instant::now(), Deadline::now() + self.limit);
        let mark = mark();
        let (mut child, awaited) = self.start(&mark)?;
        let mut group = ProcessGroup::of(&child);
        let mut lines = listen(&mut child);
        feed(&mut child, self.input.clone());

        let mut failure = None;
        let mut hear = |line: &str| match Failure::read(&mark, line) {
            Some(told) => failure = Some(told),
            None => hear(line),
        };
        let mut is_late = false;
        let ended = match timeout_at(deadline, attend(&mut child, &mut lines, &mut hear)).await {
            Ok(status) => Some(status),
            Err(_) => {
                is_late = true;
                end(&mut child, &group, &mut lines, &mut hear).await
            }
        };
        let took = began.elapsed();
        let Some(status) = ended else {
            group.release();
            tokio::spawn(async move {
                // It was killed and will end, if ever, before it runs another instruction.
                let _ = child.wait().await;
                drop((awaited, place));
            });
            return Ok(Ran { end: End::TimedOut, took });
        };
        group.release();
        let status = status.map_err(lost)?;
        // A process in the background may hold the pipes open.
        let rest = async {
            while let Some(line) = lines.recv().await {
                hear(&line);
            }
        };
        let _ = timeout(LAST_WORDS, rest).await;
        match failure {
            Some(Failure::Refused(why)) => Err(RunError::Refused(why)),
            Some(Failure::Start(why)) => Err(RunError::Start(why)),
            None => Ok(Ran { end: if is_late { End::TimedOut } else { way(status) }, took }),
        }
    }

    /// Starts this program, which becomes the other one.
    fn start(&self, mark: &str) -> Result<(Child, Awaited), RunError> {
        let files = descriptors::original().map(|files| format!("--files={files}"));
        let mut command = Command::new(OWN_PROGRAM);
        command
            .arg0(OWN_NAME)
            .arg("launch")
            .args(files)
            .arg(mark)
            .arg("--")
            .arg(&self.path)
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
        reaper::start(|| command.spawn(), Child::id).map_err(|error| {
            let path = self.path.display();
            RunError::Start(format!(
                "{path} cannot be started: {error}. See whether this user has too many processes \
                 (ulimit -u), and that /proc is mounted"
            ))
        })
    }
}

/// What no program says by accident.
fn mark() -> String {
    let chance = RandomState::new().hash_one(std::process::id());
    format!("tanist-launch-{chance:016x}")
}

/// Asks the whole process group to end, and ends it. None: it cannot be killed.
async fn end(
    child: &mut Child,
    group: &ProcessGroup,
    lines: &mut mpsc::Receiver<String>,
    hear: &mut impl FnMut(&str),
) -> Option<io::Result<ExitStatus>> {
    group.signal(Signal::TERM);
    let polite = timeout(GRACE, attend(child, lines, hear)).await;
    // Every process of the group that is left, whether or not its first process is gone.
    group.signal(Signal::KILL);
    match polite {
        Ok(status) => Some(status),
        Err(_) => timeout(KILL_MAX, child.wait()).await.ok(),
    }
}

/// The processes of a run. Dropping this ends them.
struct ProcessGroup {
    id: Option<Pid>,
}

impl ProcessGroup {
    fn of(child: &Child) -> Self {
        Self { id: child.id().and_then(|id| Pid::from_raw(i32::try_from(id).ok()?)) }
    }

    fn signal(&self, signal: Signal) {
        if let Some(id) = self.id {
            // An error means that no process is left.
            let _ = kill_process_group(id, signal);
        }
    }

    /// It has ended: what it left in the background is left alone.
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

/// Passes lines on, as long as they are read; of a flood only the beginning.
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
        ..=LINES_MAX => crate::terminal::output::plain(&String::from_utf8_lossy(line)),
        AFTER_LAST => format!("(more than {LINES_MAX} lines; the rest is not shown)"),
        _ => String::new(),
    };
    line.clear();
    if *told <= AFTER_LAST {
        // The receiver is gone: the reader notices at its next turn.
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
/// From the kill to the end; a process that waits for a device may never end.
const KILL_MAX: Duration = Duration::from_secs(1);
/// For what is still in the pipes when a program has ended.
const LAST_WORDS: Duration = Duration::from_millis(200);
/// A program that has not read its input by then does not want it.
const FEED_MAX: Duration = Duration::from_secs(60);
const LINE_MAX: usize = 4096;
const LINES_MAX: usize = 200;
const AFTER_LAST: usize = LINES_MAX + 1;

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_program_without_a_place_is_not_run() {
        static NONE: Places = Places::new(0);
        let program = Program {
            path: PathBuf::from("/bin/true"),
            arguments: Vec::new(),
            variables: BTreeMap::new(),
            input: Vec::new(),
            limit: Duration::from_secs(1),
            places: &NONE,
        };
        let refused = program.run(|_| {}).await;
        assert!(matches!(refused, Err(RunError::Stuck(_))), "{refused:?}");
    }
}
