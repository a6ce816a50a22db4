//! A real agent of a group of one, and a client that sends it any bytes.
//!
//! Not part of any API. [`Bench`] runs the same code as `tanist agent` between a connection and its
//! answers: hyper with our limits, the router, the control socket. It leaves out listening sockets
//! and whom they let in. Requests that wait for something are given up after a moment, so what an
//! input does may depend on how busy the machine is; what must hold does not.

use std::io;
use std::path::Path;
use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use anyhow::Context as _;
use tanist::GroupKey;
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader, ReadBuf};
use tokio::net::UnixStream;
use tokio::runtime::Runtime;

use crate::agent::Agent;
use crate::config::{Config, Sources};
use crate::control::connections::Connections;
use crate::control::protocol::{Answer, Ask};
use crate::control::server;
use crate::dev::plan::free_ports;
use crate::hooks::Hooks;
use crate::http::offline::Offline;

/// How a client comes in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// Over the network: it acts with [`TOKEN`] only.
    Remote,
    /// Over the network when all ordinary places are taken: it asks about health only.
    Reserve,
    /// On this machine, as the same user: it may do everything.
    Local,
}

/// An agent that answers whatever comes.
#[derive(Debug)]
pub struct Bench {
    // The agent's tasks end before the runtime does, and the folder goes last.
    running: Running,
    runtime: Runtime,
    folder: TempDir,
}

#[derive(Debug)]
struct Running {
    agent: Agent,
    http: Offline,
    connections: Connections,
    _hooks: Hooks,
}

impl Bench {
    /// Starts an agent in a temporary folder and waits until it leads.
    pub fn start() -> anyhow::Result<Self> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let folder = tempfile::tempdir()?;
        let running = runtime.block_on(start(folder.path()))?;
        Ok(Self { running, runtime, folder })
    }

    /// Everything that a client gets for these bytes, sent piece by piece, over HTTP.
    pub fn http(&mut self, way: Way, pieces: Vec<Vec<u8>>) -> anyhow::Result<Vec<u8>> {
        self.replace_if_left()?;
        let (answered, moved) = (Arc::default(), Arc::new(AtomicU64::new(0)));
        let script = Script::new(pieces, Arc::clone(&answered), Arc::clone(&moved));
        let http = &self.running.http;
        self.runtime.block_on(async {
            let serving = async {
                match way {
                    Way::Remote => http.serve_remote(script).await,
                    Way::Reserve => http.serve_reserve(script).await,
                    Way::Local => http.serve_local(script).await,
                }
            };
            // While bytes wait behind a request hyper does not read, so it learns from the next
            // write only that the client has gone; a watch writes every few seconds.
            let giving_up = async {
                let mut seen = None;
                while seen != Some(moved.load(Ordering::Relaxed)) {
                    seen = Some(moved.load(Ordering::Relaxed));
                    tokio::time::sleep(GIVE_UP).await;
                }
            };
            tokio::select! {
                () = serving => {}
                () = giving_up => {}
            }
        });
        let mut answered = answered.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(std::mem::take(&mut *answered))
    }

    /// The page of metrics, from which a document is made.
    pub fn metrics(&self) -> anyhow::Result<String> {
        let page = self.runtime.block_on(self.running.http.metrics());
        page.context("the node does not answer")
    }

    /// The lines that a client gets for these bytes over the control socket; as many as it waits
    /// for, or all until the agent closes the connection.
    pub fn control(&mut self, bytes: &[u8], wanted: Option<usize>) -> anyhow::Result<Vec<String>> {
        self.replace_if_left()?;
        Ok(self.runtime.block_on(converse(&self.running, bytes, wanted))?)
    }

    /// An agent that was told to leave answers nothing more.
    fn replace_if_left(&mut self) -> anyhow::Result<()> {
        if self.running.agent.is_leaving() {
            let folder = tempfile::tempdir()?;
            self.running = self.runtime.block_on(start(folder.path()))?;
            self.folder = folder;
        }
        Ok(())
    }
}

async fn start(folder: &Path) -> anyhow::Result<Running> {
    GroupKey::generate()?.write_new(&folder.join("group.key"))?;
    let token = folder.join("token");
    std::fs::write(&token, TOKEN)?;
    std::fs::set_permissions(&token, std::os::unix::fs::PermissionsExt::from_mode(0o600))?;
    let port = free_ports(1)?.into_iter().next().context("no free port")?;
    let place = folder.display();
    let text = format!(
        "group = \"fuzz\"\nnode = \"n1\"\npeers = [\"n1=127.0.0.1:{port}\"]\n\
         data_dir = \"{place}/data\"\nkey_file = \"{place}/group.key\"\n\
         [http]\nlisten = \"127.0.0.1:0\"\ntoken_file = \"{place}/token\"\n\
         allowed_hosts = [\"n1.example\"]\nallowed_origins = [\"https://pages.example\"]\n"
    );
    let file = folder.join("n1.toml");
    std::fs::write(&file, text)?;
    let sources = Sources { file: Some(file), ..Sources::default() };
    let config = Config::load(&sources)?;
    let (agent, hooks) = Agent::start(sources, config, false).await?;
    let deadline = Instant::now() + START_MAX;
    while !agent.group().role().is_leader() && Instant::now() < deadline {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    let (http, connections) = (Offline::new(&agent)?, Connections::new(agent.budget()));
    Ok(Running { agent, http, connections, _hooks: hooks })
}

/// Sends all bytes to the control socket's side of the agent and reads lines.
async fn converse(
    running: &Running,
    bytes: &[u8],
    wanted: Option<usize>,
) -> io::Result<Vec<String>> {
    let place = running.connections.enter().ok();
    let (ours, theirs) = UnixStream::pair()?;
    let (from, mut to) = ours.into_split();
    let reading = async {
        let (mut lines, mut from) = (Vec::new(), BufReader::new(from));
        while wanted.is_none_or(|wanted| lines.len() < wanted) {
            let mut line = String::new();
            match from.read_line(&mut line).await {
                Ok(0) | Err(_) => break,
                Ok(_) => lines.push(line),
            }
        }
        lines
    };
    let mut reading = pin!(reading);
    let rest = async {
        // An agent that has closed the connection takes no more.
        let writing = async {
            let _ = to.write_all(bytes).await;
            let _ = to.shutdown().await;
        };
        let _ = tokio::join!(server::converse(theirs, &running.agent, place), writing);
    };
    Ok(tokio::select! {
        lines = &mut reading => lines,
        () = rest => reading.await,
    })
}

/// What kind of question a line is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Question {
    /// Answered with one line; this is how we would write it.
    Plain(String),
    /// Answered with lines until one side goes.
    Watch {
        /// Whether the first line comes at once, whatever the node does.
        is_answered: bool,
    },
    /// A conversation about a job follows.
    Attach,
}

/// Reads a line as the control socket does.
#[must_use]
pub fn question(line: &str) -> Option<Question> {
    let ask: Ask = serde_json::from_str(line).ok()?;
    Some(match ask {
        Ask::Watch { after, .. } => Question::Watch { is_answered: after.is_none() },
        Ask::Attach { .. } => Question::Attach,
        Ask::Status
        | Ask::Members
        | Ask::Metrics
        | Ask::Settings
        | Ask::Views
        | Ask::History
        | Ask::Events
        | Ask::Act { .. }
        | Ask::Work
        | Ask::Cut { .. }
        | Ask::Heal
        | Ask::Keys => Question::Plain(serde_json::to_string(&ask).unwrap_or_default()),
    })
}

/// Whether a line is an answer, as `tanist status` and the others read it.
#[must_use]
pub fn is_answer(line: &str) -> bool {
    serde_json::from_str::<Answer>(line).is_ok()
}

/// A client that sends what it was told, waits a moment for an answer, and goes away.
#[derive(Debug)]
struct Script {
    pieces: std::vec::IntoIter<Vec<u8>>,
    piece: Vec<u8>,
    at: usize,
    answered: Arc<Mutex<Vec<u8>>>,
    /// Whether something was answered since the last bytes were read.
    has_answer: bool,
    ended: Option<Instant>,
    moved: Arc<AtomicU64>,
}

impl Script {
    fn new(pieces: Vec<Vec<u8>>, answered: Arc<Mutex<Vec<u8>>>, moved: Arc<AtomicU64>) -> Self {
        let pieces = pieces.into_iter();
        Self { pieces, piece: Vec::new(), at: 0, answered, has_answer: false, ended: None, moved }
    }
}

impl AsyncRead for Script {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        while self.at == self.piece.len() {
            let Some(piece) = self.pieces.next() else {
                let ended = *self.ended.get_or_insert_with(Instant::now);
                if self.has_answer || ended.elapsed() > ANSWER_MAX {
                    return Poll::Ready(Ok(()));
                }
                cx.waker().wake_by_ref();
                return Poll::Pending;
            };
            (self.piece, self.at) = (piece, 0);
        }
        let end = self.piece.len().min(self.at + into.remaining());
        into.put_slice(&self.piece[self.at..end]);
        self.at = end;
        self.has_answer = false;
        self.moved.fetch_add(1, Ordering::Relaxed);
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Script {
    fn poll_write(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.has_answer = true;
        self.moved.fetch_add(1, Ordering::Relaxed);
        self.answered.lock().unwrap_or_else(PoisonError::into_inner).extend_from_slice(bytes);
        Poll::Ready(Ok(bytes.len()))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

/// What allows actions over the network.
pub const TOKEN: &str = "0123456789abcdef0123456789abcdef";
/// The longest question on the control socket.
pub const QUESTION_MAX: u64 = server::QUESTION_MAX;
/// How long a client waits for its first answer: longer than the node needs to answer.
const ANSWER_MAX: Duration = Duration::from_millis(3);
/// How long a connection is served on which nothing moves.
const GIVE_UP: Duration = Duration::from_millis(20);
/// A group of one elects within this.
const START_MAX: Duration = Duration::from_secs(10);
