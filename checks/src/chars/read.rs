//! Reads which character devices exist: two class folders, and the device and port of each entry.

use super::{CharKind, SeenChars};
use crate::discovery::{Discovery, fetch_one};
use crate::hands::{Answer, Hands, ReadError, Request};
use crate::log_record::{Level, LogRecord};
use crate::name::PortNumber;
use crate::snapshot::{Cause, Snapshot};

/// Reads both class folders.
pub(crate) fn read(discovery: &Discovery, hands: &dyn Hands, snapshot: &mut Snapshot) -> SeenChars {
    let mut seen = SeenChars::default();
    let class = &discovery.config.sys_class_infiniband;
    let mad = [CharKind::Issm, CharKind::Umad];
    read_folder(&format!("{class}_mad"), &mad, hands, snapshot, &mut seen);
    read_folder(
        &format!("{class}_verbs"),
        &[CharKind::Uverbs],
        hands,
        snapshot,
        &mut seen,
    );
    seen
}

fn read_folder(
    folder: &str,
    kinds: &[CharKind],
    hands: &dyn Hands,
    snapshot: &mut Snapshot,
    seen: &mut SeenChars,
) {
    let names = match fetch_one(hands, &Request::List(folder.to_owned())) {
        Ok(Answer::Names(names)) => names,
        Ok(_) => return seen.blind.extend(kinds),
        Err(error) => {
            if error.is_absence() {
                let text = "holding InfiniBand char-device poll: class directory unavailable";
                snapshot
                    .records
                    .push(LogRecord::new(Level::Warn, text).with("path", folder));
            } else {
                snapshot
                    .troubles
                    .push((folder.to_owned(), Cause::Failed(error)));
            }
            return seen.blind.extend(kinds);
        }
    };
    let mut entries: Vec<(CharKind, String)> = names
        .into_iter()
        .filter_map(|name| Some((kind_of(&name, kinds)?, format!("{folder}/{name}"))))
        .collect();
    entries.sort();
    let requests: Vec<Request> = entries
        .iter()
        .flat_map(|(_, path)| ["ibdev", "port"].map(|file| Request::Read(format!("{path}/{file}"))))
        .collect();
    let answers = hands.fetch(&requests);
    for ((kind, path), pair) in entries.iter().zip(answers.chunks(2)) {
        let device = text(pair.first());
        let port = match kind {
            CharKind::Uverbs => Ok(None),
            CharKind::Issm | CharKind::Umad => text(pair.get(1)).and_then(|text| {
                let number = text.parse().map(PortNumber);
                number.map(Some).map_err(|_| Cause::Garbled)
            }),
        };
        match (device, port) {
            (Ok(device), Ok(port)) => {
                seen.here.insert((device.as_str().into(), (*kind, port)));
            }
            (Err(cause), _) | (_, Err(cause)) => {
                seen.blind.insert(*kind);
                let is_absence = matches!(cause, Cause::Failed(error) if error.is_absence());
                if !is_absence {
                    snapshot.troubles.push((path.clone(), cause));
                }
            }
        }
    }
}

/// The kind of an entry: its name is the kind's prefix and a number.
fn kind_of(name: &str, kinds: &[CharKind]) -> Option<CharKind> {
    let is_of = |kind: &CharKind| {
        let number = name.strip_prefix(kind.name());
        number.is_some_and(|number| number.parse::<u32>().is_ok())
    };
    kinds.iter().copied().find(is_of)
}

fn text(answer: Option<&Result<Answer, ReadError>>) -> Result<String, Cause> {
    match answer {
        Some(Ok(Answer::Bytes(bytes))) => {
            let text = String::from_utf8_lossy(bytes).trim().to_owned();
            if text.is_empty() {
                Err(Cause::Garbled)
            } else {
                Ok(text)
            }
        }
        Some(Err(error)) => Err(Cause::Failed(*error)),
        _ => Err(Cause::Garbled),
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("issm0", Some(CharKind::Issm))]
    #[case("umad17", Some(CharKind::Umad))]
    #[case("uverbs3", Some(CharKind::Uverbs))]
    #[case("abi_version", None)]
    #[case("issm", None)]
    #[case("umadx", None)]
    fn an_entry_is_a_kind_and_a_number(#[case] name: &str, #[case] want: Option<CharKind>) {
        assert_eq!(
            kind_of(name, &[CharKind::Issm, CharKind::Umad, CharKind::Uverbs]),
            want
        );
    }
}
