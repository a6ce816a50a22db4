//! The program of `docs/testing.md`, as it is printed there: `documents.rs` compares the two.

use std::time::Duration;
use tanist::Lead;
use tanist::sim::{Idle, LeaderCheck, Storm, for_each_seed};

/// The leader's work, as your program gives it to `Group::while_leader`.
async fn charge(lead: Lead) {
    while lead.sleep(Duration::from_millis(100)).await.is_leading() {
        // charge an account, and write lead.group_number() beside it
    }
}

#[test]
fn one_leader_charges_through_every_storm() {
    for_each_seed(0..100, |trial| {
        let check = LeaderCheck::connected();
        let job = check.around(charge);
        let world = trial.world(5).check(&check).while_leader(Duration::from_secs(1), job);
        let mut world = world.start(|_| Idle)?;
        world.storm(Storm::default());
        world.run_until(|world| world.is_one_group() && check.acting().len() == 1)?;
        Ok(world.verdict()?)
    });
}
