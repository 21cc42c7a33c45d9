"""Shared by the fault tests: a private PostgreSQL, servers as processes, and requests."""
import contextlib, json, os, re, shutil, signal, socket, subprocess, tempfile, threading, time, urllib.error, urllib.request

SECRET = "the secret of the servers in fault tests"


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def until(condition, seconds, what):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, f"not within {seconds} s: {what}"
        time.sleep(0.02)


def psql(dsn, query):
    done = subprocess.run(["psql", dsn, "-Atc", query], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def send(base, path, method="GET", body=None, token=None, headers=None, timeout=30):
    """Returns the status and the parsed body of a response; status 0 if none came. A body of bytes is CSV, any other one JSON."""
    if isinstance(body, bytes):
        kind, data = "text/csv", body
    else:
        kind, data = "application/json", None if body is None else json.dumps(body).encode()
    headers = {"content-type": kind, **({"authorization": f"Bearer {token}"} if token else {}), **(headers or {})}
    request = urllib.request.Request(base + path, data, headers, method=method)
    try:
        with urllib.request.urlopen(request, timeout=timeout) as answer:
            return answer.status, json.loads(answer.read() or "null") if path.startswith("/v1") else None
    except urllib.error.HTTPError as error:
        return error.code, json.loads(error.read() or "null")
    except (OSError, ValueError):
        return 0, None


def status(base, path, *more):
    return send(base, path, *more)[0]


def tagged(base, path, tags=(), token=None):
    """Requests a resource that the client has seen with some tags; returns the status and the resource's tag."""
    headers = {"authorization": f"Bearer {token}"} if token else {}
    request = urllib.request.Request(base + path, headers={**headers, **({"if-none-match": ", ".join(tags)} if tags else {})})
    try:
        with urllib.request.urlopen(request, timeout=30) as answer:
            return answer.status, answer.headers["etag"]
    except urllib.error.HTTPError as error:
        return error.code, error.headers["etag"]


class Database:
    """A private PostgreSQL in a folder of its own, migrated and seeded by a build of the program."""

    def __init__(self, aisle):
        self.aisle = aisle
        self.folder = tempfile.mkdtemp(prefix="aisle-faults-")
        os.chmod(self.folder, 0o755)
        self.dsn = self.run("db", "start").strip()
        self.home = os.path.dirname(re.search(r"host='([^']*)'", self.dsn).group(1))
        self.run("db", "migrate")
        self.run("seed")

    def run(self, *words, aisle=None):
        done = subprocess.run([aisle or self.aisle, *words], cwd=self.folder, capture_output=True, text=True, timeout=300,
                              env={**os.environ, "AISLE_JWT_SECRET": SECRET})
        assert done.returncode == 0, (words, done.stdout, done.stderr)
        return done.stdout

    def token(self, user, *scopes):
        return self.run("token", "--user", user, *(word for scope in scopes for word in ("--scope", scope))).strip()

    @property
    def postmaster(self):
        with open(self.home + "/data/postmaster.pid") as file:
            return int(file.readline())

    @property
    def socket(self):
        """The path of the socket."""
        return f"{self.home}/socket/.s.PGSQL.5432"

    def crash(self):
        """Kills PostgreSQL like a power failure, and starts it again; returns the time of the start."""
        postmaster = self.postmaster
        os.kill(postmaster, signal.SIGQUIT)
        until(lambda: not is_alive(postmaster), 30, "PostgreSQL ends")
        start = time.monotonic()
        self.run("db", "start")
        return start

    def close(self):
        with contextlib.suppress(AssertionError):
            self.run("db", "stop")
        shutil.rmtree(self.folder, ignore_errors=True)


def is_alive(process):
    try:
        with open(f"/proc/{process}/stat") as file:
            return file.read().rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False


def binaries():
    versions = sorted((int(name) for name in os.listdir("/usr/lib/postgresql") if name.isdigit()), reverse=True)
    return f"/usr/lib/postgresql/{versions[0]}/bin"


class Cluster:
    """A PostgreSQL server on a port of this machine, which another one can follow."""

    def __init__(self, folder, name):
        self.folder, self.data, self.port = folder, f"{folder}/{name}", free_port()

    def run(self, *words):
        words = [f"{binaries()}/{words[0]}", *words[1:]]
        if os.getuid() == 0:
            words = ["setpriv", "--reuid", "postgres", "--regid", "postgres", "--clear-groups", *words]
        # Not a pipe: the server would keep it open.
        with open(f"{self.folder}/output", "w") as output:
            done = subprocess.run(words, cwd=self.folder, stdin=subprocess.DEVNULL, stdout=output, stderr=output, timeout=120,
                                  env={"PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8"})
        assert done.returncode == 0, (words, open(f"{self.folder}/output").read())

    def configure(self, *settings):
        settings = ["listen_addresses = '127.0.0.1'", f"port = {self.port}", "unix_socket_directories = ''", "fsync = off", *settings]
        with open(f"{self.data}/postgresql.auto.conf", "a") as file:
            file.write("\n".join(["", *settings, ""]))

    def start(self):
        self.run("pg_ctl", "start", "-D", self.data, "-l", f"{self.data}.log", "-w", "-t", "60")

    def stop(self):
        self.run("pg_ctl", "stop", "-D", self.data, "-m", "immediate", "-w", "-t", "60")

    def follow(self, primary, *settings):
        """Copies another cluster, and follows it as a standby."""
        shutil.rmtree(self.data, ignore_errors=True)
        self.run("pg_basebackup", "-D", self.data, "-R", "-X", "stream", "-c", "fast",
                 "-d", f"host=localhost port={primary.port} user=aisle dbname=postgres")
        self.configure(*settings)
        self.start()

    def promote(self):
        self.run("pg_ctl", "promote", "-D", self.data, "-w", "-t", "60")

    @property
    def processes(self):
        """The ids of the server's process and of its children."""
        with open(f"{self.data}/postmaster.pid") as file:
            postmaster = file.readline().strip()
        children = subprocess.run(["ps", "--ppid", postmaster, "-o", "pid="], capture_output=True, text=True, timeout=10).stdout.split()
        return [int(process) for process in [postmaster, *children]]

    def signal(self, number):
        """Sends a signal to all processes of the server."""
        for process in self.processes:
            with contextlib.suppress(ProcessLookupError):
                os.kill(process, number)

    def kill(self):
        """Kills all processes of the server at once, like the loss of its machine."""
        processes = self.processes
        self.signal(signal.SIGKILL)
        until(lambda: not any(is_alive(process) for process in processes), 30, "PostgreSQL ends")


class Server:
    """A server process."""

    def __init__(self, aisle, folder, dsn, **settings):
        self.aisle, self.folder, self.port = aisle, folder, free_port()
        self.base = f"http://127.0.0.1:{self.port}"
        self.environment = {**os.environ, "DATABASE_URL": dsn, "AISLE_JWT_SECRET": SECRET, "AISLE_RATE_LIMIT": "off", **settings}
        self.log = f"{folder}/serve-{self.port}.log"
        self.start()

    def start(self):
        with open(self.log, "a") as log:
            self.process = subprocess.Popen([self.aisle, "serve", "--port", str(self.port)], cwd=self.folder, stderr=log, stdout=log,
                                            env=self.environment)
        until(lambda: self.process.poll() is not None or status(self.base, "/livez") == 200, 60, "the server starts")
        assert self.process.poll() is None, open(self.log).read()[-2000:]

    def kill(self):
        self.process.kill()
        self.process.wait(30)

    def stop(self):
        self.process.terminate()
        try:
            assert self.process.wait(60) == 0, (self.process.returncode, open(self.log).read()[-2000:])
        except subprocess.TimeoutExpired:
            self.process.kill()
            raise

    @property
    def resident(self):
        """The resident memory, in MB."""
        with open(f"/proc/{self.process.pid}/status") as file:
            return int(re.search(r"VmRSS:\s+(\d+)", file.read())[1]) / 1024

    @property
    def is_running(self):
        return self.process.poll() is None


def print_logs(servers):
    """Prints the ends of the servers' logs, and all errors in them."""
    for server in servers:
        log = open(server.log).read()
        print(server.log, log[-3000:], *(line for line in log.split("\n") if '"level":"error"' in line), sep="\n")


class Pooler:
    """A PgBouncer in transaction mode in front of a private PostgreSQL."""

    def __init__(self, database):
        self.folder = f"{database.folder}/pooler"
        os.mkdir(self.folder, 0o777)
        os.chmod(self.folder, 0o777)
        with open(f"{self.folder}/pgbouncer.ini", "w") as file:
            # By default, PgBouncer retries a failed connection only after 15 seconds.
            file.write(f"""[databases]
* = host={os.path.dirname(database.socket)} user=aisle
[pgbouncer]
listen_addr =
listen_port = 6432
unix_socket_dir = {self.folder}
auth_type = any
pool_mode = transaction
max_client_conn = 1000
default_pool_size = 20
server_login_retry = 0.2
logfile = {self.folder}/log
pidfile = {self.folder}/pid
""")
        self.dsn = f"host='{self.folder}' port=6432 user=aisle dbname='aisle'"
        self.executable = os.environ.get("AISLE_TEST_POOLER") or "/usr/sbin/pgbouncer"
        self.version = subprocess.run([self.executable, "--version"], capture_output=True, text=True, timeout=10).stdout.split("\n")[0]
        major, minor = (int(number) for number in re.search(r"(\d+)\.(\d+)", self.version).groups())
        # Older ones do not support prepared statements by default, or confuse the results of lost clients.
        self.settings = {} if (major, minor) >= (1, 24) else {"AISLE_PREPARED_STATEMENTS": "unnamed"}
        self.start()

    def start(self):
        for name in (".s.PGSQL.6432", "pid"):
            with contextlib.suppress(FileNotFoundError):
                os.unlink(f"{self.folder}/{name}")
        user = ["-u", "postgres"] if os.getuid() == 0 else []
        self.process = subprocess.Popen([self.executable, "-q", *user, f"{self.folder}/pgbouncer.ini"], stderr=subprocess.DEVNULL)
        until(lambda: self.process.poll() is not None or os.path.exists(f"{self.folder}/.s.PGSQL.6432"), 10, "PgBouncer starts")
        assert self.process.poll() is None, "PgBouncer does not start"

    def kill(self):
        self.process.kill()
        self.process.wait(30)


class Load:
    """Threads that repeat requests until they are stopped, and count the responses by kind and status."""

    def __init__(self):
        self.counts, self.lock = {}, threading.Lock()

    def add(self, kind, request):
        """Starts a thread; `request` takes the number of the request and returns a status. Returns a function that ends the thread."""
        is_over = threading.Event()

        def work():
            number = 0
            while not is_over.is_set():
                found = request(number)
                number += 1
                with self.lock:
                    self.counts[kind, found] = self.counts.get((kind, found), 0) + 1

        thread = threading.Thread(target=work, daemon=True)
        thread.start()

        def end():
            is_over.set()
            thread.join(60)
            assert not thread.is_alive(), f"{kind} does not end"

        return end

    @property
    def total(self):
        with self.lock:
            return sum(self.counts.values())

    def failed(self):
        with self.lock:
            return {key: count for key, count in self.counts.items() if not 200 <= key[1] < 400}
