//! What a run judges its monitor by, and whether it judged anything.

use observe::{Descriptor, promises::LostPublish};
use reports::{ExitCode, JudgedBy, Summary};

use crate::needs::SiteNeeds;

/// What a monitor is judged by; `again` are the words of the command line that name it.
#[must_use]
pub fn judged_by(descriptor: &Descriptor, needs: Option<&SiteNeeds>, again: &[String]) -> JudgedBy {
    if let Some(SiteNeeds { file, .. }) = needs {
        let file = file.clone();
        return JudgedBy::Needs { file };
    }
    if again.iter().any(|word| word == "--against") {
        return JudgedBy::Documents;
    }
    if !descriptor.promises.is_empty() {
        return JudgedBy::Promises;
    }
    let monitor = named(again).unwrap_or(&descriptor.name).clone();
    JudgedBy::Laws { monitor }
}

/// The file of the descriptor that these words of the command line name; `None` if they name none, or something else.
pub(crate) fn descriptor_file(again: &[String]) -> Option<String> {
    let is_file = |name: &&String| name.ends_with(".yaml") || name.ends_with(".yml");
    named(again).filter(is_file).cloned()
}

/// The monitor that these words of the command line name.
fn named(again: &[String]) -> Option<&String> {
    let mut words = again.iter().skip_while(|word| *word != "--monitor");
    words.nth(1)
}

/// Whether a monitor promises that an event is lost if its call fails.
pub(super) fn loses_events(descriptor: &Descriptor) -> bool {
    descriptor.promises.lost_publish == Some(LostPublish::Lost)
}

/// The exit code of a run that judged nothing although it had drills; success otherwise. A monitor that
/// promises nothing about what was drilled can be found wrong, by a law, and never right.
#[must_use]
pub fn judged_exit_code(by: &JudgedBy, summary: &Summary) -> ExitCode {
    let nothing = match by {
        JudgedBy::Promises | JudgedBy::Documents => summary.judged.is_nothing(),
        JudgedBy::Laws { .. } => true,
        JudgedBy::Needs { .. } => summary.judged.judged == 0,
    };
    if nothing {
        ExitCode::NothingJudged
    } else {
        ExitCode::Success
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bare_program_is_judged_by_the_laws_and_never_found_right() {
        let program = Descriptor::of_program("/opt/mine");
        let again = ["--monitor", "./mine"].map(str::to_owned);
        let by = judged_by(&program, None, &again);
        let monitor = "./mine".to_owned();
        assert_eq!(by, JudgedBy::Laws { monitor });
        assert_eq!(
            judged_exit_code(&by, &Summary::default()),
            ExitCode::NothingJudged
        );
        assert_eq!(
            judged_by(&program, None, &[]),
            JudgedBy::Laws {
                monitor: program.name.clone()
            }
        );
    }

    #[test]
    fn needs_of_which_no_drill_has_one_find_no_monitor_right() {
        let file = "needs.yaml".to_owned();
        let by = JudgedBy::Needs { file };
        let mut summary = Summary::default();
        assert_eq!(judged_exit_code(&by, &summary), ExitCode::NothingJudged);
        summary.judged.judge();
        assert_eq!(judged_exit_code(&by, &summary), ExitCode::Success);
        assert_eq!(
            judged_exit_code(&JudgedBy::Promises, &Summary::default()),
            ExitCode::Success
        );
    }

    #[test]
    fn a_monitor_without_a_promise_about_what_was_drilled_is_not_found_right() {
        let mut summary = Summary::default();
        let reason = "no promise about `disabled`".to_owned();
        summary.judged.not_judged.insert(reason, 3);
        assert_eq!(
            judged_exit_code(&JudgedBy::Promises, &summary),
            ExitCode::NothingJudged
        );
    }
}
