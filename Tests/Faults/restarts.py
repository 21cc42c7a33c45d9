"""Tests that a server can be restarted under load without a failed connection if another process, such as systemd, holds its socket.

Usage: restarts.py AISLE [--restarts N] [--seed N]. This process holds the socket, and passes it to each server as systemd does. The
clients use a new connection for each request, or keep theirs until the server closes it; a request counts as failed unless its complete response arrives. In
addition, systemd-socket-activate, if it is installed, starts a server.
"""
import argparse, http.client, os, random, select, shutil, signal, socket, subprocess, threading, time
from harness import SECRET, Database, free_port, until

PATHS = ["/v1/stores/corner/shelves/dairy/products?sort=price&limit=20", "/v1/stores/corner/shelves/dairy/products?sort=name&limit=100",
         "/v1/stores/corner/shelves/dairy/order/diff?from_sort=price&to_sort=name", "/livez", "/openapi.json"]
# How long a client may wait in the backlog during a restart.
PATIENCE = 60


class Client(threading.Thread):
    """Repeats requests, on one connection for as long as the server keeps it, or on a new one each time."""

    def __init__(self, port, seed, keeps, pause):
        super().__init__(daemon=True)
        self.port, self.random, self.keeps, self.pause = port, random.Random(seed), keeps, pause
        self.is_over = threading.Event()
        self.count, self.slowest, self.failures = 0, 0, []

    def run(self):
        connection, reused = None, False
        while not self.is_over.is_set():
            started = time.monotonic()
            try:
                # As HTTP clients do, notice that the server has closed an idle connection.
                if connection and select.select([connection.sock], [], [], 0)[0]:
                    connection.close()
                    connection = None
                if connection is None:
                    connection, reused = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE), False
                connection.request("GET", self.random.choice(PATHS))
                response = connection.getresponse()
                response.read()
                assert response.status == 200, response.status
                if response.will_close or not self.keeps:
                    connection.close()
                    connection = None
                else:
                    reused = True
            except (OSError, http.client.HTTPException, AssertionError) as error:
                self.failures.append((type(error).__name__, str(error), "kept" if reused else "new"))
                connection.close()
                connection = None
            self.count += 1
            self.slowest = max(self.slowest, time.monotonic() - started)
            self.is_over.wait(self.random.uniform(0, self.pause))

    def end(self):
        self.is_over.set()
        self.join(PATIENCE + 10)
        assert not self.is_alive(), "a client does not end"


def start(aisle, listener, environment, log):
    """Starts a server with an inherited socket, and waits until it is ready."""
    address = f"@aisle-restarts-{os.getpid()}"
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as notifications:
        notifications.bind("\0" + address[1:])
        notifications.settimeout(60)
        descriptor = os.dup(listener.fileno())
        os.set_inheritable(descriptor, True)
        command = f'exec 3<&{descriptor}; export LISTEN_PID=$$; exec "$0" serve'
        process = subprocess.Popen(["/bin/bash", "-c", command, aisle], pass_fds=[descriptor], stdout=log, stderr=log, env={
            **environment, "LISTEN_FDS": "1", "LISTEN_FDNAMES": "http", "NOTIFY_SOCKET": address})
        os.close(descriptor)
        try:
            message = notifications.recv(4096).decode()
        except TimeoutError:
            process.kill()
            raise AssertionError("the server is not ready within a minute") from None
        assert message.startswith("READY=1\n"), message
    return process


def stop(process):
    process.send_signal(signal.SIGTERM)
    try:
        code = process.wait(30)
    except subprocess.TimeoutExpired:
        process.kill()
        raise
    assert code == 0, code


def restarts(aisle, environment, folder, count, seed):
    with socket.socket() as listener, open(f"{folder}/restarts.log", "a") as log:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(("127.0.0.1", 0))
        listener.listen(4096)
        port = listener.getsockname()[1]
        process = start(aisle, listener, environment, log)
        clients = [Client(port, seed + number, number % 2 == 0, [0, 0.01, 2][number % 3]) for number in range(12)]
        chance = random.Random(seed)
        try:
            for client in clients:
                client.start()
            for number in range(count):
                goal = sum(client.count for client in clients) + chance.randrange(50)
                until(lambda: sum(client.count for client in clients) > goal, PATIENCE, "requests go on")
                stop(process)
                process = start(aisle, listener, environment, log)
            for client in clients:
                client.end()
            stop(process)
        finally:
            process.kill()
            process.wait(30)
    failures = [failure for client in clients for failure in client.failures]
    total = sum(client.count for client in clients)
    assert not failures, (len(failures), total, failures[:10])
    slowest = max(client.slowest for client in clients)
    print(f"{count} restarts: 0 of {total} requests failed; the slowest took {slowest:.1f} s")


def activation(aisle, environment, folder):
    """The tool of systemd starts a server for its first connection."""
    tool = shutil.which("systemd-socket-activate")
    if not tool:
        print("systemd-socket-activate is not installed")
        return
    port = free_port()
    with open(f"{folder}/activation.log", "a") as log:
        words = [word for name in environment if name.startswith("AISLE_") or name == "DATABASE_URL" for word in ("-E", name)]
        process = subprocess.Popen([tool, *words, f"--listen=127.0.0.1:{port}", "--fdname=http", aisle, "serve"], env=environment,
                                   stdout=log, stderr=log)
        try:
            def answers():
                try:
                    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
                    connection.request("GET", PATHS[0])
                    return connection.getresponse().status == 200
                except ConnectionRefusedError:
                    return False
            until(answers, PATIENCE, "systemd-socket-activate listens")
            stop(process)
        finally:
            process.kill()
            process.wait(30)
    print("systemd-socket-activate started a server for its first connection")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("aisle")
    parser.add_argument("--restarts", type=int, default=20)
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 32))
    arguments = parser.parse_args()
    print(f"seed: {arguments.seed}")
    aisle = os.path.abspath(arguments.aisle)
    database = Database(aisle)
    environment = {**os.environ, "DATABASE_URL": database.dsn, "AISLE_JWT_SECRET": SECRET, "AISLE_RATE_LIMIT": "off"}
    try:
        activation(aisle, environment, database.folder)
        restarts(aisle, environment, database.folder, arguments.restarts, arguments.seed)
    finally:
        database.close()
    print("restart tests passed")


main()
