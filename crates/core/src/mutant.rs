//! Seeded faults: one broken rule each, so that the checks can be shown to catch it.
//!
//! A check that never failed proves nothing. The switches are compiled in only with the `mutants`
//! feature and are off even then; see [`crate::Context::is_mutated`].

/// A rule broken on purpose.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Mutant {
    /// The counter is used without having been saved.
    SkipSave,
    /// A new group gets the number of the last one.
    ReuseCounter,
    /// The save comes after the message that it should precede.
    SaveAfterSend,
    /// EE_answer or Accept leaves before the application has stopped.
    AnswerBeforeStopping,
    /// A definition is taken from whoever sends one.
    DefinitionFromStranger,
    /// A definition is taken although the node is in Election again.
    DefinitionInElection,
    /// A definition is taken for another group than the node's.
    DefinitionOfOtherGroup,
    /// Bully: a node probes all but the highest of those above it.
    ProbeAllButHighest,
    /// Bully: a Set_Coordinator is obeyed whoever halted the node.
    ObeyAnyCoordinator,
    /// Bully: a halted node lets its own election run on.
    KeepRunningWhenHalted,
    /// Bully: monotone halted compares with `<=` turned round, so lower candidates replace higher.
    HaltedTheWrongWay,
    /// Bully: Enter_Election is not sent to the lowest node.
    ForgetLowestNode,
    /// Bully: nothing is done when the wait in Down or Election runs out.
    IgnoreStall,
    /// Lecture bully: a waiting node never restarts.
    NeverRestart,
    /// Lecture bully: every election message starts one more election.
    CallAgain,
    /// Lecture bully: `<` for `<=` in whom to ask: the next higher node is left out.
    SkipNextHigher,
    /// Invitation: whoever accepts an invitation keeps the number of its old group.
    KeepOldGroup,
    /// Invitation: Accept is confirmed for any group.
    AcceptAnyGroup,
    /// Invitation: Ready answers are counted whatever group they name.
    ForgetGroupInAnswer,
    /// Invitation: a participant never asks AreYouThere.
    NeverAskCoordinator,
    /// Invitation: a coordinator that joins another group does not forward the invitation, and the
    /// members it leaves get True from AreYouThere for ever.
    AbandonMembers,
    /// Invitation: a coordinator never invites the others that it found.
    MergeNobody,
    /// Ring: a successor that does not acknowledge is waited for all the same.
    NeverSkip,
    /// Chang and Roberts: a lower candidate is passed on instead of replaced or dropped.
    PassLower,
    /// List rings: the list of a lower initiator is passed on beside that of a higher one.
    SignAnyList,
    /// List rings: the lowest of the list is elected.
    TakeLowest,
    /// Active list: a node passes the first name on before its own.
    OthersFirst,
    /// Active list: a later name is taken for the end of the list.
    DecideEarly,
    /// Ad hoc: a leader goes on leading although it hears a better one.
    KeepReign,
    /// Ad hoc: a follower that hears no heartbeat does nothing.
    IgnoreSilence,
    /// Expanding ring: the ring stays as it is.
    NeverWiden,
    /// Diffusing computation: the parent is told before those below have answered.
    AckBeforeChildren,
    /// Diffusing computation: whoever asks later is a parent, too.
    TwoParents,
    /// Recall: what others remember of a node's numbers is ignored.
    IgnoreRecall,
    /// Recall: nobody remembers the numbers of others.
    ForgetSeen,
    /// Stepping aside: farewell is said before the application has stopped.
    FarewellBeforeStop,
    /// Stepping aside: the node is back while its farewells are under way.
    ReturnTooEarly,
    /// Stepping aside: the election goes on although farewell was said.
    AnswerWhileAside,
    /// Pausing: nothing ends a pause.
    PausedForever,
    /// Super-peers: a peer takes the best node of another group for its super-peer.
    SuperPeerOfOtherGroup,
    /// Super-peers: the loss of a super-peer is nothing to its peers.
    KeepLostSuperPeer,
    /// Super-peers: whoever is not selected any more keeps its seat above.
    KeepSeat,
}

impl Mutant {
    /// Whether this build has the switches.
    pub const ARE_COMPILED: bool = cfg!(feature = "mutants");

    /// Every mutant with its name on the command line.
    pub const ALL: &'static [(Self, &'static str)] = &[
        (Self::SkipSave, "skip-save"),
        (Self::ReuseCounter, "reuse-counter"),
        (Self::SaveAfterSend, "save-after-send"),
        (Self::AnswerBeforeStopping, "answer-before-stopping"),
        (Self::DefinitionFromStranger, "definition-from-stranger"),
        (Self::DefinitionInElection, "definition-in-election"),
        (Self::DefinitionOfOtherGroup, "definition-of-other-group"),
        (Self::ProbeAllButHighest, "probe-all-but-highest"),
        (Self::ObeyAnyCoordinator, "obey-any-coordinator"),
        (Self::KeepRunningWhenHalted, "keep-running-when-halted"),
        (Self::HaltedTheWrongWay, "halted-the-wrong-way"),
        (Self::ForgetLowestNode, "forget-lowest-node"),
        (Self::IgnoreStall, "ignore-stall"),
        (Self::NeverRestart, "never-restart"),
        (Self::CallAgain, "call-again"),
        (Self::SkipNextHigher, "skip-next-higher"),
        (Self::KeepOldGroup, "keep-old-group"),
        (Self::AcceptAnyGroup, "accept-any-group"),
        (Self::ForgetGroupInAnswer, "forget-group-in-answer"),
        (Self::NeverAskCoordinator, "never-ask-coordinator"),
        (Self::AbandonMembers, "abandon-members"),
        (Self::MergeNobody, "merge-nobody"),
        (Self::NeverSkip, "never-skip"),
        (Self::PassLower, "pass-lower"),
        (Self::SignAnyList, "sign-any-list"),
        (Self::TakeLowest, "take-lowest"),
        (Self::OthersFirst, "others-first"),
        (Self::DecideEarly, "decide-early"),
        (Self::KeepReign, "keep-reign"),
        (Self::IgnoreSilence, "ignore-silence"),
        (Self::NeverWiden, "never-widen"),
        (Self::AckBeforeChildren, "ack-before-children"),
        (Self::TwoParents, "two-parents"),
        (Self::IgnoreRecall, "ignore-recall"),
        (Self::ForgetSeen, "forget-seen"),
        (Self::FarewellBeforeStop, "farewell-before-stop"),
        (Self::ReturnTooEarly, "return-too-early"),
        (Self::AnswerWhileAside, "answer-while-aside"),
        (Self::PausedForever, "paused-forever"),
        (Self::SuperPeerOfOtherGroup, "super-peer-of-other-group"),
        (Self::KeepLostSuperPeer, "keep-lost-super-peer"),
        (Self::KeepSeat, "keep-seat"),
    ];

    /// The mutant of this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.iter().find(|(_, known)| *known == name).map(|(mutant, _)| *mutant)
    }

    /// Its name on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|(mutant, _)| *mutant == self).map_or("", |(_, name)| name)
    }
}
