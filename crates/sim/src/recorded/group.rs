//! The group that a header describes, checked as a scenario file is.
//!
//! A header that no configuration could have would make monitors judge another group than the one
//! that ran. Assumes that the nodes, names and labels of the header could be read one by one.

use tanist_core::duration;
use tanist_core::election::descriptor::Network;
use tanist_core::election::{Algorithm, Options};
use tanist_core::policy::Preempt;
use tanist_core::trace::Header;
use tanist_core::{Membership, NodeId};

use super::MergeError;
use super::file::TraceFile;

/// Who elects, and how.
pub(super) struct Group {
    pub(super) algorithm: Algorithm,
    pub(super) members: Membership,
}

/// The group of an agreed header, after the header of every incarnation was checked at its place.
pub(super) fn group(files: &[TraceFile], agreed: &Header) -> Result<Group, MergeError> {
    for file in files {
        for (header, line) in file.headers() {
            read(header, &Place { file: &file.name, line })?;
        }
    }
    let first = files.first().ok_or(MergeError::NoFiles)?;
    read(agreed, &Place { file: &first.name, line: first.header_line })
}

/// Where a header is.
struct Place<'a> {
    file: &'a str,
    line: usize,
}

impl Place<'_> {
    fn wrong(&self, field: &'static str, why: String) -> MergeError {
        MergeError::Header { file: self.file.to_owned(), line: self.line, field, why }
    }
}

fn read(header: &Header, place: &Place<'_>) -> Result<Group, MergeError> {
    let (file, line) = (place.file.to_owned(), place.line);
    let Some(algorithm) = Algorithm::from_name(&header.algorithm) else {
        return Err(MergeError::Algorithm { file, line, name: header.algorithm.clone() });
    };
    let members = Membership::new(header.nodes.iter().copied())
        .map_err(|source| MergeError::Members { file, line, source })?;
    for (id, _) in header.names.iter() {
        known(&members, id).map_err(|why| place.wrong("names", why))?;
    }
    for (id, _) in &header.labels {
        known(&members, *id).map_err(|why| place.wrong("labels", why))?;
    }
    let members = members.with_labels(header.labels.iter().copied());
    let members = members.with_names(header.names.clone());
    let members = ring(header, algorithm, members).map_err(|why| place.wrong("ring", why))?;
    let options = options(header, algorithm).map_err(|why| place.wrong("options", why))?;
    preempt(header, algorithm, &options).map_err(|why| place.wrong("preempt", why))?;
    Ok(Group { algorithm, members })
}

fn known(members: &Membership, id: NodeId) -> Result<(), String> {
    if members.contains(id) {
        return Ok(());
    }
    let mut known: Vec<u32> = members.all().iter().map(|member| member.id.0).collect();
    known.sort_unstable();
    let known: Vec<String> = known.iter().map(u32::to_string).collect();
    Err(format!("there is no node {}; the nodes are {}", id.0, known.join(" ")))
}

fn ring(header: &Header, algorithm: Algorithm, members: Membership) -> Result<Membership, String> {
    if header.ring.is_empty() {
        return Ok(members);
    }
    if algorithm.descriptor().network != Network::Ring {
        return Err(format!("it is the order of a ring, and {} has no ring", algorithm.name()));
    }
    members.with_ring(header.ring.iter().copied()).map_err(|error| error.to_string())
}

fn options(header: &Header, algorithm: Algorithm) -> Result<Options, String> {
    let mut options = Options::default();
    for option in &header.options {
        let (name, value) = option
            .split_once('=')
            .ok_or_else(|| format!("{option:?} is not an option; write name=value"))?;
        options.set(algorithm, name, value).map_err(|error| error.to_string())?;
    }
    Ok(options)
}

fn preempt(header: &Header, algorithm: Algorithm, options: &Options) -> Result<Preempt, String> {
    let preempt = match header.preempt.as_str() {
        "" => Preempt::Always,
        "never" => Preempt::Never,
        // Headers have the unit with the Greek letter, scenario files the one on every keyboard.
        text => duration::parse(&text.replace('µ', "u")).map(Preempt::After).ok_or_else(|| {
            format!(
                "{text:?} does not say who takes over; write `never`, or a duration such as 30s, \
                 or leave it out"
            )
        })?,
    };
    preempt.checked(algorithm, options).map_err(|error| error.to_string())
}
