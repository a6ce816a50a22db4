//! `tanist dev`: a throw-away group of real processes, and what can be done to it.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::Context;
use tanist::{Algorithm, GroupNumber, NodeId, RoleKind};

use crate::control::protocol::Ask;
use crate::dev::directory::DevDirectory;
use crate::dev::group::{LocalGroup, Seen};
use crate::dev::logs::Logs;
use crate::dev::orders::{self, Act};
use crate::dev::places;
use crate::dev::plan::{HttpPorts, Plan, check_flags, pace, paced_timing};
use crate::dev::work::Progress;
use crate::exit::Exit;
use crate::problem::Problem;
use crate::process::interrupt;
use crate::terminal::output;

/// Run a throw-away group of real processes on this machine, or do something to it.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES, args_conflicts_with_subcommands = true)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Option<Command>,
    /// The name of the group: several may run at once, each under its own.
    #[arg(long, value_name = "NAME", global = true, value_parser = name)]
    name: Option<String>,
    /// How many nodes.
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=200))]
    nodes: u32,
    /// Who elects.
    #[arg(long, default_value = "invitation", value_parser = super::algorithm)]
    algorithm: Algorithm,
    /// An option of the algorithm, as `tanist algorithms` lists them.
    #[arg(long = "option", value_name = "NAME=VALUE", value_parser = super::pair)]
    options: Vec<(String, String)>,
    /// Whether a higher node takes over from an established leader: never, always, or after 30s
    /// [default: never, where the algorithm allows it].
    #[arg(long, value_name = "WHEN")]
    preempt: Option<String>,
    /// Spread the nodes over so many racks, in order: super-peer makes a group of each.
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u32).range(1..=200))]
    racks: Option<u32>,
    /// A line of the timing table, for example heartbeat=100ms. Without any, more than 25 nodes get
    /// longer times than the defaults, since they share the cores of one machine.
    #[arg(long = "timing", value_name = "NAME=VALUE", value_parser = super::pair)]
    timing: Vec<(String, String)>,
    /// Give the group so many pieces of work to share, a hundredth of a second each.
    #[arg(long, value_name = "PIECES", value_parser = clap::value_parser!(u32).range(1..=20_000))]
    work: Option<u32>,
    /// Keep the traces of all nodes in this directory when the group ends.
    #[arg(long, value_name = "DIR")]
    traces: Option<PathBuf>,
    /// Put the files of all nodes into this directory, which is empty or made, and keep them there.
    /// Without it they are in a temporary directory, which is removed at the end.
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
    /// Listen at this port and those after it: first the nodes in order, then their HTTP in order.
    /// Without it at any free ports, and HTTP from 7480 on.
    #[arg(long, value_name = "PORT", value_parser = clap::value_parser!(u16).range(1..))]
    base_port: Option<u16>,
    /// End as soon as all nodes have agreed on a leader.
    #[arg(long)]
    once: bool,
}

/// What can be asked of a group that runs.
#[derive(Debug, clap::Subcommand)]
enum Command {
    #[command(flatten)]
    Act(Act),
    Logs(Logs),
}

impl Args {
    /// Runs a group, or does something to one that runs.
    pub(crate) fn run(&self) -> anyhow::Result<Exit> {
        let name = self.name.as_deref();
        match &self.command {
            Some(Command::Act(act)) => orders::tell(act, name),
            Some(Command::Logs(logs)) => logs.run(name),
            None => self.host(name.unwrap_or(places::DEV)),
        }
    }

    fn host(&self, name: &str) -> anyhow::Result<Exit> {
        check_flags(self.algorithm, &self.options, &self.timing)?;
        interrupt::listen();
        let directory = DevDirectory::take(name, self.dir.as_deref())?;
        let orders = orders::listen(&directory.path)?;
        let http = HttpPorts::reserve(self.nodes, self.base_port)?;
        let plan = self.plan(name, &http);
        let begun = Instant::now();
        let mut show = Show { name, begun, agreed: None, work: (begun, String::new()) };
        self.introduce(&show, &directory, &plan)?;
        let mut group = LocalGroup::start(&plan, &directory.path)?;
        let mut is_seen = true;
        while !interrupt::is_asked() && is_seen {
            while let Ok(order) = orders.try_recv() {
                order.carry_out(&mut group, |text| show.say(text))?;
            }
            match group.next(PULSE)? {
                Some(Seen::Refused(node, why)) => {
                    return Err(Problem::BadFile(format!("{node} does not start: {why}")).into());
                }
                Some(seen) => show.tell(&seen)?,
                None => {}
            }
            let has_agreed = show.agreement(&group)?;
            if self.work.is_some() {
                show.work(&group)?;
            }
            if has_agreed && self.once {
                break;
            }
            // `tanist dev | head` ends with head.
            is_seen = output::has_reader();
        }
        drop((group, http));
        if let Some(target) = &self.traces {
            keep(&directory.path.join("traces"), target)?;
            show.say(&format!("the traces are in {}", target.display()))?;
        }
        show.say(&end(directory))?;
        Ok(if self.once || !is_seen { Exit::Well } else { Exit::Interrupted })
    }

    fn plan(&self, name: &str, http: &HttpPorts) -> Plan {
        Plan {
            name: name.to_owned(),
            nodes: self.nodes,
            algorithm: self.algorithm,
            options: self.options.clone(),
            preempt: self.preempt.clone(),
            racks: self.racks,
            timing: paced_timing(self.nodes, &self.timing),
            is_traced: true,
            work: self.work,
            base_port: self.base_port,
            http: http.ports.clone(),
        }
    }

    /// What is started, and where it is found.
    fn introduce(
        &self,
        show: &Show<'_>,
        directory: &DevDirectory,
        plan: &Plan,
    ) -> anyhow::Result<()> {
        let s = if self.nodes == 1 { "" } else { "s" };
        show.say(&format!("{} starts {} node{s}", self.algorithm.name(), self.nodes))?;
        let path = directory.path.display();
        let until = if directory.is_kept { "" } else { ", until they end" };
        show.say(&format!("their files are in {path}{until}"))?;
        if self.timing.is_empty() && !plan.timing.is_empty() {
            let times = pace(self.nodes);
            show.say(&format!("timings: {times} times the defaults for so many nodes (--timing)"))?;
        }
        show.say(&addresses(&plan.http))
    }
}

/// Removes the files, unless they are kept, and says what became of them.
fn end(directory: DevDirectory) -> String {
    let path = directory.path.display().to_string();
    let is_kept = directory.is_kept;
    drop(directory);
    if is_kept {
        format!("all nodes stopped; their files are in {path}")
    } else {
        "all nodes stopped; their files are removed".to_owned()
    }
}

/// A name that can be part of a path and of a configuration.
fn name(text: &str) -> Result<String, String> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    let is_good = text.len() <= NAME_MAX
        && text.starts_with(|c: char| c.is_ascii_alphanumeric())
        && text.chars().all(is_plain);
    if is_good {
        return Ok(text.to_owned());
    }
    Err(format!(
        "expected letters, digits, - and _, at most {NAME_MAX} of them, a letter or digit first"
    ))
}

/// Where the nodes serve HTTP, all of them if they are few.
fn addresses(ports: &[u16]) -> String {
    let all: Vec<String> =
        ports.iter().zip(1..).map(|(port, id)| format!("n{id} http://127.0.0.1:{port}")).collect();
    match all.as_slice() {
        [first, .., last] if all.len() > LISTED_MAX => format!("{first}  …  {last}"),
        all => all.join("  "),
    }
}

/// What the user reads.
struct Show<'a> {
    /// The name of the group.
    name: &'a str,
    begun: Instant,
    agreed: Option<Vec<GroupNumber>>,
    /// When the work was last looked at, and what was said of it.
    work: (Instant, String),
}

impl Show<'_> {
    fn say(&self, text: &str) -> anyhow::Result<()> {
        let seconds = self.begun.elapsed().as_secs_f64();
        Ok(output::print(&format!("{seconds:9.3}s  {text}\n"))?)
    }

    fn tell(&self, seen: &Seen) -> anyhow::Result<()> {
        match seen {
            Seen::Change(line) if line.role == RoleKind::Leader => {
                let others = line.members.iter().filter(|member| **member != line.node);
                let others: Vec<String> = others.map(NodeId::to_string).collect();
                let with = match others.len() {
                    0 => "alone".to_owned(),
                    _ => format!("with {}", others.join(" ")),
                };
                let number = line.group_number;
                let number = number.map_or_else(|| "-".to_owned(), |number| number.to_string());
                self.say(&format!("{} leads group {number} {with}", line.node))
            }
            Seen::Change(_) => Ok(()),
            Seen::Stopped(node, why) | Seen::Refused(node, why) => {
                self.say(&format!("{node} ended by itself: {why}"))
            }
        }
    }

    /// Says it once when all nodes agree; whether that is so.
    fn agreement(&mut self, group: &LocalGroup) -> anyhow::Result<bool> {
        let awake = group.awake();
        let Some(agreement) = group.agreement(&awake) else { return Ok(false) };
        if self.agreed.as_ref() == Some(&agreement.group_numbers) {
            return Ok(true);
        }
        let (count, all) = (awake.len(), group.ids().len());
        let who = match (count, all) {
            (1, 1) => "the only node agrees".to_owned(),
            (_, _) if count == all => format!("all {all} nodes agree"),
            (_, _) => format!("{count} of {all} nodes agree"),
        };
        let leaders = agreement.coordinators;
        let names: Vec<String> = leaders.iter().map(|leader| leader.to_string()).collect();
        let lead = if leaders.len() > 1 { "lead" } else { "leads" };
        self.say(&format!("{who}: {} {lead}", names.join(" ")))?;
        if let (None, Some(leader)) = (&self.agreed, leaders.last()) {
            let (kill, look) = self.commands(&leader.to_string());
            self.say(&format!("try, in another terminal: {kill}"))?;
            self.say(&format!("                          {look}; Ctrl-C here ends it"))?;
        }
        self.agreed = Some(agreement.group_numbers);
        Ok(true)
    }
}

impl Show<'_> {
    /// Says how far the work of every group is, once a second while that changes.
    fn work(&mut self, group: &LocalGroup) -> anyhow::Result<()> {
        if self.work.0.elapsed() < LOOK {
            return Ok(());
        }
        self.work.0 = Instant::now();
        let mut parts = Vec::new();
        for (coordinator, members) in group.groups() {
            let all: Vec<Progress> =
                members.iter().filter_map(|node| group.ask(*node, &Ask::Work).ok()).collect();
            let Some(pieces) = all.iter().map(|progress| progress.pieces).max() else { continue };
            let duplicated = all.iter().map(|progress| progress.duplicated).max().unwrap_or(0);
            let done: BTreeSet<u32> =
                all.iter().flat_map(|progress| progress.done.keys().copied()).collect();
            let twice = match duplicated {
                0 => String::new(),
                _ => format!(", {duplicated} of them done twice and counted once"),
            };
            let done = done.len();
            parts.push(format!("{coordinator}'s group has done {done} of {pieces} pieces{twice}"));
        }
        let text = parts.join("; ");
        if !text.is_empty() && text != self.work.1 {
            self.say(&text)?;
            self.work.1 = text;
        }
        Ok(())
    }
}

/// What to try.
impl Show<'_> {
    /// A command that kills the leader, and one that shows the group; named if they need it.
    fn commands(&self, leader: &str) -> (String, String) {
        if self.name == places::DEV {
            return (
                format!("tanist dev kill {leader}"),
                "tanist members; tanist watch".to_owned(),
            );
        }
        let name = self.name;
        let look = format!("tanist members --node {name}/n1");
        (format!("tanist dev kill {leader} --name {name}"), look)
    }
}

fn keep(from: &Path, to: &Path) -> anyhow::Result<()> {
    fs::create_dir_all(to).with_context(|| format!("error: cannot make {}", to.display()))?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        fs::copy(entry.path(), to.join(entry.file_name()))?;
    }
    Ok(())
}

/// Longer names leave too little room for the paths of sockets.
const NAME_MAX: usize = 32;

/// More addresses do not fit into a line.
const LISTED_MAX: usize = 5;

/// How often the work is looked at.
const LOOK: Duration = Duration::from_secs(1);

/// How long an order from another terminal may wait while nothing happens.
const PULSE: Duration = Duration::from_millis(50);

const EXAMPLES: &str = "\
Examples:
  tanist dev                          five nodes, invitation; Ctrl-C ends them
  tanist dev --nodes 3 --algorithm bully
  tanist dev --nodes 60 --algorithm super-peer --racks 6
  tanist dev kill n5                  from another terminal, as all that follow
  tanist dev restart n5
  tanist dev cut n1,n2                two groups work on
  tanist dev heal                     and become one
  tanist dev --work 2000              give them something to do together
  tanist dev --traces run             keep what every node did; see: tanist trace check run
  tanist dev logs n5                  what a node wrote to its log; -f goes on
  tanist dev --name blue              a second group beside the first
  tanist dev kill n5 --name blue      and what is done to it
  tanist members --node blue/n1
  tanist dev --dir /tmp/try --base-port 7400
                                      files that stay, and ports that do not change

Every node is a process with its own disk and its own socket. Nothing is left behind without --dir
or --traces, also after Ctrl-C, SIGTERM and `tanist dev | head`. After kill -9 the nodes are gone,
and their directory goes when the next group of that name starts.";
