//! What a poll costs a reader in memory: 18 devices, one listing and about 100 reads, as a monitor
//! of link states does it.

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use simfs::{Edit, Errno, FileValue, Fs, Op, Rule, RuleId, SimTime, TreePath, Verdict, When};

const DEVICES: usize = 18;
const FILES: [&str; 5] = ["state", "phys_state", "link_layer", "rate", "gids/0"];
/// Files of a device that are there and not read.
const OTHERS: usize = 120;

fn device(n: usize) -> Vec<Edit> {
    let folder = format!("sys/devices/pci0000:00/0000:{n:02x}:00.0/infiniband/mlx5_{n}");
    let file = |path: String| Edit::File {
        path: TreePath::new(&path),
        value: FileValue::line("4: ACTIVE"),
    };
    let mut edits: Vec<Edit> = FILES
        .iter()
        .map(|name| file(format!("{folder}/ports/1/{name}")))
        .collect();
    edits.extend(
        (0..OTHERS).map(|other| file(format!("{folder}/ports/1/hw_counters/counter_{other}"))),
    );
    edits.push(Edit::Link {
        path: TreePath::new(&format!("sys/class/infiniband/mlx5_{n}")),
        target: format!("../../devices/pci0000:00/0000:{n:02x}:00.0/infiniband/mlx5_{n}"),
    });
    edits
}

fn node() -> Fs {
    let mut fs = Fs::new();
    fs.alias_folder("sys/class/infiniband");
    fs.set_anchor("sys/class/infiniband");
    fs.set_writable("var/run/monitor");
    fs.apply(&(0..DEVICES).flat_map(device).collect::<Vec<_>>());
    fs
}

fn poll(fs: &mut Fs, paths: &[String]) -> usize {
    fs.poll_begins(SimTime::ZERO);
    let names = fs.list("sys/class/infiniband").expect("the class is there");
    let read = |path: &String| fs.read(path).map_or(0, |bytes| bytes.len());
    names.len() + paths.iter().map(read).sum::<usize>()
}

fn polls(criterion: &mut Criterion) {
    let paths: Vec<String> = (0..DEVICES)
        .flat_map(|n| FILES.map(|name| format!("/sys/class/infiniband/mlx5_{n}/ports/1/{name}")))
        .collect();
    let mut group = criterion.benchmark_group("poll of 18 devices in memory");
    group.throughput(Throughput::Elements(1));
    group.bench_function("untraced", |bench| {
        let mut fs = node();
        fs.set_tracing(false);
        bench.iter(|| poll(&mut fs, &paths));
    });
    group.bench_function("traced", |bench| {
        let mut fs = node();
        bench.iter(|| (poll(&mut fs, &paths), fs.take_trace()));
    });
    group.bench_function("traced, with a rule", |bench| {
        let mut fs = node();
        fs.arm(Rule {
            id: RuleId(1),
            ops: Op::Read.into(),
            pattern: "sys/class/infiniband/mlx5_3/ports/1/state".into(),
            when: When::EveryNth(2),
            verdict: Verdict::Fail(Errno::EIO),
        });
        bench.iter(|| (poll(&mut fs, &paths), fs.take_trace()));
    });
    group.bench_function("untraced, after a change of names", |bench| {
        let mut fs = node();
        fs.set_tracing(false);
        bench.iter(|| {
            fs.apply(&[
                Edit::Remove("sys/class/x".into()),
                Edit::Folder("sys/class/x".into()),
            ]);
            poll(&mut fs, &paths)
        });
    });
    group.finish();
}

criterion_group!(benches, polls);
criterion_main!(benches);
