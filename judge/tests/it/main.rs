//! What the judge accepts and rejects, on recordings of the memory arm and on modified ones.

mod alarms;
mod consequences;
mod events;
mod keys;
mod laws;
mod links;
mod meant;
mod needs;
mod noticed;
mod paced;
mod promises;
mod renamed;
mod shown;
mod told;
mod undelivered;
mod wire;
