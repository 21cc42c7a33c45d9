"""Builds the Debian packages aisle and aisle-dbgsym. Usage: deb.py AISLE OUTPUT [--version VERSION] [--sbom FILE] [--fast]

AISLE is a release executable with symbols. Two builds of the same executable and commit are identical. --fast compresses less.
"""
import argparse, glob, gzip, hashlib, os, re, shutil, subprocess, tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PACKAGING = os.path.join(ROOT, "packaging")
MAINTAINER = f"{os.environ.get('DEBFULLNAME', 'Aisle maintainers')} <{os.environ.get('DEBEMAIL', 'maintainers@aisle.example')}>"
REVISION = "1"
BACKTRACER = "swift-backtrace-static"


def run(*words, **options):
    return subprocess.run(words, check=True, stdout=subprocess.PIPE, text=True, **options).stdout


def backtracer():
    """Returns the path of the toolchain's backtracer, which needs no Swift libraries."""
    swift = os.path.realpath(shutil.which("swift") or "/usr/bin/swift")
    found = glob.glob(os.path.join(os.path.dirname(swift), "..", "libexec", "swift", "*", BACKTRACER))
    assert found, f"the toolchain of {swift} has no {BACKTRACER}"
    return found[0]


def place(source, target, mode=0o644):
    os.makedirs(os.path.dirname(target), exist_ok=True)
    shutil.copyfile(source, target)
    os.chmod(target, mode)


def write(path, text, mode=0o644):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w") as file:
        file.write(text)
    os.chmod(path, mode)


def compress(source, target):
    """Compresses a file without its name and time, so that the result depends on its content only."""
    os.makedirs(os.path.dirname(target), exist_ok=True)
    with open(source, "rb") as content, open(target, "wb") as raw:
        with gzip.GzipFile("", "wb", 9, raw, mtime=0) as file:
            file.write(content.read())
    os.chmod(target, 0o644)


def build_id(executable):
    return re.search(r"Build ID: ([0-9a-f]+)", run("readelf", "-n", executable))[1]


def dependencies(root, executables):
    """Returns the packages of the libraries that executables need."""
    with tempfile.TemporaryDirectory() as folder:
        write(f"{folder}/debian/control", "Source: aisle\n\nPackage: aisle\nArchitecture: any\n")
        words = [word for executable in executables for word in ("-e", os.path.join(root, executable))]
        return run("dpkg-shlibdeps", "-O", *words, cwd=folder).strip().removeprefix("shlibs:Depends=")


def files(root):
    """Returns the paths of all files that are part of a package, without those of dpkg."""
    found = []
    for folder, folders, names in os.walk(root):
        if folder == root:
            folders.remove("DEBIAN")
        found += [os.path.relpath(os.path.join(folder, name), root) for name in names]
    return sorted(found)


def changelog(version, date):
    return f"""aisle ({version}-{REVISION}) unstable; urgency=medium

  * Release {version}; changelog.gz lists the changes.

 -- {MAINTAINER}  {date}
"""


def finish(root, name, fields, output, options):
    """Writes the control files of a package, and packs it."""
    listed = files(root)
    sums = []
    for path in listed:
        full = os.path.join(root, path)
        if not os.path.islink(full) and not path.startswith("etc/"):
            with open(full, "rb") as file:
                sums.append(f"{hashlib.md5(file.read()).hexdigest()}  {path}\n")
    write(f"{root}/DEBIAN/md5sums", "".join(sums))
    settings = [f"/{path}\n" for path in listed if path.startswith("etc/")]
    if settings:
        write(f"{root}/DEBIAN/conffiles", "".join(settings))
    size = sum(-(-os.lstat(os.path.join(root, path)).st_size // 1024) for path in listed)
    fields = {"Package": name, "Source": "aisle", **fields, "Installed-Size": str(size)}
    if name == "aisle":
        del fields["Source"]
    write(f"{root}/DEBIAN/control", "".join(f"{key}: {value}\n" for key, value in fields.items()))
    for folder, folders, _ in os.walk(root):
        for each in folders:
            os.chmod(os.path.join(folder, each), 0o755)
    os.chmod(root, 0o755)
    target = os.path.join(output, f"{name}_{fields['Version']}_{fields['Architecture']}.deb")
    run("dpkg-deb", "--root-owner-group", *options, "--build", root, target)
    print(os.path.relpath(target))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("aisle")
    parser.add_argument("output")
    parser.add_argument("--version")
    parser.add_argument("--sbom")
    parser.add_argument("--fast", action="store_true")
    arguments = parser.parse_args()
    executable, output = os.path.abspath(arguments.aisle), os.path.abspath(arguments.output)
    version = arguments.version or run(executable, "version").split()[1]
    architecture = run("dpkg", "--print-architecture").strip()
    os.environ.setdefault("SOURCE_DATE_EPOCH", run("git", "log", "-1", "--format=%ct", cwd=ROOT).strip())
    date = run("date", "--utc", "--rfc-email", "--date", "@" + os.environ["SOURCE_DATE_EPOCH"]).strip()
    options = ["-Zgzip", "-z1"] if arguments.fast else ["-Zxz"]
    os.makedirs(output, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        root, symbols = f"{folder}/aisle", f"{folder}/dbgsym"
        os.makedirs(f"{root}/DEBIAN")
        os.makedirs(f"{symbols}/DEBIAN")
        run("make", "--no-print-directory", "-C", ROOT, "install-files", f"AISLE={executable}", f"DESTDIR={root}", "PREFIX=/usr",
            env={key: value for key, value in os.environ.items() if not key.startswith("MAKE") and key != "MFLAGS"})
        for page in glob.glob(f"{root}/usr/share/man/man1/*.1"):
            compress(page, page + ".gz")
            os.remove(page)
        place(backtracer(), f"{root}/usr/libexec/aisle/{BACKTRACER}", 0o755)
        run("strip", "--strip-unneeded", "--remove-section=.comment", f"{root}/usr/libexec/aisle/{BACKTRACER}")
        program = f"{root}/usr/bin/aisle"
        build = build_id(program)
        debug = f"usr/lib/debug/.build-id/{build[:2]}/{build[2:]}.debug"
        os.makedirs(os.path.dirname(f"{symbols}/{debug}"))
        run("objcopy", "--only-keep-debug", program, f"{symbols}/{debug}")
        os.chmod(f"{symbols}/{debug}", 0o644)
        run("strip", "--strip-unneeded", "--remove-section=.comment", program)
        for unit in glob.glob(f"{PACKAGING}/systemd/aisle*"):
            place(unit, f"{root}/usr/lib/systemd/system/{os.path.basename(unit)}")
        place(f"{PACKAGING}/systemd/sysusers.conf", f"{root}/usr/lib/sysusers.d/aisle.conf")
        # systemd reads the environment, which may have secrets, as root.
        for name, mode in (("aisle.json", 0o644), ("aisle.env", 0o640)):
            place(f"{PACKAGING}/etc/{name}", f"{root}/etc/aisle/{name}", mode)
        documents = f"{root}/usr/share/doc/aisle"
        place(f"{PACKAGING}/debian/copyright", f"{documents}/copyright")
        place(f"{PACKAGING}/debian/lintian-overrides", f"{root}/usr/share/lintian/overrides/aisle")
        compress(f"{ROOT}/CHANGELOG.md", f"{documents}/changelog.gz")
        write(f"{folder}/changelog", changelog(version, date))
        compress(f"{folder}/changelog", f"{documents}/changelog.Debian.gz")
        if arguments.sbom:
            place(arguments.sbom, f"{documents}/sbom.cdx.json")
        for script in ("postinst", "prerm", "postrm"):
            place(f"{PACKAGING}/debian/{script}", f"{root}/DEBIAN/{script}", 0o755)
        os.makedirs(f"{symbols}/usr/share/doc")
        os.symlink("aisle", f"{symbols}/usr/share/doc/aisle-dbgsym")
        common = {"Version": f"{version}-{REVISION}", "Architecture": architecture, "Maintainer": MAINTAINER}
        finish(root, "aisle", {
            **common,
            "Section": "web", "Priority": "optional",
            "Depends": "adduser, " + dependencies(root, ["usr/bin/aisle", f"usr/libexec/aisle/{BACKTRACER}"]),
            "Recommends": "ca-certificates, postgresql (>= 15)",
            "Suggests": "aisle-dbgsym, bash-completion",
            "Description": "product catalog sorting service\n"
            " Aisle sorts the shelves of stores by price, unit price, popularity and other\n"
            " keys, remembers how each user sorts, keeps orders that merchandisers arrange,\n"
            " and sends minimal diffs between orders. It serves HTTP, and stores everything\n"
            " in PostgreSQL.",
        }, output, options)
        finish(symbols, "aisle-dbgsym", {
            **common,
            "Section": "debug", "Priority": "optional",
            "Depends": f"aisle (= {version}-{REVISION})",
            "Auto-Built-Package": "debug-symbols",
            "Build-Ids": build,
            "Description": "debug symbols for aisle\n"
            " With them, the backtraces of a crash name functions, files and lines.",
        }, output, options)


main()
