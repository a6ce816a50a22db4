//! Keys that change while links are up: rotation, identities, and links that grow old.

use std::collections::BTreeMap;
use std::time::Duration;

use tanist::key::{GroupKey, Identities, NodeKey, Proof, PublicKey};
use tanist::transport::handshake::{Answer, Hello, Refusal};
use tanist::transport::{Limits, PeerView};
use tanist_core::membership::NodeId;

use super::node::{Node, Plan, bind, until};
use super::rogue::{Rogue, expect_closed, hello, write_message};

/// What a node knows about another.
fn view(of: &Node, peer: &Node) -> PeerView {
    let id = peer.id;
    let peers = of.call(|transport| transport.peers());
    peers.into_iter().find(|view| view.id == id).unwrap()
}

/// Sends a frame each way, and waits for both.
fn talk(nodes: &[Node]) {
    for (from, to) in [(0, 1), (1, 0)] {
        let before = nodes[to].frames_from(&nodes[from]).len();
        nodes[from].send(&nodes[to], before as u64);
        nodes[to].expect_frames(&nodes[from], before + 1);
    }
}

/// Waits until a node's view of another is as wanted.
fn expect_view(of: &Node, peer: &Node, what: &str, wanted: impl Fn(&PeerView) -> bool) {
    until(what, || {
        let seen = view(of, peer);
        if wanted(&seen) { Ok(()) } else { Err(format!("{seen:?}")) }
    });
}

fn set(node: &Node, plan: &Plan) {
    let secrets = plan.secrets();
    node.call(move |transport| transport.set_secrets(secrets));
}

#[test]
fn a_key_is_rotated_without_losing_a_link_or_a_frame() {
    let old = Plan::new();
    let new_key = GroupKey::generate().unwrap();
    let nodes = old.start(2);
    talk(&nodes);
    let both = Plan { more: vec![new_key.clone()], ..old.clone() };
    let switched = Plan { key: new_key.clone(), more: vec![old.key.clone()], ..old.clone() };
    let only_new = Plan { key: new_key.clone(), more: Vec::new(), ..old.clone() };
    for plan in [&both, &switched, &only_new] {
        for node in &nodes {
            set(node, plan);
            talk(&nodes);
        }
    }
    for (of, peer) in [(0, 1), (1, 0)] {
        let id = new_key.id();
        expect_view(&nodes[of], &nodes[peer], "the new key", |view| view.key == Some(id));
    }
    talk(&nodes);
    for node in &nodes {
        let counters = node.counters();
        assert_eq!((counters.links_lost, counters.frames_dropped), (0, 0), "{}", node.id);
        assert_eq!(node.gone_count(), 0);
    }
}

#[test]
fn a_link_under_a_key_that_is_removed_everywhere_else_is_closed() {
    let plan = Plan::new();
    let nodes = plan.start(2);
    talk(&nodes);
    let other = Plan { key: GroupKey::generate().unwrap(), ..plan.clone() };
    set(&nodes[0], &other);
    expect_view(&nodes[1], &nodes[0], "no link", |view| !view.is_connected);
    nodes[1].send(&nodes[0], 9);
    nodes[1].until_counted("a failed dial", |counters| counters.dials_failed >= 1);
    assert_eq!(nodes[1].gone_count(), 0);
}

#[test]
fn an_old_link_is_replaced_by_one_with_new_keys_and_no_frame_is_lost() {
    let limits = Limits { rekey: Duration::from_millis(20), ..Plan::new().limits };
    let by_age = Plan { limits, ..Plan::new() };
    let limits = Limits { rekey_records: 10, ..Plan::new().limits };
    let by_records = Plan { limits, ..Plan::new() };
    for plan in [by_age, by_records] {
        let nodes = plan.start(2);
        let mut count = 0;
        let is_enough = |node: &Node| node.counters().links_rekeyed >= 5;
        while !nodes.iter().any(is_enough) {
            count += 1;
            nodes[0].send(&nodes[1], count);
            nodes[1].send(&nodes[0], count);
            nodes[0].expect_frames(&nodes[1], count as usize);
        }
        let all: Vec<u64> = (1..=count).collect();
        assert_eq!(nodes[1].expect_frames(&nodes[0], all.len()), all);
        assert_eq!(nodes[0].expect_frames(&nodes[1], all.len()), all);
        assert!(nodes.iter().all(|node| node.counters().links_lost == 0));
    }
}

/// Key pairs of two nodes, and what each is told.
struct Owners {
    keys: [NodeKey; 2],
}

impl Owners {
    fn new() -> Self {
        Self { keys: std::array::from_fn(|_| NodeKey::generate().unwrap()) }
    }

    fn of(&self, node: usize, listed: &[usize], is_required: bool) -> Identities {
        let line = |at: &usize| (NodeId(*at as u32 + 1), self.keys[*at].public());
        let peers: BTreeMap<NodeId, PublicKey> = listed.iter().map(line).collect();
        Identities::new(self.keys[node].clone(), peers, is_required)
    }
}

/// Two nodes with identities, or without.
fn pair(plan: &Plan, identities: [Option<Identities>; 2]) -> Vec<Node> {
    let sockets = [bind(), bind()];
    let peers: Vec<(NodeId, String)> =
        (1..).zip(&sockets).map(|(id, own)| (NodeId(id), own.address().to_string())).collect();
    let start =
        |((id, own), identities)| Plan { identities, ..plan.clone() }.start_one(id, own, &peers);
    (1..).zip(sockets).zip(identities).map(start).collect()
}

#[test]
fn a_group_moves_to_identities_node_by_node() {
    let plan = Plan::new();
    let owners = Owners::new();
    let nodes = pair(&plan, [None, None]);
    talk(&nodes);
    let known_by_key = |view: &PeerView| view.proof == Some(Proof::GroupKey);
    let identified = |view: &PeerView| view.proof == Some(Proof::Identity);
    expect_view(&nodes[0], &nodes[1], "known by the key", known_by_key);
    for node in [0, 1] {
        let identities = Some(owners.of(node, &[0, 1], false));
        set(&nodes[node], &Plan { identities, ..plan.clone() });
        talk(&nodes);
    }
    expect_view(&nodes[0], &nodes[1], "identified", identified);
    expect_view(&nodes[1], &nodes[0], "identified", identified);
    for node in [0, 1] {
        let identities = Some(owners.of(node, &[0, 1], true));
        set(&nodes[node], &Plan { identities, ..plan.clone() });
        talk(&nodes);
    }
    assert!(nodes.iter().all(|node| node.counters().links_lost == 0));
}

#[test]
fn removing_a_line_shuts_a_node_out() {
    let plan = Plan::new();
    let owners = Owners::new();
    let all = |node| Some(owners.of(node, &[0, 1], true));
    let nodes = pair(&plan, [all(0), all(1)]);
    talk(&nodes);
    let identities = Some(owners.of(0, &[0], true));
    set(&nodes[0], &Plan { identities, ..plan.clone() });
    expect_view(&nodes[1], &nodes[0], "no link", |view| !view.is_connected);
    nodes[1].send(&nodes[0], 9);
    expect_view(&nodes[1], &nodes[0], "told why", |view| {
        view.refusal.as_ref().is_some_and(|why| why.contains("identity"))
    });
    // The node that shuts another out is not refused itself.
    assert!(view(&nodes[0], &nodes[1]).refusal.is_none());
}

#[test]
fn with_the_group_key_alone_nobody_speaks_as_a_node_that_has_an_identity() {
    let plan = Plan::new();
    let owners = Owners::new();
    let all = |node| Some(owners.of(node, &[0, 1], true));
    let nodes = pair(&plan, [all(0), all(1)]);
    let asked = Rogue::ask(nodes[0].address, &plan.key, &hello(2, 1));
    let Answer::Refused(refused) = asked.answer else { panic!("{:?}", asked.answer) };
    assert_eq!(refused.reason, Refusal::Identity);
    // With the public key of the other, which is no secret, and without its private key.
    let hello = Hello { identity: owners.keys[1].public(), ..hello(2, 1) };
    let own = NodeKey::generate().unwrap();
    let mut asked = Rogue::ask_claiming(nodes[0].address, &plan.key, &own, &hello);
    assert!(matches!(asked.answer, Answer::Welcome { .. }), "{:?}", asked.answer);
    let (message, _) = asked.confirming.confirm(2).unwrap();
    write_message(&mut asked.stream, &message);
    expect_closed(&mut asked.stream);
    assert_eq!(nodes[0].counters().links_made, 0);
    talk(&nodes);
}
