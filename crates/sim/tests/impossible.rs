//! Parts of a scenario file that cannot happen are refused with their line.

use tanist_sim::scenario::Scenario;

const BASE: &str = "name = \"impossible\"\nalgorithm = \"bully\"\nnodes = 3\nend = \"100ms\"\n";

/// The error of the base with these lines added, which begin at line 5.
fn refusal(lines: &str) -> (usize, String) {
    let text = format!("{BASE}{lines}\n");
    match Scenario::parse(&text) {
        Ok(_) => (0, format!("accepted: {lines}")),
        Err(error) => (error.line, error.what),
    }
}

fn refused(lines: &str, line: usize, part: &str) {
    let (at, what) = refusal(lines);
    assert!(what.contains(part), "{what:?} does not say {part:?}");
    assert_eq!(at, line, "{what}");
}

#[test]
fn a_message_that_the_algorithm_does_not_have_is_refused() {
    let what = "bully has no message \"Invitation\"";
    refused("[[message]]\nkind = \"Invitation\"\ndrop = true", 6, what);
    let when = "when = { node = 1, sends = \"Invitation\" }";
    refused(&format!("[[fault]]\n{when}\ndo = \"crash\"\nnode = 1"), 6, what);
    refused("[expect]\nby_kind = { AreYouUp = 1, Invitation = 1 }", 6, what);
    refused("steps = [\n\"deliver Invitation from 1 to 2\"]", 6, what);
    refused("[[message]]\nkind = \"heartbeat\"\ndrop = true", 6, "heartbeat");
    let text = "name = \"impossible\"\nalgorithm = \"ring-list\"\nnodes = 3\nend = \"100ms\"\n\
                [[message]]\nkind = \"elected\"\ndrop = true\n";
    let error = Scenario::parse(text).unwrap_err();
    assert!(error.what.contains("ring-list has no message \"elected\""), "{}", error.what);
    refused("[[message]]\nkind = \"Recall\"\ndrop = true", 6, "recall = true");
}

#[test]
fn what_the_algorithm_and_the_settings_have_is_accepted() {
    for lines in [
        "[timing]\nheartbeat = \"10ms\"\n[[message]]\nkind = \"heartbeat\"\ndrop = true",
        "recall = true\n[[message]]\nkind = \"Recall_answer\"\ndrop = true",
        "[[message]]\nkind = \"New_State\"\ndrop = true",
        "[[message]]\nkind = \"Farewell\"\ndrop = true",
        "down = [3]\n[[fault]]\nat = \"100ms\"\ndo = \"restart\"\nnode = 3",
        "steps = [\"crash 3\"]\n[[fault]]\nat = \"50ms\"\ndo = \"restart\"\nnode = 3",
    ] {
        assert_eq!(refusal(lines), (0, format!("accepted: {lines}")));
    }
}

#[test]
fn a_fault_after_the_end_is_refused() {
    refused("[[fault]]\nat = \"101ms\"\ndo = \"crash\"\nnode = 1", 6, "after the end");
    let when = "when = { node = 1, enters = \"Normal\" }\nafter = \"2s\"";
    refused(&format!("[[fault]]\n{when}\ndo = \"crash\"\nnode = 1"), 7, "after the end");
    refused("[expect]\nsettled = \"2s\"", 6, "after the end");
}

#[test]
fn a_coordinator_among_its_members_and_a_dead_member_are_refused() {
    refused("[[group]]\ncoordinator = 3\nmembers = [1, 2, 3]", 5, "without the coordinator");
    refused("[[group]]\ncoordinator = 3\nmembers = [1, 2, 2]", 5, "twice");
    refused("down = [2]\n[[group]]\ncoordinator = 3\nmembers = [1, 2]", 6, "`down`");
}

#[test]
fn an_action_without_what_it_ends_is_refused() {
    for (action, cause) in [("restart", "crash"), ("resume", "pause"), ("unhang", "hang")] {
        let lines = format!("[[fault]]\nat = \"5ms\"\ndo = {action:?}\nnode = 1");
        refused(&lines, 7, &format!("`{cause}`"));
    }
}

#[test]
fn numbers_and_pairs_that_nothing_matches_are_refused() {
    refused("[[message]]\nnth = 0\ndrop = true", 5, "from 1");
    refused("[[message]]\nfrom = 1\nto = 1\ndrop = true", 5, "itself");
    let when = "when = { node = 1, enters = \"Normal\", nth = 0 }";
    refused(&format!("[[fault]]\n{when}\ndo = \"crash\"\nnode = 1"), 6, "from 1");
    let at = "at = \"5ms\"\nafter = \"1ms\"";
    refused(&format!("[[fault]]\n{at}\ndo = \"crash\"\nnode = 1"), 7, "`when`");
    refused("[[expect.node]]\nid = 1\ncoordinator = 9", 7, "no node 9");
}

#[test]
fn errors_of_timing_name_the_line_of_the_key() {
    refused("\n[timing]\nmessage = \"1ms\"\nanswer = \"1ms\"", 8, "answer (T)");
    refused("[timing]\ncheck = \"0ms\"", 6, "the check period");
    refused("[timing]\nmessage = \"0ms\"", 6, "Tm");
    refused("[timing]\nheartbeat = \"5ms\"\nsuspect_after = \"5ms\"", 7, "suspect_after (S)");
}

#[test]
fn a_run_that_would_last_for_ever_is_refused() {
    let text = "name = \"long\"\nalgorithm = \"bully\"\nnodes = 3\nend = \"999999999s\"\n";
    let error = Scenario::parse(text).expect_err("longer than any run may be");
    assert_eq!(error.line, 4, "{error}");
    assert!(error.what.contains("at most 24h"), "{error}");
}

/// A fault with these keys, `at` in line 6.
fn fault(keys: &str) -> String {
    format!("[[fault]]\nat = \"5ms\"\n{keys}")
}

#[test]
fn a_key_that_its_action_ignores_is_refused() {
    let heal = "`heal` has no `node`; it takes `sides`, `links`, `one_way`";
    refused(&fault("do = \"heal\"\nnode = 1"), 8, heal);
    refused(&fault("do = \"loss\"\nrate = 0.5\nnode = 1"), 9, "`loss` has no `node`");
    refused(&fault("do = \"calm\"\nrate = 0.5"), 8, "it takes no keys");
    for key in ["peer = 2", "rate = 0.5", "hold = \"1s\"", "lost_writes = 1", "value = 1"] {
        let name = key.split(' ').next().unwrap();
        let lines = fault(&format!("do = \"crash\"\nnode = 1\n{key}"));
        refused(&lines, 9, &format!("`crash` has no `{name}`"));
    }
    for key in ["sides = [[1], [2]]", "links = [[1, 2]]", "one_way = [[1, 2]]", "over = \"1ms\""] {
        let name = key.split(' ').next().unwrap();
        let lines = fault(&format!("do = \"pause\"\nnode = 1\n{key}"));
        refused(&lines, 9, &format!("`pause` has no `{name}`; it takes `node`"));
    }
}

#[test]
fn a_node_that_meets_only_itself_is_refused() {
    refused(&fault("do = \"hand-over\"\nnode = 1\npeer = 1"), 9, "another node");
    refused(&fault("do = \"refuse\"\nnode = 2\npeer = 2"), 9, "another node");
    refused(&fault("do = \"cut\"\nlinks = [[1, 2], [1, 1]]"), 8, "from 1 to itself");
    refused(&fault("do = \"heal\"\none_way = [[3, 3]]"), 8, "from 3 to itself");
}

#[test]
fn links_that_are_none_are_refused() {
    refused(&fault("do = \"cut\"\nsides = [[1, 2], [2, 3]]"), 8, "node 2 is in `sides` twice");
    refused(&fault("do = \"cut\"\nsides = [[1, 2, 3]]"), 8, "two sides");
    refused(&fault("do = \"cut\"\nsides = [[1, 2], []]"), 8, "two sides");
    refused(&fault("do = \"heal\"\nsides = [[1, 2]]"), 8, "two sides");
    refused(&fault("do = \"heal\"\nlinks = []"), 8, "names no link");
    refused(&fault("do = \"cut\""), 5, "`cut` needs `sides`, `links` or `one_way`");
}

#[test]
fn numbers_that_do_nothing_are_refused() {
    refused(&fault("do = \"crash\"\nnode = 1\neffects = 0"), 9, "from 1");
    refused("down = [\n2,\n2]", 7, "twice");
    for lines in ["do = \"loss\"\nrate = 0.0000001", "do = \"duplicate\"\nrate = 4e-7"] {
        refused(&fault(lines), 8, "millionth");
    }
    refused("[network]\nloss = 1e-9", 6, "millionth");
    refused("[radio]\nrange = 100\nlayout = \"line\"\nloss = 1e-9", 8, "millionth");
    let none = fault("do = \"loss\"\nrate = 0");
    assert_eq!(refusal(&none), (0, format!("accepted: {none}")));
}

#[test]
fn a_request_that_the_algorithm_never_grants_is_refused() {
    let scenario = |algorithm: &str, more: &str, keys: &str| {
        let base = BASE.replace("bully", algorithm);
        let text = format!("{base}{more}\n{}\n", fault(keys));
        Scenario::parse(&text).map_err(|error| (error.line, error.what))
    };
    let hand_over = "do = \"hand-over\"\nnode = 3\npeer = 1";
    for algorithm in ["bully-lecture", "adhoc-diffusing", "super-peer"] {
        let (line, what) = scenario(algorithm, "", hand_over).expect_err(algorithm);
        assert_eq!(line, 8, "{what}");
        assert!(what.contains("`hand-over` changes nothing"), "{what}");
    }
    let priority = "do = \"priority\"\nnode = 1\nvalue = 9";
    for algorithm in ["bully", "ring-list", "bully-lecture"] {
        let (line, what) = scenario(algorithm, "", priority).expect_err(algorithm);
        assert_eq!(line, 8, "{what}");
        assert!(what.contains("`priority` changes nothing"), "{what}");
    }
    assert!(scenario("invitation", "", priority).is_ok());
    assert!(scenario("bully", "preempt = \"never\"", hand_over).is_ok());
}

#[test]
fn spikes_that_never_come_are_refused() {
    let range = "delay_min = \"1ms\"\ndelay_max = \"2ms\"";
    refused("[network]\nspike = \"9ms\"\nspikes = 0.1", 6, "needs `delay_min` and `delay_max`");
    refused("[network]\ndelay = \"1ms\"\nspike = \"9ms\"\nspikes = 0.1", 7, "`delay_min`");
    refused(&format!("[network]\n{range}\nspike = \"9ms\""), 8, "needs `spikes`");
    refused(&format!("[network]\n{range}\nspikes = 0.1"), 8, "needs `spike`");
    refused(&format!("[network]\n{range}\nspike = \"1ms\"\nspikes = 0.1"), 8, "shorter");
}

#[test]
fn keys_of_places_that_nothing_uses_are_refused() {
    for key in ["loss = 0.1", "spacing = 5", "at = [[0, 0], [1, 1], [2, 2]]", "step = \"5ms\""] {
        let name = key.split(' ').next().unwrap();
        let lines = format!("[radio]\nlinks = [\"1-2\"]\n{key}");
        refused(&lines, 7, &format!("`{name}` has no effect"));
    }
    refused("[radio]\nlinks = [\"1-2\"]\narea = [9, 9]", 7, "`area` has no effect");
    let random = "[radio]\nrange = 100\nlayout = \"random\"\narea = [9, 9]\nspacing = 5";
    refused(random, 9, "`spacing` has no effect");
    refused("[radio]\nrange = 100\nlayout = \"line\"\narea = [9, 9]", 8, "`area` has no effect");
    let places = "at = [[0, 0], [1, 1], [2, 2]]";
    refused(&format!("[radio]\nrange = 9\n{places}\nspacing = 5"), 8, "`spacing` has no effect");
    let ground = "[radio]\nrange = 9\nlayout = \"random\"\narea = [9, 9]";
    let mobility = "[mobility]\nmodel = \"random-waypoint\"\nspeed = [1, 2]\nuntil = \"101ms\"";
    refused(&format!("{ground}\n{mobility}"), 12, "after the end");
    let twice = "name = \"a\"\nalgorithm = \"adhoc-diffusing\"\nend = \"1s\"\n[radio]\nrange = 9\n\
                 at = [[0, 0]]\n[[node]]\nid = 1\nat = [1, 1]\n";
    let error = Scenario::parse(twice).expect_err("two places for one node");
    assert_eq!(error.line, 9, "{error}");
}

#[test]
fn waits_and_assertions_of_other_algorithms_are_refused() {
    refused("[timing]\nmerge = \"9ms\"", 6, "bully has no wait `merge`");
    refused("[assertions]\nliteral_a4 = true", 6, "A-4, which bully has not");
    let text = |algorithm: &str, lines: &str| {
        let text = format!("{}{lines}\n", BASE.replace("bully", algorithm));
        Scenario::parse(&text).map_err(|error| (error.line, error.what))
    };
    let cuts = "[assertions]\ncuts = true";
    assert_eq!(text("invitation", cuts).expect_err("it has no cuts").0, 6);
    let delay_unit = "[timing]\ndelay_unit = \"1ms\"";
    assert_eq!(text("bully-lecture", delay_unit).expect_err("it merges nothing").0, 6);
    assert!(text("invitation", "[timing]\nmerge = \"9ms\"\ndelay_unit = \"1ms\"").is_ok());
    assert!(text("invitation", "[assertions]\nliteral_a4 = true\ncuts = false").is_ok());
    assert!(text("bully", cuts).is_ok());
}

#[test]
fn a_node_that_is_listed_twice_is_refused_on_its_line() {
    let text =
        "name = \"a\"\nalgorithm = \"bully\"\nend = \"1s\"\n[[node]]\nid = 1\n[[node]]\nid = 1\n";
    let error = Scenario::parse(text).expect_err("an id of its own");
    assert_eq!(error.line, 7, "{error}");
    assert!(error.what.contains("listed twice"), "{error}");
}

#[test]
fn nodes_that_are_looked_at_too_often_are_refused() {
    let text = |nodes: u32, step: &str| {
        format!(
            "name = \"a\"\nalgorithm = \"adhoc-diffusing\"\nnodes = {nodes}\nend = \"24h\"\n\
             [radio]\nrange = 100\nlayout = \"random\"\narea = [900, 900]\nstep = {step:?}\n\
             [mobility]\nmodel = \"random-waypoint\"\nspeed = [1, 2]\n"
        )
    };
    let error = Scenario::parse(&text(2000, "1ms")).expect_err("it would not end");
    assert_eq!(error.line, 10, "{error}");
    assert!(error.what.contains("longer `step`"), "{error}");
    assert!(Scenario::parse(&text(2000, "100ms")).is_ok());
}
