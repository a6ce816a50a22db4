//! How a simulated group is described before it starts.

use std::future::{Future, pending};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tanist_core::config::ConfigError;
use tanist_core::election::Algorithm;
use tanist_core::membership::HierarchyError;
use tanist_core::membership::MembershipError;
use tanist_core::options::{OptionError, Options};
use tanist_core::policy::Preempt;
use tanist_core::recall::RecallMode;
use tanist_core::timing::TimingError;
use tanist_core::{GroupConfig, GroupSettings, Member, Membership, NodeId, Priority};
use tanist_sim::monitors::Selection;
use tanist_sim::scenario::{Expect, Scenario};
use tanist_sim::world::application::Pace;
use tanist_sim::world::network::{Conditions, Delay};

use super::leader_check::LeaderCheck;
use super::name::Name;
use super::program::{Program, Programs};
use super::trial::Trial;
use super::world::{Setup, Work, World};
use crate::group::Group;
use crate::lead::Lead;
use crate::role::View;
use crate::task::GroupTask;
use crate::timing::Timing;

/// Describes a simulated group; [`WorldBuilder::start`] starts it.
///
/// Without further words it is what a live group of a data centre is: the invitation algorithm,
/// the default [`Timing`], messages that arrive in order within a few milliseconds and are never
/// lost, and machines that refuse connections to a process that is dead.
///
/// ```
/// use std::time::Duration;
/// use tanist::Algorithm;
/// use tanist::sim::{Idle, World};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let millis = Duration::from_millis;
/// let mut world = World::builder(7, 4)
///     .algorithm(Algorithm::Bully)
///     .priority(1, 100)
///     .delays(millis(1), millis(30))
///     .stop_takes(millis(20))
///     .start(|_| Idle)?;
/// world.run_until(World::is_one_group)?;
/// assert_eq!(world.groups()[0].coordinator, tanist::NodeId(1));
/// # Ok(()) }
/// ```
#[must_use = "a builder does nothing until it is started"]
pub struct WorldBuilder<T> {
    name: String,
    seed: u64,
    nodes: u32,
    priorities: Vec<(NodeId, u32)>,
    algorithm: Algorithm,
    options: Vec<(String, String)>,
    preempt: Option<Preempt>,
    timing: Timing,
    conditions: Conditions,
    pace: Pace,
    limit: Duration,
    save_to: PathBuf,
    work: Option<Work<T>>,
    program: Option<Program>,
    checks: Vec<LeaderCheck>,
    trial: Option<Trial>,
}

impl<T: GroupTask> WorldBuilder<T> {
    pub(super) fn new(seed: u64, nodes: u32) -> Self {
        let delay =
            Delay::Uniform { min: Duration::from_micros(200), max: Duration::from_millis(5) };
        Self {
            name: "tanist::sim".to_owned(),
            seed,
            nodes,
            priorities: Vec::new(),
            algorithm: Algorithm::Invitation,
            options: Vec::new(),
            preempt: None,
            timing: Timing::default(),
            conditions: Conditions {
                delay,
                is_fifo: true,
                loss_ppm: 0,
                duplicate_ppm: 0,
                has_refusals: true,
            },
            pace: Pace::default(),
            limit: Duration::from_secs(60),
            save_to: std::env::temp_dir(),
            work: None,
            program: None,
            checks: Vec::new(),
            trial: None,
        }
    }

    /// Makes the world part of a trial.
    pub(super) fn of(mut self, trial: Trial) -> Self {
        self.trial = Some(trial);
        self
    }

    /// What stories and pictures of this world are called, for example the name of the test.
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = name.into();
        self
    }

    /// The priority of a node; without one it is its number.
    pub fn priority(mut self, node: impl Name, priority: u32) -> Self {
        self.priorities.push((node.node(), priority));
        self
    }

    /// The algorithm; [`Algorithm::Invitation`] if not given.
    pub fn algorithm(mut self, algorithm: Algorithm) -> Self {
        self.algorithm = algorithm;
        self
    }

    /// An option of the algorithm, as `tanist algorithms` lists them.
    pub fn option(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.options.push((name.into(), value.into()));
        self
    }

    /// Whether a node of higher priority takes over from an established leader; if not given, as in
    /// [`Builder::preempt`](crate::Builder::preempt).
    pub const fn preempt(mut self, preempt: Preempt) -> Self {
        self.preempt = Some(preempt);
        self
    }

    /// Bounds and periods; the default if not given.
    pub fn timing(mut self, timing: Timing) -> Self {
        self.timing = timing;
        self
    }

    /// How long messages take: anything between the two, equally likely.
    pub fn delays(mut self, least: Duration, most: Duration) -> Self {
        self.conditions.delay = Delay::Uniform { min: least, max: most };
        self
    }

    /// How many of a million messages are lost; none if not given, as over live connections.
    pub fn loss_ppm(mut self, ppm: u32) -> Self {
        self.conditions.loss_ppm = ppm;
        self
    }

    /// How many of a million messages arrive twice; none if not given, as over live connections.
    pub fn duplicates_ppm(mut self, ppm: u32) -> Self {
        self.conditions.duplicate_ppm = ppm;
        self
    }

    /// How long a task takes to stop; no time if not given.
    pub fn stop_takes(mut self, span: Duration) -> Self {
        self.pace.stop = span;
        self
    }

    /// How long a coordinator's task takes to plan; no time if not given.
    pub fn plan_takes(mut self, span: Duration) -> Self {
        self.pace.plan = span;
        self
    }

    /// How much simulated time [`World::run_until`] gives its condition to come true; a minute if
    /// not given.
    pub fn limit(mut self, limit: Duration) -> Self {
        self.limit = limit;
        self
    }

    /// Where stories and pictures of failed runs go; the system's temporary directory if not given.
    pub fn save_to(mut self, directory: impl Into<PathBuf>) -> Self {
        self.save_to = directory.into();
        self
    }

    /// What a task does with its time: called this often for every node that is up, runs, and is
    /// between `start` and `stop`.
    ///
    /// A period of no time is taken as a microsecond.
    ///
    /// ```
    /// # use std::time::Duration;
    /// # use tanist::sim::World;
    /// # use tanist::{GroupTask, Reports, View};
    /// struct Ticks(u32);
    /// # impl GroupTask for Ticks {
    /// #     type Report = ();
    /// #     type Plan = ();
    /// #     async fn stop(&mut self, _: &View) {}
    /// #     async fn plan(&mut self, _: &View, _: Reports<()>) {}
    /// #     async fn start(&mut self, _: &View, (): ()) {}
    /// # }
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let mut world = World::builder(7, 3)
    ///     .work(Duration::from_millis(100), |ticks: &mut Ticks, _view| ticks.0 += 1)
    ///     .start(|_| Ticks(0))?;
    /// world.run_until(World::is_one_group)?;
    /// let before = world.task(2).map(|ticks| ticks.0);
    /// world.run_for(Duration::from_secs(1));
    /// assert_eq!(world.task(2).map(|ticks| ticks.0), before.map(|ticks| ticks + 10));
    /// # Ok(()) }
    /// ```
    pub fn work(mut self, every: Duration, step: impl FnMut(&mut T, &View) + 'static) -> Self {
        let every = every.max(Duration::from_micros(1));
        self.work = Some(Work::new(every, Box::new(step)));
        self
    }

    /// What runs around every node: your own program, with the [`Group`] that it has live. Called
    /// once for each incarnation of a node; a crash drops it where it stands, a pause stops it.
    ///
    /// tokio's clock is the simulated one in there, so `lead.sleep`, `tokio::time::sleep` and
    /// `timeout` work and cost no real time. See [Programs](super#programs) for what does not.
    ///
    /// ```
    /// use std::sync::{Arc, Mutex};
    /// use tanist::sim::{Idle, World};
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let said = Arc::new(Mutex::new(Vec::new()));
    /// let heard = Arc::clone(&said);
    /// let mut world = World::builder(7, 3)
    ///     .program(move |group| {
    ///         let said = Arc::clone(&said);
    ///         async move {
    ///             let mut roles = group.roles();
    ///             while let Some(role) = roles.next().await {
    ///                 said.lock().expect("no panic").push(format!("{} {role}", group.me()));
    ///             }
    ///         }
    ///     })
    ///     .start(|_| Idle)?;
    /// world.run_until(World::is_one_group)?;
    /// world.run_for(std::time::Duration::from_millis(1)); // programs hear of it at the next one
    /// let heard = heard.lock().expect("no panic");
    /// assert!(heard.iter().any(|line| line.ends_with("of {n1 n2 n3} under n3")), "{heard:?}");
    /// # Ok(()) }
    /// ```
    pub fn program<F>(mut self, mut program: impl FnMut(Group) -> F + 'static) -> Self
    where
        F: Future<Output = ()> + Send + 'static,
    {
        self.program = Some(Box::new(move |group| Box::pin(program(group))));
        self
    }

    /// Runs a job on the node that leads, as [`Group::while_leader`] does live: the same function,
    /// the same rules, in simulated time. A job that returns during its leadership is not run again
    /// by that incarnation of its node, which remains a member.
    ///
    /// ```
    /// use std::sync::{Arc, atomic::{AtomicU64, Ordering}};
    /// use std::time::Duration;
    /// use tanist::sim::{Idle, World};
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let rounds = Arc::new(AtomicU64::new(0));
    /// let counted = Arc::clone(&rounds);
    /// let mut world = World::builder(7, 3)
    ///     .while_leader(Duration::from_secs(5), move |lead| {
    ///         let counted = Arc::clone(&counted);
    ///         async move {
    ///             while lead.sleep(Duration::from_secs(60)).await.is_leading() {
    ///                 counted.fetch_add(1, Ordering::Relaxed);
    ///             }
    ///         }
    ///     })
    ///     .start(|_| Idle)?;
    /// world.run_for(Duration::from_secs(3600)); // an hour, and no time at all
    /// assert_eq!(rounds.load(Ordering::Relaxed), 59);
    /// # Ok(()) }
    /// ```
    pub fn while_leader<J>(
        self,
        grace: Duration,
        job: impl FnMut(Lead) -> J + Send + 'static,
    ) -> Self
    where
        J: Future<Output: Send> + Send + 'static,
    {
        let job = Arc::new(Mutex::new(job));
        self.program(move |group| {
            let job = Arc::clone(&job);
            async move {
                let begin = move |lead| (job.lock().unwrap_or_else(PoisonError::into_inner))(lead);
                // However it ends, the node remains a member as long as its handle is held.
                let _ = group.while_leader(grace, begin).await;
                pending::<()>().await;
                drop(group);
            }
        })
    }

    /// Lets a check judge who acts as the leader when; more than one may be given.
    pub fn check(mut self, check: &LeaderCheck) -> Self {
        self.checks.push(check.clone());
        self
    }

    /// Starts all nodes. The function makes the task of a node, once for each of its incarnations.
    ///
    /// # Errors
    /// If no live group could be started like this.
    pub fn start(self, make: impl FnMut(NodeId) -> T + 'static) -> Result<World<T>, SetupError> {
        let algorithm = self.algorithm;
        if algorithm.descriptor().handover.is_none() {
            return Err(SetupError::NoHandover(algorithm.name()));
        }
        if let Some((node, _)) =
            self.priorities.iter().find(|(node, _)| node.0 == 0 || node.0 > self.nodes)
        {
            self.trial.iter().for_each(Trial::is_misnamed);
            return Err(SetupError::Stranger { node: *node, nodes: self.nodes });
        }
        let members = (1..=self.nodes).map(|number| {
            let id = NodeId(number);
            let given = self.priorities.iter().rev().find(|(node, _)| *node == id);
            Member { priority: Priority(given.map_or(number, |(_, priority)| *priority)), id }
        });
        let members = Membership::new(members.collect::<Vec<_>>())?;
        let mut options = Options::default();
        for (name, value) in &self.options {
            options.set(algorithm, name, value)?;
        }
        let timing = tanist_core::Timing::new(self.timing.into())?;
        let usual = GroupSettings::new(algorithm, timing);
        let preempt = self.preempt.unwrap_or_else(|| Preempt::usual(algorithm, &options));
        let settings = GroupSettings { options, recall: RecallMode::On, preempt, ..usual };
        // The groups follow from the rest whenever the world is made.
        members.clone().arranged(&GroupConfig::new(settings)?)?;
        let scenario = Scenario {
            name: self.name,
            about: String::new(),
            settings,
            members,
            timing: self.timing.into(),
            seed: self.seed,
            end: self.limit,
            stops_at_break: false,
            steps: Vec::new(),
            conditions: self.conditions,
            topology: tanist_sim::world::topology::Topology::Whole,
            rules: Vec::new(),
            pace: self.pace,
            groups: Vec::new(),
            down: Vec::new(),
            faults: Vec::new(),
            // A cut or a pause takes the bully out of its model; what holds there is still watched.
            selection: Selection { is_beyond_model: true, ..Selection::STANDARD },
            expect: Expect::default(),
        };
        let programs = self.program.map(Programs::new).transpose().map_err(SetupError::Runtime)?;
        Ok(World::from(Setup {
            scenario,
            make: Box::new(make),
            work: self.work,
            programs,
            checks: self.checks,
            save_to: self.save_to,
            trial: self.trial,
        }))
    }
}

/// Why a simulated group could not be started.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SetupError {
    /// No nodes.
    #[error(transparent)]
    Members(#[from] MembershipError),
    /// A priority for a node that does not exist.
    #[error(
        "{node} was given a priority, but the world has nodes n1 to n{nodes} only, so no node would \
         use it; ask for more nodes or leave it out"
    )]
    Stranger {
        /// Who.
        node: NodeId,
        /// How many nodes there are.
        nodes: u32,
    },
    /// The system gave no runtime for programs.
    #[error("no runtime for the programs of the nodes could be made: {0}")]
    Runtime(std::io::Error),
    /// Waits that cannot work.
    #[error("these timings cannot work: {0}")]
    Timing(#[from] TimingError),
    /// An option that the algorithm does not have.
    #[error(transparent)]
    Option(#[from] OptionError),
    /// Settings that do not fit each other.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// Options of super-peers that contradict each other.
    #[error(transparent)]
    Hierarchy(#[from] HierarchyError),
    /// An algorithm that hands nothing over.
    #[error(
        "{0} hands no state to its group, so a GroupTask would never start. Choose `Invitation` or \
         `Bully`"
    )]
    NoHandover(&'static str),
}
