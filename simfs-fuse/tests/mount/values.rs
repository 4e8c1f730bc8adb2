//! Content and links, and their changes.

use std::{
    fs::{self, File},
    io::{self, Read, Seek, SeekFrom, Write},
    os::unix::fs::{FileExt, MetadataExt},
    sync::atomic::{AtomicBool, Ordering},
    thread,
};

use simfs::{Edit, Errno, FileValue};

use crate::support::{Setting, device, file, fuse_or_skip, link, list, read, remove, two_devices};

const UP: &str = "4: ACTIVE\n";
const DOWN: &str = "1: DOWN\n";

fn flip(up: bool) -> Edit {
    file("devices/a/state", if up { UP } else { DOWN })
}

#[test]
fn ten_thousand_flips_are_each_seen_by_the_very_next_read() {
    let Some(stage) = fuse_or_skip(two_devices(), Setting::default()) else {
        return;
    };
    stage.server.with_fs(|fs| fs.set_tracing(false));
    let state = stage.path("class/a/state");
    let held = File::open(&state).unwrap();
    for round in 0..10_000 {
        let up = round % 2 == 0;
        stage.edit(&[flip(up)]);
        let expected = if up { UP } else { DOWN };
        assert_eq!(read(&state).unwrap(), expected, "round {round}");
        let mut bytes = [0; 64];
        let len = held.read_at(&mut bytes, 0).unwrap();
        assert_eq!(
            &bytes[..len],
            expected.as_bytes(),
            "round {round}, held descriptor"
        );
    }
}

#[test]
fn a_reader_beside_flips_sees_one_value_or_the_other_and_never_a_mix() {
    let Some(stage) = fuse_or_skip(two_devices(), Setting::default()) else {
        return;
    };
    let state = stage.path("class/a/state");
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        let readers: Vec<_> = (0..2)
            .map(|_| {
                scope.spawn(|| {
                    let mut reads = 0;
                    while !done.load(Ordering::Relaxed) {
                        let text = read(&state).unwrap();
                        assert!(text == UP || text == DOWN, "torn: {text:?}");
                        reads += 1;
                    }
                    reads
                })
            })
            .collect();
        for round in 0..500 {
            stage.edit(&[flip(round % 2 == 0)]);
            assert_eq!(
                read(&state).unwrap(),
                if round % 2 == 0 { UP } else { DOWN }
            );
        }
        done.store(true, Ordering::Relaxed);
        let reads: i32 = readers
            .into_iter()
            .map(|reader| reader.join().unwrap())
            .sum();
        assert!(reads > 0);
    });
}

#[test]
fn an_attribute_is_4096_bytes_long_whatever_it_gives() {
    let Some(stage) = fuse_or_skip(two_devices(), Setting::default()) else {
        return;
    };
    let state = stage.path("class/a/state");
    assert_eq!(read(&state).unwrap(), UP);
    assert_eq!(fs::metadata(&state).unwrap().len(), 4096);
    assert_eq!(fs::metadata(&state).unwrap().mode() & 0o7777, 0o444);
}

#[test]
fn an_attribute_is_filled_once_and_read_on_in_pieces() {
    let Some(stage) = fuse_or_skip(two_devices(), Setting::default()) else {
        return;
    };
    let mut held = File::open(stage.path("class/a/state")).unwrap();
    let mut first = [0; 3];
    held.read_exact(&mut first).unwrap();
    stage.edit(&[flip(false)]);
    let mut rest = String::new();
    held.read_to_string(&mut rest).unwrap();
    assert_eq!((&first[..], &*rest), (&b"4: "[..], "ACTIVE\n"));
    held.seek(SeekFrom::Start(0)).unwrap();
    rest.clear();
    held.read_to_string(&mut rest).unwrap();
    assert_eq!(rest, DOWN);
}

#[test]
fn a_file_that_fails_by_itself_opens_and_fails_to_read() {
    let Some(stage) = fuse_or_skip(two_devices(), Setting::default()) else {
        return;
    };
    stage.edit(&[Edit::File {
        path: "devices/a/carrier".into(),
        value: FileValue::Fails(Errno::EINVAL),
    }]);
    let mut opened = File::open(stage.path("class/a/carrier")).unwrap();
    let error = opened.read_to_string(&mut String::new()).unwrap_err();
    assert_eq!(error.raw_os_error(), Some(22));
}

#[test]
fn a_link_leads_where_it_says_at_once_also_when_it_was_read_before() {
    let Some(stage) = fuse_or_skip(two_devices(), Setting::default()) else {
        return;
    };
    stage.edit(&[file("devices/b/state", DOWN)]);
    let state = stage.path("class/a/state");
    assert_eq!(read(&state).unwrap(), UP);
    stage.edit(&[link("class/a", "../devices/b")]);
    assert_eq!(
        fs::read_link(stage.path("class/a")).unwrap().to_str(),
        Some("../devices/b")
    );
    assert_eq!(read(&state).unwrap(), DOWN);
}

#[test]
fn an_absolute_link_leads_from_the_root_of_the_tree() {
    let Some(stage) = fuse_or_skip(two_devices(), Setting::default()) else {
        return;
    };
    stage.edit(&[
        link("class/deep/er/a", "/devices/a"),
        link("top", "/devices/a"),
    ]);
    assert_eq!(read(&stage.path("class/deep/er/a/state")).unwrap(), UP);
    assert_eq!(read(&stage.path("top/state")).unwrap(), UP);
}

#[test]
fn a_stream_grows_under_its_reader() {
    let Some(stage) = fuse_or_skip(two_devices(), Setting::default()) else {
        return;
    };
    let append = |text: &str| Edit::Append {
        path: "log".into(),
        bytes: text.as_bytes().to_vec(),
    };
    stage.edit(&[append("one\n")]);
    let mut log = File::open(stage.path("log")).unwrap();
    let mut text = String::new();
    log.read_to_string(&mut text).unwrap();
    stage.edit(&[append("two\n")]);
    log.read_to_string(&mut text).unwrap();
    assert_eq!(text, "one\ntwo\n");
}

#[test]
fn a_listing_in_small_buffers_has_every_name_once() {
    let Some(stage) = fuse_or_skip(two_devices(), Setting::default()) else {
        return;
    };
    let names: Vec<String> = (0..34).map(|n| format!("mlx5_{n:02}")).collect();
    stage.edit(&[remove("class/a"), remove("class/b")]);
    stage.edit(
        &names
            .iter()
            .flat_map(|name| device(name))
            .collect::<Vec<_>>(),
    );
    let mut seen = Vec::new();
    let chunks = crate::removal::in_small_buffers(&stage.path("class"), |_, name| {
        seen.push(name.to_owned())
    });
    assert_eq!(seen, names);
    assert!(chunks > 5, "{chunks} chunks are not small buffers");
    assert_eq!(list(&stage.path("class")).unwrap(), names);
}

#[test]
fn an_attribute_that_can_be_written_is_opened_and_emptied_but_not_changed() {
    let mut fs = two_devices();
    fs.set_named_modes([("rate", 0o644)]);
    let Some(stage) = fuse_or_skip(fs, Setting::default()) else {
        return;
    };
    let open = |name: &str| {
        let path = stage.path(&format!("devices/a/{name}"));
        File::options().write(true).truncate(true).open(path)
    };
    let errno = |error: io::Error| Errno(error.raw_os_error().expect("of the kernel"));
    let mut rate = open("rate").expect("it can be opened");
    assert_eq!(rate.write(b"1").map_err(errno), Err(Errno::EROFS));
    assert_eq!(open("state").map(drop).map_err(errno), Err(Errno::EROFS));
    let rate = stage.path("devices/a/rate");
    assert_eq!(read(&rate).unwrap(), "400 Gb/sec (4X NDR)\n");
    assert_eq!(stage.trace()[0], "write class/a/rate: EROFS");
}

#[test]
fn a_folder_has_two_links_and_one_for_each_folder_that_is_in_it_now() {
    let mut fs = two_devices();
    fs.set_mtime(1_740_786_600_000_000_000);
    let Some(stage) = fuse_or_skip(fs, Setting::default()) else {
        return;
    };
    let links = || fs::metadata(stage.path("devices")).unwrap().nlink();
    assert_eq!(links(), 4);
    stage.edit(&device("c"));
    assert_eq!(links(), 5);
    stage.edit(&[remove("devices/a"), remove("devices/b")]);
    assert_eq!(links(), 3);
    let made = fs::metadata(stage.path("devices/c/state")).unwrap().mtime();
    assert_eq!(made, 1_740_786_600);
}
