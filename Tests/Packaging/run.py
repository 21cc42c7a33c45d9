"""Tests the Debian package in a root made by debootstrap. Usage: run.py FOLDER DEBIAN [OLD]

FOLDER has the packages of `make deb`; DEBIAN is the root, which is created if it is missing. OLD is an executable of 0.1.0; without it,
one is built from that commit in .aisle/old, once. PostgreSQL runs outside the root, and the root gets
its socket. The commands of the units run as systemd runs them; see unit.py. It needs root, for chroot and mounts, which end with the test.
"""
import glob, os, re, shutil, signal, socket, subprocess, sys, tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, f"{ROOT}/Tests/Faults")
from debian import Root, base
from harness import Database, free_port, psql, send, until
from unit import Unit

OLD_COMMIT, OLD_VERSION = "01e654f", "0.1.0"
UNITS = "/usr/lib/systemd/system"
# Pages that both versions answer with the same products.
PAGES = [f"/v1/stores/corner/shelves/dairy/products?sort={key}&limit=100" for key in ("price", "name", "position")]
EXPOSURE = "15"


def packages(folder, version="*"):
    """Returns the paths of the newest package and its symbols."""
    found = [max(glob.glob(f"{folder}/{name}_{version}_*.deb"), key=os.path.getmtime, default=None) for name in ("aisle", "aisle-dbgsym")]
    assert all(found), f"{folder} has no packages; run make deb"
    return found


def old_executable(given):
    if given:
        return os.path.abspath(given)
    tree = f"{ROOT}/.aisle/old"
    executable = f"{tree}/.build/release/aisle"
    if not os.path.exists(executable):
        os.makedirs(tree, exist_ok=True)
        sources = subprocess.run(["git", "archive", OLD_COMMIT], cwd=ROOT, check=True, stdout=subprocess.PIPE).stdout
        subprocess.run(["tar", "--extract"], cwd=tree, check=True, input=sources)
        subprocess.run(["swift", "build", "-c", "release", "--static-swift-stdlib", "--product", "aisle"], cwd=tree, check=True,
                       timeout=3600)
    return executable


def build(executable, folder, *words):
    subprocess.run([sys.executable, "-B", f"{ROOT}/packaging/deb.py", executable, folder, "--fast", *words], check=True,
                   stdout=subprocess.DEVNULL, timeout=900)


def ok(text):
    print(f"ok: {text}", flush=True)


class Test:
    def __init__(self, folder, source, old, scratch):
        self.folder, self.source, self.scratch = folder, base(source), scratch
        self.new, self.symbols = packages(folder)
        self.old_executable = old
        self.port, self.admin_port = free_port(), free_port()
        self.base = f"http://127.0.0.1:{self.port}"
        self.units = []

    # Helpers

    def connect(self, root, database):
        """Gives the root the socket of PostgreSQL."""
        os.chmod(os.path.dirname(database.socket), 0o755)
        os.chmod(database.socket, 0o777)
        os.makedirs(f"{root.folder}/run/database")
        subprocess.run(["mount", "--bind", os.path.dirname(database.socket), f"{root.folder}/run/database"], check=True)
        self.dsn = "host='/run/database' user=aisle dbname='aisle'"

    def unit(self, root, name="aisle.service"):
        unit = Unit(root.folder, name)
        self.units.append(unit)
        return unit

    def answers(self):
        pages = {}
        for page in PAGES:
            code, body = send(self.base, page)
            assert code == 200, (page, code, body)
            pages[page] = [(each["sku"], each["price_minor"]) for each in body["products"]]
        return pages

    def is_ready(self):
        return send(self.base, "/readyz")[0] == 200

    # Tests

    def check_files(self):
        done = subprocess.run(["lintian", "--fail-on", "error,warning", "--tag-display-limit", "0", self.new, self.symbols],
                              capture_output=True, text=True, timeout=600)
        assert done.returncode == 0, done.stdout + done.stderr
        ok("lintian finds no errors and no warnings")

    def check_units(self, root):
        names = sorted(os.path.basename(path) for path in glob.glob(f"{root.folder}{UNITS}/aisle*"))
        assert names == ["aisle-migrate.service", "aisle-resort.service", "aisle-resort.timer", "aisle.service", "aisle.socket"], names
        for name in names:
            # The root has no systemd, so its own targets come from this machine.
            done = subprocess.run(["systemd-analyze", "verify", "--man=no", f"{self.scratch}/units/{name}"], capture_output=True, text=True,
                                  timeout=60, env={**os.environ, "SYSTEMD_UNIT_PATH": f"{self.scratch}/units:"})
            assert done.returncode == 0 and not done.stderr.strip(), (name, done.stderr)
            if name.endswith(".service"):
                done = subprocess.run(["systemd-analyze", "security", "--offline=true", f"--threshold={EXPOSURE}", "--no-pager",
                                       f"{root.folder}{UNITS}/{name}"], capture_output=True, text=True, timeout=60)
                assert done.returncode == 0, done.stdout
            with open(f"{root.folder}{UNITS}/{name}") as file:
                for page in re.findall(r"man:([\w-]+)\((\d)\)", file.read()):
                    path = f"{root.folder}/usr/share/man/man{page[1]}/{page[0]}.{page[1]}.gz"
                    assert os.path.exists(path), (name, path)
        ok(f"systemd-analyze accepts {len(names)} units, and their exposure is at most {int(EXPOSURE) / 10}")

    def prepare_units(self, root):
        """Copies the units with the executable's path in the root, so that systemd-analyze finds it."""
        os.makedirs(f"{self.scratch}/units")
        for path in glob.glob(f"{root.folder}{UNITS}/aisle*"):
            with open(path) as file:
                text = file.read().replace("ExecStart=/usr/bin/", f"ExecStart={root.folder}/usr/bin/")
            with open(f"{self.scratch}/units/{os.path.basename(path)}", "w") as file:
                file.write(text)

    def check_installed(self, root):
        assert root.mode("/usr/bin/aisle") == "root:root 755"
        assert root.mode("/etc/aisle/database-url") == "root:aisle 640"
        assert root.mode("/etc/aisle/jwt-secret") == "root:aisle 640"
        assert root.run("getent", "passwd", "aisle").split(":")[6].strip().endswith("nologin")
        assert root.run("aisle", "version").startswith("aisle ")
        with open(f"{root.folder}/etc/aisle/jwt-secret") as file:
            assert len(file.read()) > 40
        assert root.run("dpkg", "--verify", "aisle") == ""
        ok("the package creates its user and secrets, and its files are intact")

    def check_upgrade(self, root, database):
        """Upgrades a package of 0.1.0 with data, rolls back, and upgrades again."""
        old_folder = f"{self.scratch}/old"
        build(self.old_executable, old_folder, "--version", OLD_VERSION)
        old, _ = packages(old_folder, f"{OLD_VERSION}-*")
        before = root.files()
        root.install(old)
        self.check_installed(root)
        # 0.1.0 has no settings for files, and does not notify systemd.
        with open(f"{root.folder}/etc/aisle/aisle.env", "a") as file:
            file.write(f"DATABASE_URL={self.dsn}\nAISLE_PORT={self.port}\nAISLE_ADMIN_PORT={self.admin_port}\n")
        with open(f"{root.folder}/etc/aisle/jwt-secret") as file:
            secret = file.read()
        aisle = lambda *words: root.run("aisle", *words, user="aisle", DATABASE_URL=self.dsn, HOME="/tmp")
        aisle("db", "migrate")
        aisle("seed")
        version = psql(database.dsn, "SELECT max(version) FROM schema_migration")

        def serve(notifies=True):
            unit = self.unit(root)
            unit.start(notifies=notifies)
            until(self.is_ready, 60, "the server is ready")
            return unit

        server = serve(notifies=False)
        known = self.answers()
        server.stop()
        root.install(self.new)
        with open(f"{root.folder}/etc/aisle/jwt-secret") as file:
            assert file.read() == secret, "the upgrade changed the secret"
        with open(f"{root.folder}/etc/aisle/aisle.env") as file:
            assert f"AISLE_PORT={self.port}\n" in file.read(), "the upgrade changed the settings"
        refused = self.unit(root)
        if version != self.schema_version():
            refused.start(notifies=False)
            code = refused.process.wait(60)
            assert str(code) in refused.value("RestartPreventExitStatus").split(), (code, refused.text[-2000:])
        migration = self.unit(root, "aisle-migrate.service")
        self.once(migration)
        server = serve()
        assert self.answers() == known, "the upgrade changed the answers"
        until(lambda: send(f"http://127.0.0.1:{self.admin_port}", "/metrics")[0] == 200, 10, "the admin port answers")
        server.stop()
        ok(f"an upgrade from {OLD_VERSION} (schema {version}) keeps data, settings and secrets")
        aisle("db", "migrate", "--to", version, "--yes")
        root.install(old)
        server = serve(notifies=False)
        assert self.answers() == known, "the way back changed the answers"
        server.stop()
        ok(f"the way back to {OLD_VERSION} keeps them, too")
        root.install(self.new)
        self.once(migration)
        return before, aisle

    @staticmethod
    def schema_version():
        return str(max(int(re.match(r"v(\d+)_", name)[1]) for name in os.listdir(f"{ROOT}/sql/migrations")))

    def once(self, unit):
        """Runs a unit of the type oneshot."""
        unit.lines += [(key, value) for key, value in (("WatchdogSec", "30s"), ("LimitNOFILE", "1024"), ("TimeoutStopSec", "30s"))
                       if not unit.values(key)]
        unit.start(notifies=False)
        code = unit.process.wait(300)
        assert code == 0, (unit.name, code, unit.text[-3000:])

    def check_secrets(self, root):
        """The connection string comes from the credential, not from the environment."""
        settings = f"{root.folder}/etc/aisle/aisle.env"
        with open(settings) as file:
            text = file.read()
        with open(settings, "w") as file:
            file.write(text.replace(f"DATABASE_URL={self.dsn}\n", ""))
        with open(f"{root.folder}/etc/aisle/database-url", "w") as file:
            file.write(self.dsn + "\n")
        server = self.unit(root)
        server.start()
        until(self.is_ready, 60, "the server is ready")
        with open(f"/proc/{server.process.pid}/environ") as file:
            variables = file.read()
        assert "DATABASE_URL=host" not in variables and "AISLE_DATABASE_URL_FILE=" in variables
        with open(f"{root.folder}/etc/aisle/jwt-secret") as file:
            secret = file.read().strip()
        token = root.run("aisle", "token", "--user", "ann", "--scope", "catalog:write", AISLE_JWT_SECRET=secret).strip()
        assert send(self.base, "/v1/me/settings/x", "PUT", {"value": 1}, token)[0] in (200, 201, 204)
        server.stop()
        assert server.received("STOPPING=1"), server.messages
        self.once(self.unit(root, "aisle-resort.service"))
        ok("secrets come from credentials, and the nightly re-sort runs")

    def check_watchdog(self, root):
        server = self.unit(root)
        server.start(watchdog=1)
        server.wait_for("WATCHDOG=1", 30, count=3)
        server.process.send_signal(signal.SIGSTOP)
        count = len(server.received("WATCHDOG=1"))
        # A stopped process cannot be seen to send nothing without time; this is three intervals of the watchdog.
        server.receiver.join(3)
        assert len(server.received("WATCHDOG=1")) <= count + 1
        server.process.send_signal(signal.SIGCONT)
        server.stop()
        ok("the server sends signs of life, and none while it hangs")

    def check_trap(self, root):
        """A trap under the unit's command line is symbolized once the symbols are installed."""
        def trap():
            server = self.unit(root)
            start = len(server.text) if os.path.exists(server.log) else 0
            server.start()
            server.process.send_signal(signal.SIGTRAP)
            until(lambda: "Backtrace took" in server.text[start:], 120, "the backtrace")
            # A signal of another process is not repeated when the handler returns, unlike that of a trapping instruction.
            server.process.send_signal(signal.SIGTRAP)
            assert server.process.wait(60) == -signal.SIGTRAP, server.process.returncode
            return server.text[start:]

        text = trap()
        assert "<unknown> in aisle" in text and "SelectableEventLoop" not in text, text
        root.install(self.symbols)
        text = trap()
        assert "SelectableEventLoop.run()" in text and "<unknown> in aisle" not in text, text
        ok("a trap writes a backtrace, with names once the symbols are installed")

    def check_activation(self, root):
        """A socket that outlives the server; Tests/Faults/restarts.py tests it under load."""
        with socket.socket() as listener:
            listener.bind(("127.0.0.1", 0))
            listener.listen(64)
            port = listener.getsockname()[1]
            for _ in range(3):
                server = self.unit(root)
                server.start(sockets=[listener], names=["http"])
                assert send(f"http://127.0.0.1:{port}", PAGES[0])[0] == 200
                server.stop()
        ok("a server takes the socket of aisle.socket")

    def check_removal(self, root, before):
        root.run("dpkg", "--remove", "aisle-dbgsym", "aisle")
        assert not os.path.exists(f"{root.folder}/usr/bin/aisle")
        assert os.path.exists(f"{root.folder}/etc/aisle/jwt-secret"), "a removal keeps the secrets"
        root.run("dpkg", "--purge", "aisle")
        left = root.files() - before
        assert not left, left
        root.run("getent", "passwd", "aisle")
        ok("a purge leaves nothing but the user")

    def check_sysusers(self):
        """With systemd-sysusers, the user comes from sysusers.d."""
        root = Root.copy(self.source, f"{self.scratch}/sysusers")
        root.run("apt-get", "install", "-y", "-qq", "--no-install-recommends", "systemd-standalone-sysusers")
        root.install(self.new)
        self.check_installed(root)
        ok("the user can also come from systemd-sysusers")

    def check_container(self):
        """The final stage of the Containerfile, in a plain root."""
        root = Root.copy(self.source, f"{self.scratch}/container")
        with open(f"{ROOT}/Containerfile") as file:
            assert re.search(r"RUN .*?sh /container/install.sh /deb/aisle_\*.deb", file.read(), re.S)
        shutil.copytree(f"{ROOT}/packaging/container", f"{root.folder}/container")
        os.makedirs(f"{root.folder}/deb")
        shutil.copy2(self.new, f"{root.folder}/deb/")
        root.run("sh", "/container/install.sh", f"/deb/{os.path.basename(self.new)}")
        assert os.listdir(f"{root.folder}/etc/aisle") and not glob.glob(f"{root.folder}/etc/aisle/*secret*")
        subprocess.run(["mount", "--rbind", root.folder, root.folder], check=True)
        subprocess.run(["mount", "-o", "remount,bind,ro", root.folder], check=True)
        assert root.run("aisle", "version", user="aisle").startswith("aisle ")
        done = subprocess.run(["chroot", root.folder, "setpriv", "--reuid=aisle", "--regid=aisle", "--clear-groups", "aisle", "serve", "--port",
                               "0"], capture_output=True, text=True, timeout=60, env={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "AISLE_DATABASE_URL_FILE": "/none"})
        assert done.returncode == 78 and "/none" in done.stderr, done
        ok("the final stage of the container has no secrets, and runs as a user on a read-only root")

    def check_reproducible(self):
        executable = f"{self.scratch}/root/usr/bin/aisle"
        contents = []
        for number in range(2):
            folder = f"{self.scratch}/again-{number}"
            build(executable, folder)
            contents.append([open(path, "rb").read() for path in sorted(glob.glob(f"{folder}/*.deb"))])
        assert contents[0] == contents[1]
        ok("two builds of the package are identical")

    def run(self):
        self.check_files()
        root = Root.copy(self.source, f"{self.scratch}/root")
        subprocess.run(["dpkg-deb", "--extract", self.new, f"{self.scratch}/new"], check=True)
        database = Database(f"{self.scratch}/new/usr/bin/aisle")
        try:
            for statement in ("DROP DATABASE aisle", "CREATE DATABASE aisle TEMPLATE template0 LOCALE 'C.UTF-8' ENCODING 'UTF8'"):
                psql(database.dsn.replace("dbname='aisle'", "dbname='postgres'"), statement)
            self.connect(root, database)
            before, _ = self.check_upgrade(root, database)
            self.prepare_units(root)
            self.check_units(root)
            self.check_secrets(root)
            self.check_watchdog(root)
            self.check_trap(root)
            self.check_activation(root)
            self.check_reproducible()
            self.check_removal(root, before)
        finally:
            for unit in self.units:
                unit.kill()
            subprocess.run(["umount", "--lazy", f"{root.folder}/run/database"], check=False)
            database.close()
        self.check_sysusers()
        self.check_container()


def main():
    if os.getuid() != 0:
        print("the test of the package needs root, for chroot and mounts: run it with sudo", file=sys.stderr)
        return 1
    if os.environ.get("AISLE_TEST_NAMESPACE") is None:
        # Mounts end with their namespace.
        os.execvpe("unshare", ["unshare", "--mount", "--propagation", "private", sys.executable, "-B", *sys.argv],
                   {**os.environ, "AISLE_TEST_NAMESPACE": "1"})
    scratch = tempfile.mkdtemp(prefix="aisle-deb-")
    os.chmod(scratch, 0o755)
    try:
        folder, source = (os.path.abspath(path) for path in sys.argv[1:3])
        Test(folder, source, old_executable(sys.argv[3] if len(sys.argv) > 3 else None), scratch).run()
    finally:
        with open("/proc/self/mounts") as file:
            mounts = [line.split()[1] for line in file if line.split()[1].startswith(scratch)]
        for mount in reversed(mounts):
            subprocess.run(["umount", "--lazy", mount], check=True)
        # Never through a mount.
        subprocess.run(["rm", "--recursive", "--force", "--one-file-system", scratch], check=True)
    print("package tests passed")
    return 0


sys.exit(main())
