//! What a build without the feature `postgres` has in place of the driver: it refuses the address of every server, so that
//! no [`Server`] exists.

use std::{fmt, sync::Arc};

use uuid::Uuid;

use crate::{
    keeper::{Keeper, Kept, Trouble, Unfit},
    passfile::Login,
    row::Row,
    run::Run,
    url::StoreUrlError,
};

/// No server.
#[derive(Clone)]
pub(super) enum Server {}

impl Server {
    /// Refuses the address.
    ///
    /// # Errors
    /// [`StoreUrlError`], always.
    pub(super) fn read(_: &str) -> Result<Self, StoreUrlError> {
        Err(StoreUrlError::new(
            "this nicdrill was built without PostgreSQL",
            "build it with `cargo install --locked --path nicdrill --features postgres`, or take a released binary, or \
             write `sqlite:FILE`",
        ))
    }

    pub(super) fn password(&self) -> Option<&[u8]> {
        match *self {}
    }

    pub(super) fn set_password(&mut self, _: String) {
        match *self {}
    }

    pub(super) fn logins(&self) -> Vec<Login> {
        match *self {}
    }
}

impl fmt::Display for Server {
    fn fmt(&self, _: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {}
    }
}

/// No connection.
pub(super) enum Postgres {}

impl Postgres {
    pub(super) fn begin(server: &Server, _: &Run) -> Result<Self, Unfit> {
        match *server {}
    }

    pub(super) fn again(server: &Server) -> Result<Self, Trouble> {
        match *server {}
    }

    pub(super) fn knows(&mut self, _: Uuid) -> Result<bool, Trouble> {
        match *self {}
    }
}

impl Keeper for Postgres {
    fn write(&mut self, _: &[Arc<Row>]) -> Result<(), Trouble> {
        match *self {}
    }

    fn read_back(&mut self, _: Uuid, _: &mut dyn FnMut(Kept)) -> Result<(), Trouble> {
        match *self {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_refused_with_the_flag_that_builds_the_driver_in() {
        let Err(refused) = Server::read("postgres://ann:secret@h/d");
        let refused = refused.to_string();
        assert!(refused.starts_with("this nicdrill was built without PostgreSQL\nhint: "));
        assert!(refused.contains("`cargo install --locked --path nicdrill --features postgres`"));
        assert!(!refused.contains("secret"));
    }
}
