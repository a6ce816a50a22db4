//! The names of kinds of messages and of timers.

use core::fmt;

use serde::{Deserialize, Serialize};

macro_rules! names {
    ($(#[$meta:meta])* $name:ident { $($variant:ident = $text:literal),* $(,)? }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        pub enum $name {
            $(#[doc = $text] #[serde(rename = $text)] $variant),*
        }

        impl $name {
            /// All of them.
            pub const ALL: &'static [Self] = &[$(Self::$variant),*];

            /// The name as the sources print it.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $text),*
                }
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(self.name())
            }
        }
    };
}

names! {
    /// Every kind of message, by the name that its source gives it.
    Kind {
        AreYouUp = "AreYouUp",
        AyuAnswer = "AYU_answer",
        AreYouNormal = "AreYouNormal",
        AynAnswer = "AYN_answer",
        EnterElection = "Enter_Election",
        EeAnswer = "EE_answer",
        SetCoordinator = "Set_Coordinator",
        ScAnswer = "SC_answer",
        NewState = "New_State",
        NsAnswer = "NS_answer",
        Election = "election",
        Answer = "answer",
        Coordinator = "coordinator",
        AreYouCoordinator = "AreYouCoordinator",
        AycAnswer = "AYC_answer",
        AreYouThere = "AreYouThere",
        AytAnswer = "AYT_answer",
        Invitation = "Invitation",
        Accept = "Accept",
        AcceptAnswer = "Accept_answer",
        Ready = "Ready",
        ReadyAnswer = "Ready_answer",
        Heartbeat = "heartbeat",
        Recall = "Recall",
        RecallAnswer = "Recall_answer",
        Elected = "elected",
        Ack = "ack",
        Follow = "follow",
        Told = "told",
        Elect = "elect",
        Leader = "leader",
        Probe = "probe",
        Reply = "reply",
        Hello = "hello",
        Farewell = "Farewell",
        Pause = "Pause",
        Priority = "Priority",
        Acting = "Acting",
        AmongSuperPeers = "among_super_peers",
        Selected = "Selected",
        Enrol = "Enrol",
        Enrolled = "Enrolled",
        Refer = "Refer",
        Okay = "ok",
    }
}

names! {
    /// Every timer, named for what it ends.
    TimerName {
        Answers = "answers",
        Announcement = "announcement",
        Check = "check",
        Timeout = "timeout",
        Delay = "delay",
        Stall = "stall",
        Retry = "retry",
        Announce = "announce",
        Silence = "silence",
        Handover = "handover",
        Heartbeat = "heartbeat",
        Recall = "recall",
        Acknowledgement = "acknowledgement",
        Follows = "follows",
        Hold = "hold",
        Quiet = "quiet",
        Remind = "remind",
        Yield = "yield",
        Succession = "succession",
        Ring = "ring",
        Relay = "relay",
        Hello = "hello",
        Probe = "probe",
        Age = "age",
        Settle = "settle",
        Enrol = "enrol",
        Tell = "tell",
        Vet = "vet",
        Stop = "stop",
    }
}
