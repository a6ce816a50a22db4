//! `tanist sim run --frames DIR`: a picture for each stage of a run, and a page that shows all.
//!
//! The folder is new, empty, or holds nothing but frames of an earlier run, which are replaced.
//! Anything else in it is a reason to write nothing.

use std::fs;
use std::io;
use std::path::Path;

use anyhow::Context;
use tanist_core::trace::{Entry, Header};
use tanist_sim::pictures::scene::{self, FRAMES_MARK, Scene};

use crate::problem::Problem;

/// Writes the frames of a trace and says how many.
pub(super) fn write(
    header: &Header,
    entries: &[Entry],
    scene: &Scene,
    folder: &Path,
) -> anyhow::Result<String> {
    let place = folder.display();
    let fail = || format!("error: cannot write to {place}; name a folder where you may write");
    let old = earlier(folder)?;
    let frames = scene::frames(header, entries, scene);
    fs::create_dir_all(folder).with_context(fail)?;
    for name in old {
        fs::remove_file(folder.join(name)).with_context(fail)?;
    }
    for frame in &frames {
        fs::write(folder.join(&frame.file), &frame.svg).with_context(fail)?;
    }
    let page = scene::index(&header.title(), &frames);
    fs::write(folder.join(INDEX), page).with_context(fail)?;
    let stages =
        if frames.len() == 1 { "1 stage".to_owned() } else { format!("{} stages", frames.len()) };
    Ok(format!("{stages} written to {place}; all on one page: {}", folder.join(INDEX).display()))
}

/// The frames of an earlier run in this folder; refuses a folder with anything else in it.
fn earlier(folder: &Path) -> anyhow::Result<Vec<String>> {
    let place = folder.display();
    let listed = match fs::read_dir(folder) {
        Ok(listed) => listed,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) if error.kind() == io::ErrorKind::NotADirectory => {
            let what = format!("{place} is a file; --frames needs a folder, which it creates");
            return Err(Problem::Usage(what).into());
        }
        Err(error) => {
            let what = format!("error: cannot read {place}; name a folder that you may read");
            return Err(anyhow::Error::from(error).context(what));
        }
    };
    let mut names = Vec::new();
    for entry in listed {
        let entry = entry.with_context(|| format!("error: cannot read {place}"))?;
        let name = entry.file_name().to_string_lossy().into_owned();
        if !entry.file_type().is_ok_and(|it| it.is_file()) || !is_own(&entry.path(), &name) {
            let what = format!(
                "{place} holds {name}, which is no frame of an earlier run; no frame was written. \
                 Name a new or an empty folder"
            );
            return Err(Problem::Usage(what).into());
        }
        names.push(name);
    }
    Ok(names)
}

/// Whether a file is one that this command writes.
fn is_own(path: &Path, name: &str) -> bool {
    if name == INDEX {
        return fs::read_to_string(path).is_ok_and(|text| text.contains(FRAMES_MARK));
    }
    let number = name.strip_prefix("stage-").and_then(|rest| rest.strip_suffix(".svg"));
    number.is_some_and(|number| !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit()))
}

const INDEX: &str = "index.html";
