//! The table of the species, and what each tells of itself.

use std::fmt;

use super::hooks::{About, Wrong};

mod active_is_enough;
mod armed_is_up;
mod at_the_threshold_is_above;
mod baseline_debt_forgotten;
mod believes_torn_text;
mod blind_after_rename;
mod breach_under_the_state_check;
mod breach_without_its_code;
mod broken_state_is_an_empty_one;
mod card_never_recovers;
mod card_without_its_domain;
mod carrier_changes_unheard;
mod char_device_missed_once;
mod clears_and_faults_at_once;
mod clears_last;
mod clears_over_a_dead_sibling;
mod compares_across_roles;
mod compares_the_management_card;
mod counts_the_management_nic;
mod crying_wolf;
mod deaf;
mod debounces_one_poll_short;
mod double_reporter;
mod empty_ports_are_lost_ports;
mod escalates_by_the_wall_clock;
mod excluded_is_vanished;
mod extrapolates_a_window;
mod fatal_on_unreadable;
mod first_poll_waits_for_nobody;
mod first_port_of_every_device;
mod first_value_is_growth;
mod follows_every_change;
mod forgetful;
mod forgets_the_lost_reply;
mod gone_on_both_layers;
mod greets_every_recovery;
mod growth_while_away_is_lost;
mod healthy_on_reboot;
mod ignores_the_default_route;
mod ignores_the_override;
mod judges_the_lonely_card;
mod knows_one_bluefield;
mod knows_the_drivers_names_only;
mod layer_error_is_a_lost_port;
mod list_error_is_a_disappearance;
mod loses_on_failed_publish;
mod loses_while_the_socket_is_away;
mod lost_port_never_returns;
mod missing_char_device_unseen;
mod missing_folder_is_every_nic;
mod never_back;
mod never_escalates;
mod never_escalates_ethernet;
mod never_retries;
mod no_totalvfs_means_virtual;
mod numa_unknown_passes;
mod one_error_blinds_the_node;
mod one_failed_check_silences_the_other;
mod patience_one_poll_short;
mod patience_starts_anew;
mod polling_is_non_fatal;
mod quiet_counter_is_healthy;
mod reboot_clears_the_absent;
mod reboot_unnoticed;
mod recovery_names_the_card_too;
mod recovery_under_the_counter_check;
mod recovery_without_its_code;
mod recovery_without_its_port;
mod rename_clears_nothing;
mod reports_virtual_functions;
mod reset_never_recovers;
mod retries_what_cannot_succeed;
mod saves_first;
mod saves_late;
mod says_again_after_a_retry;
mod scope_clears_nothing;
mod stale_timestamp;
mod starts_with_a_bad_config;
mod starts_without_metadata;
mod swallows_the_escalation;
mod swallows_what_it_missed;
mod takes_silence_for_a_reply;
mod tie_goes_up;
mod trusts_the_disk;
mod unreadable_counter_is_zero;
mod unreadable_entry_is_a_missing_device;
mod unreadable_route_is_no_route;
mod watches_every_make;
mod wrong_action;
mod wrong_entity;

/// One line for each species.
const TABLE: &[Species] = &[
    Species(&active_is_enough::ActiveIsEnough),
    Species(&armed_is_up::ArmedIsUp),
    Species(&at_the_threshold_is_above::AtTheThresholdIsAbove),
    Species(&baseline_debt_forgotten::BaselineDebtForgotten),
    Species(&believes_torn_text::BelievesTornText),
    Species(&blind_after_rename::BlindAfterRename),
    Species(&breach_under_the_state_check::BreachUnderTheStateCheck),
    Species(&breach_without_its_code::BreachWithoutItsCode),
    Species(&broken_state_is_an_empty_one::BrokenStateIsAnEmptyOne),
    Species(&card_never_recovers::CardNeverRecovers),
    Species(&card_without_its_domain::CardWithoutItsDomain),
    Species(&carrier_changes_unheard::CarrierChangesUnheard),
    Species(&char_device_missed_once::CharDeviceMissedOnce),
    Species(&clears_and_faults_at_once::ClearsAndFaultsAtOnce),
    Species(&clears_last::ClearsLast),
    Species(&clears_over_a_dead_sibling::ClearsOverADeadSibling),
    Species(&compares_across_roles::ComparesAcrossRoles),
    Species(&compares_the_management_card::ComparesTheManagementCard),
    Species(&counts_the_management_nic::CountsTheManagementNic),
    Species(&crying_wolf::CryingWolf),
    Species(&deaf::Deaf),
    Species(&debounces_one_poll_short::DebouncesOnePollShort),
    Species(&double_reporter::DoubleReporter),
    Species(&empty_ports_are_lost_ports::EmptyPortsAreLostPorts),
    Species(&escalates_by_the_wall_clock::EscalatesByTheWallClock),
    Species(&excluded_is_vanished::ExcludedIsVanished),
    Species(&extrapolates_a_window::ExtrapolatesAWindow),
    Species(&fatal_on_unreadable::FatalOnUnreadable),
    Species(&first_poll_waits_for_nobody::FirstPollWaitsForNobody),
    Species(&first_port_of_every_device::FirstPortOfEveryDevice),
    Species(&first_value_is_growth::FirstValueIsGrowth),
    Species(&follows_every_change::FollowsEveryChange),
    Species(&forgetful::Forgetful),
    Species(&forgets_the_lost_reply::ForgetsTheLostReply),
    Species(&gone_on_both_layers::GoneOnBothLayers),
    Species(&greets_every_recovery::GreetsEveryRecovery),
    Species(&growth_while_away_is_lost::GrowthWhileAwayIsLost),
    Species(&healthy_on_reboot::HealthyOnReboot),
    Species(&ignores_the_default_route::IgnoresTheDefaultRoute),
    Species(&ignores_the_override::IgnoresTheOverride),
    Species(&judges_the_lonely_card::JudgesTheLonelyCard),
    Species(&knows_one_bluefield::KnowsOneBluefield),
    Species(&knows_the_drivers_names_only::KnowsTheDriversNamesOnly),
    Species(&layer_error_is_a_lost_port::LayerErrorIsALostPort),
    Species(&list_error_is_a_disappearance::ListErrorIsADisappearance),
    Species(&loses_on_failed_publish::LosesOnFailedPublish),
    Species(&loses_while_the_socket_is_away::LosesWhileTheSocketIsAway),
    Species(&lost_port_never_returns::LostPortNeverReturns),
    Species(&missing_char_device_unseen::MissingCharDeviceUnseen),
    Species(&missing_folder_is_every_nic::MissingFolderIsEveryNic),
    Species(&never_back::NeverBack),
    Species(&never_escalates::NeverEscalates),
    Species(&never_escalates_ethernet::NeverEscalatesEthernet),
    Species(&never_retries::NeverRetries),
    Species(&no_totalvfs_means_virtual::NoTotalvfsMeansVirtual),
    Species(&numa_unknown_passes::NumaUnknownPasses),
    Species(&one_error_blinds_the_node::OneErrorBlindsTheNode),
    Species(&one_failed_check_silences_the_other::OneFailedCheckSilencesTheOther),
    Species(&patience_one_poll_short::PatienceOnePollShort),
    Species(&patience_starts_anew::PatienceStartsAnew),
    Species(&polling_is_non_fatal::PollingIsNonFatal),
    Species(&quiet_counter_is_healthy::QuietCounterIsHealthy),
    Species(&reboot_clears_the_absent::RebootClearsTheAbsent),
    Species(&reboot_unnoticed::RebootUnnoticed),
    Species(&recovery_names_the_card_too::RecoveryNamesTheCardToo),
    Species(&recovery_under_the_counter_check::RecoveryUnderTheCounterCheck),
    Species(&recovery_without_its_code::RecoveryWithoutItsCode),
    Species(&recovery_without_its_port::RecoveryWithoutItsPort),
    Species(&rename_clears_nothing::RenameClearsNothing),
    Species(&reports_virtual_functions::ReportsVirtualFunctions),
    Species(&reset_never_recovers::ResetNeverRecovers),
    Species(&retries_what_cannot_succeed::RetriesWhatCannotSucceed),
    Species(&saves_first::SavesFirst),
    Species(&saves_late::SavesLate),
    Species(&says_again_after_a_retry::SaysAgainAfterARetry),
    Species(&scope_clears_nothing::ScopeClearsNothing),
    Species(&stale_timestamp::StaleTimestamp),
    Species(&starts_with_a_bad_config::StartsWithABadConfig),
    Species(&starts_without_metadata::StartsWithoutMetadata),
    Species(&swallows_the_escalation::SwallowsTheEscalation),
    Species(&swallows_what_it_missed::SwallowsWhatItMissed),
    Species(&takes_silence_for_a_reply::TakesSilenceForAReply),
    Species(&tie_goes_up::TieGoesUp),
    Species(&trusts_the_disk::TrustsTheDisk),
    Species(&unreadable_counter_is_zero::UnreadableCounterIsZero),
    Species(&unreadable_entry_is_a_missing_device::UnreadableEntryIsAMissingDevice),
    Species(&unreadable_route_is_no_route::UnreadableRouteIsNoRoute),
    Species(&watches_every_make::WatchesEveryMake),
    Species(&wrong_action::WrongAction),
    Species(&wrong_entity::WrongEntity),
];

/// Polls for which every species is right in its story.
const GRACE_POLLS: u64 = 20;

/// A wrong monitor.
#[derive(Clone, Copy)]
pub struct Species(&'static dyn Wrong);

impl Species {
    /// Every species, in order of name.
    #[must_use]
    pub fn all() -> &'static [Species] {
        TABLE
    }

    /// The name on a command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.0.about().name
    }

    /// The species of that name.
    #[must_use]
    pub fn parse(name: &str) -> Option<Species> {
        TABLE.iter().copied().find(|species| species.name() == name)
    }

    /// The bug it is modelled on.
    #[must_use]
    pub fn models(self) -> &'static str {
        self.0.about().models
    }

    /// A scenario, as YAML, in which it is right for its first 20 polls, and then wrong.
    #[must_use]
    pub fn story(self) -> &'static str {
        self.0.about().story
    }

    pub(crate) fn wrong(self) -> &'static dyn Wrong {
        self.0
    }
}

impl fmt::Display for Species {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl fmt::Debug for Species {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_in_order_and_no_two_species_share_one() {
        for pair in TABLE.windows(2) {
            assert!(pair[0].name() < pair[1].name(), "{} {}", pair[0], pair[1]);
        }
    }

    #[test]
    fn a_species_is_found_by_its_name() {
        for species in TABLE {
            let found = Species::parse(species.name()).map(Species::name);
            assert_eq!(found, Some(species.name()));
        }
        assert!(Species::parse("unicorn").is_none());
    }
}
