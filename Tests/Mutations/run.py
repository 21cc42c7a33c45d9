#!/usr/bin/env python3
"""Puts random faults into the sources, and finds out which of them the tests notice.

Usage: run.py [--sample N] [--seed S] [--path PREFIX ...] [--faults FILE]

The faults are chosen by the seed: a random line, and then a random fault of this line. One build holds the whole sample: each fault has a
switch, which a variable of the test run turns on. A run of each suite shows which faults it executes. Then each fault runs alone with the
quick suites that execute it, those of its feature first, until a test fails. The faults that are left run with their slow suites, a few together; a group with a failure
is halved until each failure belongs to one fault. Everything runs in a copy in .aisle/mutations.

A file adds faults of its own. It is a JSON list of objects: "file"; "original", which occurs once in the file; and "code", which replaces it and asks
isMutated(#), or sqlMutation(#, mutant, original).

The results are in .aisle/mutations/results-SEED.tsv, the suites with their seconds and numbers of faults in suites.tsv. Faults that change
nothing are listed with the reason in equivalent.json.
"""
import argparse
import collections
import concurrent.futures
import json
import mmap
import os
import pathlib
import queue
import random
import re
import shutil
import signal
import subprocess
import sys
import threading
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
HOME = ROOT / ".aisle" / "mutations"
TREE = HOME / "tree"
BUNDLE = TREE / ".build/debug/aislePackageTests.xctest"
sys.path.insert(0, str(ROOT / "Tests/Faults"))
# Pages and drawings; programs without tests of their own.
LEFT_OUT = ("Sources/Site/",)
# A run that takes longer than the unchanged suites by so many seconds is reported as a hang.
PATIENCE = 90
# A fault runs alone with its quickest suites: first those that take so many seconds in all, then those that take so many more.
QUICK = (8, 40)
# So many faults share a run of their slow suites.
TOGETHER = 6
# So many runs at the same time, each with a server of its own.
RUNS = 2
EXPECTED_ERROR = re.compile(r"^(/\S+\.swift):(\d+):\d+: error: (.*)$", re.M)

SWITCH = """{imports}
/// The faults of this build that are on, and the record of those that ran.
private struct Switches: @unchecked Sendable {{
    let active: [Bool]
    let executed: UnsafeMutablePointer<UInt8>?

    init() {{
        var active = [Bool](repeating: false, count: {count})
        if let text = getenv("MUTATIONS") {{
            for number in String(cString: text).split(separator: ",").compactMap({{ Int($0) }}) {{ active[number] = true }}
        }}
        self.active = active
        guard let path = getenv("MUTATION_RECORD") else {{
            executed = nil
            return
        }}
        let file = open(path, O_RDWR | O_CLOEXEC)
        executed = mmap(nil, {count}, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0)?.assumingMemoryBound(to: UInt8.self)
        close(file)
    }}
}}

private let switches = Switches()

func isMutated(_ number: Int) -> Bool {{
    switches.executed?[number] = 1
    return switches.active[number]
}}
{sql}"""
SQL_SWITCH = """
func sqlMutation(_ number: Int, _ mutant: SQL, _ original: SQL) -> SQL { isMutated(number) ? mutant : original }
extension SQL: @retroactive CustomStringConvertible { package var description: String { text } }
"""


def swift(*words, cwd=TREE):
    return subprocess.run(["swift", *words], cwd=cwd, capture_output=True, text=True)


def copy_tree():
    TREE.mkdir(parents=True, exist_ok=True)
    subprocess.run(
        ["rsync", "-a", "--delete", "--checksum", "--exclude=/.build*", "--exclude=/.git", "--exclude=/.aisle", f"{ROOT}/", f"{TREE}/"],
        check=True,
    )
    manifest = TREE / "Package.swift"
    text = manifest.read_text().replace(".treatAllWarnings(as: .error),", "")
    if text != manifest.read_text():
        manifest.write_text(text)


def candidates(paths):
    """Returns all faults of the sources, in a fixed order."""
    files = sorted(
        str(path.relative_to(ROOT)) for path in (ROOT / "Sources").rglob("*.swift")
        if not str(path.relative_to(ROOT)).startswith(LEFT_OUT)
    )
    files = [file for file in files if not paths or file.startswith(tuple(paths))]
    scratch = str(HOME / "tool")
    done = swift("build", "--package-path", str(HERE), "--scratch-path", scratch, cwd=ROOT)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
    found = subprocess.run([f"{scratch}/debug/mutate", str(ROOT), *files], check=True, capture_output=True, text=True)
    return json.loads(found.stdout)


def source_line(fault):
    """Returns the line on which a fault begins, without indentation."""
    data = (ROOT / fault["file"]).read_bytes()
    return data[data.rfind(b"\n", 0, fault["start"]) + 1 :].split(b"\n", 1)[0].decode().strip()


def identity(fault):
    """Identifies a fault in later versions of its file. The same text may occur on several lines."""
    return fault["file"], fault["line"], fault["original"], fault["mutant"]


def overlaps(a, b):
    return a["file"] == b["file"] and a["start"] < b["end"] and b["start"] < a["end"]


def choose(faults, seed):
    """Yields faults in the order of the seed, each on a line of its own."""
    lines = collections.defaultdict(list)
    for fault in faults:
        lines[fault["file"], fault["line"]].append(fault)
    generator = random.Random(seed)
    keys = sorted(lines)
    generator.shuffle(keys)
    taken = collections.defaultdict(list)
    for key in keys:
        fault = generator.choice(lines[key])
        if not any(overlaps(fault, other) for other in taken[fault["file"]]):
            taken[fault["file"]].append(fault)
            yield fault


def described(path):
    """Returns the faults that a file describes."""
    faults = json.loads(pathlib.Path(path).read_text())
    for fault in faults:
        data, original = (ROOT / fault["file"]).read_bytes(), fault["original"].encode()
        assert data.count(original) == 1, f"{fault['file']} has {data.count(original)} times: {fault['original']}"
        fault["start"] = data.index(original)
        fault["end"] = fault["start"] + len(original)
        fault["line"] = data.count(b"\n", 0, fault["start"]) + 1
        fault["mutant"], fault["kind"] = fault["code"], fault.get("kind", "described")
    return faults


def apply(sample):
    """Writes the faults into the copy; returns the lines of each fault there."""
    files = collections.defaultdict(list)
    for number, fault in enumerate(sample):
        files[fault["file"]].append((number, fault))
    places, targets = {}, set()
    for path in sorted((ROOT / "Sources").rglob("*.swift")):
        file = str(path.relative_to(ROOT))
        data = path.read_bytes()
        pieces, end, line = [], 0, 1
        for number, fault in sorted(files.get(file, []), key=lambda pair: pair[1]["start"]):
            pieces.append(data[end:fault["start"]])
            line += pieces[-1].count(b"\n")
            code = fault["code"].replace("utated(#)", f"utated({number})", 1).replace("tation(#,", f"tation({number},", 1).encode()
            pieces.append(code)
            places[number] = (file, line, line + code.count(b"\n"))
            line += code.count(b"\n")
            end = fault["end"]
        pieces.append(data[end:])
        write(TREE / file, b"".join(pieces))
        if file in files:
            targets.add(file.split("/")[1])
    for folder in (ROOT / "Sources").iterdir():
        switch = TREE / "Sources" / folder.name / "MutationSwitch.swift"
        if folder.name not in targets:
            switch.unlink(missing_ok=True)
            continue
        has_sql = folder.name == "CatalogPostgres" or folder.name == "LibPQ"
        imports = "internal import Glibc" + ("\npackage import LibPQ" if folder.name == "CatalogPostgres" else "")
        sql = SQL_SWITCH if has_sql else ""
        if folder.name == "LibPQ":
            sql = sql.replace("@retroactive ", "")
        write(switch, SWITCH.format(imports=imports, count=len(sample), sql=sql).encode())
    return places


def write(path, data):
    if not path.exists() or path.read_bytes() != data:
        path.write_bytes(data)


def build(sample):
    """Builds the copy with the faults that compile; returns these."""
    while True:
        places = apply(sample)
        done = swift("build", "--build-tests")
        if done.returncode == 0:
            return sample
        bad = {}
        errors = EXPECTED_ERROR.findall(done.stdout + done.stderr)
        for path, line, error in errors:
            file, line = os.path.relpath(path, TREE), int(line)
            near = [(max(first - line, line - last, 0), number) for number, (name, first, last) in places.items() if name == file]
            if near:
                bad.setdefault(min(near)[1], error)
        assert bad, "the copy does not build:\n" + (done.stdout + done.stderr)[-4000:]
        for number, error in bad.items():
            fault = sample[number]
            print(f"does not compile: {fault['file']}:{fault['line']} {fault['kind']}: {error}", flush=True)
        sample = [fault for number, fault in enumerate(sample) if number not in bad]


class Server:
    """A PostgreSQL that outlives a killed run."""

    def __init__(self):
        from harness import Database

        self.database = Database(str(TREE / ".build/debug/aisle"))
        self.dsn = self.database.dsn
        settings = {"max_connections": "500", "fsync": "off", "synchronous_commit": "off", "full_page_writes": "off"}
        for name, value in settings.items():
            self.query(f"ALTER SYSTEM SET {name} = '{value}'")
        self.database.crash()

    def query(self, text):
        done = subprocess.run(["psql", self.dsn, "-AtXc", text], capture_output=True, text=True, timeout=120)
        return done.stdout.split()

    def clean(self):
        for name in self.query("SELECT datname FROM pg_database WHERE datname LIKE 'aisle_%' AND NOT datistemplate"):
            if name != "aisle":
                self.query(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")

    def close(self):
        self.database.close()


def run(server, filters, limit, active=(), record=None):
    """Runs suites until a test fails; returns the first failure ("" for none) and the seconds."""
    environment = {
        **os.environ, "AISLE_TEST_DATABASE_URL": server.dsn, "SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH": "16",
        "SWIFT_BACKTRACE": "enable=no", "MUTATIONS": ",".join(map(str, active)),
    }
    if record:
        environment["MUTATION_RECORD"] = str(record)
    words = [word for name in filters for word in ("--filter", "^" + re.escape(name) + "/")]
    start = time.monotonic()
    process = subprocess.Popen(
        [str(BUNDLE), "--testing-library", "swift-testing", *words], cwd=TREE, env=environment,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", start_new_session=True,
    )
    failure, ended, hangs = "", False, threading.Event()

    def stop():
        hangs.set()
        os.killpg(process.pid, signal.SIGKILL)

    timer = threading.Timer(limit, stop)
    timer.start()
    try:
        for line in process.stdout:
            if "Test run with" in line:
                ended = True
            if "✘ Test " in re.sub(r"\x1b\[[0-9;]*m", "", line) and not record:
                failure = re.sub(r"\x1b\[[0-9;]*m", "", line).strip()
                break
    finally:
        timer.cancel()
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        process.stdout.close()
        code = process.wait()
    if not failure and not ended:
        failure = "hangs" if hangs.is_set() else f"crashes ({code})"
    return failure, time.monotonic() - start


def suites():
    """Returns the names of all suites, each with its target."""
    text = swift("test", "list", "--skip-build").stdout
    names = {line.rsplit("/", 1)[0] for line in text.splitlines() if "/" in line}
    return sorted(name for name in names if not name.startswith("RealCatalogTests."))


def in_parallel(servers, function, items):
    """Returns the results of a function of a server and an item. Each run has a server, which it cleans, to itself."""
    free = queue.Queue()
    for server in servers:
        free.put(server)

    def one(item):
        server = free.get()
        try:
            result = function(server, item)
            server.clean()
            return result
        finally:
            free.put(server)

    with concurrent.futures.ThreadPoolExecutor(len(servers)) as pool:
        return list(pool.map(one, items))


def coverage(servers, count):
    """Runs each suite alone; returns its faults and its seconds."""

    def one(server, name):
        record = HOME / f"record-{name}"
        record.write_bytes(bytes(count))
        failure, seconds = run(server, [name], 900, record=record)
        if failure:
            print(f"{name} fails without a fault: {failure}", flush=True)
        data = record.read_bytes()
        record.unlink()
        return {number for number in range(count) if data[number]}, seconds

    names = suites()
    found = in_parallel(servers, one, names)
    executed = {name: numbers for name, (numbers, _) in zip(names, found)}
    seconds = {name: took for name, (_, took) in zip(names, found)}
    rows = [f"{seconds[name]:.1f} s\t{len(executed[name])}\t{name}\n" for name in sorted(seconds, key=seconds.get, reverse=True)]
    (HOME / "suites.tsv").write_text("".join(rows))
    return executed, seconds


def is_related(fault, suite):
    """Whether a suite has the name of the fault's feature. All suites with a database execute each statement, because they name it."""
    *_, folder, _ = pathlib.PurePath(fault["file"]).parts
    return folder.removesuffix("s").lower() in suite.split(".")[-1].lower()


def judge(server, fault, number, executed, seconds):
    """Returns how the quick suites notice a fault, what it took, and the suites that are left."""
    names = [name for name, numbers in executed.items() if number in numbers]
    names.sort(key=lambda name: (not is_related(fault, name), seconds[name]))
    if not names:
        return "not executed", "", 0, []
    total = 0
    for limit in QUICK:
        group, sum_ = [], 0
        for name in names:
            if sum_ + seconds[name] <= limit:
                sum_ += seconds[name]
                group.append(name)
        names = [name for name in names if name not in group]
        if group:
            failure, took = run(server, group, PATIENCE + 2 * sum_, [number])
            total += took
            if failure:
                return "noticed", failure, total, []
    return "survived", "", total, names


def judge_together(server, left, seconds):
    """Returns the failures of faults by the slow suites: `left` has the suites of each fault. A failing group is halved."""
    names = sorted(set().union(*left.values()), key=lambda name: seconds[name])
    if not names:
        return {}
    failure, _ = run(server, names, PATIENCE + 2 * sum(seconds[name] for name in names), list(left))
    if not failure:
        return {}
    if len(left) == 1:
        return {number: failure for number in left}
    numbers = sorted(left)
    halves = numbers[: len(numbers) // 2], numbers[len(numbers) // 2 :]
    return {number: text for half in halves for number, text in judge_together(server, {n: left[n] for n in half}, seconds).items()}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--sample", type=int, default=60)
    parser.add_argument("--seed", type=int, default=random.randrange(10**6))
    parser.add_argument("--path", action="append", default=[])
    parser.add_argument("--faults")
    options = parser.parse_args()
    HOME.mkdir(parents=True, exist_ok=True)
    equivalent = {identity(known): known["reason"] for known in json.loads((HERE / "equivalent.json").read_text())}
    print(f"seed {options.seed}", flush=True)
    copy_tree()
    own = described(options.faults) if options.faults else []
    ordered = [fault for fault in choose(candidates(options.path), options.seed) if not any(overlaps(fault, other) for other in own)]
    # About a quarter of the faults do not compile.
    built = build(own + ordered[: options.sample * 3 // 2 + 5])
    sample = built[: sum(fault in built for fault in own) + options.sample]
    print(f"{len(sample)} faults are built", flush=True)
    servers = [Server() for _ in range(RUNS)]
    try:
        executed, seconds = coverage(servers, len(built))
        outcomes, left, ended = {}, {}, collections.Counter()

        def one(server, number):
            fault = sample[number]
            key = identity({**fault, "line": source_line(fault)})
            if key in equivalent:
                outcomes[number] = ("equivalent", equivalent[key], 0)
                return
            *outcome, names = judge(server, fault, number, executed, seconds)
            outcomes[number] = tuple(outcome)
            if names:
                left[number] = names
            ended[outcome[0]] += 1
            if ended.total() % 10 == 0:
                print(f"{ended.total()} faults: {ended['noticed']} noticed by quick suites", flush=True)

        in_parallel(servers, one, range(len(sample)))
        # Faults with similar suites are near each other.
        numbers = sorted(left, key=lambda number: (len(left[number]), left[number]))
        groups = [{number: left[number] for number in numbers[start : start + TOGETHER]} for start in range(0, len(numbers), TOGETHER)]
        for failures in in_parallel(servers, lambda server, group: judge_together(server, group, seconds), groups):
            for number, failure in failures.items():
                outcomes[number] = ("noticed", failure, outcomes[number][2])
    finally:
        for server in servers:
            server.close()
    results = HOME / f"results-{options.seed}.tsv"
    with open(results, "w") as file:
        for number, (outcome, detail, took) in sorted(outcomes.items()):
            fault = sample[number]
            row = [str(number), outcome, f"{took:.0f} s", f"{fault['file']}:{fault['line']}", fault["kind"],
                   " ".join(fault["original"].split()), " ".join(fault["mutant"].split()), detail]
            print("\t".join(row), file=file)
            if outcome != "noticed":
                print("  ".join(row[:7]), flush=True)
    counts = collections.Counter(outcome for outcome, _, _ in outcomes.values())
    judged = len(sample) - counts["equivalent"]
    print(f"seed {options.seed}: {counts['noticed']} of {judged} faults noticed, {counts['survived']} survived, "
          f"{counts['not executed']} not executed, {counts['equivalent']} equivalent ({results})")


if __name__ == "__main__":
    main()
