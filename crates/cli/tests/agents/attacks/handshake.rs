//! Replayed and unfinished handshakes at the peer port, and a refused dial that means nothing.
//!
//! Two agents reach each other through proxies, so that a test can break their links at any time;
//! strangers connect to the agents directly.

use std::net::SocketAddr;
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use super::proxy::Proxy;
use super::samples::{are_linked, are_whole, group_number, watch};
use super::strangers::Strangers;
use crate::support::agent::Agent;
use crate::support::fleet::{Fleet, peers};
use crate::support::namespaces::Line;
use crate::support::wait::{LIMIT, until};

/// Agents n1 and n2, each behind a proxy.
struct Pair {
    agents: Vec<Agent>,
    proxies: Vec<Proxy>,
    fleet: Fleet,
}

impl Pair {
    fn start() -> Self {
        let fleet = Fleet::new(3);
        let proxies: Vec<Proxy> =
            (1..=2).map(|node| Proxy::start(fleet.spare(node), fleet.peer(node))).collect();
        let peers = peers((1..).zip(proxies.iter().map(Proxy::address)));
        let agents: Vec<Agent> = (1..=2)
            .map(|id| {
                let node = &format!("n{id}");
                let lines = [
                    ("peers", peers.clone()),
                    ("listen", format!("\"{}\"", fleet.peer(id))),
                    ("algorithm", "\"invitation\"".to_owned()),
                    ("timing", "{ suspect_after = \"2s\" }".to_owned()),
                ];
                fleet.configure_as(node, node, &lines);
                fleet.start(node)
            })
            .collect();
        let pair = Self { agents, proxies, fleet };
        until("one group", || pair.is_whole().then_some(()));
        pair
    }

    fn agents(&self) -> Vec<&Agent> {
        self.agents.iter().collect()
    }

    fn is_whole(&self) -> bool {
        are_whole(&self.agents(), &["n1", "n2"])
    }

    fn links_made(&self) -> Vec<u64> {
        self.agents.iter().map(|agent| agent.count("links_made")).collect()
    }

    /// Whether each agent has a link that it did not have before.
    fn is_relinked(&self, before: &[u64]) -> bool {
        let now = self.links_made();
        now.iter().zip(before).all(|(now, before)| now > before) && are_linked(&self.agents())
    }

    /// Breaks the links. Returns how many links each agent has had so far.
    fn cut(&self) -> Vec<u64> {
        let before = self.links_made();
        self.proxies.iter().for_each(Proxy::cut);
        before
    }

    /// Breaks the links, and holds new ones back until strangers have connected.
    fn cut_behind(&self, strangers: &[Strangers]) -> Vec<u64> {
        self.proxies.iter().for_each(Proxy::hold);
        let (before, connections) = (self.cut(), made(strangers));
        until("strangers", || (made(strangers) > connections + 10).then_some(()));
        self.proxies.iter().for_each(Proxy::release);
        before
    }

    /// Breaks the links, and waits until there are new ones and the group is whole.
    fn cut_and_mend(&self) {
        let before = self.cut();
        watch(&self.agents(), 1, || self.is_relinked(&before) && self.is_whole());
    }

    /// The first bytes of diallers, for each of the two agents. Broken links make both dial; for an
    /// agent that is never dialled, the recordings of the other are used.
    fn openings(&self) -> Vec<Vec<Vec<u8>>> {
        let recorded = || self.proxies.iter().map(Proxy::openings).collect::<Vec<_>>();
        for _ in 0..20 {
            if recorded().iter().all(|openings| !openings.is_empty()) {
                break;
            }
            self.cut_and_mend();
        }
        let all = recorded().concat();
        assert!(!all.is_empty(), "no dialler said anything");
        let or_all = |own: Vec<_>| if own.is_empty() { all.clone() } else { own };
        recorded().into_iter().map(or_all).collect()
    }

    /// Strangers at each agent's own port, once the attack has begun at both.
    fn strangers(
        &self,
        openings: Vec<Vec<Vec<u8>>>,
        begin: impl Fn(SocketAddr, Vec<Vec<u8>>) -> Strangers,
    ) -> Vec<Strangers> {
        let all: Vec<Strangers> = (1..)
            .zip(openings)
            .map(|(node, openings)| begin(self.fleet.peer(node), openings))
            .collect();
        until("strangers", || (made(&all) > 20).then_some(()));
        all
    }
}

/// How many connections were made at the agent that got fewer.
fn made(strangers: &[Strangers]) -> u64 {
    strangers.iter().map(Strangers::made).min().unwrap()
}

#[test]
fn links_that_break_behind_a_proxy_are_made_again() {
    let pair = Pair::start();
    let number = group_number(&pair.agents[0]);
    for _ in 0..3 {
        pair.cut_and_mend();
    }
    assert_eq!(group_number(&pair.agents[0]), number);
}

#[test]
fn a_replayed_handshake_keeps_no_peer_out() {
    let pair = Pair::start();
    let replay = pair.strangers(pair.openings(), Strangers::patient);
    for _ in 0..2 {
        let replayed = made(&replay);
        let before = pair.cut_behind(&replay);
        // So many samples take longer than either side waits for the other.
        watch(&pair.agents(), 500, || {
            made(&replay) > replayed + 250 && pair.is_relinked(&before) && pair.is_whole()
        });
    }
}

fn links_are_made_during_a_flood(pair: &Pair, flood: &[Strangers]) {
    for _ in 0..5 {
        let connections = made(flood);
        let before = pair.cut_behind(flood);
        watch(&pair.agents(), 1, || {
            made(flood) > connections + 1000 && pair.is_relinked(&before) && pair.is_whole()
        });
    }
}

#[test]
fn half_open_handshakes_at_the_highest_rate_keep_no_peer_out() {
    let pair = Pair::start();
    let flood = pair.strangers(pair.openings(), Strangers::fast);
    links_are_made_during_a_flood(&pair, &flood);
}

#[test]
fn silent_connections_at_the_highest_rate_keep_no_peer_out() {
    let pair = Pair::start();
    let silence = vec![vec![Vec::new()]; 2];
    let flood = pair.strangers(silence, Strangers::fast);
    links_are_made_during_a_flood(&pair, &flood);
}

/// Exactly one dial is refused: a rule in a network namespace resets every second connection,
/// beginning with the first.
#[test]
fn one_refused_dial_is_no_evidence_of_death() {
    if std::env::var_os(INSIDE).is_some() {
        return refuse_one_dial_at_a_time();
    }
    if !has_iptables() {
        return;
    }
    let Some(line) = Line::new(1) else { return };
    let is_up = line.command(1, "ip").args(["link", "set", "lo", "up"]).status().unwrap();
    assert!(is_up.success());
    // The same test again, in the namespace.
    let name = concat!(module_path!(), "::one_refused_dial_is_no_evidence_of_death");
    let (_, name) = name.split_once("::").unwrap();
    let program = std::env::current_exe().unwrap();
    let status = line
        .command(1, program.to_str().unwrap())
        .args(["--exact", name, "--nocapture"])
        .env(INSIDE, "1")
        .status()
        .unwrap();
    assert!(status.success(), "see above");
}

fn refuse_one_dial_at_a_time() {
    let pair = Pair::start();
    for attempt in 0..6 {
        // Alternately the leader's dial and the member's.
        let number = group_number(&pair.agents[0]);
        refuse_one_dial(&pair, attempt % 2);
        for agent in &pair.agents {
            let log = agent.log();
            assert_eq!(group_number(agent), number, "one refused dial was a death: {log}");
        }
    }
}

/// Breaks the links, refuses the first dial to one agent, and waits until the group is whole.
fn refuse_one_dial(pair: &Pair, at: usize) {
    let (refusing, held) = (&pair.proxies[at], &pair.proxies[1 - at]);
    // The refused agent must not be faster with a dial of its own.
    held.hold();
    let port = refusing.address().port().to_string();
    reset_every_second_connection("-A", &port);
    let before = dials_refused();
    let links = pair.cut();
    // The next dial follows soon, so this checks more often than other waits.
    let end = Instant::now() + LIMIT;
    while dials_refused() == before {
        assert!(Instant::now() < end, "no dial was refused");
        thread::sleep(Duration::from_micros(50));
    }
    held.release();
    watch(&pair.agents(), 1, || pair.is_relinked(&links) && pair.is_whole());
    reset_every_second_connection("-D", &port);
}

/// Adds or deletes the rule. Its counter begins at zero when it is added.
fn reset_every_second_connection(action: &str, port: &str) {
    let rule = format!(
        "{action} INPUT -p tcp --syn --dport {port} -m statistic --mode nth --every 2 --packet 0 \
         -j REJECT --reject-with tcp-reset"
    );
    assert!(Command::new("iptables").args(rule.split(' ')).status().unwrap().success(), "{rule}");
}

fn has_iptables() -> bool {
    let is_there = Command::new("iptables").arg("--version").output().is_ok();
    let must_be = std::env::var_os("TANIST_TEST_REQUIRE_NETNS").is_some();
    assert!(is_there || !must_be, "the package iptables is needed");
    if !is_there {
        eprintln!("skipped: needs iptables");
    }
    is_there
}

/// How many dials were refused in this network namespace.
fn dials_refused() -> u64 {
    let text = std::fs::read_to_string("/proc/self/net/snmp").unwrap();
    let mut lines = text.lines().filter(|line| line.starts_with("Tcp:"));
    let (names, values) = (lines.next().unwrap(), lines.next().unwrap());
    let mut pairs = names.split(' ').zip(values.split(' '));
    let (_, value) = pairs.find(|(name, _)| *name == "AttemptFails").unwrap();
    value.parse().unwrap()
}

/// Set in the process that runs in the namespace.
const INSIDE: &str = "ATTACK_INSIDE_NAMESPACE";
