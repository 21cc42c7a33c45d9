"""Mutation tests: introduces faults into the pure core, one at a time, and expects the fast tests to detect each.

Usage: mutations.py [FIRST [LAST]]   (numbers of the faults, from 1)

It works on a copy of the sources in .aisle/mutations, so the working tree is not changed. A fault that survives, or whose
text is no longer found, is an error.
"""
import os, re, shutil, signal, subprocess, sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
COPY = os.path.join(ROOT, ".aisle", "mutations")
FAST = re.search(r"^FAST_TESTS := (.*)$", open(os.path.join(ROOT, "Makefile")).read(), re.M)[1].replace("$$", "$")

# File, text, and the text that replaces its first occurrence.
FAULTS = [
    ("Sources/Catalog/Sorting/Sort+Comparison.swift", "isBefore == (term.direction == .ascending)", "isBefore"),
    ("Sources/Catalog/Sorting/Sort+Comparison.swift", "return b.isSoldOut", "return a.isSoldOut"),
    ("Sources/Catalog/Sorting/Sort+Comparison.swift", "case (_, .missing): .fixed(true)", "case (_, .missing): .turning(true)"),
    ("Sources/Catalog/Sorting/PageRequest.swift", "after.scope == scope", "!after.scope.isEmpty"),
    ("Sources/Catalog/Sorting/PagePlan.swift", "hash.combine(String(limit))", ""),
    ("Sources/Catalog/Sorting/Filter.swift", "$0 >= limit", "$0 > limit"),
    ("Sources/Catalog/Sorting/AmountPerQuantity.swift", "return cost <= limit", "return cost < limit"),
    ("Sources/Catalog/Values/UnitPricing.swift", "case (.us, .volume): .init(1, .qt_us)", "case (.us, .volume): .init(1, .floz_us)"),
    ("Sources/Catalog/Stores/ShelfHead.swift", "state.shelf.defaultSort ?? state.inheritedSort", "state.inheritedSort"),
    ("Sources/Catalog/ManualOrder/PositionList.swift", "guard target != old else", "guard target == old else"),
    ("Sources/Catalog/Lists/UserList.swift", "max(copy.version + 1, now.microseconds)", "now.microseconds"),
    ("Sources/Catalog/Lists/UserList.swift", "currentItems.count <= Self.itemLimit", "currentItems.count <= Self.itemLimit + 1"),
    ("Sources/Catalog/Lists/ListItem.swift", "$0 < moment", "$0 <= moment"),
    ("Sources/Catalog/Lists/ListItem.swift", "min(change.modifiedAt ?? now, now)", "change.modifiedAt ?? now"),
    ("Sources/Catalog/Settings/SettingsEdit.swift", "$0.modifiedAt < moment", "$0.modifiedAt <= moment"),
    ("Sources/Catalog/Values/ResponseStore.swift", "fingerprint == call.fingerprint", "!fingerprint.isEmpty"),
    ("Sources/Catalog/Values/CatalogKey.swift", "text.count <= Self.lengthLimit", "text.count <= Self.lengthLimit + 1"),
    ("Sources/CatalogJSON/Sorting/CursorCodec.swift", "guard difference == 0, ", "guard difference >= 0, "),
    ("Sources/JSON/JSONReader.swift", "maximumDepth = 32", "maximumDepth = 33"),
    ("Sources/CatalogJSON/JSON/BodyReader.swift", "guard text.utf8.count <= bytes", "guard text.utf8.count < bytes"),
    ("Sources/CatalogImport/CSVReader.swift", "pendingHeader.removeFirst(3)", "pendingHeader.removeFirst(0)"),
    ("Sources/CatalogImport/CSVReader.swift", "if byte == 0x0A { line += 1 }", ""),
    ("Sources/CatalogImport/ShelfKeyGenerator.swift", "keysByTitle[name] = key", ""),
    ("Sources/CatalogImport/ImportRecord.swift", "(promotional ?? price)?.minor", "(price ?? promotional)?.minor"),
    ("Sources/CatalogImport/ImportReader.swift", "guard record.count == width", "guard record.count <= width"),
    ("Sources/CatalogJSON/ManualOrder/OrderEditOutcome+JSON.swift", 'reader.integer("from")', 'reader.integer("to")'),
    ("Sources/CatalogHTTP/Server/EndpointTable.swift", "let found = child.node.match(rest, &parsed)", "let found = child.node.match(segments, &parsed)"),
    ("Sources/CatalogHTTP/Server/EndpointTable.swift", "methods.contains(.get) ? [.head] : []", "[.head]"),
    ("Sources/CatalogHTTP/Server/RequestTarget.swift", "found.count <= 1", "found.count <= 2"),
    ("Sources/CatalogHTTP/Sorting/PageCache.swift", "page.tag == tag else", "!tag.isEmpty else"),
    ("Sources/Catalog/Values/RecentDictionary.swift", "while total + added > limit", "while total + added > 4 * limit"),
    ("Sources/Catalog/Values/ResourceUse.swift", "return total > totalLimit - amount", "return total >= totalLimit - amount"),
    ("Sources/LibPQ/PoolState.swift", "candidate.retireAt <= now", "candidate.retireAt < now - .seconds(9999)"),
    ("Sources/Ordering/PathKey+Between.swift", "if high - low >= 2 {", "if high - low >= 1 {"),
]


# The fast tests take a minute. A fault that makes one of them hang is detected as well.
TEST_SECONDS = 240


def swift(*words, seconds=None):
    """The exit code of a Swift command; None if it took longer than `seconds` and was stopped with its children."""
    process = subprocess.Popen(
        ["swift", *words], cwd=COPY, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
    )
    try:
        return process.wait(seconds)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        return None


def prune():
    """Removes files that the fast tests do not need from the copy, because each fault is rebuilt."""
    path = os.path.join(COPY, "Package.swift")
    text = open(path).read()
    for name in set(re.findall(r'name: "(\w+)"', text)):
        if name == "aisle" or name.endswith("IntegrationTests") or name in ("RealCatalogTests", "DiffBench"):
            text = re.sub(r'        \.(testTarget|executableTarget)\(\s*name: "%s".*?\n        \),\n' % name, "", text, flags=re.S)
    text = text.replace('        .executable(name: "aisle", targets: ["aisle"]),\n', "")
    open(path, "w").write(text)


def main():
    first = int(sys.argv[1]) if len(sys.argv) > 1 else 1
    last = int(sys.argv[2]) if len(sys.argv) > 2 else len(FAULTS)
    os.makedirs(COPY, exist_ok=True)
    for name in os.listdir(COPY):
        if not name.startswith(".build"):
            path = os.path.join(COPY, name)
            shutil.rmtree(path) if os.path.isdir(path) else os.remove(path)
    files = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, check=True, capture_output=True, text=True)
    for name in files.stdout.splitlines():
        if os.path.isfile(os.path.join(ROOT, name)):
            os.makedirs(os.path.dirname(os.path.join(COPY, name)), exist_ok=True)
            shutil.copy2(os.path.join(ROOT, name), os.path.join(COPY, name))
    prune()
    bad = []
    for number, (path, old, new) in enumerate(FAULTS[first - 1:last], first):
        file = os.path.join(COPY, path)
        text = open(file).read()
        if old not in text or old == new:
            bad.append(f"{number}: {path}: the text is not found: {old}")
            continue
        open(file, "w").write(text.replace(old, new, 1))
        built = swift("build", "--build-tests")
        tested = built or swift("test", "--disable-xctest", "--skip-build", "--filter", FAST, seconds=TEST_SECONDS)
        outcome = {0: "survives", None: "detected by a timeout"}.get(tested, "detected")
        if built: outcome = "does not build"
        if not outcome.startswith("detected"):
            bad.append(f"{number}: {path}: {outcome}: {old} → {new}")
        print(f"{number}: {path}: {outcome}", flush=True)
        open(file, "w").write(text)
    for line in bad:
        print(line, file=sys.stderr)
    print(f"{last - first + 1 - len(bad)} of {last - first + 1} faults detected")
    sys.exit(bool(bad))


main()
