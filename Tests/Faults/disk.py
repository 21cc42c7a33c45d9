"""Tests that a full disk loses no data: first the data disk, then the WAL disk.

Usage: disk.py AISLE [--seed S]. PostgreSQL runs on two small file systems, which are mounted in a namespace of this process; that
takes root, or a kernel that lets users create namespaces. While a disk is full, the server answers, writes get 503, and what was
acknowledged is kept; once there is space again, writes succeed.
"""
import argparse, contextlib, ctypes, os, random, shutil, subprocess, tempfile, time
from harness import Database, Server, is_alive, psql, status, until
from workers import check_running, finish, start_workers

parser = argparse.ArgumentParser()
parser.add_argument("aisle", type=os.path.abspath)
parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1 << 32))
options = parser.parse_args()

PAGE = "/v1/stores/corner/shelves/dairy/products?sort=price&limit=24"
# How many writes must fail while a disk is full.
REJECTED = 500
RECOVERY = 5
CLONE_NEWNS, CLONE_NEWUSER, MS_REC, MS_PRIVATE = 0x20000, 0x10000000, 16384, 1 << 18
libc = ctypes.CDLL(None, use_errno=True)


def check(result, what):
    if result != 0:
        raise OSError(ctypes.get_errno(), f"{what}: {os.strerror(ctypes.get_errno())}; run this as root")


def enter_namespace():
    """Gives this process mounts of its own."""
    user, group = os.getuid(), os.getgid()
    check(libc.unshare(CLONE_NEWNS | (CLONE_NEWUSER if user else 0)), "cannot create a namespace")
    if user:
        for name, text in (("setgroups", "deny"), ("uid_map", f"{user} {user} 1"), ("gid_map", f"{group} {group} 1")):
            with open(f"/proc/self/{name}", "w") as file:
                file.write(text)
    check(libc.mount(b"none", b"/", None, MS_REC | MS_PRIVATE, None), "cannot make mounts private")


class Disk:
    """A small file system."""

    def __init__(self, folder, megabytes):
        self.folder = folder
        os.mkdir(folder)
        check(libc.mount(b"tmpfs", folder.encode(), b"tmpfs", 0, f"size={megabytes}m,mode=0777".encode()), f"cannot mount {folder}")

    def fill(self):
        """Fills the disk."""
        with open(f"{self.folder}/ballast", "ab", buffering=0) as file, contextlib.suppress(OSError):
            for size in (1 << 20, 1 << 12):
                with contextlib.suppress(OSError):
                    while True:
                        file.write(bytes(size))

    def free(self):
        os.unlink(f"{self.folder}/ballast")

    def close(self):
        libc.umount2(self.folder.encode(), 2)


def move(folder, disk):
    """Moves a folder of the stopped PostgreSQL to a disk, owner included."""
    subprocess.run(["cp", "-a", folder, f"{disk.folder}/moved"], check=True, timeout=60)
    shutil.rmtree(folder)
    os.symlink(f"{disk.folder}/moved", folder)


def rejected(workers):
    return sum(worker.rejected for worker in workers)


def trial(what, disk, database, server, workers, probe):
    """Fills a disk, waits until writes fail, and gives the space back."""
    before, postmaster = rejected(workers), database.postmaster
    disk.fill()
    pages, started = {}, time.monotonic()

    def fails():
        disk.fill()
        with contextlib.suppress(AssertionError):
            # New rows need space for data, and each switch needs a new file for the log.
            psql(database.dsn, "CREATE TABLE IF NOT EXISTS filler (text text)")
            psql(database.dsn, "INSERT INTO filler SELECT repeat(md5(n::text), 50) FROM generate_series(1, 2000) n")
            psql(database.dsn, "SELECT pg_switch_wal()")
        code = status(server.base, PAGE)
        pages[code] = pages.get(code, 0) + 1
        assert code in (200, 503), f"a page: {code}"
        assert status(server.base, "/livez") == 200
        check_running(workers, [server])
        return rejected(workers) - before >= REJECTED

    until(fails, 120, f"writes fail with a full disk of the {what}")
    failed = rejected(workers) - before
    disk.free()
    # PostgreSQL ends if it cannot write its log.
    if not is_alive(postmaster):
        database.run("db", "start")
    freed, done = time.monotonic(), [worker.done for worker in workers]
    until(lambda: status(server.base, "/v1/me/settings/probe", "PUT", {"value": 1}, probe) == 200, RECOVERY, "a write after the space is back")
    recovery = time.monotonic() - freed
    until(lambda: all(worker.done > count for worker, count in zip(workers, done)), 60, "every worker writes again")
    print(f"the disk of the {what} was full for {freed - started:.1f} s: {failed} writes were rejected, pages {dict(sorted(pages.items()))}; "
          f"a write {recovery:.2f} s after the space was back", flush=True)


def main():
    print(f"seed {options.seed}", flush=True)
    enter_namespace()
    folder = tempfile.mkdtemp(prefix="aisle-disks-")
    os.chmod(folder, 0o755)
    disks, database, server = [], None, None
    try:
        disks += [Disk(f"{folder}/data", 400), Disk(f"{folder}/log", 160)]
        database = Database(options.aisle)
        # More log than the default would need a larger disk.
        psql(database.dsn, "ALTER SYSTEM SET max_wal_size = '64MB'")
        psql(database.dsn, "ALTER SYSTEM SET min_wal_size = '32MB'")
        database.run("db", "stop")
        data = f"{database.home}/data"
        move(f"{data}/pg_wal", disks[1])
        move(f"{data}/base", disks[0])
        database.run("db", "start")
        server = Server(options.aisle, database.folder, database.dsn)
        probe = database.token("probe")
        workers = start_workers([server], random.Random(options.seed), database, each=2)
        trial("data", disks[0], database, server, workers, probe)
        trial("write-ahead log", disks[1], database, server, workers, probe)
        writes, calls = finish(workers, [server])
        print(f"{writes} acknowledged writes in {calls} calls, 0 lost, 0 doubled, 0 unexplained responses")
        server.stop()
    finally:
        if server and server.is_running:
            server.kill()
        if database:
            database.close()
        for disk in disks:
            disk.close()
        shutil.rmtree(folder, ignore_errors=True)
    print("disk tests passed")


main()
