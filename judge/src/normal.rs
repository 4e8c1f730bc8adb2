//! A recording as the documents name things: what a monitor names otherwise, by its promises about the wire, has
//! the documents' name. Start at [`normal`].

use std::{borrow::Cow, sync::Arc};

use observe::{
    Observation, Recording, Subject,
    promises::{PortNaming, Wire},
};

/// The recording with the documents' names of checks and ports.
pub(crate) fn normal<'r>(recording: &'r Recording, wire: Option<&Wire>) -> Cow<'r, Recording> {
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
