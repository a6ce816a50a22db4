//! Questions of programs to each other, beside the election.

use tanist::transport::question::{AskError, QUESTION_MAX};

use crate::support::fleet::{Fleet, PATIENCE, agreement, ms, node, within};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_peer_answers_if_its_program_takes_questions() {
    let fleet = Fleet::unhurried(2);
    let mut groups = fleet.start_all().await;
    agreement(&groups).await;
    let ask =
        async |question: &[u8]| groups[0].ask_peer(node(2), question.to_vec(), PATIENCE).await;
    assert_eq!(ask(b"who").await, Err(AskError::Untaken));
    let mut questions = groups[1].questions().await.unwrap();
    let answering = tokio::spawn(async move {
        let question = within("a question", questions.next()).await.unwrap();
        let answer = format!("{:?} of {}", question.bytes, question.from());
        question.answer(answer.as_bytes());
    });
    assert_eq!(ask(b"\x01").await, Ok(b"[1] of n1".to_vec()));
    answering.await.unwrap();
    assert_eq!(ask(&[0; QUESTION_MAX + 1]).await, Err(AskError::TooLong));
    let stranger = groups[0].ask_peer(node(9), Vec::new(), PATIENCE).await;
    assert_eq!(stranger, Err(AskError::UnknownPeer));
    groups.pop().unwrap().shutdown().await.unwrap();
    assert_eq!(groups[0].ask_peer(node(2), vec![1], ms(100)).await, Err(AskError::Silent));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_flood_of_questions_is_bounded_and_the_election_goes_on() {
    let fleet = Fleet::unhurried(2);
    let groups = fleet.start_all().await;
    let before = agreement(&groups).await;
    let mut asking = tokio::task::JoinSet::new();
    for _ in 0..500 {
        let asker = groups[0].clone();
        asking.spawn(async move { asker.ask_peer(node(2), vec![7], ms(200)).await });
    }
    let answers = asking.join_all().await;
    assert!(answers.iter().all(Result::is_err), "no program takes them");
    assert!(answers.contains(&Err(AskError::TooMany)), "{answers:?}");
    assert_eq!(agreement(&groups).await.group_number(), before.group_number());
}
