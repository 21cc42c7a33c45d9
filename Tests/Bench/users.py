"""Per-user features: remembered sorts, pages with them, and event streams."""
import http.client, json, multiprocessing, os, random, selectors, socket, statistics, time

from harness import *

USERS = 1000
SHELF = "/v1/stores/generated/shelves/shelf-"


def remembered():
    """Compares remembered sorts per second over HTTP with pgbench running the same change in one statement."""
    with open(f"{FOLDER}/remember.sql", "w") as file:
        file.write(
            """\\set u random(1, 1000)
\\set s random(1, 200)
WITH account AS (INSERT INTO user_account AS a (user_id, revision, horizon) VALUES ('bench-' || :u, 1, 0)
ON CONFLICT (user_id) DO UPDATE SET revision = a.revision + 1 RETURNING revision)
INSERT INTO user_setting (user_id, key, value, revision, modified_at)
SELECT 'bench-' || :u, 'stores/generated/shelves/shelf-' || :s || '/sort', '"-price"', account.revision, now() FROM account
ON CONFLICT (user_id, key) DO UPDATE SET value = excluded.value, revision = excluded.revision, modified_at = excluded.modified_at;
""".replace("\n", " ").replace(" \\set", "\n\\set").replace(" WITH", "\nWITH")
        )
    with open(f"{FOLDER}/remember.lua", "w") as file:
        names = ",".join(f'"{token(f"user-{n}")}"' for n in range(USERS))
        file.write(f"""local tokens = {{{names}}}
request = function()
    return wrk.format("PUT", "/v1/me/stores/generated/shelves/shelf-" .. math.random(200) .. "/sort",
        {{["content-type"] = "application/json", ["authorization"] = "Bearer " .. tokens[math.random(#tokens)]}},
        '{{"sort":"-price"}}')
end
""")
    result = {}
    for clients in (1, 16):
        ours, theirs = [], []
        for _ in range(ROUNDS):
            sql("big", "TRUNCATE user_account CASCADE; VACUUM user_account, user_setting")
            with served("big"):
                wrk(BASE, "remember.lua", seconds=2, clients=clients)
                ours.append(wrk(BASE, "remember.lua", seconds=3, clients=clients))
            sql("big", "TRUNCATE user_account CASCADE; VACUUM user_account, user_setting")
            pgbench("big", "remember.sql", seconds=2, clients=clients)
            theirs.append(pgbench("big", "remember.sql", seconds=3, clients=clients))
        result[str(clients)] = {"rate": statistics.median(ours), "pgbench": statistics.median(theirs), "ratio": statistics.median(a / b for a, b in zip(ours, theirs))}
        show(f"sorts remembered/s by {clients} at once ÷ pgbench", statistics.median(ours), statistics.median(theirs), "≥ 0.6" if clients == 16 else "")
    return result


def pages_by_users():
    """Compares the CPU time of a page with a remembered sort and with the sort in the query."""
    sql("big", f"""TRUNCATE user_account CASCADE;
        INSERT INTO user_account SELECT 'user-' || n, 1, 0 FROM generate_series(0, {USERS - 1}) n;
        INSERT INTO user_setting (user_id, key, value, revision, modified_at)
        SELECT 'user-' || n, 'stores/generated/shelves/shelf-' || s || '/sort', '"-price"', s, now()
        FROM generate_series(0, {USERS - 1}) n, generate_series(1, 20) s; VACUUM ANALYZE user_account, user_setting""")
    names = ",".join(f'"{token(f"user-{n}")}"' for n in range(USERS))
    for name, query, header in (
        ("query", "&sort=-price", ""),
        ("user", "", '["authorization"] = "Bearer " .. tokens[math.random(#tokens)]'),
    ):
        with open(f"{FOLDER}/page-{name}.lua", "w") as file:
            file.write(f"""local tokens = {{{names}}}
request = function()
    return wrk.format("GET", "{SHELF}" .. math.random(20) .. "/products?limit=24{query}", {{{header}}})
end
""")
    result = {}
    for cache in ("32", "0"):
        costs = {"query": [], "user": []}
        for _ in range(ROUNDS):
            for name in costs:
                with served("big", AISLE_PAGE_CACHE_MB=cache) as server:
                    wrk(BASE, f"page-{name}.lua", seconds=2)
                    before = sum(processor_times(server).values())
                    number = wrk(BASE, f"page-{name}.lua", seconds=4) * 4
                    costs[name].append((sum(processor_times(server).values()) - before) / number * 1e6)
        what = "remembered" if cache == "32" else "rendered again"
        show(f"page by a remembered sort ÷ with ?sort=, processor µs, pages {what}", statistics.median(costs["user"]), statistics.median(costs["query"]), "≤ 1.15")
        result["remembered" if cache == "32" else "rendered"] = {name: statistics.median(found) for name, found in costs.items()}
    return result


def follow(paths, change):
    """Reads streams while a separate process makes changes and reports the start time of each.

    Returns the arrival time of each data block, and the start time of each change.
    """
    selector = selectors.DefaultSelector()
    for path in paths:
        stream = socket.create_connection(("127.0.0.1", PORT))
        stream.sendall(f"GET {path} HTTP/1.1\r\nHost: a\r\n\r\n".encode())
        stream.setblocking(False)
        selector.register(stream, selectors.EVENT_READ, bytearray())
    results, came = multiprocessing.Queue(), []
    writer = multiprocessing.Process(target=lambda: results.put(change()))
    # The streams are open when they have become silent.
    quiet = time.perf_counter()
    while writer.pid is None or writer.is_alive() or time.perf_counter() - quiet < 1:
        if writer.pid is None and time.perf_counter() - quiet > 0.5:
            writer.start()
            came.clear()
        for entry, _ in selector.select(timeout=0.1):
            entry.data.extend(entry.fileobj.recv(65536))
            quiet = time.perf_counter()
            while (end := entry.data.find(b"\n\n")) >= 0:
                block = bytes(entry.data[:end])
                del entry.data[:end + 2]
                if b"data: " in block:
                    came.append((quiet, block))
        if not results.empty():
            sent = results.get()
    for entry in list(selector.get_map().values()):
        entry.fileobj.close()
    return came, sent


def paced(number, changes):
    """Yields numbers at a fixed rate per second."""
    begin = time.perf_counter()
    for n in range(number):
        time.sleep(max(0, begin + n / changes - time.perf_counter()))
        yield n


def report(what, delays, memory):
    delays = sorted(delay * 1000 for delay in delays)
    print(f"{what}: p50 {delays[len(delays) // 2]:.1f} ms, p99 {delays[len(delays) * 99 // 100]:.1f} ms (aim: < 250), "
          f"server {memory:.0f} MB (aim: < 150)", flush=True)


def followers(number=1000, changes=100, seconds=10):
    """Measures the latency of changes to many users' streams, and the server's memory."""
    sql("big", "TRUNCATE user_account CASCADE")
    tokens = [token(f"user-{n}") for n in range(number)]

    def change():
        connection = http.client.HTTPConnection("127.0.0.1", PORT)
        sent = {}
        for n in paced(changes * seconds, changes):
            sent[n] = time.perf_counter()
            headers = {"content-type": "application/json", "authorization": f"Bearer {random.choice(tokens)}"}
            connection.request("PUT", "/v1/me/settings/k", json.dumps({"value": n}), headers)
            answer = connection.getresponse()
            answer.read()
            assert answer.status == 200
        return sent

    with served("big") as server:
        connection = http.client.HTTPConnection("127.0.0.1", PORT)
        paths = []
        for name in tokens:
            connection.request("POST", "/v1/me/tickets", headers={"authorization": f"Bearer {name}", "content-length": "0"})
            paths.append("/v1/me/events?ticket=" + json.loads(connection.getresponse().read())["ticket"])
        came, sent = follow(paths, change)
        held = memory(server)
    delays = [moment - sent[int(block.split(b'"value":')[1].split(b",")[0])] for moment, block in came]
    report(f"{number:,} users who follow, {changes} changes a second, {len(came):,} of {len(sent):,} received", delays, held)


def followers_of_one_shelf(number=1000, changes=100, seconds=10):
    """The same with all streams on one shelf, each receiving every change."""
    def change():
        connection = http.client.HTTPConnection("127.0.0.1", PORT)
        headers = {"content-type": "application/json", "authorization": f"Bearer {token('merchandiser', 'catalog:write')}"}
        connection.request("GET", SHELF + "7/order?sort=position")
        ids = json.loads(connection.getresponse().read())["ids"][:20]
        sent = {}
        for n in paced(changes * seconds, changes):
            start = time.perf_counter()
            body = {"moves": [{"ids": [random.choice(ids)], "position": random.randrange(20)}]}
            connection.request("POST", SHELF + "7/order/moves", json.dumps(body), headers)
            sent.setdefault(json.loads(connection.getresponse().read())["version"], start)
        return sent

    with served("big", "options='-c synchronous_commit=off'") as server:
        came, sent = follow([SHELF + "7/events?sort=position&limit=24"] * number, change)
        held = memory(server)
    # The last change of a batch.
    versions = [(moment, int(block.split(b'"to_version":')[1].split(b",")[0])) for moment, block in came]
    delays = [moment - sent[version] for moment, version in versions if version in sent]
    report(f"{number:,} who follow one shelf, {changes} moves a second, {len(came):,} diffs received", delays, held)


def all():
    big()
    followers()
    followers_of_one_shelf()
