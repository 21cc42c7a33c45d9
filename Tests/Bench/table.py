"""Writes docs/performance.md from the results of the benchmark of pages. Usage: table.py RESULTS"""
import json, os, re, sys

PAGE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../docs/performance.md")


def rows(results):
    """Yields the subject, the figure and the aim of each row."""
    throughput, latency = results["throughput"], results["latency"]
    for mode, aim in (("rendered", "≥ 0.60"), ("remembered", "≥ 1.2")):
        one = throughput[mode]
        yield f"pages of 24 per second, {mode}", f"{one['rate']:,.0f}, or {one['ratio']:.2f} × pgbench", aim
        yield "processor time of such a page: server, PostgreSQL", f"{one['server']:.0f} µs, {one['postgres']:.0f} µs", ""
    one = throughput["pgbench"]
    yield "pgbench: pages per second; processor time of PostgreSQL", f"{one['rate']:,.0f}; {one['postgres']:.0f} µs", ""
    for name, one in latency.items():
        yield f"latency at {name.replace('%', ' %')}: p50, p99, p99.9", f"{one['p50'] / 1000:.2f}, {one['p99'] / 1000:.2f}, {one['p999'] / 1000:.2f} ms{', overloaded' if one['overloaded'] else ''}", "p99 ≤ 5 × p50" if name == "70% of the capacity" else ""
    for count, one in results["connections"].items():
        yield f"latency with {int(count):,} connections, half the capacity: p50, p99", f"{one['p50'] / 1000:.2f}, {one['p99'] / 1000:.2f} ms; the server has {one['memory']:.0f} MB", ""
    for mode, one in results["event_loops"].items():
        yield f"processor time of a page with 4 event loops, relative to 1, {mode}", f"{one['four'] / one['one']:.2f}", "≤ 1.1"
    yield "the processor time of a page at depth 99,000, relative to the first page", f"{results['depth']['deep'] / results['depth']['first']:.2f}", "≤ 1.1"
    yield "the first page after a restart, relative to a warm page", f"{results['restart']['cold'] / results['restart']['warm']:.1f}", "≤ 3"
    for mode, one in results["users"]["pages"].items():
        yield f"processor time of a page by a remembered sort, relative to one with `sort=`, {mode}", f"{one['user'] / one['query']:.2f}", "≤ 1.15"
    for clients, one in results["users"]["writes"].items():
        yield f"sorts remembered per second by {clients} client{'s' if clients != '1' else ''}", f"{one['rate']:,.0f}, or {one['ratio']:.2f} × pgbench", "≥ 0.6" if clients == "16" else ""
    yield f"memory of the server after {results['memory']['pages']:,} pages", f"{results['memory']['memory']:.0f} MB", "≤ 120 MB"


def growth(results):
    """Returns the section about catalogs of different sizes; empty without results."""
    if not results:
        return ""
    lines = "\n".join(
        f"| {one['products']:,} | {one['bytes'] / one['placements']:,.0f} | {one['seed_seconds']:,.0f} s | "
        + " | ".join(f"{one[mode]['rate']:,.0f} | {one[mode]['server']:.0f}, {one[mode]['postgres']:.0f} µs | {one[mode]['buffers']:.1f}" for mode in ("rendered", "remembered")) + " |"
        for one in results)
    return f"""## Growth

The same pages in catalogs of different sizes (`make bench-growth`), one run each. The columns are bytes per placement with all indexes and the
time to seed the catalog. For rendered and remembered pages, they are the rate, the processor time of server and PostgreSQL, and the buffers
of a page.

| products | bytes | seeding | rendered per second | time | buffers | remembered per second | time | buffers |
| --- | --- | --- | --- | --- | --- | --- | --- | --- |
{lines}

"""


def written_by_hand():
    """Returns the sections of the present page that are not made from results of the benchmark of pages."""
    with open(PAGE) as file:
        return re.search(r"(## Storage and writes\n.*?\n)\n`AISLE_BENCH_ONLY=pages", file.read(), re.S).group(1)


def page(results, grown):
    one = results["settings"]
    lines = "\n".join(f"| {what} | {figure} | {aim} |" for what, figure, aim in rows(results))
    return f"""# Performance

Measured with commit `{one['commit']}` on {one['date']}: {one['processors']} processors ({one['processor']}), PostgreSQL {one['postgres'].split()[0]} with
{one['shared_buffers']} of shared buffers, {one['products']:,} products on {one['shelves']:,} shelves. The load generator and PostgreSQL share the processors with the
server. Rates, depth and restart are medians of {one['rounds']} runs of {one['seconds']} seconds with {one['connections']} connections. These runs
alternate with pgbench. Latencies at a part of the capacity, event loops and remembered sorts are medians of 3 runs. The other latencies and
memory are of one run each.

| what | figure | aim |
| --- | --- | --- |
{lines}

- **The mix** is {one['pages']:,} pages, of 250 shelves in ten sorts; popular pages are requested more often (Zipf, exponent {one['skew']}, seed {one['seed']}).
- **pgbench** runs `Tests/Bench/baseline.sql`: the statements that read the first range of these pages in version 0.2.0, frozen, in the same
  mix. It does not read the shelf's version, which the server confirms for each page.
- **Rendered** pages are written as JSON for each request, from the shelf in memory. **Remembered** pages come from the server's cache of pages.
  For both, PostgreSQL confirms the shelf's version.
- **Latencies** are of an open loop: requests are sent at fixed times, whether the server keeps up or not, and a latency counts from that time.
  The capacity is the rate of remembered pages. Price changes make pages be rendered again, so 70 % of this capacity may be more than
  the server can do with them.

{growth(grown)}{written_by_hand()}
`AISLE_BENCH_ONLY=pages make bench` measures these on your machine and writes `.aisle/bench/pages.json`; `make bench` also measures the
rest. `make test-costs` checks what operations need in the database: buffers, and bytes of write-ahead log.
"""


def main():
    grown = os.path.join(os.path.dirname(sys.argv[1]), "growth.json")
    with open(sys.argv[1]) as file:
        results = json.load(file)
    sizes = []
    if os.path.exists(grown):
        with open(grown) as file:
            sizes = json.load(file)
    text = page(results, sizes)
    with open(PAGE, "w") as file:
        file.write(text)


main()
