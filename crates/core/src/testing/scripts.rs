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
        if let Message::AreYouUp { nudge: true } = message {
            format!("{facts} nudge")
        } else if let Message::EnterElection { appoints: true, .. } = message {
            format!("{facts} appoints")
        } else if let Message::EeAnswer { report, ok: true, .. } = message {
            format!("{facts}{}", of_report(report))
        } else {
            facts
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
        if let Message::Coordinator { replaces: Some(old), .. } = message {
            format!("{facts} replaces {old}")
        } else {
            facts
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
        if let Message::AycAnswer { is_coordinator: false, coordinator, .. } = message {
            format!("{facts} try {coordinator}")
        } else if let Message::Accept { report, forwarded, .. } = message {
            let line = format!("{facts}{}", of_report(report));
            if forwarded.is_empty() { line } else { format!("{line} forwarded {forwarded}") }
        } else {
            facts
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

    fn notice(notice: &reorganization::Notice) -> String {
        use reorganization::Notice;
        match notice {
            Notice::Stop => "stop".to_string(),
            Notice::Yield => "yield".to_string(),
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
        let facts = of_facts(message.facts());
        if let policy::Message::Farewell { successor: Some(successor) } = message {
            return format!("{facts} for {successor}");
        }
        facts
    }

    fn timer(timer: policy::Timer) -> String {
        timer.name().to_string()
    }

    fn notice(notice: &policy::Notice) -> String {
        if let policy::Notice::Farewell { peer, successor: None } = notice {
            format!("farewell of {peer}")
        } else {
            format!("{notice:?}").to_lowercase()
        }
    }
}

/// What says no more than its facts or its name needs no line of its own here.
impl Scripted for Node {
    fn message(message: &node::Message) -> String {
        use node::Message;
        if let Message::Election(message) = message {
            of_election_message(message)
        } else if let Message::Reorganization(message) = message {
            Reorganization::message(message)
        } else if let Message::Recall(message) = message {
            Recall::message(message)
        } else if let Message::Policy(message) = message {
            Policy::message(message)
        } else {
            of_facts(message.facts(Algorithm::Bully))
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
        if let Notice::Plan { group, members, reports } = notice {
            of_plan(*group, members, reports)
        } else if let Notice::Begin { group, coordinator, members, definition } = notice {
            of_begin(*group, *coordinator, members, definition)
        } else if let Notice::Ended(outcome) = notice {
            format!("ended {outcome:?}")
        } else if let Notice::Farewell(peer) = notice {
            format!("farewell of {peer}")
        } else if let Notice::Acting { peer, group } = notice {
            format!("{peer} acts as {group}")
        } else {
            format!("{notice:?}").to_lowercase()
        }
    }
}

fn of_election_message(message: &election::Message) -> String {
    use election::Message;
    if let Message::Bully(message) = message {
        Bully::message(message)
    } else if let Message::BullyLecture(message) = message {
        BullyLecture::message(message)
    } else if let Message::Invitation(message) = message {
        Invitation::message(message)
    } else if let Message::RingChangRoberts(message)
    | Message::RingModified(message)
    | Message::RingList(message)
    | Message::RingActiveList(message) = message
    {
        Ring::message(message)
    } else {
        of_facts(message.facts())
    }
}
