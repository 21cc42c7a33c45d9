"""Runs the command line of a systemd unit as systemd does, without systemd as the first process.

It emulates the user, the environment, credentials, notifications, the watchdog, socket activation, and of the sandbox the parts that a
program can notice: no new privileges, no capabilities, the filter of system calls, and no memory that is both writable and executable.
"""
import ctypes, os, re, resource, shutil, signal, socket, subprocess, threading, time

# <linux/prctl.h>, <sys/mman.h>, <seccomp.h>
PR_CAPBSET_DROP, PR_SET_NO_NEW_PRIVS = 24, 38
PROT_WRITE, PROT_EXEC = 2, 4
ALLOW, DENY = 0x7FFF0000, 0x00050000 | 1
CMP_MASKED_EQ = 7


class Argument(ctypes.Structure):
    _fields_ = [("arg", ctypes.c_uint), ("op", ctypes.c_int), ("a", ctypes.c_uint64), ("b", ctypes.c_uint64)]


def library():
    found = ctypes.CDLL("libseccomp.so.2", use_errno=True)
    found.seccomp_init.restype = ctypes.c_void_p
    found.seccomp_init.argtypes = [ctypes.c_uint32]
    found.seccomp_rule_add_array.argtypes = [ctypes.c_void_p, ctypes.c_uint32, ctypes.c_int, ctypes.c_uint, ctypes.POINTER(Argument)]
    found.seccomp_load.argtypes = [ctypes.c_void_p]
    return found


def syscalls(name):
    """Returns the system calls of a filter of systemd: a name, or a set such as @system-service."""
    if not name.startswith("@"):
        return {name}
    shown = subprocess.run(["systemd-analyze", "syscall-filter", "--no-pager", name], capture_output=True, text=True, check=True).stdout
    members = [line.strip() for line in shown.splitlines()[1:] if line.strip() and not line.strip().startswith("#")]
    return set().union(*(syscalls(member) for member in members))


def filters(values):
    """Returns the system calls that the lines of SystemCallFilter allow."""
    allowed = set()
    for value in values:
        names = set().union(*(syscalls(name) for name in value.lstrip("~").split()))
        allowed = allowed - names if value.startswith("~") else allowed | names
    return allowed


class Unit:
    """A service unit in a Debian root, and the process that runs its command."""

    def __init__(self, root, name):
        self.root, self.name = root, name
        self.lines = []
        with open(f"{root}/usr/lib/systemd/system/{name}") as file:
            for line in file:
                key, separator, value = line.strip().partition("=")
                if separator and not line.startswith("#"):
                    self.lines.append((key, value))
        self.user = self.passwd(self.value("User"))
        self.messages, self.lock = [], threading.Lock()
        self.log = f"{root}/var/log/{name}.log"
        self.process = None
        allowed = filters(self.values("SystemCallFilter"))
        self.seccomp = library()
        numbers = {self.seccomp.seccomp_syscall_resolve_name(name.encode()) for name in allowed}
        self.calls = sorted(number for number in numbers if number >= 0)

    def values(self, key):
        return [value for name, value in self.lines if name == key]

    def value(self, key):
        return self.values(key)[-1]

    def seconds(self, key):
        number, unit = re.fullmatch(r"(\d+)(s|min)", self.value(key)).groups()
        return int(number) * {"s": 1, "min": 60}[unit]

    def passwd(self, name):
        with open(f"{self.root}/etc/passwd") as file:
            fields = next(line.split(":") for line in file if line.startswith(name + ":"))
        return int(fields[2]), int(fields[3])

    def environment(self):
        """Returns the environment of the command, and creates its credentials."""
        folder = f"/run/credentials/{self.name}"
        shutil.rmtree(self.root + folder, ignore_errors=True)
        os.makedirs(self.root + folder)
        for line in self.values("LoadCredential"):
            name, path = line.split(":")
            shutil.copyfile(self.root + path, f"{self.root}{folder}/{name}")
            os.chmod(f"{self.root}{folder}/{name}", 0o400)
            os.chown(f"{self.root}{folder}/{name}", *self.user)
        os.chown(self.root + folder, *self.user)
        found = {"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin", "LANG": "C.UTF-8", "USER": self.value("User"),
                 "CREDENTIALS_DIRECTORY": folder}
        for line in self.values("Environment"):
            name, _, value = line.replace("%d", folder).partition("=")
            found[name] = value
        for path in self.values("EnvironmentFile"):
            if os.path.exists(self.root + path.lstrip("-")):
                with open(self.root + path.lstrip("-")) as file:
                    for line in file:
                        if line.strip() and not line.startswith("#"):
                            name, _, value = line.strip().partition("=")
                            found[name] = value
        return found

    def confine(self, limit):
        """Enters the root and the sandbox; called in the child."""
        libc = ctypes.CDLL(None, use_errno=True)
        os.chroot(self.root)
        os.chdir(self.value("WorkingDirectory"))
        # The machine of the test may allow fewer.
        limit = min(limit, resource.getrlimit(resource.RLIMIT_NOFILE)[1])
        resource.setrlimit(resource.RLIMIT_NOFILE, (limit, limit))
        for capability in range(64):
            libc.prctl(PR_CAPBSET_DROP, capability, 0, 0, 0)
        os.setgroups([])
        os.setgid(self.user[1])
        os.setuid(self.user[0])
        os.umask(int(self.value("UMask"), 8))
        assert libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0
        memory = self.seccomp.seccomp_init(ALLOW)
        both = (Argument * 1)(Argument(2, CMP_MASKED_EQ, PROT_WRITE | PROT_EXEC, PROT_WRITE | PROT_EXEC))
        execution = (Argument * 1)(Argument(2, CMP_MASKED_EQ, PROT_EXEC, PROT_EXEC))
        for name, argument in ((b"mmap", both), (b"mprotect", execution), (b"pkey_mprotect", execution)):
            number = self.seccomp.seccomp_syscall_resolve_name(name)
            assert self.seccomp.seccomp_rule_add_array(memory, DENY, number, 1, argument) == 0
        calls = self.seccomp.seccomp_init(DENY)
        for number in self.calls:
            assert self.seccomp.seccomp_rule_add_array(calls, ALLOW, number, 0, None) == 0
        for each in (memory, calls):
            assert self.seccomp.seccomp_load(each) == 0

    def start(self, sockets=(), names=(), notifies=True, watchdog=None, arguments=()):
        """Starts the command, and waits until it is ready. `sockets` are passed with names, `arguments` are appended."""
        environment = self.environment()
        notifications = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        path = "/run/notify"
        if os.path.exists(self.root + path):
            os.unlink(self.root + path)
        notifications.bind(self.root + path)
        os.chmod(self.root + path, 0o666)
        notifications.settimeout(0.2)
        environment["NOTIFY_SOCKET"] = path
        environment["WATCHDOG_USEC"] = str(int((watchdog or self.seconds("WatchdogSec")) * 1_000_000))
        state = self.root + self.value("WorkingDirectory")
        os.makedirs(state, exist_ok=True)
        os.chmod(state, int(self.value("StateDirectoryMode"), 8))
        os.chown(state, *self.user)
        command = " ".join([self.value("ExecStart"), *arguments])
        if sockets:
            environment |= {"LISTEN_FDS": str(len(sockets)), "LISTEN_FDNAMES": ":".join(names)}
            # The descriptors begin with 3.
            moved = [os.dup2(os.dup(each.fileno()), 200 + index) for index, each in enumerate(sockets)]
            moves = " ".join(f"{3 + index}<&{descriptor}" for index, descriptor in enumerate(moved))
            shell = ["/bin/bash", "-c", f"exec {moves}; for d in {' '.join(map(str, moved))}; do eval \"exec $d<&-\"; done; "
                     f"export LISTEN_PID=$$; exec {command}"]
        else:
            moved, shell = [], ["/bin/sh", "-c", f"exec {command}"]
        self.messages = []
        with open(self.log, "a") as log:
            self.process = subprocess.Popen(shell, env=environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log, pass_fds=moved,
                                            preexec_fn=lambda: self.confine(int(self.value("LimitNOFILE"))))
        for descriptor in moved:
            os.close(descriptor)
        self.receiver = threading.Thread(target=self.receive, args=(notifications, self.process), daemon=True)
        self.receiver.start()
        if notifies:
            self.wait_for("READY=1", 60)

    def receive(self, notifications, process):
        while process.poll() is None:
            try:
                message = notifications.recv(4096).decode()
            except TimeoutError:
                continue
            with self.lock:
                self.messages.append((time.monotonic(), message))
        notifications.close()

    def received(self, text):
        with self.lock:
            return [moment for moment, message in self.messages if text in message.split("\n")]

    def wait_for(self, text, seconds, count=1):
        end = time.monotonic() + seconds
        while len(self.received(text)) < count:
            assert self.process.poll() is None, f"{self.name} ended with {self.process.returncode}: {self.text[-3000:]}"
            assert time.monotonic() < end, f"{self.name} did not send {text} within {seconds} s: {self.text[-3000:]}"
            time.sleep(0.005)

    @property
    def text(self):
        with open(self.log, errors="replace") as file:
            return file.read()

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        try:
            code = self.process.wait(self.seconds("TimeoutStopSec"))
        except subprocess.TimeoutExpired:
            self.process.kill()
            raise
        assert code == 0, (code, self.text[-3000:])

    def kill(self):
        if self.process and self.process.poll() is None:
            self.process.kill()
            self.process.wait(30)
