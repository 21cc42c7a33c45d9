"""A Debian root in a folder, made by debootstrap. Usage: debian.py FOLDER"""
import os, shutil, subprocess, sys

SUITE = "bookworm"
# Written by package managers, the linker and this test; a purge leaves them.
VOLATILE = ("dev/", "proc/", "run/", "sys/", "tmp/", "var/cache/", "var/log/", "var/lib/dpkg/", "var/lib/apt/", "var/lib/systemd/",
            "etc/passwd", "etc/group", "etc/shadow", "etc/gshadow", "etc/subuid", "etc/subgid", "etc/ld.so.cache", "etc/.pwd.lock",
            "etc/resolv.conf", "etc/hosts")


def base(folder):
    """Returns a cached root with the libraries of the program, which apt would install with the package."""
    if not os.path.exists(f"{folder}/.complete"):
        shutil.rmtree(folder, ignore_errors=True)
        subprocess.run(["debootstrap", "--variant=minbase", SUITE, folder], check=True, stdout=subprocess.DEVNULL, timeout=1800)
        root = Root(folder)
        root.run("apt-get", "update", "-qq")
        root.run("apt-get", "install", "-y", "-qq", "--no-install-recommends", "adduser", "libcurl4", "libexpat1", "libpq5", "libstdc++6", "zlib1g",
                 "ca-certificates")
        root.run("apt-get", "install", "-y", "-qq", "--download-only", "--no-install-recommends", "systemd-standalone-sysusers")
        open(f"{folder}/.complete", "w").close()
    return folder


class Root:
    def __init__(self, folder):
        self.folder = folder

    @classmethod
    def copy(cls, source, folder):
        subprocess.run(["cp", "--archive", "--reflink=auto", source, folder], check=True)
        root = cls(folder)
        subprocess.run(["mount", "-t", "proc", "proc", f"{folder}/proc"], check=True)
        return root

    def run(self, *words, check=True, user=None, **environment):
        """Runs a command in the root; returns its output."""
        as_user = ["setpriv", f"--reuid={user}", f"--regid={user}", "--clear-groups"] if user else []
        done = subprocess.run(["chroot", self.folder, *as_user, *words], capture_output=True, text=True, timeout=900, cwd="/", env={
            "PATH": "/usr/local/sbin:/usr/sbin:/usr/bin:/sbin:/bin", "DEBIAN_FRONTEND": "noninteractive", "LANG": "C.UTF-8", **environment})
        assert not check or done.returncode == 0, (words, done.stdout, done.stderr)
        return done.stdout

    def install(self, *packages):
        """Installs package files with dpkg, which keeps changed settings without a question."""
        for package in packages:
            shutil.copy2(package, f"{self.folder}/tmp/")
        return self.run("dpkg", "--install", "--force-confold", *(f"/tmp/{os.path.basename(package)}" for package in packages))

    def files(self):
        """Returns all paths that package managers do not change at any time."""
        found = set()
        for folder, folders, names in os.walk(self.folder):
            place = os.path.relpath(folder, self.folder)
            if place == ".":
                folders[:] = [name for name in folders if name not in ("dev", "proc", "run", "sys", "tmp")]
            for name in folders + names:
                path = name if place == "." else f"{place}/{name}"
                if not path.startswith(VOLATILE):
                    found.add(path)
        return found

    def mode(self, path):
        """Returns the owner, group and permissions of a file."""
        return self.run("stat", "--format=%U:%G %a", path).strip()


if __name__ == "__main__":
    base(os.path.abspath(sys.argv[1]))
