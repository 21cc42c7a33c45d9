"""Tests that no acknowledged write is lost or counted twice when servers, PostgreSQL, PgBouncer and connections fail at random points.

Usage: kills.py AISLE [--kills N] [--restarts N] [--cuts N] [--poolers N] [--recovery SECONDS] [--seed S]. Three servers share a
database: one is connected directly, one through a proxy, and one through PgBouncer in transaction mode. Workers write settings, lists
and their items, moves and whole manual orders, products, placements, prices, purchases and imports, and repeat each call with the same key
until it is acknowledged. Meanwhile servers and PgBouncer are killed, PostgreSQL crashes, backends are terminated, and the proxy delays,
stalls and cuts. At the end, every row must be as if nothing had failed.
"""
import argparse, os, random, socket, threading, time
from harness import Database, Pooler, Server, free_port, psql, send, status, until
from workers import check_running, finish, start_workers

parser = argparse.ArgumentParser()
parser.add_argument("aisle", type=os.path.abspath)
parser.add_argument("--kills", type=int, default=20)
parser.add_argument("--restarts", type=int, default=4)
parser.add_argument("--cuts", type=int, default=100)
parser.add_argument("--poolers", type=int, default=5)
# The maximum seconds from the start of a server, of PgBouncer or of PostgreSQL to an acknowledged write.
parser.add_argument("--recovery", type=float, default=10)
parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1 << 32))
options = parser.parse_args()

# The maximum resident memory at the end, relative to the one before the faults.
MEMORY = 1.2


class Proxy:
    """Forwards connections to a unix socket, and disturbs them."""

    def __init__(self, target):
        self.target, self.port, self.pairs, self.flowing = target, free_port(), set(), threading.Event()
        self.flowing.set()
        self.pause = 0
        self.listener = socket.create_server(("127.0.0.1", self.port), backlog=64)
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            client, _ = self.listener.accept()
            there = socket.socket(socket.AF_UNIX)
            try:
                there.connect(self.target)
            except OSError:
                client.close()
                continue
            pair = (client, there)
            self.pairs.add(pair)
            for source, sink in (pair, pair[::-1]):
                threading.Thread(target=self.pump, args=(source, sink, pair), daemon=True).start()

    def pump(self, source, sink, pair):
        try:
            while data := source.recv(65536):
                self.flowing.wait(30)
                time.sleep(self.pause)
                sink.sendall(data)
        except OSError:
            pass
        self.close(pair)

    def close(self, pair):
        self.pairs.discard(pair)
        for end in pair:
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
            end.close()

    def disturb(self, dice):
        kind = dice.choice(["cut", "cut all", "delay", "stall"])
        if kind == "delay":
            self.pause = dice.uniform(0.001, 0.03)
            time.sleep(dice.uniform(0.02, 0.1))
            self.pause = 0
        elif kind == "stall":
            self.flowing.clear()
            time.sleep(dice.uniform(0.02, 0.2))
            self.flowing.set()
        else:
            pairs = list(self.pairs)
            for pair in pairs if kind == "cut all" else pairs and [dice.choice(pairs)]:
                self.close(pair)
            time.sleep(dice.uniform(0, 0.05))


def main():
    dice = random.Random(options.seed)
    print(f"seed {options.seed}", flush=True)
    database = Database(options.aisle)
    servers, pooler = [], None
    try:
        proxy = Proxy(database.socket)
        pooler = Pooler(database)
        servers += [Server(options.aisle, database.folder, database.dsn),
                    Server(options.aisle, database.folder, f"host=127.0.0.1 port={proxy.port} user=aisle dbname=aisle"),
                    Server(options.aisle, database.folder, pooler.dsn, AISLE_DIRECT_DSN=database.dsn, **pooler.settings)]
        probe = database.token("probe")
        workers = start_workers(servers, dice, database)
        before = [server.resident for server in servers]
        faults = (["kill"] * options.kills + ["restart"] * options.restarts + ["cut"] * options.cuts
                  + ["backend"] * (options.cuts // 4) + ["pooler"] * options.poolers)
        dice.shuffle(faults)
        slowest = {"kill": 0, "restart": 0, "pooler": 0}

        def recover(kind, server, start):
            until(lambda: status(server.base, "/v1/me/settings/probe", "PUT", {"value": 1}, probe) == 200, 30, f"a write after a {kind}")
            slowest[kind] = max(slowest[kind], time.monotonic() - start)

        started = time.monotonic()
        for fault in faults:
            time.sleep(dice.uniform(0, 0.2))
            if fault == "kill":
                server = dice.choice(servers)
                server.kill()
                start = time.monotonic()
                server.start()
                recover(fault, server, start)
            elif fault == "restart":
                start = database.crash()
                for server in servers:
                    recover(fault, server, start)
            elif fault == "pooler":
                pooler.kill()
                start = time.monotonic()
                pooler.start()
                recover(fault, servers[2], start)
            elif fault == "cut":
                proxy.disturb(dice)
            else:
                psql(database.dsn, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() "
                                   f"AND pid <> pg_backend_pid() ORDER BY md5(pid::text || '{dice.random()}') LIMIT 3")
            check_running(workers, servers)
        writes, calls = finish(workers, servers)
        after = [server.resident for server in servers]
        for kind, longest in slowest.items():
            assert longest <= options.recovery, f"recovery after a {kind} took {longest:.2f} s"
        print(f"{options.kills} kills, {options.restarts} crashes of PostgreSQL, {options.poolers} kills of {pooler.version}, "
              f"{options.cuts} faults of a proxy and {options.cuts // 4} rounds of terminated backends in {time.monotonic() - started:.0f} s: "
              f"{writes} acknowledged writes in {calls} calls, 0 lost, 0 doubled, 0 unexplained responses; recovery at most "
              f"{slowest['kill']:.2f} s after a kill, {slowest['restart']:.2f} s after a crash and {slowest['pooler']:.2f} s after a kill of "
              f"the pooler; resident memory before and after: {', '.join(f'{a:.0f} and {b:.0f} MB' for a, b in zip(before, after))}")
        assert all(b <= MEMORY * a for a, b in zip(before, after)), "the resident memory has grown"
    finally:
        for server in servers:
            server.kill()
        if pooler:
            pooler.kill()
        database.close()
    print("kill tests passed")


main()
