//! The key `differences`, which promises replaced: it is read only to say what to write instead. Start at
//! [`Differences::as_promises`].

use serde::Deserialize;

/// The keys of `differences` in earlier versions.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Differences {
    disappearance_polls: Option<u32>,
    infiniband_polling_nonfatal: Option<bool>,
    baseline_clear: Option<bool>,
    baseline_devices: Option<bool>,
    baseline_cards: Option<bool>,
}

impl Differences {
    /// The promises to write instead, as one line of YAML.
    #[must_use]
    pub fn as_promises(&self) -> String {
        let mut rows = Vec::new();
        // The poll that misses a device first counted as one.
        if let Some(more) = self
            .disappearance_polls
            .and_then(|polls| polls.checked_sub(1))
            && more > 0
        {
            let unit = if more == 1 { "poll" } else { "polls" };
            rows.push(format!("gone_device: {{ after: {more} {unit} }}"));
        }
        if self.infiniband_polling_nonfatal == Some(true) {
            rows.push("polling: { infiniband: { verdict: nonfatal } }".to_owned());
        }
        let baselines = [
            ("check", self.baseline_clear.filter(|sends| *sends)),
            ("devices", self.baseline_devices.filter(|sends| !sends)),
            ("cards", self.baseline_cards.filter(|sends| !sends)),
        ];
        let baselines: Vec<String> = baselines
            .into_iter()
            .filter_map(|(of, sends)| Some(format!("{of}: {}", sends?)))
            .collect();
        let mut parts = vec!["like: reference".to_owned()];
        if !rows.is_empty() {
            parts.push(format!("rows: {{ {} }}", rows.join(", ")));
        }
        if !baselines.is_empty() {
            parts.push(format!(
                "wire: {{ baselines: {{ {} }} }}",
                baselines.join(", ")
            ));
        }
        format!("`promises: {{ {} }}`", parts.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(differences: &Differences, promises: &str) {
        assert_eq!(
            differences.as_promises(),
            format!("`promises: {{ like: reference{promises} }}`")
        );
    }

    #[test]
    fn each_former_key_has_a_row_that_says_the_same() {
        let none = Differences::default();
        check(&none, "");
        let polls = |polls| Differences {
            disappearance_polls: Some(polls),
            ..none.clone()
        };
        check(&polls(1), "");
        check(&polls(2), ", rows: { gone_device: { after: 1 poll } }");
        check(&polls(3), ", rows: { gone_device: { after: 2 polls } }");
        let all = Differences {
            infiniband_polling_nonfatal: Some(true),
            baseline_clear: Some(true),
            baseline_devices: Some(false),
            baseline_cards: Some(false),
            ..polls(3)
        };
        check(
            &all,
            ", rows: { gone_device: { after: 2 polls }, polling: { infiniband: { verdict: nonfatal } } }, \
             wire: { baselines: { check: true, devices: false, cards: false } }",
        );
    }
}
