//! Adopting a copy, interrupted anywhere: a copy still, or a store.

use std::ops::ControlFlow;
use std::path::Path;

use tanist_core::group::Counter;
use tanist_core::membership::NodeId;

use super::super::directory::Directory;
use super::super::error::OpenError;
use super::super::files::LOCK;
use super::super::{Adopted, Versions, opening};
use super::crash_check::open;
use super::simulated_disk::Disk;
use super::simulated_files::{Breakage, SimulatedFiles};

fn adopt(files: &SimulatedFiles) -> Result<Adopted, OpenError> {
    let directory = Directory::new(Path::new("/simulated"), files.clone());
    opening::adopt(directory, NodeId(3), "billing", Versions::RELEASE)
}

/// A store with counter 5 whose lock file is another one.
fn copy() -> Disk {
    let files = SimulatedFiles::new(Disk::default(), Breakage::Nothing);
    let mut store = open(&files).expect("an empty disk takes a store").store;
    store.save(Counter(5)).expect("a disk that does not fail takes it");
    let mut disk = files.disk();
    disk.remove(LOCK);
    disk.write(LOCK, &[]);
    disk.sync_directory();
    disk
}

/// What opening gives: whether it is refused as a copy, else the counter.
fn reopen(disk: Disk) -> Result<Option<Counter>, String> {
    match open(&SimulatedFiles::new(disk, Breakage::Nothing)) {
        Ok(opened) if opened.is_new => Err("a new store".to_owned()),
        Ok(opened) => Ok(opened.store.counter()),
        Err(OpenError::Copied { .. }) => Ok(None),
        Err(error) => Err(error.to_string()),
    }
}

#[test]
fn an_interrupted_adoption_leaves_a_copy_or_a_store_and_can_be_repeated() {
    let files = SimulatedFiles::new(copy(), Breakage::Nothing);
    let adopted = adopt(&files).unwrap();
    assert_eq!(adopted, Adopted { counter: Some(Counter(5)), saves: 1, was_copy: true });
    let (mut copies, mut stores) = (0, 0);
    for stopped in files.take_history() {
        let end = stopped.lose_power(&mut |disk| {
            match reopen(disk.clone()) {
                Ok(None) => copies += 1,
                Ok(Some(Counter(5))) => stores += 1,
                Ok(Some(_)) | Err(_) => return ControlFlow::Break(format!("{disk:?}")),
            }
            let files = SimulatedFiles::new(disk, Breakage::Nothing);
            let adopted = adopt(&files).map(|adopted| adopted.counter);
            match (adopted, reopen(files.disk())) {
                (Ok(Some(Counter(5))), Ok(Some(Counter(5)))) => ControlFlow::Continue(()),
                other => ControlFlow::Break(format!("{other:?}")),
            }
        });
        assert_eq!(end, ControlFlow::Continue(()));
    }
    assert!(copies > 0 && stores > 0, "{copies} copies, {stores} stores");
}

#[test]
fn a_finished_adoption_survives_power_loss() {
    let files = SimulatedFiles::new(copy(), Breakage::Nothing);
    adopt(&files).unwrap();
    let end = files.disk().lose_power(&mut |disk| match reopen(disk) {
        Ok(Some(Counter(5))) => ControlFlow::Continue(()),
        other => ControlFlow::Break(other),
    });
    assert_eq!(end, ControlFlow::Continue(()));
}
