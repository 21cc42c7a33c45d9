"""Runs the commands of the README and of docs/, checks the responses that they show, and checks all links and shown examples.

Usage: run.py AISLE. Each page gets an `aisle dev` of its own in an empty folder. The blocks marked `sh` are run in one shell,
except those marked `sh notest`. A block marked `json` or `text` that follows shows the output, where … matches anything. `swift run`
runs an example, which is built beside AISLE.
"""
import glob, importlib.util, os, re, shutil, signal, socket, subprocess, sys, tempfile, time, urllib.error, urllib.request

AISLE = os.path.abspath(sys.argv[1])
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
specification = importlib.util.spec_from_file_location("generate", f"{ROOT}/docs/cli/generate.py")
cli = importlib.util.module_from_spec(specification)
specification.loader.exec_module(cli)
BLOCK = re.compile(r"^```([^\n]*)\n(.*?)^```$", re.M | re.S)
# A link to an example and the Swift block below it, which shows lines of the example.
SHOWN = re.compile(r"(docs/examples/\w+/main\.swift)\)[^`]*```swift\n(.*?)^```$", re.M | re.S)
# The time limit of a page's commands, in seconds.
LIMIT = 120
LINES = {"README.md": 150, "docs/operations/alerts.md": 420}


def pages():
    found = [f"{ROOT}/README.md", *glob.glob(f"{ROOT}/docs/**/*.md", recursive=True)]
    return [page for page in found if "/decisions/" not in page]


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def blocks(text):
    """Yields each block of commands with the output shown below it, if there is one."""
    found = [(match[1], match[2], match.start(), match.end()) for match in BLOCK.finditer(text)]
    for (kind, commands, _, end), following in zip(found, found[1:] + [None]):
        if kind == "sh":
            shown = following and following[0] in ("json", "text") and not text[end:following[2]].strip()
            yield commands, following[1] if shown else None


def matches(shown, output):
    """Whether the output is as shown, apart from white space and text that … matches."""
    parts = [re.escape(re.sub(r"\s+", "", part)) for part in shown.split("…")]
    return re.fullmatch(".*?".join(parts), re.sub(r"\s+", "", output), re.S) is not None


def run(page):
    """Runs the commands of a page; returns their number and what is wrong."""
    with open(page) as file:
        text = file.read()
    wanted = list(blocks(text))
    if not wanted:
        return 0, []
    folder = tempfile.mkdtemp(prefix="aisle-docs-")
    os.chmod(folder, 0o755)
    os.symlink(f"{ROOT}/docs", f"{folder}/docs")
    port = free_port()
    environment = {key: value for key, value in os.environ.items() if key != "DATABASE_URL"}
    environment["PATH"] = f"{os.path.dirname(AISLE)}:{environment['PATH']}"
    log = open(f"{folder}/log", "w")
    server = subprocess.Popen([AISLE, "dev", "--port", str(port)], cwd=folder, env=environment, stdout=log, stderr=log)
    wrong = []
    try:
        end = time.monotonic() + 60
        while True:
            try:
                urllib.request.urlopen(f"http://127.0.0.1:{port}/readyz", timeout=5)
                break
            except (OSError, urllib.error.HTTPError):
                assert server.poll() is None and time.monotonic() < end, open(f"{folder}/log").read()
                time.sleep(0.1)
        # All blocks share a shell; each block's output and status go to files of its own.
        script = ["curl() { command curl --silent --show-error --fail-with-body \"$@\"; }", "swift() { shift; \"$@\"; }"]
        for number, (commands, shown) in enumerate(wanted):
            # A shown error is what the block is about.
            strict = "set +e" if shown and '"type":"/problems/' in shown else "set -e"
            script.append(f"{strict}\n{{\n{commands}\n}} > out{number} 2> err{number}\necho {number} > done")
        text = "\n".join(script).replace("127.0.0.1:8080", f"127.0.0.1:{port}")
        done = subprocess.run(["bash", "-o", "pipefail", "-c", text], cwd=folder, env=environment, timeout=LIMIT, stdin=subprocess.DEVNULL)
        last = int(open(f"{folder}/done").read()) if os.path.exists(f"{folder}/done") else -1
        for number, (commands, shown) in enumerate(wanted):
            output = open(f"{folder}/out{number}").read() if os.path.exists(f"{folder}/out{number}") else ""
            errors = open(f"{folder}/err{number}").read() if os.path.exists(f"{folder}/err{number}") else ""
            if number > last:
                wrong.append(f"status {done.returncode}:\n{commands}{output}{errors}")
                break
            if shown and not matches(shown, output):
                wrong.append(f"other output:\n{commands}{output}")
    finally:
        server.send_signal(signal.SIGINT)
        server.wait(60)
        log.close()
        shutil.rmtree(folder, ignore_errors=True)
    return len(wanted), wrong


def anchors(page):
    """The anchors of a page's headings, as GitHub makes them."""
    with open(page) as file:
        text = BLOCK.sub("", file.read())
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in re.findall(r"^#+ (.*)$", text, re.M)}


def broken_links(page):
    with open(page) as file:
        text = BLOCK.sub("", file.read())
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if re.match(r"https?:|mailto:", target):
            continue
        path, _, anchor = target.partition("#")
        file = os.path.normpath(os.path.join(os.path.dirname(page), path)) if path else page
        if not os.path.exists(file):
            yield f"broken link: {target}"
        elif anchor and anchor not in anchors(file):
            yield f"no such heading: {target}"


def wrong_examples():
    """Yields the examples that the documentation of the libraries shows with other lines, or not at all."""
    def unindented(text):
        return "\n".join(line.strip() for line in text.splitlines())

    missing = {os.path.relpath(path, ROOT) for path in glob.glob(f"{ROOT}/docs/examples/*/main.swift")}
    for page in glob.glob(f"{ROOT}/Sources/*/*.docc/*.md"):
        with open(page) as file:
            found = SHOWN.findall(file.read())
        for example, code in found:
            missing.discard(example)
            with open(f"{ROOT}/{example}") as file:
                if unindented(code) not in unindented(file.read()):
                    yield f"{os.path.relpath(page, ROOT)}: {example} has other lines"
    for example in sorted(missing):
        yield f"{example} is in no documentation of a library"


def main():
    only = sys.argv[2:]
    failed, count = 0, 0
    for page in sorted(pages()):
        name = os.path.relpath(page, ROOT)
        if only and not any(word in name for word in only):
            continue
        wrong = list(broken_links(page))
        lines, limit = sum(1 for _ in open(page)), LINES.get(name, 300)
        if lines > limit:
            wrong.append(f"{lines} lines, at most {limit}")
        commands, found = run(page)
        count += commands
        wrong += found
        for one in wrong:
            print(f"{name}: {one}", flush=True)
        failed += len(wrong)
    for one in wrong_examples():
        print(one)
        failed += 1
    for file, text in cli.reference(AISLE).items():
        path = f"{ROOT}/docs/cli/{file}"
        if not os.path.exists(path) or open(path).read() != text:
            print(f"docs/cli/{file} differs from the commands; run make docs")
            failed += 1
    print(f"{count} blocks of commands were run")
    if failed:
        sys.exit(f"{failed} failures")
    print("documentation tests passed")


main()
