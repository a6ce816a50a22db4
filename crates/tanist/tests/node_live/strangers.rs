//! Garbage at the peer port, while the group elects.

use std::io::Write as _;
use std::net::{TcpStream, UdpSocket};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::support::fleet::{Fleet, agreement, ms, take_leader, until, within};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn garbage_at_the_port_changes_nothing() {
    let fleet = Fleet::unhurried(3);
    let mut groups = fleet.start_all().await;
    let is_over = Arc::new(AtomicBool::new(false));
    let addresses: Vec<_> = (1..=3).map(|id| fleet.address(id)).collect();
    let stranger = std::thread::spawn({
        let is_over = Arc::clone(&is_over);
        move || {
            let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
            let mut sent = 0_usize;
            while !is_over.load(Ordering::Relaxed) {
                for address in &addresses {
                    let garbage = vec![1; sent % 1300];
                    // A node that is down receives nothing.
                    let _ = socket.send_to(&garbage, address);
                    if let Ok(mut stream) = TcpStream::connect(address) {
                        let _ = stream.write_all(&garbage);
                    }
                    sent += 1;
                }
                std::thread::sleep(ms(2));
            }
        }
    });
    let view = agreement(&groups).await;
    let leader = take_leader(&mut groups, &view);
    let id = leader.me().0;
    leader.shutdown().await.unwrap();
    agreement(&groups).await;
    groups.push(fleet.start(id).await);
    let view = agreement(&groups).await;
    let before = groups[0].metrics().await.unwrap();
    let refused = |metrics: &tanist::Metrics| {
        let counts = &metrics.transport;
        counts.handshakes_failed + counts.refused_malformed + counts.refused_unknown_session
    };
    let now = within("refusals", async {
        loop {
            let now = groups[0].metrics().await.unwrap();
            if refused(&now) >= refused(&before) + 100 {
                return now;
            }
            tokio::time::sleep(ms(10)).await;
        }
    })
    .await;
    assert_eq!(now.undecodable, 0, "none of it came through to the election");
    is_over.store(true, Ordering::Relaxed);
    stranger.join().unwrap();
    until("the same group", || {
        let same = |group: &tanist::Group| {
            group.role().view().is_some_and(|own| own.group_number() == view.group_number())
        };
        groups.iter().all(same).then_some(())
    })
    .await;
}
