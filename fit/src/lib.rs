//! What a monitor does, learned from the recordings of an interview: its promises, each with its evidence.
//!
//! The interview is a fixed set of short drills (`suite/interview/`); `harness` plays them. A promise about a state
//! that lasts is read off the times at which the state stood and was reported. The keys of other promises are tried: the
//! recordings are judged again under each value, and the one under which the least is wrong is promised (`keys`, `tried`).
//! What the judge still finds under all promises is *suspect*: it is no promise, but a deviation that a person can accept.
//! Start at [`fit`], then [`page()`].

use std::borrow::Cow;

use observe::{
    Descriptor, Promises, Recording,
    promises::{LostPublish, Style},
};

mod answers;
mod conditions;
mod counters;
mod drill;
mod episodes;
mod evidence;
mod fitted;
mod heard;
mod keys;
mod layers;
mod nature;
mod page;
mod scope;
mod suspects;
mod tried;
mod wire;
mod wiring;
mod words;

pub use drill::Drill;
pub use evidence::{Evidence, Mark};
pub use fitted::{Fitted, FittedRow, Suspect};
pub use page::{head_without_promises, page};
pub use wiring::{Wiring, WiringDrills, wiring};

/// Learns the promises of a monitor from the drills of an interview.
#[must_use]
pub fn fit(descriptor: &Descriptor, drills: &[Drill<'_>]) -> Fitted {
    let mut fitted = Fitted::default();
    // What a check says that a drill does not run is no answer.
    let recordings: Vec<Cow<'_, Recording>> = drills
        .iter()
        .map(|drill| judge::asked_for(drill.recording, descriptor, drill.story))
        .collect();
    let drills: Vec<Drill<'_>> = drills
        .iter()
        .zip(&recordings)
        .map(|(drill, recording)| Drill {
            recording,
            ..*drill
        })
        .collect();
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
    scope::fit(&ended, &mut fitted);
    stated(&descriptor.promises, &mut fitted.promises);
    fitted.promises.lost_publish = Some(LostPublish::Kept);
    conditions::fit(descriptor, &ended, &mut fitted);
    counters::fit(descriptor, &ended, &mut fitted);
    nature::leave_out_of_alarms(&mut fitted);
    let tried = episodes::fit(descriptor, &ended, &mut fitted);
    nature::leave_out_of_alarms(&mut fitted);
    conditions::leave_out_what_is_unknown(&ended, &mut fitted);
    let apply = drills.into_iter();
    let apply = apply.filter(|drill| !tried.excused.contains(&drill.name()));
    suspects::fit(descriptor, &apply.collect::<Vec<_>>(), &mut fitted);
    fitted
}

/// Keeps what is stated and no interview can find: that reports state what is, and the devices and vendors that are meant.
fn stated(stated: &Promises, found: &mut Promises) {
    if stated.style == Some(Style::Level) {
        found.style = stated.style;
    }
    if let (Some(of), Some(scope)) = (&stated.scope, &mut found.scope) {
        scope.vendors.clone_from(&of.vendors);
        scope.devices.clone_from(&of.devices);
        scope.pinned = of.pinned;
        scope.near_gpu = of.near_gpu;
    }
}
