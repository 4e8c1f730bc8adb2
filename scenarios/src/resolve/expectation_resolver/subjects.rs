//! Resolves the subjects of a line: ports, devices and files, and checks their number.

use std::collections::BTreeSet;

use super::{Around, ExpectationResolver};
use crate::error::Unfit;
use crate::expect::{Distinct, Tally};
use crate::resolved_world::Subject;
use crate::story::FileRef;
use crate::subject::{FileSpec, Subjects};

impl ExpectationResolver<'_> {
    /// The subjects that are meant, of the named nodes if some are.
    ///
    /// # Errors
    /// Subjects exist, and none of them is on a named node: the line would assert nothing.
    pub(super) fn subjects(
        &self,
        of: &Subjects,
        around: &Around<'_>,
    ) -> Result<Vec<Subject>, Unfit> {
        let mut subjects = self.resolved.find(of, around.it);
        subjects.retain(|subject| {
            around
                .only
                .is_none_or(|only| self.resolved.layer_of(subject) == Some(only))
        });
        if around.named.is_empty() {
            return Ok(subjects);
        }
        let is_named = |subject: &Subject| {
            let node = self.resolved.node_of_subject(subject);
            node.is_none_or(|node| around.named.iter().any(|(name, _)| name == node.as_str()))
        };
        if !subjects.is_empty() && !subjects.iter().any(is_named) {
            let own: BTreeSet<String> = subjects
                .iter()
                .filter_map(|subject| self.resolved.node_of_subject(subject))
                .map(|node| format!("`{node}`"))
                .collect();
            let own = own.into_iter().collect::<Vec<String>>().join(", ");
            let named = around.named.iter().map(|(name, _)| format!("`{name}`"));
            let named = named.collect::<Vec<String>>().join(", ");
            return Err(self
                .source
                .wrong(
                    of.place,
                    format!("this is on {own}, and the line is about {named}"),
                )
                .hint("a line about a port is judged on the node of the port; leave `node` out, or name that node")
                .into());
        }
        subjects.retain(is_named);
        Ok(subjects)
    }

    /// The ports of an `each`.
    pub(super) fn members(
        &self,
        of: &Subjects,
        tally: Tally,
        around: &Around<'_>,
    ) -> Result<Vec<usize>, Unfit> {
        let subjects = self.subjects(of, around)?;
        self.tallied(&subjects, tally)?;
        let mut ports = Vec::new();
        for subject in subjects {
            ports.extend(self.resolved.ports_of(&subject));
        }
        Ok(ports)
    }

    pub(super) fn tallied(&self, subjects: &[Subject], tally: Tally) -> Result<(), Unfit> {
        if let Some((count, place)) = tally.count
            && subjects.len() != count as usize
        {
            let what = format!(
                "`count: {count}`, and {} are meant on `{}`",
                subjects.len(),
                self.resolved.world
            );
            return Err(self.source.wrong(place, what).into());
        }
        let Some(distinct) = tally.distinct else {
            return Ok(());
        };
        let ports = subjects
            .iter()
            .filter_map(|subject| self.resolved.ports_of(subject).first().copied());
        let keys: BTreeSet<String> = ports
            .map(|port| match distinct {
                Distinct::Node => self.resolved.node_of(port).to_string(),
                Distinct::Card => self.of_node(port, "card"),
                Distinct::Device => self.of_node(port, "device"),
            })
            .collect();
        if keys.len() == subjects.len() {
            return Ok(());
        }
        Err(Unfit::lacks(format!(
            "{} subjects are meant, on {} of what must be distinct",
            subjects.len(),
            keys.len()
        )))
    }

    pub(super) fn files(
        &self,
        spec: &FileSpec,
        around: &Around<'_>,
    ) -> Result<Vec<FileRef>, Unfit> {
        let (place, of, rest) = match spec {
            FileSpec::Path(path) => return Ok(vec![FileRef::Path(path.clone())]),
            FileSpec::StateFile => return Ok(vec![FileRef::StateFile]),
            FileSpec::Of(place, of, rest) => (*place, of, rest),
        };
        let of = Subjects {
            place,
            items: vec![of.clone()],
        };
        self.subjects(&of, around)?
            .into_iter()
            .map(|subject| match subject {
                Subject::Port(port) => Ok(FileRef::Port(self.resolved.slot(port), rest.clone())),
                Subject::Device(device) => {
                    Ok(FileRef::Device(device.node, device.pci, rest.clone()))
                }
                Subject::Card(_) | Subject::Named(_) => Err(self
                    .source
                    .wrong(place, "only ports and devices have folders")
                    .into()),
            })
            .collect()
    }

    fn of_node(&self, port: usize, field: &str) -> String {
        let value = self.resolved.ports[port].field_text(field);
        format!("{}/{value}", self.resolved.node_of(port))
    }
}
