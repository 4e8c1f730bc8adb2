//! A recording as the documents name things: what a monitor names otherwise, by its promises about the wire, has
//! the documents' name. What a monitor that cannot be told which checks to run says under further ones is left out.
//! Start at [`normal`].

use std::{borrow::Cow, sync::Arc};

use observe::{
    Descriptor, Observation, Recording, Subject,
    promises::{PortNaming, Wire},
};
use scenarios::Story;

/// The recording with the documents' names of checks and ports, without what is said under checks that the story does
/// not run.
pub(crate) fn normal<'r>(
    recording: &'r Recording,
    descriptor: &Descriptor,
    story: &Story,
) -> Cow<'r, Recording> {
    let wire = descriptor.promises.wire.as_ref();
    match renamed(recording, wire) {
        Cow::Borrowed(recording) => asked_for(recording, descriptor, story),
        Cow::Owned(recording) => Cow::Owned(asked_for(&recording, descriptor, story).into_owned()),
    }
}

/// The recording without the events of checks that a monitor runs although the story does not
/// ([`Descriptor::checks`]).
#[must_use]
pub fn asked_for<'r>(
    recording: &'r Recording,
    descriptor: &Descriptor,
    story: &Story,
) -> Cow<'r, Recording> {
    let running = story.checks.names();
    let wire = descriptor.promises.wire.as_ref();
    let is_beside = |observation: &Observation| {
        observation.check.as_deref().is_some_and(|check| {
            let check = wire.map_or(check, |wire| wire.documents_check(check));
            descriptor.checks.contains(check) && !running.contains(&check)
        })
    };
    if descriptor
        .checks
        .iter()
        .all(|check| running.contains(&check.as_str()))
    {
        return Cow::Borrowed(recording);
    }
    let mut recording = recording.clone();
    for tick in &mut recording.ticks {
        for instance in Arc::make_mut(&mut tick.monitors).values_mut() {
            Arc::make_mut(instance).calls.retain_mut(|call| {
                let before = call.observations.len();
                call.observations.retain(|one| !is_beside(one));
                before == 0 || !call.observations.is_empty()
            });
        }
    }
    Cow::Owned(recording)
}

fn renamed<'r>(recording: &'r Recording, wire: Option<&Wire>) -> Cow<'r, Recording> {
    let renames =
        wire.filter(|wire| wire.checks.is_some() || wire.port == Some(PortNaming::Joined));
    let Some(wire) = renames else {
        return Cow::Borrowed(recording);
    };
    let mut recording = recording.clone();
    for tick in &mut recording.ticks {
        for instance in Arc::make_mut(&mut tick.monitors).values_mut() {
            for call in &mut Arc::make_mut(instance).calls {
                for observation in &mut call.observations {
                    rename(observation, wire);
                }
            }
        }
    }
    Cow::Owned(recording)
}

fn rename(observation: &mut Observation, wire: &Wire) {
    if let Some(check) = &mut observation.check {
        *check = wire.documents_check(check).to_owned();
    }
    let joined = match &observation.subject {
        Subject::Device(name) if wire.port == Some(PortNaming::Joined) => name.split_once('/'),
        _ => None,
    };
    if let Some((device, port)) = joined {
        observation.subject = Subject::Port {
            device: device.to_owned(),
            port: port.to_owned(),
        };
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    #[test]
    fn a_monitors_own_names_are_read_as_those_of_the_documents() {
        let mut observation = Observation {
            check: Some("nic-state".to_owned()),
            subject: Subject::Device("mlx5_0/1".to_owned()),
            ..Observation::default()
        };
        let checks = [("InfiniBandStateCheck".to_owned(), "nic-state".to_owned())];
        let wire = Wire {
            checks: Some(BTreeMap::from(checks)),
            port: Some(PortNaming::Joined),
            ..Wire::default()
        };
        rename(&mut observation, &wire);
        assert_eq!(observation.check.as_deref(), Some("InfiniBandStateCheck"));
        assert_eq!(observation.subject.to_string(), "NIC=mlx5_0 NICPort=1");
    }
}
