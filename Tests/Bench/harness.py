"""Shared by all benchmarks: the private server, databases, load generators and output."""
import base64, contextlib, hashlib, hmac, json, os, re, subprocess, sys, time, urllib.request

AISLE = os.path.abspath(sys.argv[1])
FOLDER = os.path.abspath(".aisle/bench")
ROUNDS, SECONDS, PORT = 3, 5, 18080
BASE = f"http://127.0.0.1:{PORT}"
SECRET = "the secret of a benchmark's server"


def run(*words, **more):
    return subprocess.run(words, check=True, capture_output=True, text=True, cwd=FOLDER, **more)


os.makedirs(FOLDER, exist_ok=True)
DSN = run(AISLE, "db", "start").stdout.strip().replace(" dbname='aisle'", "")
SOCKET = re.search(r"host='([^']*)'", DSN).group(1)


def run_measured(words):
    """Runs a command; returns its peak memory in bytes and the text of its standard error."""
    process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, cwd=FOLDER)
    said = process.stderr.read().strip()
    _, status, usage = os.wait4(process.pid, 0)
    assert status == 0, said
    return usage.ru_maxrss * 1024, said


def sql(database, text):
    return run("psql", f"{DSN} dbname={database}", "-qAtX", "-v", "ON_ERROR_STOP=1", input=text).stdout.strip()


def exists(database):
    return sql("postgres", f"SELECT 1 FROM pg_database WHERE datname = '{database}'") == "1"


def fresh(database, program=AISLE):
    sql("postgres", f"DROP DATABASE IF EXISTS {database} WITH (FORCE)")
    sql("postgres", f"CREATE DATABASE {database} TEMPLATE template0 LOCALE 'C.UTF-8' ENCODING 'UTF8'")
    run(program, "db", "migrate", "--dsn", f"{DSN} dbname={database}")


def big(database="big", program=AISLE):
    """Creates a million products on 10,000 shelves; the first shelf has 100,000."""
    if exists(database):
        run(program, "db", "migrate", "--dsn", f"{DSN} dbname={database}")
    else:
        fresh(database, program)
        run(program, "seed", "--dsn", f"{DSN} dbname={database}", "--shelves", "10000", "--products", "1000000", "--seed", "7")
        sql(database, "VACUUM ANALYZE")


@contextlib.contextmanager
def served(database, options="", log=subprocess.DEVNULL, program=AISLE, port=PORT, interval=0.1, **environment):
    """Starts a server on a database and yields it when it is ready, which is examined at an interval in seconds."""
    variables = {**os.environ, "AISLE_JWT_SECRET": SECRET, "AISLE_RATE_LIMIT": "off", **environment}
    words = [program, "serve", "--dsn", f"{DSN} dbname={database} {options}", "--port", str(port)]
    server = subprocess.Popen(words, stderr=log, env=variables)
    try:
        for _ in range(int(30 / interval)):
            try:
                urllib.request.urlopen(f"http://127.0.0.1:{port}/readyz")
                break
            except OSError:
                time.sleep(interval)
        else:
            raise RuntimeError("the server does not start")
        yield server
    finally:
        server.terminate()
        server.wait()


def token(user, scope=""):
    """Returns a token, signed without the program."""
    def part(value):
        return base64.urlsafe_b64encode(value).rstrip(b"=")
    claims = {"sub": user, "exp": int(time.time()) + 86400, **({"scope": scope} if scope else {})}
    text = b".".join(part(json.dumps(value).encode()) for value in ({"alg": "HS256"}, claims))
    return (text + b"." + part(hmac.digest(SECRET.encode(), text, hashlib.sha256))).decode()


def rate(output, pattern):
    return float(re.search(pattern, output).group(1))


def wrk(url, script=None, seconds=SECONDS, clients=32):
    words = ["wrk", "-t1", f"-c{clients}", f"-d{seconds}s"] + (["-s", script] if script else []) + [url]
    output = run(*words).stdout
    assert "Non-2xx" not in output, output
    return rate(output, r"Requests/sec:\s+([\d.]+)")


def pgbench(database, script, seconds=SECONDS, clients=8):
    words = ["pgbench", "-h", SOCKET, "-U", "aisle", database, "-n", "-M", "prepared", "-c", str(clients), "-j", "2", "-T", str(seconds), "-f", script]
    options = {**os.environ, "PGOPTIONS": "-c plan_cache_mode=force_generic_plan"}
    return rate(run(*words, env=options).stdout, r"tps = ([\d.]+)")


def memory(server):
    """Returns the resident memory of a process, in MB."""
    with open(f"/proc/{server.pid}/status") as file:
        return int(re.search(r"VmRSS:\s+(\d+)", file.read()).group(1)) / 1024


def processor_times(server):
    """Returns the processor time of the server, and of PostgreSQL with its processes, in seconds; the server may be None."""
    with open(f"{FOLDER}/.aisle/data/postmaster.pid") as file:
        postmaster = int(file.readline())
    ticks = {"server": 0, "postgres": 0}
    for entry in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{entry}/stat") as file:
                fields = file.read().rpartition(")")[2].split()
        except OSError:
            continue
        if server and int(entry) == server.pid:
            ticks["server"] += int(fields[11]) + int(fields[12])
        elif int(entry) == postmaster:
            # Including processes that have ended.
            ticks["postgres"] += sum(int(field) for field in fields[11:15])
        elif int(fields[1]) == postmaster:
            ticks["postgres"] += int(fields[11]) + int(fields[12])
    return {name: count / os.sysconf("SC_CLK_TCK") for name, count in ticks.items()}


def lsn():
    return sql("big", "SELECT pg_current_wal_insert_lsn()")


def bytes_since(start):
    return int(sql("big", f"SELECT pg_current_wal_insert_lsn() - '{start}'::pg_lsn"))


def show(what, ours, theirs, aim):
    print(f"{what}: {ours:,.2f} ÷ {theirs:,.2f} = {ours / theirs:.2f}" + (f" (aim: {aim})" if aim else ""), flush=True)
