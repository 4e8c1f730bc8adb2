"""Records of runs: read without what differs between any two equal runs, and compared.

`Comparison` counts what is equal and what is not; `compare_folders` gives it two run folders, file by file, and
`events.jsonl`, `run.json` and the lists of drills drill by drill.
"""

import collections
import fnmatch
import json
import pathlib
import re

SHOWN = 5
# Members that differ: what the clock and the machine say, and the arguments of the command line.
BARE = ("wall", "asked")
# The texts that were played, which are no behaviour.
TEXTS = ("story.yaml", "contents.txt")
# The files of a run folder in which each line is about a drill.
LISTS = ("passed.txt", "failed.txt", "known.txt", "skipped.txt")
THE_RUN = "the run"
ORDER = "the order"


def bare(value):
    """A value of JSON without the members that differ, at any depth."""
    if isinstance(value, dict):
        return {key: bare(of) for key, of in value.items() if key not in BARE}
    return [bare(of) for of in value] if isinstance(value, list) else value


def events(folder):
    """The events of a run folder, in order."""
    with open(pathlib.Path(folder) / "events.jsonl", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def text(value):
    """A value of JSON as text that can be compared."""
    return json.dumps(bare(value), sort_keys=True)


class Comparison:
    """What is equal and what is not in one part; scenarios that match a pattern are expected to differ, and counted apart."""

    def __init__(self, part, patterns):
        self.part, self.patterns = part, patterns
        self.counts, self.expected = collections.Counter(), collections.Counter()
        self.shown, self.scenarios, self.texts = [], set(), 0

    def is_expected(self, about):
        """Whether this drill or scenario is expected to differ; what is about the whole run is if any is."""
        if about in (THE_RUN, ORDER):
            return bool(self.patterns)
        scenario = about.split("@")[0]
        return any(fnmatch.fnmatch(scenario, pattern) for pattern in self.patterns)

    def add(self, about, what, old, new):
        """Compares one thing of a drill, of a scenario or of the run; `None` is absent."""
        is_expected = self.is_expected(about)
        counts = self.expected if is_expected else self.counts
        counts["equal" if old == new else "differ"] += 1
        if old == new:
            return
        if is_expected:
            self.scenarios.add(about.split("@")[0])
        elif len(self.shown) < SHOWN:
            self.shown.append(f"  {about}: {what}: {first_difference(old, new)}")

    def add_all(self, what, old, new):
        """Compares two tables of what is about each drill, scenario or monitor."""
        for about in sorted(old.keys() | new.keys()):
            self.add(about, what, old.get(about), new.get(about))

    def told(self):
        """Prints what came; returns whether nothing differs that should not."""
        print(f"{self.part}: {self.counts['equal']} files equal, {self.counts['differ']} differ", flush=True)
        for line in self.shown:
            print(line)
        if self.expected:
            equal, differ = self.expected["equal"], self.expected["differ"]
            names = ", ".join(sorted(self.scenarios))
            print(f"  of scenarios that are expected to differ: {equal} files equal, {differ} differ ({names})")
        if self.texts:
            print(f"  not compared: {self.texts} texts of scenarios, platforms and worlds that differ")
        return self.counts["differ"] == 0


def first_difference(old, new):
    """The first line that differs, in both."""
    if old is None or new is None:
        return "only in the new one" if old is None else "not in the new one"
    old, new = (of.decode(errors="replace") if isinstance(of, bytes) else of for of in (old, new))
    old, new = old.split("\n"), new.split("\n")
    for number in range(max(len(old), len(new))):
        one, other = ((of[number] if number < len(of) else "(the end)") for of in (old, new))
        if one != other:
            differ = (at for at, (a, b) in enumerate(zip(one, other)) if a != b)
            start = max(0, next(differ, min(len(one), len(other))) - 60)
            return f"line {number + 1}\n    old  {one[start : start + 240]}\n    new  {other[start : start + 240]}"
    return "no line differs"


def compare_folders(to, old, new):
    """Two run folders."""
    ones, others = files(old), files(new)
    for name in sorted(ones.keys() | others.keys()):
        one, other = ((of[name].read_bytes() if name in of else None) for of in (ones, others))
        base = name.rsplit("/", 1)[-1]
        if base in TEXTS:
            to.texts += one != other
        elif name in LISTS:
            to.add_all(name, by_drill(one, list_line), by_drill(other, list_line))
        elif name == "events.jsonl":
            to.add_all(name, by_drill(one, json_line), by_drill(other, json_line))
        elif name == "run.json":
            to.add_all(name, plan(one), plan(other))
        else:
            if one != other and one is not None and other is not None:
                one, other = bare_file(base, one), bare_file(base, other)
            to.add(drill_of(name), name, one, other)


def files(folder):
    """The files of a run folder, by name."""
    paths = (path for path in pathlib.Path(folder).rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): path for path in paths}


def drill_of(name):
    """The drill in whose folder a file is."""
    found = re.match(r"(?:repeat-\d+/)?drills/(.*@[^/]*)/", name)
    return found.group(1) if found else THE_RUN


def bare_file(name, content):
    """A file without the members that differ, the stamps and folders in a monitor's log, and the times in reports."""
    if name.endswith("-log.txt"):
        content = re.sub(rb"\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d+Z", b"(time)", content)
        # Each run has a folder of its own for what it stages, and any job of it plays a drill.
        return re.sub(rb"/nicdrill-[0-9A-Za-z]{6}/\d+/", b"/(stage)/", content)
    if name.startswith("report.") and not name.endswith(".json"):
        return re.sub(rb' time="[0-9.]+"|\b[0-9.]+ s\b', b"(time)", content)
    if name.endswith(".jsonl"):
        return "\n".join(text(json.loads(line)) for line in content.splitlines())
    return text(json.loads(content)) if name.endswith(".json") else content


def by_drill(content, line):
    """Lines by the drill that each is about, in order, and the order of drills."""
    found = {}
    for about, words in map(line, (content or b"").decode().splitlines()):
        found.setdefault(about, []).append(words)
    order = "\n".join(about for about in found if about != THE_RUN)
    found = {about: "\n".join(lines) for about, lines in found.items()}
    return found | {ORDER: order} if content is not None else {}


def list_line(line):
    """A line of a list: a drill, and perhaps a cause."""
    return line.split(" ")[0], line


def json_line(line):
    """An event, and the drill that it is about."""
    event = json.loads(line)
    event.pop("drills" if event.get("event") == "run-started" else "", None)
    return about(event), text(event)


def about(value):
    """The drill that an object is about."""
    drill = value.get("drill") if isinstance(value, dict) else None
    if isinstance(drill, dict):
        drill = drill.get("drill") or f"{drill['scenario']}@{drill['platform']}"
    return drill or THE_RUN


def plan(content):
    """The plan of a run, by drill."""
    found = {}
    for key, value in json.loads(content or b"{}").items():
        for row in value if isinstance(value, list) else [value]:
            if key not in BARE:
                found.setdefault(about(row), []).append(f"{key}: {text(row)}")
    return {name: "\n".join(rows) for name, rows in found.items()}
