//! Rules broken on purpose, each caught by exploration: which assertion is violated, after how many
//! steps, and how many states had been visited by then.
//!
//! A violation comes with the number of states that had been visited when it was found; a trap is
//! known only when everything has been visited. The table in docs/verification.md is this one.

use tanist_check::{Assumption, Beginning, Bounds, CheckSpec};
use tanist_core::election::Algorithm;
use tanist_core::mutant::Mutant;

/// The group that catches a mutant.
#[derive(Clone, Copy)]
enum Group {
    /// Nodes in the group of their highest node.
    Together(u32),
    /// Nodes that start apart.
    Apart(u32),
    /// Three in the group of their highest node; the first and the last cannot reach each other.
    Line,
    /// Two peer groups of two.
    Peers,
}

struct Case {
    mutant: Mutant,
    algorithm: Algorithm,
    group: Group,
    assumption: Assumption,
    bounds: Bounds,
    /// The first assertion that is violated, the length of a shortest run to it, and the states.
    caught: (&'static str, usize, usize),
}

const QUIET: Bounds = Bounds { early_timers: 0, counter: 3, ..Bounds::USUAL };
const CALM: Bounds = Bounds { crashes: 0, ..QUIET };
const EARLY: Bounds = Bounds { early_timers: 1, ..CALM };
const TWICE: Bounds = Bounds { crashes: 2, counter: 3, ..Bounds::USUAL };
const TWICE_QUIET: Bounds = Bounds { crashes: 2, ..QUIET };
const LONG: Bounds = Bounds { counter: 2, depth: 14, ..QUIET };
const LOSSY: Bounds = Bounds { losses: 1, duplicates: 1, ..EARLY };
const ENOUGH: Bounds = Bounds { counter: 4, require_within_counter: true, ..EARLY };
const SOON: Bounds = Bounds { require_within_counter: true, ..QUIET };
const PAIRED: Bounds = Bounds { counter: 2, ..QUIET };
const RING: Bounds = Bounds { early_timers: 1, counter: 2, depth: 8, ..Bounds::USUAL };

#[rustfmt::skip]
fn cases() -> Vec<Case> {
    use Algorithm::{
        AdhocDiffusing, AdhocExpandingRing, Bully, BullyLecture, Invitation, RingActiveList,
        RingChangRoberts, RingList, RingModified, SuperPeer,
    };
    use Assumption::{As0, As1, As2};
    use Group::{Apart, Line, Peers, Together};
    let case = |mutant, algorithm, group, assumption, bounds, caught| {
        Case { mutant, algorithm, group, assumption, bounds, caught }
    };
    vec![
        case(Mutant::SKIP_SAVE, Bully, Together(2), As1, TWICE, ("I-07", 4, 108)),
        case(Mutant::REUSE_COUNTER, Bully, Together(2), As1, QUIET, ("I-07", 2, 17)),
        case(Mutant::REUSE_COUNTER, Invitation, Apart(2), As0, QUIET, ("I-07", 6, 53)),
        case(Mutant::SAVE_AFTER_SEND, Bully, Together(2), As1, TWICE, ("I-07", 4, 110)),
        case(Mutant::SAVE_AFTER_SEND, Invitation, Apart(2), As1, QUIET, ("I-07", 3, 41)),
        case(Mutant::ANSWER_BEFORE_STOPPING, Bully, Together(2), As1, QUIET, ("B-37", 3, 32)),
        case(Mutant::ANSWER_BEFORE_STOPPING, Invitation, Apart(2), As0, QUIET, ("B-37", 3, 20)),
        case(Mutant::DEFINITION_FROM_STRANGER, Bully, Together(3), As1, LONG, ("A-1.1", 13, 2614)),
        case(Mutant::DEFINITION_IN_ELECTION, Bully, Together(3), As1, LONG, ("A-1.1", 13, 2614)),
        case(Mutant::PROBE_ALL_BUT_HIGHEST, Bully, Together(2), As1, QUIET, ("A-1.1", 2, 12)),
        case(Mutant::OBEY_ANY_COORDINATOR, Bully, Together(3), As1, LONG, ("A-1.1", 14, 3169)),
        case(Mutant::KEEP_RUNNING_WHEN_HALTED, Bully, Together(3), As1, LONG, ("A-1.1", 13, 2617)),
        case(Mutant::HALTED_THE_WRONG_WAY, Bully, Together(3), As1, LONG, ("A-1.1", 14, 3253)),
        case(Mutant::FORGET_LOWEST_NODE, Bully, Together(3), As0, QUIET, ("A-1.2", 6, 56)),
        case(Mutant::IGNORE_STALL, Bully, Together(2), As1, TWICE_QUIET, ("A-2", 3, 844)),
        case(Mutant::NEVER_RESTART, BullyLecture, Together(3), As0, TWICE_QUIET, ("G-16", 2, 689)),
        case(Mutant::CALL_AGAIN, BullyLecture, Together(3), As0, QUIET, ("G-09", 6, 217)),
        case(Mutant::SKIP_NEXT_HIGHER, BullyLecture, Together(3), As0, QUIET, ("G-14", 1, 5)),
        case(Mutant::KEEP_OLD_GROUP, Invitation, Apart(2), As1, QUIET, ("I-02", 3, 34)),
        case(Mutant::ACCEPT_ANY_GROUP, Invitation, Apart(2), As2, EARLY, ("I-51", 8, 357)),
        case(Mutant::NEVER_ASK_COORDINATOR, Invitation, Together(2), As1, QUIET, ("A-4", 1, 85)),
        case(Mutant::MERGE_NOBODY, Invitation, Apart(2), As0, CALM, ("A-4", 0, 5)),
        case(Mutant::SIGN_ANY_LIST, RingList, Together(3), As0, RING, ("A-1.1", 8, 4188)),
        case(Mutant::SIGN_ANY_LIST, RingModified, Together(3), As0, RING, ("A-1.1", 8, 4126)),
        case(Mutant::DECIDE_EARLY, RingActiveList, Together(3), As0, RING, ("A-1.1", 3, 107)),
        case(Mutant::DEFINITION_OF_OTHER_GROUP, Invitation, Apart(2), As2, LOSSY, ("I-02", 9, 12447)),
        case(Mutant::ABANDON_MEMBERS, Invitation, Apart(3), As0, ENOUGH, ("A-4", 4, 59293)),
        case(Mutant::NEVER_SKIP, RingChangRoberts, Together(2), As0, SOON, ("A-2", 6, 19)),
        case(Mutant::NEVER_SKIP, RingModified, Together(2), As0, SOON, ("A-2", 6, 19)),
        case(Mutant::NEVER_SKIP, RingList, Together(2), As0, SOON, ("A-2", 6, 19)),
        case(Mutant::NEVER_SKIP, RingActiveList, Together(2), As0, SOON, ("A-2", 6, 19)),
        case(Mutant::TAKE_LOWEST, RingList, Together(3), As0, PAIRED, ("G-15", 15, 1703)),
        case(Mutant::TAKE_LOWEST, RingModified, Together(3), As0, PAIRED, ("G-15", 15, 1667)),
        case(Mutant::OTHERS_FIRST, RingActiveList, Together(3), As0, SOON, ("A-2", 15, 227)),
        case(Mutant::KEEP_LEADERSHIP, AdhocExpandingRing, Line, As0, QUIET, ("W-04", 2, 2742)),
        case(Mutant::KEEP_LEADERSHIP, AdhocDiffusing, Together(2), As0, QUIET, ("W-04", 1, 724)),
        case(Mutant::NEVER_WIDEN, AdhocExpandingRing, Line, As0, QUIET, ("W-05", 1, 414)),
        case(Mutant::ACK_BEFORE_CHILDREN, AdhocDiffusing, Line, As0, CALM, ("VKT-2", 7, 107)),
        case(Mutant::SUPER_PEER_OF_OTHER_GROUP, SuperPeer, Peers, As0, QUIET, ("V-03", 0, 1)),
        case(Mutant::KEEP_LOST_SUPER_PEER, SuperPeer, Peers, As0, QUIET, ("V-02", 1, 6649)),
    ]
}

impl Case {
    fn spec(&self) -> CheckSpec {
        let (nodes, beginning) = match self.group {
            Group::Together(nodes) => (nodes, Beginning::Together),
            Group::Apart(nodes) => (nodes, Beginning::Apart),
            Group::Line => (3, Beginning::Together),
            Group::Peers => (4, Beginning::Together),
        };
        let (cuts, options): (&[_], &[_]) = match self.group {
            Group::Together(_) | Group::Apart(_) => (&[], &[]),
            Group::Line => (&[(1, 3)], &[]),
            Group::Peers => (&[], &[("max", "2"), ("min", "1")]),
        };
        let option = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        CheckSpec {
            nodes,
            beginning,
            cuts: cuts.to_vec(),
            options: options.iter().map(option).collect(),
            assumption: self.assumption,
            bounds: self.bounds,
            ..CheckSpec::new(self.algorithm)
        }
    }

    fn name(&self) -> String {
        format!("{} in {}", self.mutant.name(), self.algorithm.name())
    }
}

#[test]
fn every_mutant_is_caught_where_it_always_was() {
    let mut wrong = Vec::new();
    for case in cases() {
        let spec = CheckSpec { mutant: Some(case.mutant), ..case.spec() };
        let report = spec.run(&mut |_| {}).expect("the spec is valid");
        let visited = &report.exploration;
        let violated = visited.found.first();
        let found = violated.map(|found| (found.violated.assertion, found.run.len(), found.states));
        let trapped = || {
            let mut all = report.properties.iter();
            let trap = all.find_map(|property| Some((property.id, property.trace_length?)));
            trap.map(|(id, steps)| (id, steps, visited.states))
        };
        let caught = found.or_else(trapped);
        if caught != Some(case.caught) {
            wrong.push(format!("{}: {caught:?}, not {:?}", case.name(), case.caught));
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

#[test]
fn without_the_mutants_the_same_groups_break_nothing() {
    for case in cases() {
        let report = case.spec().run(&mut |_| {}).expect("the spec is valid");
        let violated: Vec<_> =
            report.properties.iter().filter(|property| property.trace_length.is_some()).collect();
        // An assertion that needs timeouts is violated without them, whatever the rule.
        assert!(violated.is_empty(), "{}: {violated:?}", case.name());
    }
}

#[test]
fn at_least_twenty_different_rules_are_broken() {
    let mut names: Vec<&str> = cases().iter().map(|case| case.mutant.name()).collect();
    names.sort_unstable();
    names.dedup();
    assert!(names.len() >= 20, "{names:?}");
}
