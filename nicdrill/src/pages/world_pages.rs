//! Pages about worlds of several nodes: the list, and one world.

use std::fmt::Write as _;

use reports::counted;
use scenarios::World;

/// Every world, one per line.
#[must_use]
pub(crate) fn list(worlds: &[World]) -> String {
    let names = worlds.iter().map(|world| world.name().chars().count());
    let width = names.max().unwrap_or(0);
    let mut page = String::new();
    for world in worlds {
        writeln!(page, "{:<width$}  {}", world.name(), world.why()).expect(WRITES);
    }
    page
}

/// The nodes, switches and cables of a world, and the scenarios that are played in it.
#[must_use]
pub(crate) fn show(world: &World, scenarios: &[&str]) -> String {
    let mut page = format!("{}\n{}\n\nNodes\n", world.name(), world.why());
    let width = world.nodes().map(|(name, ..)| name.chars().count());
    let width = width.max().unwrap_or(0);
    for (name, platform, monitored) in world.nodes() {
        let without = if monitored { "" } else { ", without a monitor" };
        writeln!(page, "  {name:<width$}  {platform}{without}").expect(WRITES);
    }
    page += "\nSwitches\n";
    for switch in world.switches() {
        writeln!(page, "  {switch}").expect(WRITES);
        for (nodes, device, port, _) in world.cables().filter(|cable| cable.3 == switch) {
            let nodes = match nodes.as_slice() {
                [] => "every node that has it".to_owned(),
                nodes => nodes.join(", "),
            };
            writeln!(page, "    {device}/{port} of {nodes}").expect(WRITES);
        }
    }
    let played = counted(scenarios.len() as u64, "scenario");
    writeln!(page, "\nPlayed in it: {played}").expect(WRITES);
    for name in scenarios {
        writeln!(page, "  {name}").expect(WRITES);
    }
    page
}

/// A string takes everything.
const WRITES: &str = "writing to a string cannot fail";
