//! How a group selects super-peers: its coordinator first, then the next in rank, on different
//! racks if configured.
//!
//! The coordinator selects, since it knows the members of its group; with one super-peer all
//! members know it without a message. The coordinator repeats its selection every check period, so
//! a lost message does not matter for long.

use alloc::vec::Vec;

use super::{Disperse, Message, SuperPeer, Timer};
use crate::election::View;
use crate::group::{GroupNumber, Status};
use crate::membership::{Label, NodeId, NodeSet};
use crate::mutant::Mutant;
use crate::protocol::{Context, Effects};

/// The super-peers that a group has selected, as this member knows them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Selection {
    /// The formation of the group that selected them.
    pub(super) group: Option<GroupNumber>,
    pub(super) chosen: NodeSet,
}

/// What a member of a group at some level knows of it.
struct Look {
    coordinator: NodeId,
    group: Option<GroupNumber>,
    up: NodeSet,
}

impl SuperPeer {
    /// After each step: checks whether the group has other super-peers, and whether this node is
    /// one.
    pub(super) fn review(&mut self, cx: &mut Context<'_>, level: u8, out: &mut Effects<Self>) {
        // During an election the super-peers stay the same.
        if self.is_as_it_was(cx, level) {
            return self.go_on_asking(cx, level, out);
        }
        let Some(look) = self.look(level) else { return self.go_on_asking(cx, level, out) };
        if look.coordinator == cx.me {
            let chosen = select(cx, &look);
            let selection = Selection { group: look.group, chosen };
            if *self.selection(level) != selection {
                self.set_selection(level, selection);
                self.tell(cx, level, &look, out);
            }
        } else {
            let known = self.selection(level);
            let is_news = known.group != look.group || !known.chosen.contains(look.coordinator);
            if is_news && !(level == 0 && cx.is_mutated(Mutant::SUPER_PEER_OF_OTHER_GROUP)) {
                let chosen = [look.coordinator].into_iter().collect();
                self.set_selection(level, Selection { group: look.group, chosen });
                out.cancel_timer(Timer::Tell(level));
            } else if is_news {
                let chosen = stranger(cx).into_iter().collect();
                self.set_selection(level, Selection { group: look.group, chosen });
            }
        }
        self.sit_or_leave(cx, level, out);
        self.go_on_asking(cx, level, out);
    }

    /// Whether nothing changed, which is so after most steps: the same formation of the group, and
    /// this node only follows, or the coordinator is the only super-peer.
    fn is_as_it_was(&self, cx: &Context<'_>, level: u8) -> bool {
        let Some(view) = self.view_at(level) else { return true };
        let known = self.selection(level);
        let is_same = view.status == Status::Normal
            && known.group == view.group
            && view.coordinator.is_some_and(|coordinator| known.chosen.contains(coordinator));
        let options = &cx.config.options().super_peer;
        let follows = view.coordinator != Some(cx.me);
        is_same && (follows || options.super_peers(options.max.count()) == 1)
    }

    fn go_on_asking(&mut self, cx: &Context<'_>, level: u8, out: &mut Effects<Self>) {
        if let Some(seat) = self.seat_mut(level) {
            seat.wait(cx, level, out);
        }
    }

    fn view_at(&self, level: u8) -> Option<View<'_>> {
        match level {
            0 => Some(self.home.view()),
            _ => self.seat(level)?.view(),
        }
    }

    /// The coordinator has sent its selection.
    pub(super) fn selected(
        &mut self,
        cx: &mut Context<'_>,
        level: u8,
        from: NodeId,
        group: GroupNumber,
        super_peers: NodeSet,
        out: &mut Effects<Self>,
    ) {
        let Some(look) = self.look(level) else { return };
        if look.coordinator == from && from != cx.me && look.group == Some(group) {
            self.set_selection(level, Selection { group: look.group, chosen: super_peers });
            self.sit_or_leave(cx, level, out);
        }
    }

    pub(super) fn tell_again(&mut self, cx: &mut Context<'_>, level: u8, out: &mut Effects<Self>) {
        if let Some(look) = self.look(level)
            && look.coordinator == cx.me
        {
            self.tell(cx, level, &look, out);
        }
    }

    fn tell(&self, cx: &Context<'_>, level: u8, look: &Look, out: &mut Effects<Self>) {
        let options = &cx.config.options().super_peer;
        if options.super_peers(options.max.count()) == 1 {
            return;
        }
        let Some(group) = look.group else { return };
        let super_peers = &self.selection(level).chosen;
        for member in look.up.iter() {
            let super_peers = super_peers.clone();
            out.send(member, Message::Selected { level, group, super_peers });
        }
        out.set_timer(Timer::Tell(level), cx.config.timing().check_every());
    }

    /// What this node knows of its group at a level, once the group has settled.
    fn look(&self, level: u8) -> Option<Look> {
        let seat = self.seat(level);
        let view = self.view_at(level)?;
        if view.status != Status::Normal {
            return None;
        }
        let coordinator = view.coordinator?;
        // A node that has lost its seat may be listed until the next election there.
        let has_left = |node| seat.is_some_and(|seat| !seat.members().any(|member| member == node));
        let up = view.up.iter().filter(|node| !has_left(*node)).collect();
        Some(Look { coordinator, group: view.group, up })
    }

    /// The selection of its group at a level; empty at a level where it has no seat.
    pub(super) fn selection(&self, level: u8) -> &Selection {
        match level {
            0 => &self.selection,
            _ => self.seat(level).map_or(&self.selection, |seat| &seat.selection),
        }
    }

    fn set_selection(&mut self, level: u8, selection: Selection) {
        match level {
            0 => self.selection = selection,
            _ => {
                if let Some(seat) = self.seat_mut(level) {
                    seat.selection = selection;
                }
            }
        }
    }
}

/// The coordinator, and others of highest rank: as many as the options say, or fewer if there are
/// not enough.
fn select(cx: &Context<'_>, look: &Look) -> NodeSet {
    let options = &cx.config.options().super_peer;
    let members = cx.members;
    let count = options.super_peers(look.up.len() + 1);
    let mut chosen: NodeSet = [look.coordinator].into_iter().collect();
    if count == 1 {
        return chosen;
    }
    let mut others: Vec<_> = look.up.iter().filter_map(|id| members.member(id)).collect();
    others.sort_unstable();
    let rack = |id: NodeId| members.labels(id).rack;
    let mut racks: Vec<Option<Label>> = alloc::vec![rack(look.coordinator)];
    for member in others.iter().rev() {
        if chosen.len() >= count {
            break;
        }
        let place = rack(member.id);
        // A node without a configured rack may be on the same one.
        let is_apart = place.is_some() && racks[0].is_some() && !racks.contains(&place);
        match options.disperse {
            Disperse::On if !is_apart => continue,
            Disperse::On | Disperse::Off => {}
        }
        racks.push(place);
        chosen.insert(member.id);
    }
    chosen
}

/// The best node of another group, for the mutant that follows it.
fn stranger(cx: &Context<'_>) -> Option<NodeId> {
    let hierarchy = cx.members.hierarchy()?;
    let own = hierarchy.place(cx.me, 0)?;
    (0..hierarchy.groups(0)).find(|group| *group != own).and_then(|group| hierarchy.first(0, group))
}
