//! Matrices of real machines from public sources, and the expected result of parsing each.
//!
//! The collection is not part of the project; without it this test is skipped with a message. Its
//! kinds of damage are also tested one by one in `topo_facts.rs`.

use platforms::topo::{self, Topology};
use platforms::{NodeName, TopoLevel};
use serde_json::Value as Json;

const COLLECTION: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../shared/data/topo");

/// The stems and texts of the collection, and the expected result of each; `None` if it is not
/// available.
#[expect(
    clippy::disallowed_methods,
    reason = "a test of a pure room may read what was captured elsewhere"
)]
fn collection() -> Option<Vec<(String, String, Json)>> {
    let listed = std::fs::read_dir(format!("{COLLECTION}/expected")).ok()?;
    let mut stems: Vec<String> = listed
        .map(|entry| entry.expect("a listed file").file_name())
        .map(|name| name.into_string().expect("names are text"))
        .filter_map(|name| Some(name.strip_suffix(".json")?.to_owned()))
        .collect();
    stems.sort();
    let read = |path: String| std::fs::read_to_string(&path).expect(&path);
    let files = stems.into_iter().map(|stem| {
        let text = read(format!("{COLLECTION}/{stem}.txt"));
        let expected = read(format!("{COLLECTION}/expected/{stem}.json"));
        let expected = serde_json::from_str(&expected).expect("expectations are JSON");
        (stem, text, expected)
    });
    Some(files.collect())
}

fn texts(json: &Json) -> Vec<String> {
    let texts = json.as_array().expect("a list").iter();
    texts
        .map(|text| text.as_str().expect("a text").to_owned())
        .collect()
}

/// The differences of the parsed matrix from the expected one.
fn differences(topology: &Topology, expected: &Json) -> Vec<String> {
    let mut found = Vec::new();
    let mut compare = |what: &str, is: String, should: String| {
        if is != should {
            found.push(format!("{what} is {is}, expected {should}"));
        }
    };
    let names: Vec<String> = topology.nics().iter().map(|nic| nic.device().0).collect();
    let should = texts(&expected["nic_names"]);
    compare("names", format!("{names:?}"), format!("{should:?}"));
    let numa: Vec<i64> = topology
        .gpus()
        .iter()
        .map(|gpu| gpu.numa_node().into())
        .collect();
    let should: Vec<i64> = expected["gpu_numa"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|numa| numa.as_i64().unwrap_or(-1))
        .collect();
    compare("NUMA", format!("{numa:?}"), format!("{should:?}"));
    let cpus: Vec<&str> = topology
        .gpus()
        .iter()
        .map(|gpu| gpu.cpus.as_deref().unwrap_or_default())
        .collect();
    let should = texts(&expected["cpu_affinity"]);
    compare("CPUs", format!("{cpus:?}"), format!("{should:?}"));
    let ids: Vec<String> = topology
        .gpus()
        .iter()
        .map(|gpu| gpu.numa_id.map_or("N/A".to_owned(), |id| id.to_string()))
        .collect();
    // Older drivers have no such column, and then the expectation has no list.
    if let Some(should) = expected["gpu_numa_id"]
        .as_array()
        .filter(|ids| !ids.is_empty())
    {
        let should = texts(&should.clone().into());
        compare("GPU NUMA", format!("{ids:?}"), format!("{should:?}"));
    }
    let metadata = topology.metadata(&NodeName::from("node-1"), "", "");
    let rows = expected["relationships"].as_object().expect("rows by name");
    compare(
        "rows",
        metadata.nic_topology.len().to_string(),
        rows.len().to_string(),
    );
    for (name, row) in &metadata.nic_topology {
        let row: Vec<String> = row.iter().map(TopoLevel::to_string).collect();
        let should = rows.get(name.as_str()).map(texts).unwrap_or_default();
        compare(name.as_str(), format!("{row:?}"), format!("{should:?}"));
    }
    found
}

/// At least 88 of the 92 are accepted, with the result that a person reads.
#[test]
#[expect(
    clippy::disallowed_macros,
    clippy::print_stderr,
    reason = "a test may say that it had nothing to compare, and how much it compared"
)]
fn every_collected_matrix_is_read_right_or_refused() {
    let Some(files) = collection() else {
        eprintln!("skipped: the collected matrices are not at hand");
        return;
    };
    assert!(files.len() >= 92, "{} files", files.len());
    let mut read = 0;
    let mut wrong = Vec::new();
    for (stem, text, expected) in &files {
        match topo::parse(text) {
            Ok(topology) => {
                read += 1;
                let differences = differences(&topology, expected);
                wrong.extend(differences.iter().map(|what| format!("{stem}: {what}")));
                let again = topo::parse(&topology.to_string());
                assert_eq!(again.as_ref(), Ok(&topology), "{stem}, printed again");
            }
            Err(error) => eprintln!("{stem} is refused: {error}"),
        }
    }
    eprintln!("{read} of {} collected matrices read", files.len());
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(files.len() - read <= 4, "{read} of {}", files.len());
}
