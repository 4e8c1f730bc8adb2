//! What a monitor does, learned from the recordings of an interview: its promises, each with its evidence.
//!
//! The interview is a fixed set of short drills (`suite/interview/`); `harness` plays them. A promise about a state
//! that lasts is read off the times at which the state stood and was reported. A promise about an episode is the first
//! of a few rows under which the judge finds nothing wrong. What the judge still finds under all promises is *suspect*:
//! it is no promise, but a deviation that a person can accept. Start at [`fit`], then [`page()`].

use observe::{Descriptor, promises::LostPublish};

mod answers;
mod conditions;
mod counters;
mod drill;
mod episodes;
mod evidence;
mod fitted;
mod heard;
mod nature;
mod page;
mod suspects;
mod wire;
mod wiring;
mod words;

pub use drill::Drill;
pub use evidence::{Evidence, Mark};
pub use fitted::{Fitted, FittedRow, Suspect};
pub use page::{head_without_promises, page};
pub use wiring::{Wiring, wiring};

/// Learns the promises of a monitor from the drills of an interview.
#[must_use]
pub fn fit(descriptor: &Descriptor, drills: &[Drill<'_>]) -> Fitted {
    let mut fitted = Fitted::default();
    let (ended, broken): (Vec<Drill<'_>>, Vec<Drill<'_>>) = drills
        .iter()
        .partition(|drill| drill.recording.broken.is_none());
    for drill in &broken {
        let broken = drill.recording.broken.as_ref();
        let how = broken.map_or("", suspects::how_it_broke);
        fitted.unasked.push(format!("{}: {how}", drill.name()));
    }
    wire::fit(&ended, &mut fitted);
    nature::fit(descriptor, &ended, &mut fitted);
    fitted.promises.lost_publish = Some(LostPublish::Kept);
    conditions::fit(descriptor, &ended, &mut fitted);
    counters::fit(descriptor, &ended, &mut fitted);
    episodes::fit(descriptor, &ended, &mut fitted);
    suspects::fit(descriptor, drills, &mut fitted);
    fitted
}
