//! Rings of real processes: each elects its highest node, and the next one when that is killed.

use crate::support::dev::Dev;

fn elects_and_survives_its_leader(algorithm: &str) {
    let patient = ["--timing", "suspect_after=5s"];
    let mut dev = Dev::start(&[&["--nodes", "5", "--algorithm", algorithm], &patient[..]].concat());
    assert_eq!(dev.agree("all 5 nodes"), "n5");
    dev.act(&["kill", "n5"]);
    assert_eq!(dev.agree("4 of 5 nodes"), "n4");
    dev.act(&["restart", "n5"]);
    assert_eq!(dev.agree("all 5 nodes"), "n5");
}

#[test]
fn a_chang_roberts_ring_survives_its_leader() {
    elects_and_survives_its_leader("ring-chang-roberts");
}

#[test]
fn a_modified_ring_survives_its_leader() {
    elects_and_survives_its_leader("ring-modified");
}

#[test]
fn a_list_ring_survives_its_leader() {
    elects_and_survives_its_leader("ring-list");
}

#[test]
fn an_active_list_ring_survives_its_leader() {
    elects_and_survives_its_leader("ring-active-list");
}
