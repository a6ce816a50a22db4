//! Racks, zones and options for super-peers, and the peer groups established at the beginning.

use std::time::Duration;

use tanist_core::election::{Algorithm, EstablishedGroup};
use tanist_core::group::Counter;
use tanist_core::membership::{Label, Labels};
use tanist_core::options::Options;
use tanist_core::timing::TimingConfig;
use tanist_core::{GroupConfig, GroupSettings, Membership, Timing};

use super::Maker;

/// How often options are drawn again if they contradict each other.
const DRAWS_MAX: u32 = 40;

impl Maker {
    pub(super) fn peer_groups(
        &mut self,
        members: Membership,
    ) -> (Membership, Options, Vec<EstablishedGroup>) {
        let places = 1 + self.extras.below(4);
        let labels: Vec<_> =
            self.ids.clone().into_iter().map(|id| (id, self.place(places))).collect();
        let members = members.with_labels(labels);
        // Groups do not depend on the timing.
        let timing = TimingConfig::bounded_by(Duration::from_millis(1), Duration::ZERO);
        let timing = Timing::new(timing).expect("derived timings keep their bounds");
        let usual = GroupSettings::new(Algorithm::SuperPeer, timing);
        for _ in 0..DRAWS_MAX {
            let options = self.any_options();
            let config = GroupConfig::new(GroupSettings { options, ..usual })
                .expect("super-peers are not told who takes over");
            if let Ok(arranged) = members.clone().arranged(&config) {
                let groups = self.standing_peers(&arranged);
                return (members, options, groups);
            }
        }
        let groups = self.standing_peers(&members);
        (members, usual.options, groups)
    }

    /// Mostly some place; a rack need not be in one zone only here.
    fn place(&mut self, places: u64) -> Labels {
        let mut label = |kind: &str| -> Option<Label> {
            let number = self.extras.below(places + 1);
            (number > 0).then(|| format!("{kind}{number}").parse().ok()).flatten()
        };
        Labels { zone: label("z"), rack: label("r") }
    }

    fn any_options(&mut self) -> Options {
        let mut options = Options::default();
        for option in self.algorithm.options() {
            // Half of the time the default, except for the size, since the default size makes one
            // group.
            if option.name != "max" && self.extras.below(2) == 0 {
                continue;
            }
            let names: Vec<&str> = option.values.iter().map(|value| value.name).collect();
            if let Some(value) = self.extras.pick(&names) {
                options
                    .set(self.algorithm, option.name, value)
                    .expect("the catalogue's values are accepted");
            }
        }
        options
    }

    /// Half of the worlds boot; in the others every peer group is established under its highest
    /// node.
    fn standing_peers(&mut self, members: &Membership) -> Vec<EstablishedGroup> {
        let Some(hierarchy) = members.hierarchy() else { return Vec::new() };
        if self.dice.below(2) == 0 {
            return Vec::new();
        }
        let peers = (0..hierarchy.groups(0)).filter_map(|group| hierarchy.peers(group));
        peers
            .filter_map(|peers| {
                let coordinator = peers.all().last()?.id;
                let members = peers.all().iter().map(|member| member.id).collect();
                Some(EstablishedGroup {
                    group: Counter(1).group(coordinator),
                    coordinator,
                    members,
                })
            })
            .collect()
    }
}
