//! How a node starts: its port, its disk, its thread.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;
use std::thread;

use tanist_core::policy::Objection;
use tanist_core::{GroupConfig, Membership, NodeId};
use tokio::sync::{mpsc, oneshot, watch};

use super::Group;
use crate::clock::Clock;
use crate::driver::application::Application;
use crate::driver::desk::Desk;
use crate::driver::{self, Closing, Driver, Inbox, Network, Parts, Request, Saver};
use crate::ended::Ended;
use crate::error::{Failure, StartError};
use crate::operations::Control;
use crate::settings::Settings;
use crate::spawner::Spawner;
use crate::status::{Identity, Shared};
use crate::store::{SaveError, Store};
use crate::task::{self, Ask, GroupTask};
use crate::trace_writer::{RecentTrace, TraceWriter};
use crate::transport::introduction::About;
use crate::transport::radio::{Antennas, Radio, RadioConfig, Reach};
use crate::transport::version::Versions;
use crate::transport::{self, Incoming, Limits, Secrets, Sockets, Transport};

/// Everything that a node needs to start, checked.
#[derive(Debug)]
pub(crate) struct Setup {
    pub(crate) name: Arc<str>,
    pub(crate) me: NodeId,
    pub(crate) peers: Vec<(NodeId, String)>,
    pub(crate) network: NetworkKind,
    pub(crate) config: GroupConfig,
    pub(crate) members: Membership,
    pub(crate) limits: Limits,
    pub(crate) data_dir: PathBuf,
    pub(crate) secrets: Secrets,
    pub(crate) versions: Versions,
    pub(crate) about: About,
    pub(crate) trace: Option<PathBuf>,
    pub(crate) objections: BTreeSet<Objection>,
}

/// How a node reaches others.
#[derive(Debug)]
pub(crate) enum NetworkKind {
    /// By links, and it listens here for theirs.
    Links { listen: String },
    /// Those around it, by broadcast.
    Radio(Reach),
}

impl NetworkKind {
    /// Takes the port or the interfaces that they need.
    fn open(&self) -> Result<Opened, StartError> {
        Ok(match self {
            Self::Links { listen } => Opened::Links(Sockets::bind(listen)?),
            Self::Radio(reach) => {
                Opened::Radio(Antennas::open(reach).map_err(transport::StartError::from)?)
            }
        })
    }
}

enum Opened {
    Links(Sockets),
    Radio(Antennas),
}

impl Opened {
    fn start(
        self,
        config: transport::Config,
        incoming: mpsc::Sender<Incoming>,
    ) -> Result<Network, StartError> {
        Ok(match self {
            Self::Links(sockets) => Network::Links(Transport::start(config, sockets, incoming)?),
            Self::Radio(antennas) => {
                let transport::Config { me, group, secrets, peers, limits, .. } = config;
                let peers = peers.into_iter().map(|(id, _)| id).collect();
                let suspect_after = limits.unacknowledged;
                let config =
                    RadioConfig { me, group, keyring: secrets.keyring, peers, suspect_after };
                Network::Radio(Radio::start(config, antennas, incoming)?)
            }
        })
    }
}

impl Group {
    pub(crate) async fn start(setup: Setup) -> Result<Self, StartError> {
        let (requests, asked) = mpsc::unbounded_channel();
        Self::launch(setup, None, requests, asked).await
    }

    pub(crate) async fn start_with<T: GroupTask>(
        setup: Setup,
        task: T,
    ) -> Result<Self, StartError> {
        let (requests, asked) = mpsc::unbounded_channel();
        let (asks, to_do) = mpsc::unbounded_channel();
        let inbox = requests.clone();
        let group = Self::launch(setup, Some(asks), requests, asked).await?;
        tokio::spawn(task::serve(task, to_do, move |answer| {
            // A driver that is gone needs no answer.
            let _ = inbox.send(Request::Answered(answer));
        }));
        Ok(group)
    }

    async fn launch(
        setup: Setup,
        task: Option<mpsc::UnboundedSender<Ask>>,
        requests: mpsc::UnboundedSender<Request>,
        asked: mpsc::UnboundedReceiver<Request>,
    ) -> Result<Self, StartError> {
        let shared = Arc::new(Shared::new(Clock::Machine));
        let recent = Arc::new(RecentTrace::new(&setup.name, &setup.config, &setup.members));
        let (ending, ended) = watch::channel(None);
        let (held, holders) = mpsc::channel(1);
        let control = Control::default();
        let group = Self {
            identity: Identity::new(&setup.name, setup.me, &setup.config, &setup.members),
            shared: Arc::clone(&shared),
            control: control.clone(),
            requests: requests.clone(),
            ended,
            recent: Arc::clone(&recent),
            spawner: Spawner::Runtime,
            _held: held,
        };
        let application = Application::new(task, requests);
        let (starting, started) = oneshot::channel();
        let name = format!("tanist-{}", setup.me);
        let body = move || {
            let stop_within = setup.config.timing().stop_within();
            let desk = Desk::new(setup.me, application, Arc::clone(&shared), control, stop_within);
            let inbox = Inbox { requests: asked, holders };
            let outcome = run(setup, Prepared { desk, inbox, shared, recent }, starting);
            ending.send_replace(outcome.map(Ended::of));
        };
        thread::Builder::new().name(name).spawn(body).map_err(StartError::Thread)?;
        match started.await {
            Ok(Ok(())) => Ok(group),
            Ok(Err(error)) => Err(error),
            Err(_) => Err(StartError::Thread(std::io::Error::other("the node's thread panicked"))),
        }
    }
}

/// What a node's thread is given at its start.
struct Prepared {
    desk: Desk,
    inbox: Inbox,
    shared: Arc<Shared>,
    recent: Arc<RecentTrace>,
}

/// What a node's thread does. None: the node did not start.
fn run(
    setup: Setup,
    prepared: Prepared,
    starting: oneshot::Sender<Result<(), StartError>>,
) -> Option<Result<(), Failure>> {
    let runtime = match driver::runtime() {
        Ok(runtime) => runtime,
        Err(error) => {
            // An error means that the caller does not wait for the start any more.
            let _ = starting.send(Err(StartError::Thread(error)));
            return None;
        }
    };
    let (outcome, closing) = runtime.block_on(async {
        match prepare(setup, prepared) {
            Ok((parts, closing)) => {
                let _ = starting.send(Ok(()));
                Some((Driver::run(parts).await, closing))
            }
            Err(error) => {
                let _ = starting.send(Err(error));
                None
            }
        }
    })?;
    // Its sockets are closed before anything waits for the disk: the others see the end at once.
    // A look-up of a peer's name that is still in progress is not waited for.
    runtime.shutdown_background();
    if !matches!(outcome, Err(Failure::Store(SaveError::Slow { .. }))) {
        closing.wait();
    }
    Some(outcome)
}

/// The port first, then the disk: a second start of the same node touches nothing.
fn prepare(setup: Setup, prepared: Prepared) -> Result<(Parts, Closing), StartError> {
    let Prepared { desk, inbox, shared, recent } = prepared;
    let Setup {
        name,
        me,
        peers,
        network,
        config,
        members,
        limits,
        data_dir,
        secrets,
        versions,
        about,
        trace,
        objections,
    } = setup;
    let opened_network = network.open()?;
    let opened = Store::open(&data_dir, me, &name)?;
    let limit = config.timing().suspect_after() / 2;
    let (saver, closing) = Saver::start(opened.store, limit).map_err(StartError::Thread)?;
    let trace = match trace {
        Some(path) => {
            let trace = TraceWriter::open(&path, &name, &config, &members);
            Some(trace.map_err(|cause| StartError::Trace { path, cause })?)
        }
        None => None,
    };
    let (arrivals, incoming) = mpsc::channel(INCOMING_MAX);
    let settings = Settings::of(&config, &members);
    let transport =
        transport::Config { me, group: name, secrets, settings, versions, about, peers, limits };
    let parts = Parts {
        me,
        config,
        members,
        saver,
        is_restarted: !opened.is_new,
        objections,
        network: opened_network.start(transport, arrivals)?,
        incoming,
        inbox,
        desk,
        shared,
        trace,
        recent,
    };
    Ok((parts, closing))
}

/// How much may have arrived and not been taken before the network is made to wait.
const INCOMING_MAX: usize = 1024;
