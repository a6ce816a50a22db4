//! The options of the bully algorithm.

use crate::options::options;

options! {
    /// How long a wait lasts: until all have answered, or always T (B-26, E-14).
    waits / "waits": Waits {
        /// A wait ends when all have answered.
        #[default] Early = "early",
        /// A wait lasts T.
        Full = "full",
    },
    /// In which order the lower nodes are halted (E-14).
    halting / "halting": Halting {
        /// All at once.
        #[default] Parallel = "parallel",
        /// One by one from the highest down, each answered before the next is asked.
        Descending = "descending",
    },
    /// Which candidate a halted node obeys (E-14).
    halted / "halted": Halted {
        /// A lower candidate is refused until the one that halted the node is suspected.
        #[default] Monotone = "monotone",
        /// The latest candidate, as printed.
        Last = "last" [literal],
    },
    /// What a member that stops answering does to the forming group (B-32).
    recheck / "recheck": Recheck {
        /// The election starts over, for an accurate group.
        #[default] Strict = "strict",
        /// The group forms without it.
        Lenient = "lenient",
    },
    /// Whether AreYouUp makes the receiver check its own coordinator at once (E-09).
    nudge / "nudge": Nudge {
        /// A pure probe, as printed.
        #[default] Off = "off",
        /// The receiver runs Coordinator_Timeout.
        On = "on",
    },
    /// When Check calls an election (E-10).
    check / "check": CheckRule {
        /// A member failed or left the group, or a node outside it is alive.
        #[default] Changed = "changed",
        /// As printed: also if a node outside the group does not answer.
        Literal = "literal" [literal],
    },
    /// What happens when the wait in Down or Election runs out (E-11).
    timeout / "timeout": TimeoutRule {
        /// The node calls an election.
        #[default] AllStates = "all-states",
        /// As printed: nothing.
        Literal = "literal" [literal],
    },
    /// How SC_answer and NS_answer answer a request that was ignored (E-12).
    answers / "answers": Answers {
        /// With a refusal, which fails the round.
        #[default] Verdict = "verdict",
        /// As printed: like one that was obeyed.
        Literal = "literal" [literal],
    },
    /// Whether halting and appointing are two rounds (B-41).
    rounds / "rounds": Rounds {
        /// Two rounds: no member is Normal any more when the first one is told of its coordinator.
        #[default] Separate = "separate",
        /// One round, to show what breaks.
        Merged = "merged" [literal],
    },
}
