//! Files that are no lines: one list of documents (`mongoexport --jsonArray`), and documents that take
//! several lines each (`mongoexport --pretty`, `jq`). They are read document by document.

use std::{fmt, io};

use proto::HealthEvents;
use serde::de::{Deserializer as _, Error as _, SeqAccess, Visitor};
use serde_json::{Deserializer, Value};

use super::{EXPORTS, RecordError, read_value, reason};

/// Reads a list of documents; `take` receives each call.
///
/// # Errors
/// The first invalid document, by its number; what was passed to `take` before remains valid.
pub fn read_list(reader: impl io::Read, take: impl FnMut(HealthEvents)) -> Result<(), RecordError> {
    let mut documents = Documents {
        take,
        read: 0,
        refused: None,
    };
    let mut deserializer = Deserializer::from_reader(reader);
    let done = deserializer
        .deserialize_seq(&mut documents)
        .and_then(|()| deserializer.end());
    match (documents.refused, done) {
        (Some(refused), _) => Err(refused),
        (None, Err(error)) => Err(no_json(documents.read + 1, &error)),
        (None, Ok(())) => Ok(()),
    }
}

/// Reads documents one after another, whatever lines they take; `take` receives each call.
///
/// # Errors
/// As of [`read_list`].
pub fn read_documents(
    reader: impl io::Read,
    take: impl FnMut(HealthEvents),
) -> Result<(), RecordError> {
    let mut documents = Documents {
        take,
        read: 0,
        refused: None,
    };
    for value in Deserializer::from_reader(reader).into_iter::<Value>() {
        let value = value.map_err(|error| no_json(documents.read + 1, &error))?;
        documents.document(&value)?;
    }
    Ok(())
}

struct Documents<F> {
    take: F,
    /// The number of documents that were read.
    read: usize,
    refused: Option<RecordError>,
}

impl<F: FnMut(HealthEvents)> Documents<F> {
    fn document(&mut self, value: &Value) -> Result<(), RecordError> {
        self.read += 1;
        match read_value(value) {
            Ok(call) => call.into_iter().for_each(&mut self.take),
            Err(mut error) => {
                error.cause = format!("document {}: {}", self.read, error.cause);
                return Err(error);
            }
        }
        Ok(())
    }
}

impl<'de, F: FnMut(HealthEvents)> Visitor<'de> for &mut Documents<F> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of documents")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        while let Some(value) = list.next_element::<Value>()? {
            if let Err(refused) = self.document(&value) {
                self.refused = Some(refused);
                return Err(A::Error::custom("a document is refused"));
            }
        }
        Ok(())
    }
}

fn no_json(number: usize, error: &serde_json::Error) -> RecordError {
    let cause = format!(
        "document {number}: line {}, column {}: no JSON: {}",
        error.line(),
        error.column(),
        reason(error)
    );
    RecordError::new(cause, EXPORTS)
}
