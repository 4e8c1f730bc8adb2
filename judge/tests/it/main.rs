//! What the judge accepts and rejects, on recordings of the memory arm and on modified ones.

mod alarms;
mod changing;
mod conceded;
mod consequences;
mod deciding;
mod events;
mod first_poll;
mod keys;
mod laws;
mod level;
mod links;
mod meant;
mod moved;
mod names;
mod needs;
mod noticed;
mod paced;
mod pages;
mod patience;
mod promises;
mod rebooted;
mod renamed;
mod shown;
mod told;
mod undelivered;
mod wire;
