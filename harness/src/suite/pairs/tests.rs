//! Which drills a selection has, and which names it refuses.

use observe::promises::{Named, Row};

use super::*;

fn selected(change: impl FnOnce(&mut Ask)) -> Selected {
    let library = Library::read(&[], &[]).unwrap();
    let descriptor = crate::descriptors::shipped("reference").unwrap();
    let platforms = vec!["h100-oci".to_owned(), "dgx-a100".to_owned()];
    let mut ask = Ask {
        platforms,
        ..Ask::default()
    };
    change(&mut ask);
    select(&library, &descriptor, &ask).unwrap()
}

fn names(selected: &Selected) -> Vec<String> {
    selected
        .drills
        .iter()
        .map(|drill| drill.drill.to_string())
        .collect()
}

#[test]
fn every_pair_of_the_suite_is_a_drill_or_has_a_reason() {
    let library = Library::read(&[], &[]).unwrap();
    let all = selected(|ask| {
        ask.full = true;
        ask.platforms.clear();
    });
    let worlds = |scenario: &SuiteScenario| library.worlds_of(&scenario.scenario).len();
    let pairs: usize = library.scenarios.iter().map(worlds).sum();
    assert_eq!(all.drills.len() + all.not_applicable.len(), pairs);
    assert!(
        all.not_applicable
            .iter()
            .all(|pair| !pair.reason.is_empty())
    );
}

#[test]
fn the_cover_leaves_the_memory_arm_whole() {
    let in_arm = |selected: &Selected, arm| {
        selected
            .drills
            .iter()
            .filter(|drill| drill.arms.contains(&arm))
            .count()
    };
    let (all, cover) = (selected(|ask| ask.full = true), selected(|_| ()));
    assert_eq!(in_arm(&all, Arm::Memory), in_arm(&cover, Arm::Memory));
    assert!(in_arm(&all, Arm::Process) >= in_arm(&cover, Arm::Process));
}

#[test]
fn the_cover_has_every_scenario_on_its_best_evidence_and_every_platform_ten_times() {
    let library = Library::read(&[], &[]).unwrap();
    let of_process = |selected: Selected| -> Vec<DrillName> {
        let drills = selected.drills.into_iter();
        let drills = drills.filter(|planned| planned.arms.contains(&Arm::Process));
        drills.map(|planned| planned.drill).collect()
    };
    let lacks = |drill: &DrillName| {
        let scenario = &library.scenario(&drill.scenario).unwrap().scenario;
        let rest = library.at_rest(&drill.world).unwrap().unwrap();
        scenario
            .evidence(&rest, &scenario.at_rest(&rest).unwrap())
            .lacks()
    };
    let all = of_process(selected(|ask| {
        ask.full = true;
        ask.platforms.clear();
    }));
    let cover = selected(|ask| ask.platforms.clear());
    let because = cover.because.clone();
    let cover = of_process(cover);
    assert_eq!(
        because.keys().collect::<BTreeSet<_>>(),
        cover.iter().collect()
    );
    assert!(because.values().all(|reason| !reason.is_empty()));
    let base = |drill: &DrillName| drill.world.split(':').next().unwrap().to_owned();
    let (mut best, mut fits) = (BTreeMap::new(), BTreeMap::new());
    for drill in &all {
        let least = best.entry(&drill.scenario).or_insert(usize::MAX);
        *least = lacks(drill).min(*least);
        *fits.entry(base(drill)).or_insert(0) += 1;
    }
    for (scenario, least) in best {
        let mut played = cover.iter().filter(|drill| drill.scenario == *scenario);
        assert!(played.any(|drill| lacks(drill) == least), "{scenario}");
    }
    for (platform, fit) in fits {
        let played = cover.iter().filter(|drill| base(drill) == platform).count();
        assert!(played >= PLATFORM_AT_LEAST.min(fit), "{platform}: {played}");
    }
}

/// The drills of the process arm.
fn of_process(selected: &Selected) -> BTreeSet<DrillName> {
    let drills = selected.drills.iter();
    let drills = drills.filter(|planned| planned.arms.contains(&Arm::Process));
    drills.map(|planned| planned.drill.clone()).collect()
}

/// A fault that shows where a story is named shows in the default run too: every family, every scenario and every filter
/// plays its stories where the whole run plays them.
#[test]
fn a_story_is_played_on_the_same_platforms_whatever_else_is_selected() {
    let library = Library::read(&[], &[]).unwrap();
    let whole = of_process(&selected(|ask| ask.platforms.clear()));
    let of = |fits: &dyn Fn(&DrillName) -> bool| -> BTreeSet<DrillName> {
        whole.iter().filter(|drill| fits(drill)).cloned().collect()
    };
    let check = |name: &str, fits: &dyn Fn(&DrillName) -> bool| {
        let named = of_process(&selected(|ask| {
            ask.platforms.clear();
            ask.names = vec![name.to_owned()];
        }));
        assert_eq!(named, of(fits), "{name}");
    };
    let names = library
        .scenarios
        .iter()
        .map(|scenario| scenario.name.as_str());
    let families: BTreeSet<&str> = names.clone().map(family).collect();
    for family_name in families {
        check(family_name, &|drill| family(&drill.scenario) == family_name);
    }
    // Every 25th, and those of which it was found.
    let found = ["statefile/read-only-then-restart", "device/firmware-reset"];
    for name in names.step_by(25).chain(found) {
        check(name, &|drill| drill.scenario == name);
    }
    let filtered = of_process(&selected(|ask| {
        ask.platforms.clear();
        ask.filter = Some(Filter::read("covers(lsd/3.4/*)").unwrap());
    }));
    assert!(!filtered.is_empty() && filtered.is_subset(&whole));
}

#[test]
fn a_story_is_played_once_on_platforms_that_are_named_and_each_drill_by_its_name() {
    let worlds = |names: &[&str], platforms: &[&str]| {
        let drills = of_process(&selected(|ask| {
            ask.names = names.iter().map(ToString::to_string).collect();
            ask.platforms = platforms.iter().map(ToString::to_string).collect();
        }));
        drills
            .into_iter()
            .map(|drill| drill.world)
            .collect::<Vec<_>>()
    };
    assert_eq!(worlds(&["port/cable-pulled"], &["h100-oci"]).len(), 1);
    assert_eq!(
        worlds(&["port/cable-pulled"], &["dgx-a100", "h100-oci"]).len(),
        1
    );
    let both = ["port/cable-pulled@dgx-a100", "port/cable-pulled@h100-oci"];
    assert_eq!(worlds(&both, &[]), ["dgx-a100", "h100-oci"]);
}

#[test]
fn where_a_monitor_must_refuse_to_start_only_refusals_are_told() {
    for (platform, reason) in [
        ("mi300x", "the metadata has no NIC topology"),
        ("h100-vm", "no GPU has a known NUMA node"),
    ] {
        let scenario = selected(|ask| ask.platforms = vec![platform.to_owned()]);
        let drills = names(&scenario);
        assert!(
            drills.contains(&format!("start/metadata-missing@{platform}")),
            "{drills:?}"
        );
        assert!(
            !drills.contains(&format!("start/metadata-without-numa@{platform}")),
            "{drills:?}"
        );
        let baseline = scenario
            .not_applicable
            .iter()
            .find(|pair| pair.drill.scenario == "start/baseline")
            .expect("it does not fit");
        assert_eq!(
            baseline.reason,
            format!("a monitor must refuse to start on `{platform}`: {reason}")
        );
    }
}

/// What a monitor needs of the metadata is what it promises about them: without a row, or with a silent one, it plays on
/// those machines as on any other, apart from the stories in which the machine alone is the reason to refuse.
#[test]
fn a_monitor_that_promises_nothing_about_metadata_plays_where_they_tell_no_roles() {
    let check = |change: fn(&mut Descriptor)| {
        let mut descriptor = crate::descriptors::shipped("reference").unwrap();
        change(&mut descriptor);
        let library = Library::read(&[], &[]).unwrap().watched_by(&descriptor);
        for (platform, refusal) in [
            ("mi300x", "start/gpus-of-another-make"),
            ("h100-vm", "start/gpus-without-a-numa-node"),
        ] {
            let ask = Ask {
                platforms: vec![platform.to_owned()],
                full: true,
                ..Ask::default()
            };
            let selected = select(&library, &descriptor, &ask).unwrap();
            let drills = names(&selected);
            assert!(drills.len() > 60, "{platform}: {}", drills.len());
            for story in ["start/baseline", "port/cable-pulled", "start/bad-regex"] {
                let drill = format!("{story}@{platform}");
                assert!(drills.contains(&drill), "{drill}");
            }
            let mut pairs = selected.not_applicable.iter();
            let refused = pairs.find(|pair| pair.drill.scenario == refusal);
            assert_eq!(
                refused.expect("it does not fit").reason,
                format!(
                    "the monitor promises nothing about `metadata`, so that it starts on `{platform}`"
                )
            );
        }
    };
    check(|descriptor| drop(descriptor.promises.rows.remove(&Named::Metadata.into())));
    check(|descriptor| {
        let rows = &mut descriptor.promises.rows;
        rows.insert(Named::Metadata.into(), Row::Silent);
    });
}

#[test]
fn shards_share_the_run_and_together_are_all_of_it() {
    let all = names(&selected(|_| ()));
    let mut together = Vec::new();
    for number in 1..=3 {
        together.extend(names(&selected(|ask| {
            ask.shard = format!("{number}/3").parse().unwrap();
        })));
    }
    together.sort();
    let mut sorted = all;
    sorted.sort();
    assert_eq!(together, sorted);
}

#[test]
fn only_drills_that_need_much_real_time_start_out_of_their_order() {
    let mut selected = selected(|_| ());
    selected.drills.truncate(6);
    assert_eq!(selected.long_ones_first(2), [0, 1, 2, 3, 4, 5]);
    let seconds = [3, 40, 3, 60, 3, 3];
    let times = selected.drills.iter_mut().zip(seconds);
    selected.real_time = times
        .map(|(planned, seconds)| {
            planned.arms = vec![Arm::Process];
            (planned.drill.clone(), Duration::from_secs(seconds))
        })
        .collect();
    assert_eq!(selected.long_ones_first(2), [3, 1, 0, 2, 4, 5]);
    selected.drills[3].arms = vec![Arm::Memory];
    assert_eq!(selected.long_ones_first(2), [1, 0, 2, 3, 4, 5]);
}

#[test]
fn a_seed_changes_the_order_and_nothing_else() {
    let (listed, shuffled) = (
        names(&selected(|_| ())),
        names(&selected(|ask| ask.seed = 7)),
    );
    assert_ne!(listed, shuffled);
    assert_eq!(shuffled, names(&selected(|ask| ask.seed = 7)));
    let sorted: BTreeSet<String> = shuffled.into_iter().collect();
    assert_eq!(listed.into_iter().collect::<BTreeSet<_>>(), sorted);
}

#[test]
fn a_name_that_nothing_bears_is_refused_with_the_nearest() {
    let library = Library::read(&[], &[]).unwrap();
    let descriptor = crate::descriptors::shipped("reference").unwrap();
    let refused = |ask: Ask| select(&library, &descriptor, &ask).unwrap_err().to_string();
    let platforms = vec!["h100-oic".to_owned()];
    let error = refused(Ask {
        platforms,
        ..Ask::default()
    });
    assert!(error.contains("did you mean `h100-oci`"), "{error}");
    let names = vec!["start/baselin".to_owned()];
    let error = refused(Ask {
        names,
        ..Ask::default()
    });
    assert!(error.contains("did you mean `start/baseline`"), "{error}");
}
