//! A job that finds out whether two jobs ever run at once.

use super::fleet::Fleet;

/// Takes a lock that all its processes hold: if it is taken already, another job runs. Writes its
/// node, group number and process to `starts`. Takes a moment to end, as real jobs do.
pub(crate) const JOB: &str =
    "exec 9>>lock; flock -n 9 || echo \"$TANIST_NODE $TANIST_GROUP_NUMBER\" >> overlaps
    echo \"$TANIST_NODE $TANIST_GROUP_NUMBER $$\" >> starts
    trap 'sleep 0.05; exit 0' TERM; sleep 1000 & wait; sleep 0.05";

impl Fleet {
    /// Fails if two jobs ever ran at once.
    pub(crate) fn no_overlap(&self) {
        assert_eq!(self.read("overlaps"), "", "two jobs at once:\n{}", self.read("starts"));
    }
}
