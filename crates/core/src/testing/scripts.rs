//! How each protocol reads in a test script.

use alloc::format;
use alloc::string::{String, ToString};

use super::{Scripted, of_begin, of_election, of_facts, of_plan, of_report};
use crate::detector::{self, Detector, Heartbeat};
use crate::election::{
    self, Algorithm, Bully, BullyLecture, ElectionAlgorithm, Invitation, Ring, bully,
    bully_lecture, invitation,
};
use crate::group::Counter;
use crate::node::{self, Node};
use crate::policy::{self, Policy};
use crate::recall::{self, Recall};
use crate::record::NodeRecord;
use crate::reorganization::{self, Reorganization};

impl Scripted for Bully {
    fn message(message: &bully::Message) -> String {
        use bully::Message;
        let facts = of_facts(Self::facts(message));
        match message {
            Message::AreYouUp { nudge: true } => format!("{facts} nudge"),
            Message::EnterElection { appoints: true, .. } => format!("{facts} appoints"),
            Message::EeAnswer { report, ok: true, .. } => format!("{facts}{}", of_report(report)),
            Message::AreYouUp { nudge: false }
            | Message::EnterElection { appoints: false, .. }
            | Message::EeAnswer { ok: false, .. }
            | Message::AyuAnswer
            | Message::AreYouNormal
            | Message::AynAnswer { .. }
            | Message::SetCoordinator { .. }
            | Message::ScAnswer { .. } => facts,
        }
    }

    fn timer(timer: bully::Timer) -> String {
        Self::timer_name(&timer).to_string()
    }

    fn record(counter: &Counter) -> String {
        counter.0.to_string()
    }

    fn notice(notice: &election::Notice) -> String {
        of_election(notice)
    }
}

impl Scripted for BullyLecture {
    fn message(message: &bully_lecture::Message) -> String {
        use bully_lecture::Message;
        let facts = of_facts(Self::facts(message));
        match message {
            Message::Coordinator { replaces: Some(old), .. } => format!("{facts} replaces {old}"),
            Message::Coordinator { replaces: None, .. } | Message::Election | Message::Answer => {
                facts
            }
        }
    }

    fn timer(timer: bully_lecture::Timer) -> String {
        Self::timer_name(&timer).to_string()
    }

    fn record(counter: &Counter) -> String {
        counter.0.to_string()
    }

    fn notice(notice: &election::Notice) -> String {
        of_election(notice)
    }
}

impl Scripted for Invitation {
    fn message(message: &invitation::Message) -> String {
        use invitation::Message;
        let facts = of_facts(Self::facts(message));
        match message {
            Message::AycAnswer { is_coordinator: false, coordinator } => {
                format!("{facts} try {coordinator}")
            }
            Message::Accept { report, forwarded, .. } if !forwarded.is_empty() => {
                format!("{facts}{} forwarded {forwarded}", of_report(report))
            }
            Message::Accept { report, .. } => format!("{facts}{}", of_report(report)),
            Message::AycAnswer { is_coordinator: true, .. }
            | Message::AreYouCoordinator
            | Message::AreYouThere { .. }
            | Message::AytAnswer { .. }
            | Message::Invitation { .. }
            | Message::AcceptAnswer { .. } => facts,
        }
    }

    fn timer(timer: invitation::Timer) -> String {
        Self::timer_name(&timer).to_string()
    }

    fn record(counter: &Counter) -> String {
        counter.0.to_string()
    }

    fn notice(notice: &election::Notice) -> String {
        of_election(notice)
    }
}

impl Scripted for Reorganization {
    fn message(message: &reorganization::Message) -> String {
        use reorganization::Message;
        let facts = of_facts(message.facts(Algorithm::Bully));
        match message {
            Message::NewState { members, definition, .. } => {
                format!("{facts} of {members}: {definition}")
            }
            Message::NewStateAnswer { .. } => facts,
        }
    }

    fn timer(_: reorganization::Handover) -> String {
        "handover".to_string()
    }

    fn record(record: &detector::timeout::NoRecord) -> String {
        match *record {}
    }

    fn notice(notice: &reorganization::Notice) -> String {
        use reorganization::Notice;
        match notice {
            Notice::Stop => "stop".to_string(),
            Notice::Plan { group, members, reports } => of_plan(*group, members, reports),
            Notice::Begin { group, coordinator, members, definition } => {
                of_begin(*group, *coordinator, members, definition)
            }
            Notice::Stopped(report) => format!("stopped{}", of_report(report)),
            Notice::Settled { missing, members } if missing.is_empty() => {
                format!("settled {members}")
            }
            Notice::Settled { missing, members } => format!("settled {members} without {missing}"),
            Notice::Unsettled { missing } => format!("unsettled, missing {missing}"),
        }
    }
}

impl Scripted for Detector {
    fn message(heartbeat: &Heartbeat) -> String {
        of_facts(heartbeat.facts())
    }

    fn timer(timer: detector::Timer) -> String {
        match timer {
            detector::Timer::Silence(peer) => format!("silence of {peer}"),
            detector::Timer::Beat => timer.name().to_string(),
        }
    }

    fn record(record: &detector::timeout::NoRecord) -> String {
        match *record {}
    }

    fn notice(notice: &detector::Notice) -> String {
        match notice {
            detector::Notice::Silent(peer) => format!("silent {peer}"),
            detector::Notice::Failed(peer) => format!("failed {peer}"),
        }
    }
}

impl Scripted for Recall {
    fn message(message: &recall::Message) -> String {
        let facts = of_facts(message.facts());
        match message {
            recall::Message::Recalled { counter: Some(counter), .. } => {
                format!("{facts} {}", counter.0)
            }
            recall::Message::Recalled { counter: None, .. } | recall::Message::Recall { .. } => {
                facts
            }
        }
    }

    fn timer(_: recall::Answers) -> String {
        "recall".to_string()
    }

    fn record(counter: &Counter) -> String {
        counter.0.to_string()
    }

    fn notice(notice: &recall::Notice) -> String {
        match notice {
            recall::Notice::Known(Some(counter)) => format!("known {}", counter.0),
            recall::Notice::Known(None) => "nothing known".to_string(),
            recall::Notice::Seen(counter) => format!("seen {}", counter.0),
        }
    }
}

impl Scripted for Policy {
    fn message(message: &policy::Message) -> String {
        of_facts(message.facts())
    }

    fn timer(timer: policy::Timer) -> String {
        timer.name().to_string()
    }

    fn record(record: &detector::timeout::NoRecord) -> String {
        match *record {}
    }

    fn notice(notice: &policy::Notice) -> String {
        match notice {
            policy::Notice::Drop => "drop".to_string(),
            policy::Notice::Withdrawn => "withdrawn".to_string(),
            policy::Notice::Rejoined => "rejoined".to_string(),
            policy::Notice::Farewell(peer) => format!("farewell of {peer}"),
            policy::Notice::Paused => "paused".to_string(),
            policy::Notice::Resumed => "resumed".to_string(),
        }
    }
}

impl Scripted for Node {
    fn message(message: &node::Message) -> String {
        use node::Message;
        match message {
            Message::Election(election::Message::Bully(message)) => Bully::message(message),
            Message::Election(election::Message::BullyLecture(message)) => {
                BullyLecture::message(message)
            }
            Message::Election(election::Message::Invitation(message)) => {
                Invitation::message(message)
            }
            Message::Election(
                election::Message::RingChangRoberts(message)
                | election::Message::RingModified(message)
                | election::Message::RingList(message)
                | election::Message::RingActiveList(message),
            ) => Ring::message(message),
            Message::Election(message) => of_facts(message.facts()),
            Message::Reorganization(message) => Reorganization::message(message),
            Message::Detector(message) => Detector::message(message),
            Message::Recall(message) => Recall::message(message),
            Message::Policy(message) => Policy::message(message),
        }
    }

    fn timer(timer: node::Timer) -> String {
        timer.name().to_string()
    }

    fn record(record: &NodeRecord) -> String {
        record.counter.0.to_string()
    }

    fn notice(notice: &node::Notice) -> String {
        use node::Notice;
        match notice {
            Notice::Stop => "stop".to_string(),
            Notice::Plan { group, members, reports } => of_plan(*group, members, reports),
            Notice::Begin { group, coordinator, members, definition } => {
                of_begin(*group, *coordinator, members, definition)
            }
            Notice::Called => "called".to_string(),
            Notice::Ended(outcome) => format!("ended {outcome:?}"),
            Notice::Withdrawn => "withdrawn".to_string(),
            Notice::Rejoined => "rejoined".to_string(),
            Notice::Farewell(peer) => format!("farewell of {peer}"),
            Notice::Paused => "paused".to_string(),
            Notice::Resumed => "resumed".to_string(),
        }
    }
}
