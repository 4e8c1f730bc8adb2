//! The commands, one file each.
//!
//! A command ends with an exit code, or with a [`Stop`]: a text for stderr and an exit code. Drills
//! are played in `harness` and judged in `judge`.

mod accept;
mod as_before;
mod asked;
mod capture;
mod check;
mod compare;
mod completions;
mod do_command;
mod duration;
mod excuses;
mod explain;
mod fit;
mod freeze_at;
mod help;
mod init;
mod list;
mod lnet_import;
mod man;
mod mix;
mod mount;
mod needs;
mod platform;
mod proto;
mod record;
mod replay;
mod report;
mod report_output;
mod repository;
mod rules;
mod run;
pub(crate) mod run_values;
mod sandbox_line;
mod schema;
mod select;
mod settings_check;
mod shell;
mod show;
mod stage;
mod step_summary;
mod stored;
mod suite;
mod world;
#[cfg(feature = "zoo")]
mod wrong_monitor;
#[cfg(feature = "zoo")]
mod zoo;

pub(crate) use accept::accept;
pub(crate) use capture::{platform_capture, platform_new};
pub(crate) use check::check;
pub(crate) use compare::compare;
pub(crate) use completions::completions;
pub(crate) use do_command::do_command;
pub(crate) use explain::explain;
pub(crate) use fit::fit;
pub(crate) use freeze_at::{link_show, lnet_show, mpib_show};
pub(crate) use help::help;
pub(crate) use init::init;
pub(crate) use list::list;
pub(crate) use lnet_import::lnet_import;
pub(crate) use man::man;
pub(crate) use mount::mount;
pub(crate) use platform::{platform_check, platform_list, platform_show, platform_topo};
pub(crate) use proto::proto;
pub(crate) use record::record;
pub(crate) use replay::replay;
pub(crate) use report::report_merge;
pub(crate) use rules::rules;
pub(crate) use run::run;
pub(crate) use schema::schema;
pub(crate) use shell::shell;
pub(crate) use show::show;
pub(crate) use suite::suite;
pub(crate) use world::{world_list, world_show};
#[cfg(feature = "zoo")]
pub(crate) use wrong_monitor::wrong_monitor;
#[cfg(feature = "zoo")]
pub(crate) use zoo::zoo;

use std::fmt;

use reports::ExitCode;

use crate::terminal::log;

/// Why a command ended before its work began.
#[derive(Debug)]
pub(crate) struct Stop {
    /// The exit code.
    pub(crate) code: ExitCode,
    /// The text for stderr.
    pub(crate) text: String,
    /// What helps.
    pub(crate) hint: Option<String>,
}

impl Stop {
    /// The command ends with this code and error.
    pub(crate) fn with(code: ExitCode, text: impl Into<String>) -> Self {
        Self {
            code,
            text: text.into(),
            hint: None,
        }
    }

    pub(crate) fn usage(text: impl Into<String>) -> Self {
        Self::with(ExitCode::Usage, text)
    }

    /// The same with a hint.
    pub(crate) fn hint(self, hint: impl Into<String>) -> Self {
        Self {
            hint: Some(hint.into()),
            ..self
        }
    }

    /// An error in a file, name or expression of the user's.
    pub(crate) fn input(error: impl fmt::Display) -> Self {
        Self::usage(error.to_string())
    }

    /// Its text with its hint.
    pub(crate) fn whole(&self) -> String {
        let hint = self.hint.as_ref();
        let hint = hint.map_or_else(String::new, |hint| format!("\nhint: {hint}"));
        format!("{}{hint}", self.text)
    }

    /// Prints the text and returns the exit code.
    pub(crate) fn report(self) -> ExitCode {
        log(&format!("error: {}", self.text));
        if let Some(hint) = self.hint {
            log(&format!("hint: {hint}"));
        }
        self.code
    }
}
