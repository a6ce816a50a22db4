//! The options of the invitation algorithm.

use crate::options::options;

options! {
    /// How long a wait lasts: until all have answered, or always its full time.
    waits / "waits": Waits {
        /// A wait ends when all that were asked have answered.
        #[default] Early = "early",
        /// A wait lasts T, or T_merge.
        Full = "full",
    },
    /// Which coordinator merges which groups, and when (I-18 to I-27); each policy adds the
    /// configured jitter.
    policy / "policy": Policy {
        /// The coordinator that takes precedence merges the others at once; the others wait for
        /// it, and merge only if it has not invited them for long enough (`precedence.rs`).
        #[default] Precedence = "precedence",
        /// Every coordinator merges all others, after a delay that grows with the number of nodes
        /// above it (E-24).
        Delay = "delay",
        /// A coordinator does not answer the query of a lower one (I-22).
        IgnoreLower = "ignore-lower",
        /// A query of a lower coordinator makes the higher one merge it at once (I-23, I-25).
        Prompted = "prompted",
        /// A coordinator merges only lower ones (I-24).
        OnlyLower = "only-lower",
    },
    /// What a member does with an invitation that comes straight from another group's coordinator.
    strangers / "strangers": Strangers {
        /// It forwards it to its own coordinator, so that groups merge as a whole.
        #[default] Redirect = "redirect",
        /// As printed: it accepts, and leaves its group without notice.
        Accept = "accept",
    },
    /// What a member does when its coordinator has failed (I-33).
    reinvite / "reinvite": Reinvite {
        /// It invites the other members, the highest of them first.
        #[default] On = "on",
        /// It forms a group of one, as printed.
        Off = "off",
    },
    /// Whether the coordinator re-forms its group when a member is silent (E-26).
    silence / "silence": SilenceRule {
        /// It does.
        #[default] Reform = "reform",
        /// As printed: it never notices.
        Literal = "literal" [literal],
    },
    /// How long accepts are collected (E-21).
    merge_wait / "merge-wait": MergeWait {
        /// T_merge, enough for forwarded invitations.
        #[default] Merge = "merge",
        /// As printed: T.
        Literal = "literal" [literal],
    },
    /// What follows Recovery when an Accept was refused or lost (E-22b).
    recovery / "recovery": RecoveryRule {
        /// Nothing: the node is Normal in a group of one.
        #[default] Return = "return",
        /// As printed: Status is set to Reorganization after all.
        Literal = "literal" [literal],
    },
    /// When an accepting node enters Reorganization (E-25).
    joining / "joining": Joining {
        /// Before Accept is sent, so that a Ready may overtake Accept_answer.
        #[default] WithAccept = "with-accept",
        /// As printed: when Accept_answer comes.
        Literal = "literal" [literal],
    },
    /// Where the counter is kept (F-01).
    counter / "counter": CounterRule {
        /// On stable storage.
        #[default] Stable = "stable",
        /// In memory, to show what breaks.
        Volatile = "volatile" [literal],
    },
}
