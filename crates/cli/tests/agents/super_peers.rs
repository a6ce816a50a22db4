//! Sixty agents on six racks: each rack elects its super-peer, the super-peers elect the top, and
//! when one crashes, only its own rack elects again.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::Value;

use crate::support::agent::ask;
use crate::support::dev::Dev;
use crate::support::heavy;
use crate::support::wait::within;

/// Sixty processes on a busy machine are slow.
const LIMIT: Duration = Duration::from_secs(600);
const NODES: usize = 60;
const PER_RACK: usize = 10;

/// What an agent answers over its socket.
fn ask_node(dev: &Dev, node: usize, what: &str) -> Option<Value> {
    ask(&dev.directory().join(format!("n{node}.sock")), what)
}

/// Who leads a rack, and under which number.
type Racks = BTreeMap<usize, (usize, String)>;

/// Waits until every running peer of each rack has one super-peer of its own rack, the super-peers
/// agree on the top, and no other node takes part above. Returns the leaders of the racks, and the
/// top.
fn settle(dev: &Dev, living: &[usize]) -> (Racks, usize) {
    let last = RefCell::new(Vec::new());
    let look = || {
        let all: BTreeMap<usize, Value> = living
            .iter()
            .filter_map(|node| Some((*node, ask_node(dev, *node, "status")?)))
            .collect();
        let short = |status: &Value| format!("{} {}", status["leader"]["node"], status["state"]);
        last.replace(all.iter().map(|(node, status)| (*node, short(status))).collect());
        settled(&all).filter(|_| all.len() == living.len())
    };
    within(LIMIT, look, || format!("settled racks; they are {:?}", last.borrow()))
}

fn settled(all: &BTreeMap<usize, Value>) -> Option<(Racks, usize)> {
    let mut racks = Racks::new();
    let mut top = None;
    for (node, status) in all {
        let (leader, number) =
            (named(&status["leader"]["node"])?, status["group_number"].as_str()?);
        let group = (leader, number.to_owned());
        let hierarchy = &status["hierarchy"];
        let is_super = leader == *node;
        let is_well = rack_of(leader) == rack_of(*node)
            && all.contains_key(&leader)
            && status["state"] == "normal"
            && racks.entry(rack_of(*node)).or_insert(group.clone()) == &group
            && hierarchy["super_peers"] == serde_json::json!([format!("n{leader}")])
            && hierarchy["level"] == u64::from(is_super);
        if !is_well {
            return None;
        }
        if is_super {
            let above = named(&hierarchy["coordinators"][0])?;
            if *top.get_or_insert(above) != above || hierarchy["is_top"] != (above == *node) {
                return None;
            }
        }
    }
    let top = top?;
    racks.values().any(|(leader, _)| *leader == top).then_some((racks, top))
}

const fn rack_of(node: usize) -> usize {
    (node - 1) / PER_RACK
}

fn named(name: &Value) -> Option<usize> {
    name.as_str()?.strip_prefix('n')?.parse().ok()
}

/// The peers with which a node has a link.
fn links(dev: &Dev, node: usize) -> Vec<usize> {
    let seen = ask_node(dev, node, "members").unwrap();
    let linked = seen["members"].as_array().unwrap().iter();
    let linked = linked.filter(|member| member["is_connected"] == true);
    linked.map(|member| member["node"].as_str().unwrap()[1..].parse().unwrap()).collect()
}

#[test]
fn sixty_agents_on_six_racks_survive_the_loss_of_a_super_peer() {
    let _turn = heavy::turn();
    // Sixty processes share a machine that may be busy; their speed is not tested.
    let patient = ["message_max=1s", "processing_max=2s", "heartbeat=5s"];
    let patient = patient.iter().chain(&["suspect_after=40s", "check_every=15s"]);
    let mut arguments = vec!["--nodes", "60", "--algorithm", "super-peer", "--racks", "6"];
    arguments.extend(patient.flat_map(|line| ["--timing", line]));
    let mut dev = Dev::start_within(&arguments, LIMIT);
    dev.agree("all 60 nodes");
    let mut living: Vec<usize> = (1..=NODES).collect();
    let (first, top) = settle(&dev, &living);
    let lost = first.values().map(|(leader, _)| *leader).find(|leader| *leader != top).unwrap();

    // A restarted node has links with its own rack only.
    let is_own = |node: &usize| rack_of(*node) == rack_of(lost);
    let peer = living.iter().copied().find(|node| is_own(node) && *node != lost).unwrap();
    dev.act(&["restart", &format!("n{peer}")]);
    let (before, _) = settle(&dev, &living);
    assert!(links(&dev, peer).iter().all(is_own), "n{peer}: {:?}", links(&dev, peer));

    dev.act(&["kill", &format!("n{lost}")]);
    living.retain(|node| *node != lost);
    let (after, _) = settle(&dev, &living);
    let lost_rack = rack_of(lost);
    let others = |racks: &Racks| {
        let mut others = racks.clone();
        others.remove(&lost_rack);
        others
    };
    assert_ne!(after[&lost_rack].0, lost);
    assert_eq!(others(&before), others(&after), "the other racks notice nothing");
}
