//! Tasks of a group: stopped, planned and started in order; a task that fails ends its node.

use std::sync::{Arc, Mutex};

use tanist::{Group, GroupTask, Reports, View};

use crate::support::fleet::{Fleet, agreement, ms, take_leader, until, within};

type Log = Arc<Mutex<Vec<String>>>;

/// Records its calls, and panics where it is told to.
struct Scribe {
    log: Log,
    panics_in: Option<&'static str>,
}

impl Scribe {
    fn note(&self, what: &str, is_begin: bool) {
        let mark = if is_begin { '<' } else { '>' };
        self.log.lock().unwrap().push(format!("{what}{mark}"));
        assert!(!is_begin || self.panics_in != Some(what), "told to panic in {what}");
    }

    async fn act(&self, what: &str) {
        self.note(what, true);
        tokio::time::sleep(ms(2)).await;
        self.note(what, false);
    }
}

impl GroupTask for Scribe {
    type Report = u32;
    type Plan = u32;

    async fn stop(&mut self, left: &View) -> u32 {
        self.act("stop").await;
        left.me().0
    }

    async fn plan(&mut self, _: &View, reports: Reports<u32>) -> u32 {
        self.act("plan").await;
        for (from, report) in &reports {
            assert_eq!(from.0, *report, "a report of another node");
        }
        u32::try_from(reports.len()).unwrap()
    }

    async fn start(&mut self, view: &View, _: u32) {
        assert!(view.members().contains(view.me()));
        self.act("start").await;
    }
}

async fn start(fleet: &Fleet, id: u32, panics_in: Option<&'static str>) -> (Group, Log) {
    let log = Log::default();
    let task = Scribe { log: Arc::clone(&log), panics_in };
    (fleet.builder(id).start_with(task).await.unwrap(), log)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn calls_come_one_at_a_time_and_stop_only_after_start() {
    let fleet = Fleet::new(3);
    let (mut groups, mut logs) = (Vec::new(), Vec::new());
    for id in 1..=3 {
        let (group, log) = start(&fleet, id, None).await;
        groups.push(group);
        logs.push(log);
    }
    for _ in 0..3 {
        let view = agreement(&groups).await;
        let leader = take_leader(&mut groups, &view);
        let id = leader.me().0;
        leader.shutdown().await.unwrap();
        agreement(&groups).await;
        let (group, log) = start(&fleet, id, None).await;
        groups.push(group);
        logs.push(log);
    }
    agreement(&groups).await;
    for group in groups {
        group.shutdown().await.unwrap();
    }
    for log in logs {
        let calls = log.lock().unwrap().clone();
        let mut is_started = false;
        for pair in calls.chunks(2) {
            let [begin, end] = pair else { panic!("a call did not end: {calls:?}") };
            let what = begin.trim_end_matches('<');
            assert_eq!(end.trim_end_matches('>'), what, "two calls at once: {calls:?}");
            match what {
                "start" => is_started = true,
                "stop" => assert!(std::mem::take(&mut is_started), "not started: {calls:?}"),
                _ => assert!(!is_started, "planned while working: {calls:?}"),
            }
        }
        assert!(!is_started, "the node ended and its task was not stopped: {calls:?}");
        assert!(calls.iter().any(|call| call == "start>"), "it never worked");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_task_that_panics_ends_its_node_and_the_others_elect() {
    for place in ["start", "stop", "plan"] {
        let fleet = Fleet::unhurried(3);
        let (mut groups, mut logs) = (Vec::new(), Vec::new());
        for id in 1..=3 {
            let panics_in = (id == 3).then_some(place);
            let (group, log) = start(&fleet, id, panics_in).await;
            groups.push(group);
            logs.push(log);
        }
        let failing = groups.pop().unwrap();
        let called = format!("{place}<");
        if place == "stop" {
            // It must have begun, and then be made to stop: n3 leads, and is told to leave.
            until("n3 works", || {
                logs[2].lock().unwrap().iter().any(|call| call == "start>").then_some(())
            })
            .await;
            let asked = failing.clone();
            tokio::spawn(asked.shutdown());
        }
        let ended = within("the end of the node", failing.ended()).await.unwrap_err();
        assert!(ended.to_string().contains("panicked"), "{place}: {ended}");
        assert_eq!(ended.node, "n3");
        assert!(logs[2].lock().unwrap().contains(&called), "{place}");
        agreement(&groups).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_task_is_stopped_before_its_dropped_node_leaves() {
    let fleet = Fleet::unhurried(2);
    let (one, log) = start(&fleet, 1, None).await;
    until("n1 works", || {
        log.lock().unwrap().last().is_some_and(|call| call == "start>").then_some(())
    })
    .await;
    let mut roles = one.roles();
    drop(one);
    while within("the end", roles.next()).await.is_some() {}
    let calls = log.lock().unwrap().clone();
    assert_eq!(calls.last().map(String::as_str), Some("stop>"), "{calls:?}");
}

/// A task that takes a while to plan.
struct Ponderer(Log);

impl GroupTask for Ponderer {
    type Report = ();
    type Plan = ();

    async fn stop(&mut self, _: &View) {}

    async fn plan(&mut self, _: &View, _: Reports<()>) {
        self.0.lock().unwrap().push("plan<".to_owned());
        tokio::time::sleep(ms(200)).await;
        self.0.lock().unwrap().push("plan>".to_owned());
    }

    async fn start(&mut self, _: &View, (): ()) {}
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_node_that_is_shut_down_while_its_task_plans_waits_for_the_plan() {
    let fleet = Fleet::unhurried(1);
    let log = Log::default();
    let task = Ponderer(Arc::clone(&log));
    let group = fleet.builder(1).start_with(task).await.unwrap();
    until("a plan is begun", || (!log.lock().unwrap().is_empty()).then_some(())).await;
    group.shutdown().await.unwrap();
    assert_eq!(*log.lock().unwrap(), ["plan<", "plan>"]);
}
