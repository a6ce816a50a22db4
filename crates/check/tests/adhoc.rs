//! Small ad-hoc networks explored, with exact counts: whatever the order of messages and timers, no
//! property is violated, and a good state can always be reached.

use tanist_check::{Assumption, Bounds, explore};
use tanist_sim::Scenario;

/// A diffusing computation uses two numbers: its own, and that of the group it ends in. So one
/// whole election fits after the first group.
const BOUNDS: Bounds = Bounds { recoveries: 0, counter: 3, states: 400_000, ..Bounds::USUAL };

const PAIR: (u32, &str) = (2, r#""1-2""#);
const TRIANGLE: (u32, &str) = (3, r#""1-2", "2-3", "3-1""#);
const LINE: (u32, &str) = (3, r#""1-2", "2-3""#);

/// Every node follows the highest node, which may crash.
fn network(algorithm: &str, (nodes, links): (u32, &str)) -> Scenario {
    let members: Vec<String> = (1..nodes).map(|node| node.to_string()).collect();
    let text = format!(
        "name = \"check\"\nalgorithm = \"{algorithm}\"\nnodes = {nodes}\nend = \"1s\"\n\
         [radio]\nlinks = [{links}]\n\
         [[group]]\ncoordinator = {nodes}\nmembers = [{}]\n",
        members.join(", ")
    );
    Scenario::parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

fn assert_holds(algorithm: &str, shape: (u32, &str), bounds: &Bounds, states: usize) {
    let scenario = network(algorithm, shape);
    let result = explore(&scenario, Assumption::As0, bounds, &mut |_| {});
    let what = format!("{algorithm}, {} nodes", shape.0);
    assert!(result.found.is_empty(), "{what}: {:?}", result.found);
    assert!(result.stuck.is_none(), "{what}: {:?}", result.stuck);
    assert!(result.has_elections, "{what}: no election was decided");
    assert!(result.is_complete, "{what}");
    assert_eq!(result.unsure, 0, "{what}: some states are not known to reach a good state");
    assert_eq!(result.states, states, "{what}");
}

#[test]
fn a_pair_is_explored_to_the_end() {
    assert_holds("adhoc-expanding-ring", PAIR, &BOUNDS, 468);
    assert_holds("adhoc-diffusing", PAIR, &BOUNDS, 23_575);
}

#[test]
fn rings_expand_in_a_triangle_and_in_a_line() {
    let bounds = Bounds { early_timers: 0, ..BOUNDS };
    assert_holds("adhoc-expanding-ring", TRIANGLE, &bounds, 2410);
    assert_holds("adhoc-expanding-ring", LINE, &bounds, 4030);
}

#[test]
fn computations_diffuse_in_a_line() {
    let bounds = Bounds { early_timers: 0, counter: 2, ..BOUNDS };
    assert_holds("adhoc-diffusing", LINE, &bounds, 8209);
}

#[test]
fn computations_diffuse_in_a_triangle_where_nobody_dies() {
    let bounds = Bounds { early_timers: 0, counter: 2, crashes: 0, ..BOUNDS };
    assert_holds("adhoc-diffusing", TRIANGLE, &bounds, 142_868);
}
