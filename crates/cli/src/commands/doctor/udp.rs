//! Heartbeats that do not pass by UDP while the links are up: which direction, what to allow.

use super::finding::Findings;
use crate::agent::report::{MemberReport, MembersReport, SettingsReport, UdpReport};

/// Looks at the UDP packets between the agent and each of its peers.
pub(super) fn look(seen: &MembersReport, settings: &SettingsReport, findings: &mut Findings) {
    if seen.radio {
        return;
    }
    let mut passing = Vec::new();
    for member in &seen.members {
        match member.udp {
            None => {}
            Some(UdpReport::Ok) => passing.push(member.node.as_str()),
            Some(UdpReport::BlockedIn) => blocked_in(member, settings, findings),
            Some(UdpReport::BlockedOut) => blocked_out(member, findings),
            Some(UdpReport::Blocked) => {
                blocked_in(member, settings, findings);
                blocked_out(member, findings);
            }
        }
    }
    if !passing.is_empty() {
        findings.well("udp", format!("Heartbeats pass by UDP with {}.", passing.join(" ")));
    }
}

fn blocked_in(member: &MemberReport, settings: &SettingsReport, findings: &mut Findings) {
    let node = &member.node;
    let what = format!(
        "No UDP packet from {node} arrives here, so its heartbeats come over the TCP link, which \
         is up."
    );
    let (host, port) = (host(&member.address), port(&settings.listen));
    let fix = format!(
        "allow UDP port {port} from {host}, in the firewall here, on {node} (outgoing) and between"
    );
    findings.problem("udp", what, &fix);
}

fn blocked_out(member: &MemberReport, findings: &mut Findings) {
    let node = &member.node;
    let what = format!(
        "No UDP packet from this node arrives at {node}, so heartbeats go over the TCP link, which \
         is up."
    );
    let (host, port) = (host(&member.address), port(&member.address));
    let fix = format!(
        "allow UDP port {port} to {host}, in the firewall on {node}, here (outgoing) and between"
    );
    findings.problem("udp", what, &fix);
}

fn host(address: &str) -> &str {
    address.rsplit_once(':').map_or(address, |(host, _)| host)
}

fn port(address: &str) -> &str {
    address.rsplit_once(':').map_or("?", |(_, port)| port)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::finding::{Finding, Severity};
    use super::*;

    /// What is found where n2 is one of two nodes and the other one has port 7400.
    fn found(udp: Option<UdpReport>) -> Vec<(Severity, String)> {
        let status = json!({
            "group": "billing", "node": "n1", "algorithm": "bully", "role": "member",
            "state": "normal", "active": false, "group_number": null, "leader": null,
            "members": ["n1", "n2"], "peers_version": 1, "since_ms": 0, "index": 1,
            "incarnation": 1,
        });
        let member = json!({
            "node": "n2", "address": "10.0.0.2:7402", "role": "member", "is_self": false,
            "is_connected": true, "is_refused": false, "priority": 1, "rtt_ms": null,
            "seen_ms": null, "udp": udp,
        });
        let settings = json!({
            "version": "0", "process": 1, "data_dir": "data", "key_file": "key",
            "listen": "10.0.0.1:7400", "message_max_ms": 50.0, "processing_max_ms": 50.0,
            "heartbeat_ms": 250.0, "suspect_after_ms": 1000.0, "files_max": 1024,
        });
        let seen = json!({ "status": status, "members": [member] });
        let mut findings = Findings::default();
        let seen = serde_json::from_value(seen).unwrap();
        look(&seen, &serde_json::from_value(settings).unwrap(), &mut findings);
        let text = |finding: &Finding| {
            format!("{} {}", finding.what, finding.fix.clone().unwrap_or_default())
        };
        findings.all().iter().map(|finding| (finding.severity, text(finding))).collect()
    }

    #[test]
    fn what_is_not_known_or_passes_is_no_problem() {
        assert_eq!(found(None), []);
        assert_eq!(found(Some(UdpReport::Ok))[0].0, Severity::Well);
    }

    #[test]
    fn each_direction_is_a_problem_that_names_peer_and_port() {
        let into = found(Some(UdpReport::BlockedIn));
        assert_eq!(into.len(), 1);
        assert_eq!(into[0].0, Severity::Problem);
        assert!(into[0].1.starts_with("No UDP packet from n2 arrives here"), "{into:?}");
        assert!(into[0].1.contains("allow UDP port 7400 from 10.0.0.2,"), "{into:?}");
        let out = found(Some(UdpReport::BlockedOut));
        assert_eq!(out.len(), 1);
        assert_eq!(out[0].0, Severity::Problem);
        assert!(out[0].1.starts_with("No UDP packet from this node arrives at n2"), "{out:?}");
        assert!(out[0].1.contains("allow UDP port 7402 to 10.0.0.2,"), "{out:?}");
        assert_eq!(found(Some(UdpReport::Blocked)), [into, out].concat());
    }
}
