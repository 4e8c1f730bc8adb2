//! Resolves expectations on the cluster: conditions, cordons and rules.

use terms::Check;

use super::{Around, ExpectationResolver};
use crate::cluster::{ConditionIs, ConditionOf, RuleIs};
use crate::error::{ScenarioError, Unfit};
use crate::expect::{ConditionSpec, ExpectLine, FiringSpec};
use crate::story::{About, What};
use crate::subject::Subjects;

impl ExpectationResolver<'_> {
    pub(super) fn condition(
        &mut self,
        spec: &ConditionSpec,
        line: &ExpectLine,
        around: &Around<'_>,
    ) -> Result<(), Unfit> {
        if let ConditionOf::Named(name) = &spec.condition {
            let known = Check::NAMES.iter().copied().chain(self.rules.firing());
            if !known.clone().any(|known| known == name) {
                let words = known.chain(["state", "counters"]);
                return Err(self
                    .source
                    .unknown(spec.place, "condition", name, words)
                    .into());
            }
        }
        self.known_counter(spec.counter.as_ref())?;
        let is = |about| {
            What::Condition(ConditionIs {
                of: spec.condition.clone(),
                about,
                counter: spec.counter.as_ref().map(|(name, _)| name.clone()),
                stands: spec.stands,
            })
        };
        self.push_each(spec.of.as_ref(), line, around, is)
    }

    pub(super) fn rule(
        &mut self,
        spec: &FiringSpec,
        line: &ExpectLine,
        around: &Around<'_>,
    ) -> Result<(), Unfit> {
        self.known_rule(spec)?;
        if let Some((name, place)) = &spec.switch
            && !self.resolved.switches.contains(name)
        {
            let known = self.resolved.switches.iter().map(String::as_str);
            return Err(self.source.unknown(*place, "switch", name, known).into());
        }
        let is = |about| {
            What::Rule(RuleIs {
                rule: spec.rule.clone(),
                about,
                switch: spec.switch.as_ref().map(|(name, _)| name.clone()),
                counted: spec.counted.clone(),
                cleared: spec.cleared,
                times: spec.times,
                events_this_tick: spec.events_this_tick,
            })
        };
        self.push_each(spec.of.as_ref(), line, around, is)
    }

    /// Adds the expectation for each subject; once without a subject if there is none.
    fn push_each(
        &mut self,
        of: Option<&Subjects>,
        line: &ExpectLine,
        around: &Around<'_>,
        is: impl Fn(Option<About>) -> What,
    ) -> Result<(), Unfit> {
        let Some(of) = of else {
            return self.push(line, around, is(None));
        };
        for subject in self.subjects(of, around)? {
            let node = self.resolved.node_of_subject(&subject);
            let about = Some(self.resolved.about(&subject));
            self.push_of(line, around, is(about), node)?;
        }
        Ok(())
    }

    /// Rejects a rule that never fires, because it does not run or holds others back: `fires: false` would always hold.
    fn known_rule(&self, spec: &FiringSpec) -> Result<(), ScenarioError> {
        let known = self.rules.firing();
        if known.clone().any(|known| known == spec.rule) {
            return Ok(());
        }
        if self.rules.rules().contains(&spec.rule.as_str()) {
            let what = format!("`{}` holds other rules back, and never fires", spec.rule);
            let hint = "name the rule that it holds back: what comes after the hold bears that name, and `counted` is how \
                        many were held";
            return Err(self.source.wrong(spec.place, what).hint(hint));
        }
        let what = format!("rule of `{}`", self.rules.name());
        Err(self.source.unknown(spec.place, &what, &spec.rule, known))
    }
}
