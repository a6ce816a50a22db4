//! `tanist dev`: a throw-away group of real processes, and what can be done to it.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::Context;
use tanist::{Algorithm, GroupNumber, RoleKind};

use crate::control::protocol::Ask;
use crate::dev::directory::DevDirectory;
use crate::dev::group::{LocalGroup, Seen};
use crate::dev::orders::{self, Act};
use crate::dev::plan::{HttpPorts, Plan};
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
    act: Option<Act>,
    /// How many nodes.
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=200))]
    nodes: u32,
    /// Who elects.
    #[arg(long, default_value = "invitation", value_parser = super::algorithm)]
    algorithm: Algorithm,
    /// An option of the algorithm, as `tanist algorithms` lists them.
    #[arg(long = "option", value_name = "NAME=VALUE", value_parser = super::pair)]
    options: Vec<(String, String)>,
    /// Spread the nodes over so many racks, in order: super-peer makes a group of each.
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u32).range(1..=200))]
    racks: Option<u32>,
    /// A line of the timing table, for example heartbeat=100ms.
    #[arg(long = "timing", value_name = "NAME=VALUE", value_parser = super::pair)]
    timing: Vec<(String, String)>,
    /// Give the group so many pieces of work to share, a hundredth of a second each.
    #[arg(long, value_name = "PIECES", value_parser = clap::value_parser!(u32).range(1..=20_000))]
    work: Option<u32>,
    /// Keep the traces of all nodes in this directory when the group ends.
    #[arg(long, value_name = "DIR")]
    traces: Option<PathBuf>,
    /// End as soon as all nodes have agreed on a leader.
    #[arg(long)]
    once: bool,
}

impl Args {
    /// Runs a group, or tells the one that runs.
    pub(crate) fn run(&self) -> anyhow::Result<Exit> {
        match &self.act {
            Some(act) => orders::tell(act),
            None => self.host(),
        }
    }

    fn host(&self) -> anyhow::Result<Exit> {
        interrupt::listen();
        let directory = DevDirectory::take()?;
        let http = HttpPorts::reserve(self.nodes)?;
        let plan = Plan {
            nodes: self.nodes,
            algorithm: self.algorithm,
            options: self.options.clone(),
            racks: self.racks,
            timing: self.timing.clone(),
            is_traced: true,
            work: self.work,
            http: http.ports.clone(),
        };
        let begun = Instant::now();
        let mut show = Show { begun, agreed: None, work: (begun, String::new()) };
        let s = if self.nodes == 1 { "" } else { "s" };
        show.say(&format!("{} starts {} node{s}", self.algorithm.name(), self.nodes))?;
        show.say(&addresses(&http.ports))?;
        let mut group = LocalGroup::start(&plan, &directory.path)?;
        let orders = orders::listen(&directory.path)?;
        loop {
            if interrupt::is_asked() {
                break;
            }
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
        }
        drop((group, http));
        if let Some(target) = &self.traces {
            keep(&directory.path.join("traces"), target)?;
            show.say(&format!("the traces are in {}", target.display()))?;
        }
        drop(directory);
        show.say("all nodes are gone, and what they wrote")?;
        Ok(if self.once { Exit::Well } else { Exit::Interrupted })
    }
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
struct Show {
    begun: Instant,
    agreed: Option<Vec<GroupNumber>>,
    /// When the work was last looked at, and what was said of it.
    work: (Instant, String),
}

impl Show {
    fn say(&self, text: &str) -> anyhow::Result<()> {
        let seconds = self.begun.elapsed().as_secs_f64();
        Ok(output::print(&format!("{seconds:9.3}s  {text}\n"))?)
    }

    fn tell(&self, seen: &Seen) -> anyhow::Result<()> {
        match seen {
            Seen::Change(line) if line.role == RoleKind::Leader => {
                let others = line.members.iter().filter(|member| *member != line.node);
                let others: Vec<String> = others.map(|member| member.to_string()).collect();
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
        let who = if count == all {
            format!("all {all} nodes")
        } else {
            format!("{count} of {all} nodes")
        };
        let leaders = agreement.coordinators;
        let names: Vec<String> = leaders.iter().map(|leader| leader.to_string()).collect();
        let lead = if leaders.len() > 1 { "lead" } else { "leads" };
        self.say(&format!("{who} agree: {} {lead}", names.join(" ")))?;
        if let (None, Some(leader)) = (&self.agreed, leaders.last()) {
            self.say(&format!("try, in another terminal: tanist dev kill {leader}"))?;
            self.say(
                "                              tanist members; tanist watch; Ctrl-C here ends it",
            )?;
        }
        self.agreed = Some(agreement.group_numbers);
        Ok(true)
    }
}

impl Show {
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

fn keep(from: &Path, to: &Path) -> anyhow::Result<()> {
    fs::create_dir_all(to).with_context(|| format!("error: cannot make {}", to.display()))?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        fs::copy(entry.path(), to.join(entry.file_name()))?;
    }
    Ok(())
}

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

Every node is a process with its own disk and its own socket. Nothing is left behind.";
