//! A disk under a page cache: what is seen, what would survive, and everything between.
//!
//! Looser than any real file system: after power loss each change to the directory that was not
//! synced has happened or not, whatever came before or after it; a file that was not synced holds
//! nothing, any part of what was written, or garbage.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;

/// One directory, its place in its parent, and its files.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Disk {
    /// Whether the directory is seen.
    pub(super) has_directory: bool,
    /// Whether it would survive.
    pub(super) has_directory_synced: bool,
    seen: BTreeMap<String, usize>,
    synced: BTreeMap<String, usize>,
    changes: Vec<Change>,
    files: Vec<File>,
}

/// A change to the directory that is seen and not synced.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Change {
    Create { name: String, file: usize },
    Rename { from: String, to: String, file: usize },
    Remove { name: String },
}

#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
struct File {
    synced: Vec<u8>,
    /// Whole contents that were written since, oldest first.
    writes: Vec<Vec<u8>>,
    /// After a failed sync the kernel holds the file for clean: later syncs do nothing.
    is_forgotten: bool,
}

impl Disk {
    pub(super) fn names(&self) -> Vec<String> {
        self.seen.keys().cloned().collect()
    }

    /// Which file has that name: its inode number.
    pub(super) fn inode(&self, name: &str) -> Option<usize> {
        self.seen.get(name).copied()
    }

    /// How many files were ever made.
    pub(super) fn inodes(&self) -> usize {
        self.files.len()
    }

    pub(super) fn read(&self, name: &str) -> Option<Vec<u8>> {
        self.inode(name).map(|file| self.files[file].seen().clone())
    }

    /// Writes a file from its beginning; makes it if it is not there.
    pub(super) fn write(&mut self, name: &str, bytes: &[u8]) {
        let file = self.inode(name).unwrap_or_else(|| {
            let file = self.files.len();
            self.files.push(File::default());
            self.change(Change::Create { name: name.to_owned(), file });
            file
        });
        if !bytes.is_empty() {
            self.files[file].writes.push(bytes.to_vec());
        }
    }

    pub(super) fn rename(&mut self, from: &str, to: &str) {
        let file = self.inode(from).expect("what is renamed is there");
        self.change(Change::Rename { from: from.to_owned(), to: to.to_owned(), file });
    }

    pub(super) fn remove(&mut self, name: &str) {
        assert!(self.seen.contains_key(name), "what is removed is there");
        self.change(Change::Remove { name: name.to_owned() });
    }

    fn change(&mut self, change: Change) {
        change.apply(&mut self.seen);
        self.changes.push(change);
    }

    pub(super) fn sync_file(&mut self, name: &str) {
        let file = self.inode(name).expect("what is synced is there");
        self.files[file].sync();
    }

    /// A sync that failed: nothing survives for it, and the next one will not try again.
    pub(super) fn forget(&mut self, name: &str) {
        let file = self.inode(name).expect("what is synced is there");
        self.files[file].is_forgotten = true;
    }

    pub(super) fn sync_directory(&mut self) {
        self.synced.clone_from(&self.seen);
        self.changes.clear();
    }

    /// Whether power loss would change nothing.
    pub(super) fn is_settled(&self) -> bool {
        let is_clean = |file: &usize| self.files[*file].writes.is_empty();
        let is_kept = self.has_directory == self.has_directory_synced;
        is_kept && self.changes.is_empty() && self.seen.values().all(is_clean)
    }

    /// Every disk that power loss can leave, each once for every way to get it.
    pub(super) fn lose_power<B>(
        &self,
        visit: &mut dyn FnMut(Self) -> ControlFlow<B>,
    ) -> ControlFlow<B> {
        if !self.has_directory_synced {
            visit(Self::default())?;
        }
        if !self.has_directory {
            return ControlFlow::Continue(());
        }
        for choice in 0..1_u32 << self.changes.len() {
            let mut entries = self.synced.clone();
            for (index, change) in self.changes.iter().enumerate() {
                if choice & (1 << index) != 0 {
                    change.apply(&mut entries);
                }
            }
            let files: Vec<usize> =
                BTreeSet::from_iter(entries.values().copied()).into_iter().collect();
            let mut contents = BTreeMap::new();
            self.lose_contents(&entries, &files, &mut contents, visit)?;
        }
        ControlFlow::Continue(())
    }

    /// Chooses a content for each of `files` in every way.
    fn lose_contents<B>(
        &self,
        entries: &BTreeMap<String, usize>,
        files: &[usize],
        contents: &mut BTreeMap<usize, Vec<u8>>,
        visit: &mut dyn FnMut(Self) -> ControlFlow<B>,
    ) -> ControlFlow<B> {
        let Some((file, rest)) = files.split_first() else {
            return visit(Self::settled(self.files.len(), entries, contents));
        };
        for content in self.files[*file].remains() {
            contents.insert(*file, content);
            self.lose_contents(entries, rest, contents, visit)?;
        }
        ControlFlow::Continue(())
    }

    /// A disk on which everything would survive. Inode numbers are kept, lost ones not reused.
    fn settled(
        inodes: usize,
        entries: &BTreeMap<String, usize>,
        contents: &BTreeMap<usize, Vec<u8>>,
    ) -> Self {
        let content = |file| contents.get(&file).cloned().unwrap_or_default();
        let file = |file| File { synced: content(file), ..File::default() };
        Self {
            has_directory: true,
            has_directory_synced: true,
            seen: entries.clone(),
            synced: entries.clone(),
            changes: Vec::new(),
            files: (0..inodes).map(file).collect(),
        }
    }
}

impl Change {
    fn apply(&self, entries: &mut BTreeMap<String, usize>) {
        match self {
            Self::Create { name, file } => {
                entries.insert(name.clone(), *file);
            }
            Self::Rename { from, to, file } => {
                entries.remove(from);
                entries.insert(to.clone(), *file);
            }
            Self::Remove { name } => {
                entries.remove(name);
            }
        }
    }
}

impl File {
    fn seen(&self) -> &Vec<u8> {
        self.writes.last().unwrap_or(&self.synced)
    }

    fn sync(&mut self) {
        if !self.is_forgotten {
            self.synced = self.seen().clone();
            self.writes.clear();
        }
    }

    /// Every content that power loss can leave.
    fn remains(&self) -> BTreeSet<Vec<u8>> {
        let mut remains = BTreeSet::from([self.synced.clone()]);
        for write in &self.writes {
            for length in 0..=write.len() {
                let (start, end) = write.split_at(length);
                let old = self.synced.get(length..).unwrap_or_default();
                remains.insert(start.to_vec());
                remains.insert([start, &vec![0; end.len()]].concat());
                remains.insert([start, old].concat());
            }
            remains.insert(write.iter().map(|byte| !byte).collect());
        }
        remains
    }
}
