#!/usr/bin/env python3
"""Prints the line coverage of the pure core by the fast tests, and fails below 90 %.

Usage: coverage.py FILTER, where FILTER is the regular expression of the fast tests.
"""
import collections
import json
import pathlib
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
SCRATCH = ROOT / ".build-coverage"
LEAST = 90.0
TARGETS = ("Ordering", "AisleDiff", "Catalog", "Collation", "Shelves", "JSON", "CatalogImport", "CatalogJSON", "Live")
# Routing, caches and limits, which do not need a server.
FILES = (
    "CatalogHTTP/Server/Admission.swift", "CatalogHTTP/Server/EndpointTable.swift",
    "CatalogHTTP/Server/PathParameters.swift", "CatalogHTTP/Server/RequestTarget.swift",
    "CatalogHTTP/Sorting/PageCache.swift",
)


def covered(profile: pathlib.Path, binary: pathlib.Path) -> dict[str, tuple[int, int]]:
    """Returns the covered and the total lines of each source file, by path."""
    swift = pathlib.Path(shutil.which("swift") or "").resolve()
    tool = swift.with_name("llvm-cov") if swift.with_name("llvm-cov").exists() else "llvm-cov"
    text = subprocess.run(
        [tool, "export", "-summary-only", "-instr-profile", profile, binary], check=True, capture_output=True, text=True
    ).stdout
    files = {}
    for file in json.loads(text)["data"][0]["files"]:
        parts = pathlib.Path(file["filename"]).parts
        if "Sources" in parts and ".build-coverage" not in parts:
            lines = file["summary"]["lines"]
            files["/".join(parts[parts.index("Sources") + 1:])] = (lines["covered"], lines["count"])
    return files


def main() -> None:
    subprocess.run(
        ["swift", "test", "--disable-xctest", "--enable-code-coverage", "--scratch-path", SCRATCH, "--filter", sys.argv[1]],
        cwd=ROOT, check=True,
    )
    debug = SCRATCH / "debug"
    files = covered(debug / "codecov/default.profdata", next(debug.glob("*.xctest")))
    sums: dict[str, list[int]] = collections.defaultdict(lambda: [0, 0])
    for path, (run, count) in files.items():
        target = path.split("/")[0]
        name = target if target in TARGETS else "routing, caches, limits" if path in FILES else None
        if name:
            sums[name][0] += run
            sums[name][1] += count
    missing = ({*TARGETS, "routing, caches, limits"} - sums.keys()) | (set(FILES) - files.keys())
    if missing:
        sys.exit(f"not found: {', '.join(sorted(missing))}")
    shares = {name: 100 * run / count for name, (run, count) in sums.items()}
    for name, share in sorted(shares.items()):
        print(f"{share:5.1f} % of {sums[name][1]} lines: {name}")
    if min(shares.values()) < LEAST:
        sys.exit(f"below {LEAST} %")


if __name__ == "__main__":
    main()
