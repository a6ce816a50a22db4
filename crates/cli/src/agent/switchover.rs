//! Handing over on request: to a named node or the best one (`switchover`), or to the node that the
//! others elect (`step-down`).
//!
//! Which node may take over is the core's rule. This adds what only a live node knows: whether
//! there is a link with the successor, and when that one acts. A node that does not lead passes a
//! switchover on to the leader. Left out: whether the successor's `pre_leader` hook permits it when
//! it is asked; if it refuses then, another node takes over, and that is told.

use std::future::Future;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use tanist::{Acting, GroupNumber, HandOverError, NodeId, NodeNames, NotHandedOver, clock};
use tanist_core::Time;
use tokio::time::timeout;

use super::action::{ActionError, Done};
use super::views::{LEADER_ANSWER_MAX, PeerAsk};
use super::{Agent, json_form};
use crate::control::protocol::Answer;
use crate::terminal::moment;

/// Who handed over to which node, for programs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Handover {
    /// The old leader.
    pub(crate) from: String,
    /// The node that acts now, or would.
    pub(crate) to: String,
    /// How long no leader acted, as the old leader saw it; none if nothing was done.
    pub(crate) gap_ms: Option<f64>,
    /// The number of the group that the new leader leads.
    #[serde(with = "json_form::optional_text")]
    pub(crate) group_number: Option<GroupNumber>,
    /// Whether it was only asked whether it could be done.
    pub(crate) dry_run: bool,
}

impl Agent {
    /// Hands over and waits until the successor acts, or has the leader do so.
    pub(super) async fn switchover(
        &self,
        to: Option<&str>,
        dry_run: bool,
    ) -> Result<Done, ActionError> {
        let named = to.map(|name| self.in_peer_list(name)).transpose()?;
        match self.group().successor(named).await {
            Ok(successor) => self.hand_over_to(successor, dry_run).await,
            Err(NotHandedOver::Refused(HandOverError::NotLeader {
                leader: Some(leader), ..
            })) => {
                let ask = PeerAsk::Switchover { to: to.map(str::to_owned), dry_run };
                self.pass_on(leader, &ask).await
            }
            Err(error) => Err(self.refused(error).await),
        }
    }

    /// Does what an operator asked at another node. That is not passed on once more.
    pub(super) async fn switchover_for_peer(&self, to: Option<&str>, dry_run: bool) -> Answer {
        let named = match to.map(|name| self.in_peer_list(name)).transpose() {
            Ok(named) => named,
            Err(error) => return Answer::Refused(error.to_string()),
        };
        tracing::info!("a switchover was asked for at another node");
        let done = match self.group().successor(named).await {
            Ok(successor) => self.hand_over_to(successor, dry_run).await,
            Err(error) => Err(self.refused(error).await),
        };
        match done.map(|done| serde_json::to_value(&done)) {
            Ok(Ok(done)) => Answer::Ok(done),
            Ok(Err(error)) => Answer::Error(error.to_string()),
            Err(error) => Answer::Refused(error.to_string()),
        }
    }

    async fn pass_on(&self, leader: NodeId, ask: &PeerAsk) -> Result<Done, ActionError> {
        let address = self.address(leader).unwrap_or_default();
        let called = self.name(leader);
        let elsewhere = |why: String| {
            ActionError::Refused(format!(
                "{called} leads, and could not be asked from here: {why}. Ask there, at {address}"
            ))
        };
        match self.ask_agent(leader, ask, LEADER_MAX).await.map_err(elsewhere)? {
            Answer::Ok(done) => {
                serde_json::from_value(done).map_err(|error| elsewhere(error.to_string()))
            }
            Answer::Refused(why) => Err(ActionError::Refused(why)),
            Answer::Error(why) => Err(elsewhere(why)),
        }
    }

    async fn hand_over_to(&self, to: NodeId, dry_run: bool) -> Result<Done, ActionError> {
        let (group, me, called) = (self.group(), self.my_name(), self.name(to));
        self.is_linked_with(to).await?;
        if dry_run {
            let text = format!("{me} would hand over to {called}; nothing was done");
            return Ok(done(text, self.report(to, None, true)));
        }
        if self.activity().active().is_none() {
            return Err(ActionError::Refused(format!(
                "{me} was elected and does not act yet, so it has nothing to hand over; nothing \
                 was done. See: tanist members"
            )));
        }
        let names = group.names();
        let refused = |error| ActionError::of(error, names);
        let seen = self.hand_over(async { group.hand_over(to).await.map_err(refused) });
        match seen.await? {
            Next::Acts { acting, gap } if acting.node == to => {
                let (gap_ms, number) = (millis(gap), acting.group_number);
                let text = format!(
                    "{called} leads and acts in group {number}. Gap: {gap_ms:.1} ms without an acting \
                     leader; {me} rejoins by itself"
                );
                Ok(done(text, self.report(to, Some((gap_ms, number)), false)))
            }
            Next::Acts { acting, gap } => Err(ActionError::Refused(format!(
                "{me} handed over to {called}, but {} acts now, in group {}, after {:.1} ms: {called} \
                 was lost, or its pre_leader hook refused. See on {called}: tanist why",
                self.name(acting.node),
                acting.group_number,
                millis(gap),
            ))),
            Next::NotYet => Err(ActionError::Refused(format!(
                "{me} handed over to {called}, and no node has begun to act within {}. See on {called}: \
                 tanist status, tanist why",
                moment::span(ACTING_MAX),
            ))),
        }
    }

    /// Steps down, and tells which node took over.
    pub(super) async fn step_down(&self, hold: Duration) -> Result<String, ActionError> {
        let (group, me) = (self.group(), self.my_name());
        let withdrawn = format!("{me} is withdrawn for {}", moment::span(hold));
        let rejoin = "Rejoin earlier: tanist rejoin";
        let has_acted = self.activity().active().is_some();
        let is_alone = group.role().view().is_none_or(|view| view.members().len() < 2);
        if group.is_paused() || !has_acted || is_alone {
            group.step_down(hold).await?;
            let next = match (has_acted, group.is_paused()) {
                (true, true) => "; no node takes over until elections resume: tanist resume",
                (true, false) => "; no other node is in the group that could take over",
                (false, _) => "",
            };
            return Ok(format!("{withdrawn}{next}. {rejoin}"));
        }
        let seen = self.hand_over(async { Ok(group.step_down(hold).await?) }).await?;
        Ok(match seen {
            Next::Acts { acting: Acting { node, group_number, .. }, gap } => format!(
                "{withdrawn}; {} took over and acts in group {group_number}, {:.1} ms later. {rejoin}",
                self.name(node),
                millis(gap),
            ),
            Next::NotYet => format!(
                "{withdrawn}; no other node has begun to act within {}: see tanist why on the \
                 others. {rejoin}",
                moment::span(ACTING_MAX),
            ),
        })
    }

    /// Ends the leadership in some way, and waits for the next leader that acts.
    async fn hand_over(
        &self,
        leave: impl Future<Output = Result<(), ActionError>>,
    ) -> Result<Next, ActionError> {
        let group = self.group();
        let before = group.last_acting();
        let ended = self.activity().active().map(|lead| {
            tokio::spawn(async move {
                lead.lost().await;
                clock::now()
            })
        });
        leave.await?;
        // Without a leadership to end, the gap begins here.
        let ended: Time = match ended {
            Some(ended) => ended.await.map_err(|_| ActionError::Ended)?,
            None => clock::now(),
        };
        Ok(match timeout(ACTING_MAX, group.acting_after(before)).await {
            Ok(acting) => {
                let acting = acting?;
                Next::Acts { acting, gap: acting.since.since(ended) }
            }
            Err(_) => Next::NotYet,
        })
    }

    fn in_peer_list(&self, name: &str) -> Result<NodeId, ActionError> {
        let config = self.config();
        config.peers.find(name).ok_or_else(|| {
            let known = config.peers.called().join(" ");
            ActionError::Refused(format!(
                "{name} is not in the peer list, which has {known}; nothing was done"
            ))
        })
    }

    /// Refuses a node with which there is no link: it could not hear that it is named.
    async fn is_linked_with(&self, node: NodeId) -> Result<(), ActionError> {
        let metrics = self.group().metrics().await.ok_or(ActionError::Ended)?;
        let peer = metrics.peers.iter().find(|peer| peer.id == node);
        if peer.is_some_and(|peer| peer.is_connected) {
            return Ok(());
        }
        let heard = peer.and_then(|peer| peer.heard).map_or_else(
            || "it was never heard".to_owned(),
            |heard| format!("it was last heard {} ago", moment::span(clock::now().since(heard))),
        );
        Err(ActionError::Refused(format!(
            "{} is not reachable from {}: there is no link, and {heard}; nothing was done. See: \
             tanist doctor",
            self.name(node),
            self.my_name(),
        )))
    }

    /// Why it was refused, with what this node knows of the other one.
    async fn refused(&self, error: NotHandedOver) -> ActionError {
        let why = match error {
            NotHandedOver::Refused(why) => why,
            NotHandedOver::Overdue(overdue) => return ActionError::of_overdue(&overdue),
            NotHandedOver::Stopped(_) | _ => return ActionError::Ended,
        };
        match why {
            HandOverError::NotInGroup(node) => match self.is_linked_with(node).await {
                Ok(()) => ActionError::Refused(self.why_not_in_group(node).await),
                Err(error) => error,
            },
            HandOverError::NotLeader { .. }
            | HandOverError::KeepsNoLeader(_)
            | HandOverError::Unknown(_)
            | HandOverError::Already(_)
            | HandOverError::Paused
            | HandOverError::Alone
            | HandOverError::WouldNotLast { .. } => {
                ActionError::Refused(why.called(self.group().names()))
            }
        }
    }

    /// What a node that can be reached says of itself.
    async fn why_not_in_group(&self, node: NodeId) -> String {
        let said = self.status_of(node, LEADER_ANSWER_MAX).await.ok();
        let withdrawn = said.filter(|said| said.withdrawn);
        let why = match withdrawn.as_ref().map(|said| said.objections.as_slice()) {
            Some([]) => "it is withdrawn; bring it back there: tanist rejoin".to_owned(),
            Some([objection, ..]) => format!("it is withdrawn: {}", objection.text()),
            None if self.group().farewells().contains(&node) => "it is withdrawn".to_owned(),
            None => "see: tanist members".to_owned(),
        };
        let node = self.name(node);
        format!("{node} is not in the group, so nothing was done: {why}")
    }

    fn report(&self, to: NodeId, seen: Option<(f64, GroupNumber)>, dry_run: bool) -> Handover {
        Handover {
            from: self.my_name(),
            to: self.name(to),
            gap_ms: seen.map(|(gap, _)| gap),
            group_number: seen.map(|(_, number)| number),
            dry_run,
        }
    }
}

/// What came after a leadership.
enum Next {
    /// A leader acts, so long after the old one stopped acting.
    Acts { acting: Acting, gap: Duration },
    /// None does yet.
    NotYet,
}

impl ActionError {
    fn of(error: NotHandedOver, names: &NodeNames) -> Self {
        match error {
            NotHandedOver::Refused(why) => Self::Refused(why.called(names)),
            NotHandedOver::Overdue(overdue) => Self::of_overdue(&overdue),
            NotHandedOver::Stopped(_) | _ => Self::Ended,
        }
    }
}

const fn done(text: String, handover: Handover) -> Done {
    Done { text, handover: Some(handover) }
}

fn millis(span: Duration) -> f64 {
    span.as_secs_f64() * 1000.0
}

/// How long a new leader may take to act. Shorter than a client waits for an action.
const ACTING_MAX: Duration = Duration::from_secs(15);
/// How long a leader may take for all of it, its job's end included. Less than a client waits.
const LEADER_MAX: Duration = Duration::from_secs(28);
