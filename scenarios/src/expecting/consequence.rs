//! Telling what is expected of the cluster: whose condition, which rule, about whom.

use proto::Check;

use super::{Around, Expecting};
use crate::cluster::{ConditionIs, ConditionOf, RuleIs};
use crate::error::{ScenarioError, Unfit};
use crate::expect::{ConditionSaid, ExpectLine, RuleSaid};
use crate::story::{About, What};
use crate::subject::Subjects;

impl Expecting<'_> {
    pub(super) fn condition(
        &mut self,
        said: &ConditionSaid,
        line: &ExpectLine,
        around: &Around<'_>,
    ) -> Result<(), Unfit> {
        if let ConditionOf::Named(name) = &said.condition {
            let known = Check::NAMES.iter().chain(self.rules.rules()).copied();
            if !known.clone().any(|known| known == name) {
                let words = known.chain(["state", "counters"]);
                return Err(self
                    .source
                    .unknown(said.place, "condition", name, words)
                    .into());
            }
        }
        let is = |about| {
            What::Condition(ConditionIs {
                of: said.condition.clone(),
                about,
                counter: said.counter.clone(),
                stands: said.stands,
            })
        };
        self.push_each(said.of.as_ref(), line, around, is)
    }

    pub(super) fn rule(
        &mut self,
        said: &RuleSaid,
        line: &ExpectLine,
        around: &Around<'_>,
    ) -> Result<(), Unfit> {
        self.known_rule(said)?;
        if let Some((name, place)) = &said.switch
            && !self.ground.switches.contains(name)
        {
            let known = self.ground.switches.iter().map(String::as_str);
            return Err(self.source.unknown(*place, "switch", name, known).into());
        }
        let is = |about| {
            What::Rule(RuleIs {
                rule: said.rule.clone(),
                about,
                switch: said.switch.as_ref().map(|(name, _)| name.clone()),
                counted: said.counted.clone(),
                cleared: said.cleared,
                times: said.times,
                events_this_tick: said.events_this_tick,
            })
        };
        self.push_each(said.of.as_ref(), line, around, is)
    }

    /// The same of each of those whom it is about; of nobody, once.
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
        for subject in self.subjects(of, around) {
            let node = self.ground.node_of_subject(&subject);
            let about = Some(self.ground.about(&subject));
            self.push_of(line, around, is(about), node)?;
        }
        Ok(())
    }

    /// Refuses a rule that does not listen: one that is misspelt would always be silent.
    fn known_rule(&self, said: &RuleSaid) -> Result<(), ScenarioError> {
        let listening = self.rules.rules();
        if listening.contains(&said.rule.as_str()) {
            return Ok(());
        }
        let known = listening.iter().copied();
        let what = format!("rule of `{}`", self.rules.name());
        Err(self.source.unknown(said.place, &what, &said.rule, known))
    }
}
