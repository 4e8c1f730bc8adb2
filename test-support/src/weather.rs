//! Random fault storms: each seed gives one scenario, always the same.
//!
//! Ports are cut, disabled and mended, devices disappear and return, reads fail, the connector
//! refuses, loses replies and goes away, the wall clock is stepped, the host reboots, the monitor is
//! restarted and killed. After every ten minutes of polls there is a quiet time: reads and connector
//! work, and nothing changes. Start at [`Weather::story`].

use std::fmt::Write as _;

use fastrand::Rng;
use platforms::{NodeName, Platforms};
use scenarios::Story;

/// Polls from one quiet time to the next.
const SPELL_POLLS: u64 = 600;

/// Polls of a quiet time: longer than the patience and every back-off.
pub const CLEAR_POLLS: u64 = 60;

/// The parameters of a storm.
#[derive(Clone, Copy, Debug)]
pub struct Weather {
    /// The platform's name.
    pub platform: &'static str,
    /// The seed; the same seed gives the same storm.
    pub seed: u64,
    /// Its length in polls.
    pub polls: u64,
    /// Seconds from poll to poll.
    pub tick_s: u64,
    /// Average number of polls from one fault to the next.
    pub calm_polls: u64,
    /// Number of kills within polls, spread over the storm.
    pub kills: u64,
    /// `state` or `all`.
    pub checks: &'static str,
    /// Whether the monitor is restarted now and then, by SIGTERM or SIGKILL.
    pub restarts: bool,
}

impl Weather {
    /// The storm as a story on its platform.
    pub fn story(&self) -> Story {
        let platforms = Platforms::shipped();
        let (_, platform) = platforms
            .iter()
            .find(|(name, _)| *name == self.platform)
            .expect("the platform ships");
        let rendered = |ports: usize| {
            let text = self.text(ports);
            let scenario = scenarios::read("storm/weather.yaml", &text)
                .unwrap_or_else(|error| panic!("{error}"));
            scenario.in_world(&NodeName::from("node-a"), platform).ok()
        };
        // As many single-port devices as the platform has.
        (2..=8)
            .rev()
            .find_map(rendered)
            .expect("a platform has two ports to break")
    }

    /// The storm as a scenario file for the first `ports` ports.
    pub fn text(&self, ports: usize) -> String {
        let mut text = format!(
            "scenario: a storm\nwhy: seed {}\ncovers: [ storm/laws ]\nplatforms: all\nchecks: {}\ntick: {}s\nquiet: fold\nlet:\n",
            self.seed, self.checks, self.tick_s
        );
        for port in 1..=ports {
            writeln!(text, "  p{port}: {{ nth: {port}, device_ports: 1 }}").unwrap();
        }
        text.push_str("timeline:\n  - at: 0s\n    expect: [ baseline ]\n");
        let mut sky = Sky {
            rng: Rng::with_seed(self.seed),
            ports: vec![Port::Up; ports],
            away: vec![false; ports],
            tick_s: self.tick_s,
            restarts: self.restarts,
        };
        let every = (self.polls / self.kills.max(1)).max(8);
        let (mut poll, mut next_kill) = (5, if self.kills == 0 { u64::MAX } else { 10 });
        while poll + CLEAR_POLLS < self.polls {
            let in_spell = poll % SPELL_POLLS;
            if in_spell >= SPELL_POLLS - CLEAR_POLLS {
                let clear = "{ no_rule: everywhere }, { connector: accept }";
                step(&mut text, poll * self.tick_s, clear, "");
                poll += SPELL_POLLS - in_spell + 1;
                continue;
            }
            if poll >= next_kill {
                let (reported, moment) = sky.kill();
                step(&mut text, poll * self.tick_s, &reported, "");
                let kill = "{ monitor: restart, signal: KILL }";
                step(&mut text, poll * self.tick_s, kill, &moment);
                next_kill = poll + every;
                // Nothing changes before the next monitor has polled.
                poll += 4;
                continue;
            }
            let action = sky.action();
            step(&mut text, poll * self.tick_s, &action, "");
            poll += sky.rng.u64(1..=self.calm_polls * 2 - 1);
        }
        writeln!(text, "until: {}s", self.polls * self.tick_s).unwrap();
        text
    }
}

fn step(text: &mut String, at_s: u64, actions: &str, when: &str) {
    writeln!(text, "  - at: {at_s}s\n{when}    do: [ {actions} ]").unwrap();
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Port {
    Up,
    Dark,
}

/// The present faults.
struct Sky {
    rng: Rng,
    ports: Vec<Port>,
    away: Vec<bool>,
    tick_s: u64,
    restarts: bool,
}

impl Sky {
    /// The next action.
    fn action(&mut self) -> String {
        let at = self.rng.usize(0..self.ports.len());
        let handle = at + 1;
        match self.rng.u32(0..100) {
            0..45 => self.turn_or_come_back(at),
            45..58 if self.away[at] => self.come_back(at),
            45..58 => {
                self.away[at] = true;
                format!("{{ remove: device of p{handle} }}")
            }
            58..72 if self.away[at] => self.come_back(at),
            58..72 => {
                let what = ["state", "phys_state", "link_layer"][self.rng.usize(0..3)];
                let error = ["EIO", "EACCES", "ETIMEDOUT"][self.rng.usize(0..3)];
                let time_s = self.rng.u64(1..50) * self.tick_s;
                format!("{{ read: p{handle}/{what}, fail: {error}, for: {time_s}s }}")
            }
            72..76 => {
                let time_s = self.rng.u64(1..6) * self.tick_s;
                format!("{{ list: class/infiniband, fail: EIO, for: {time_s}s }}")
            }
            76..90 => {
                let how = [
                    "refuse",
                    "absent",
                    "down",
                    "lose_reply",
                    "{ code: INVALID_ARGUMENT }",
                ][self.rng.usize(0..5)];
                let time_s = self.rng.u64(1..20) * self.tick_s;
                format!("{{ connector: {how}, for: {time_s}s }}")
            }
            90..94 if self.restarts => "{ monitor: restart, signal: TERM }".to_owned(),
            _ if !self.restarts => self.turn_or_come_back(at),
            94..97 => {
                let by = ["1h", "-1h", "3s", "-3s"][self.rng.usize(0..4)];
                format!("{{ clock: step, by: \"{by}\" }}")
            }
            _ => "{ monitor: restart, signal: KILL }".to_owned(),
        }
    }

    fn turn_or_come_back(&mut self, at: usize) -> String {
        if self.away[at] {
            self.come_back(at)
        } else {
            self.turn(at)
        }
    }

    fn come_back(&mut self, at: usize) -> String {
        self.away[at] = false;
        format!("{{ restore: device of p{} }}", at + 1)
    }

    fn turn(&mut self, at: usize) -> String {
        let handle = at + 1;
        match self.ports[at] {
            Port::Dark => {
                self.ports[at] = Port::Up;
                format!("{{ mend: p{handle} }}")
            }
            Port::Up => {
                self.ports[at] = Port::Dark;
                let how = if self.rng.bool() { "cut" } else { "disable" };
                format!("{{ {how}: p{handle} }}")
            }
        }
    }

    /// A change that causes an event, and a moment of the poll that emits it, as lines of a step.
    fn kill(&mut self) -> (String, String) {
        let here: Vec<usize> = (0..self.ports.len()).filter(|at| !self.away[*at]).collect();
        let reported = match here.len() {
            0 => self.come_back(0),
            count => {
                let at = here[self.rng.usize(0..count)];
                self.turn(at)
            }
        };
        let handle = self.rng.usize(1..=self.ports.len());
        let moment = match self.rng.u32(0..10) {
            0 => "before: list class/infiniband".to_owned(),
            1 => "after: list class/infiniband".to_owned(),
            2 => format!("before: read p{handle}/state"),
            3 => format!("after: read p{handle}/phys_state"),
            4 => "received: 1".to_owned(),
            5 => "accepted: 1".to_owned(),
            6 => "before: create state_file".to_owned(),
            7 => "before: write state_file".to_owned(),
            8 => "before: fsync state_file".to_owned(),
            _ => "before: rename state_file".to_owned(),
        };
        (reported, format!("    in_poll: {{ {moment} }}\n"))
    }
}
