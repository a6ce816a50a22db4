//! An application that the caller plays: it receives the notices of its node, and answers at any
//! time.

use std::time::Duration;

use tanist_core::election::Algorithm;
use tanist_core::node::{Command, Notice};
use tanist_core::{Definition, NodeId, Report, Status};
use tanist_sim::World;
use tanist_sim::studies::fuzz;
use tanist_sim::world::application::{self, Application, Pace, Told};
use tanist_sim::world::faults::Action;

/// Answers as the world's own application would.
fn play(world: &mut World, pace: Pace) {
    for Told { listener, notice } in world.take_notices() {
        if let Notice::Stop | Notice::Yield = notice {
            let report = application::report(listener.node());
            world.answer(listener, Command::Stopped(report), pace.stop);
        } else if let Notice::Plan { group, members, reports } = notice {
            let definition = application::plan(0, group, &members, &reports);
            world.answer(listener, Command::Define { group, definition }, pace.plan);
        }
    }
}

#[test]
fn whoever_answers_as_the_world_does_gets_the_same_trace() {
    let mut same = 0;
    for seed in 0..40 {
        let scenario = fuzz::scenario(Algorithm::Invitation, seed, None);
        let mut inside = scenario.world(seed, true);
        let mut setup = scenario.world_setup(seed, true);
        setup.application = Application::Outside;
        let mut outside = World::new(setup, seed);
        let end = tanist_core::Time::ZERO + scenario.end / 4;
        inside.run_until(end);
        play(&mut outside, scenario.pace);
        while outside.next_at().is_some_and(|at| at <= end) {
            outside.step();
            play(&mut outside, scenario.pace);
        }
        let is_beyond_the_caller = scenario.faults.iter().any(|fault| {
            matches!(
                fault.action,
                Action::Crash(_) | Action::CrashAfterEffects(..) | Action::Hang(_)
            )
        });
        // The built-in plan names its incarnation, which the caller does not know, and this caller
        // never hangs.
        if is_beyond_the_caller {
            continue;
        }
        let hash = |world: World| world.observers.into_recording().unwrap().hash();
        assert_eq!(hash(inside), hash(outside), "seed {seed}");
        same += 1;
    }
    assert!(same > 3, "only {same} seeds were without crashes");
}

#[test]
fn an_answer_to_an_earlier_life_is_not_delivered() {
    let scenario = fuzz::scenario(Algorithm::Invitation, 1, None);
    let mut setup = scenario.world_setup(1, true);
    (setup.application, setup.faults) = (Application::Outside, Vec::new());
    (setup.groups, setup.down) = (Vec::new(), Vec::new());
    let mut world = World::new(setup, 1);
    // Every node that starts plans for itself alone. Crash one, restart it, and then answer the
    // requests of its earlier incarnation.
    let mut told = world.take_notices().into_iter();
    let asked = told.find(|told| matches!(told.notice, Notice::Plan { .. })).unwrap();
    let Notice::Plan { group, .. } = asked.notice else { unreachable!("it was just found") };
    let node: NodeId = asked.listener.node();
    world.act(Action::Crash(node));
    world.act(Action::Restart { node, lost_writes: 0 });
    let definition = Definition::from("from beyond the grave");
    world.answer(asked.listener, Command::Define { group, definition }, Duration::ZERO);
    world.answer(asked.listener, Command::Stopped(Report::default()), Duration::ZERO);
    let begun = |world: &mut World| {
        world
            .take_notices()
            .into_iter()
            .any(|told| told.listener.node() == node && matches!(told.notice, Notice::Begin { .. }))
    };
    for _ in 0..2000 {
        world.step();
        assert!(!begun(&mut world), "a plan of an earlier incarnation was used");
    }
    let view = world.observers.global.view(node).unwrap();
    assert_ne!(view.state.status, Status::Normal);
}

#[test]
fn what_a_node_said_before_it_crashed_is_not_told() {
    let scenario = fuzz::scenario(Algorithm::Invitation, 1, None);
    let mut setup = scenario.world_setup(1, true);
    (setup.application, setup.faults) = (Application::Outside, Vec::new());
    (setup.groups, setup.down) = (Vec::new(), Vec::new());
    let mut world = World::new(setup, 1);
    let told: Vec<Told> = world.clone().take_notices();
    assert!(!told.is_empty(), "a node that starts plans for itself");
    for Told { listener, .. } in &told {
        world.act(Action::Crash(listener.node()));
    }
    assert_eq!(world.take_notices(), []);
    for Told { listener, .. } in &told {
        world.act(Action::Restart { node: listener.node(), lost_writes: 0 });
    }
    let again = world.take_notices();
    assert!(!again.is_empty(), "a node that restarts plans again");
    for Told { listener, .. } in &again {
        assert!(told.iter().all(|earlier| earlier.listener != *listener), "{listener:?}");
    }
}
