//! A network that is large for a test, counted to the message.

use tanist_sim::studies::scale::{Control, scale};

#[test]
fn ten_thousand_nodes_elect_with_the_messages_of_the_formula() {
    let row = scale(10_000, &mut |_| Control::GoOn).unwrap().expect("the caller does not stop it");
    // 625 groups of 16, 40 of 15 or 16 above them, 3 of 13 or 14, and the top group of 3.
    assert_eq!((row.levels, row.groups), (4, 625 + 40 + 3 + 1));
    let (below, above) = (|p: u64| (p - 1) * (p + 6), |p: u64| (p - 1) * (3 * p + 6));
    let upper = 25 * above(16) + 15 * above(15) + above(14) + 2 * above(13) + above(3);
    assert_eq!(row.messages, 625 * below(16) + upper);
    assert_eq!(row.theory_messages, row.messages);
    assert!(row.per_node <= row.per_node_max, "{row:?}");
    assert_eq!(row.wrong, None);
}

#[test]
fn whoever_looks_on_can_stop_it() {
    let mut looks = 0;
    let row = scale(10_000, &mut |progress| {
        looks += 1;
        assert!(progress.messages <= progress.expected);
        Control::Stop
    });
    assert_eq!((row, looks), (Ok(None), 1));
}

#[test]
fn nobody_and_too_many_are_refused() {
    for nodes in [0, 10_000_001] {
        let error = scale(nodes, &mut |_| Control::GoOn).unwrap_err();
        assert!(error.to_string().contains("1 to 10000000"), "{error}");
    }
}
