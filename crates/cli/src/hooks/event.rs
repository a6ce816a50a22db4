//! What can happen to a node that a hook is told of.

use std::path::Path;

use crate::config::HooksTable;

/// What a hook is told of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, clap::ValueEnum)]
#[value(rename_all = "snake_case")]
pub(crate) enum Event {
    /// The node leads, every node that it can reach is in its group, and it asks whether it may
    /// act.
    PreLeader,
    /// It is the active leader.
    Leader,
    /// It is a member of a group that another node leads.
    Member,
    /// It is in no group.
    Suspended,
    /// Others are in its group than when this was told last.
    Members,
    /// It has handed over and ends.
    Stop,
}

impl Event {
    /// Its name in the file, in the environment, in the log and in counters.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::PreLeader => "pre_leader",
            Self::Leader => "leader",
            Self::Member => "member",
            Self::Suspended => "suspended",
            Self::Members => "members",
            Self::Stop => "stop",
        }
    }

    /// The programs to run for it, one after the other, each with the name of its hook.
    /// `pre_leader` is a question and not news, so `any` is not run for it.
    pub(crate) fn programs(self, table: &HooksTable) -> Vec<(&'static str, &Path)> {
        let (own, any) = match self {
            Self::PreLeader => (&table.pre_leader, &None),
            Self::Leader => (&table.leader, &table.any),
            Self::Member => (&table.member, &table.any),
            Self::Suspended => (&table.suspended, &table.any),
            Self::Members => (&table.members, &table.any),
            Self::Stop => (&table.stop, &table.any),
        };
        let own = own.as_deref().map(|path| (self.name(), path));
        own.into_iter().chain(any.as_deref().map(|path| ("any", path))).collect()
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;

    #[test]
    fn any_comes_after_the_hook_of_the_event_and_is_not_asked_at_the_gate() {
        let table = HooksTable {
            pre_leader: Some(PathBuf::from("/pre_leader")),
            leader: Some(PathBuf::from("/leader")),
            any: Some(PathBuf::from("/any")),
            member: None,
            suspended: None,
            members: None,
            stop: None,
            timeout: std::time::Duration::from_secs(10),
        };
        let names = |event: Event| -> Vec<&str> {
            event.programs(&table).into_iter().map(|(name, _)| name).collect()
        };
        assert_eq!(names(Event::Leader), ["leader", "any"]);
        assert_eq!(names(Event::Member), ["any"]);
        assert_eq!(names(Event::PreLeader), ["pre_leader"]);
    }
}
