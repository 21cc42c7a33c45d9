"""The server and the browser for tests of the pages."""
import contextlib, json, os, shutil, signal, socket, subprocess, tempfile, time, traceback, urllib.error, urllib.request

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import sync_playwright

# For development: a folder whose scripts and styles replace those of the program.
WEB = os.environ.get("AISLE_WEB")
CHROMIUM = next((path for path in ("/usr/bin/chromium", "/usr/bin/chromium-browser") if os.path.exists(path)), None)
# The browser's own messages about an unreachable server, and about one that stops: it opens no more streams.
AWAY = ("ERR_CONNECTION", "ERR_INCOMPLETE", "ERR_EMPTY", "ERR_NETWORK", "ERR_SOCKET", "503 (Service Unavailable)")


class Server:
    """`aisle dev` in a separate folder."""

    def __init__(self, aisle, imports=()):
        """`imports`: catalog files to import in addition to the seed catalog."""
        self.aisle = os.path.abspath(aisle)
        self.folder = tempfile.mkdtemp(prefix="aisle-browser-")
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.base = f"http://127.0.0.1:{self.port}"
        self.process = None
        self.start()
        for path in imports:
            self.run("import", os.path.abspath(path), "--create-store")

    def start(self):
        # All tabs of a test share one address, and a test asks for more than a reader would in the same time.
        environment = {**os.environ, "AISLE_RATE_LIMIT": "off"}
        with open(os.path.join(self.folder, "log"), "a+") as log:
            self.process = subprocess.Popen([self.aisle, "dev", "--port", str(self.port)], cwd=self.folder, stderr=log, stdout=log, env=environment)
            for _ in range(600):
                with contextlib.suppress(OSError):
                    with urllib.request.urlopen(self.base + "/readyz"):
                        return
                if self.process.poll() is not None:
                    break
                self.process_wait()
            log.seek(0)
            raise RuntimeError("the server does not start: " + log.read())

    def process_wait(self):
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(0.1)

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        self.process.communicate()

    def close(self):
        self.stop()
        self.run("db", "stop")
        shutil.rmtree(self.folder)

    def run(self, *words):
        return subprocess.run([self.aisle, *words], cwd=self.folder, check=True, capture_output=True, text=True).stdout.strip()

    def token(self, user, *scopes):
        return self.run("token", "--user", user, *(word for scope in scopes for word in ("--scope", scope)))

    def get(self, path, token=None):
        return self.send("GET", path, None, token)

    def send(self, method, path, body, token):
        headers = {"content-type": "application/json", **({"authorization": f"Bearer {token}"} if token else {})}
        request = urllib.request.Request(self.base + path, None if body is None else json.dumps(body).encode(), headers, method=method)
        with urllib.request.urlopen(request) as answer:
            return json.loads(answer.read() or "null")

    def order(self, shelf, query):
        store, key = shelf.split("/")
        return self.get(f"/v1/stores/{store}/shelves/{key}/order?{query}")["ids"]

    def move(self, shelf, token, ids, **place):
        store, key = shelf.split("/")
        return self.send("POST", f"/v1/stores/{store}/shelves/{key}/order/moves", {"moves": [{"ids": ids, **place}]}, token)


@contextlib.contextmanager
def browser():
    if CHROMIUM is None:
        raise RuntimeError("there is no Chromium; on Debian: apt-get install chromium")
    with sync_playwright() as playwright:
        # The sandbox does not work as root.
        found = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"] if os.getuid() == 0 else [])
        try:
            yield found
        finally:
            found.close()


def wait_until(page, condition, seconds=10, message=lambda: "the condition did not hold in time"):
    """Waits until a condition outside the page holds; the page and its routes keep running meanwhile."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, message()
        page.wait_for_timeout(25)


class DelayedRequests:
    """Requests that are held back until they are released."""

    def __init__(self, page, pattern):
        self.page, self.routes, self.is_open = page, [], False
        page.route(pattern, lambda route: route.continue_() if self.is_open else self.routes.append(route))

    def wait(self):
        wait_until(self.page, lambda: self.routes)

    def release(self):
        self.is_open = True
        for route in self.routes:
            route.continue_()


class Tab:
    """A page that collects its errors."""

    def __init__(self, browser, **options):
        self.context = browser.new_context(**{"viewport": {"width": 1280, "height": 900}, **options})
        if WEB:
            self.context.route("**/*.{js,css}", lambda route: route.fulfill(path=os.path.join(WEB, route.request.url.split("?")[0].rsplit("/", 1)[1])))
        self.page = self.context.new_page()
        self.errors = []
        self.page.on("console", lambda message: self.errors.append(message.text) if message.type in ("error", "warning") else None)
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))

    def open(self, url, waiting="#products .card"):
        self.page.goto(url)
        self.page.wait_for_selector(waiting)
        return self

    def wait(self, condition, argument=None, timeout=20_000):
        self.page.wait_for_function(condition, arg=argument, timeout=timeout)

    def ids(self, container="#products", frame=None):
        return (frame or self.page).evaluate("(container) => [...document.querySelectorAll(`${container} > [data-id]`)].map((card) => card.dataset.id)", container)

    def shows(self, ids, container="#products", frame=None, timeout=20_000):
        """Waits until exactly these items are shown in this order and all animations have ended."""
        try:
            (frame or self.page).wait_for_function(
                """([ids, container]) => {
                    const cards = [...document.querySelectorAll(`${container} > [data-id]`)];
                    return cards.map((card) => card.dataset.id).join("/") === ids.join("/")
                        && document.getAnimations().every((one) => one.playState !== "running");
                }""", arg=[ids, container], timeout=timeout)
        except Exception as error:
            shown = self.ids(container, frame)
            raise AssertionError(f"it shows {len(shown)}\n{shown[:400]}\nand should show {len(ids)}\n{ids[:400]}\n{self.said()}") from error
        # The visual order must be the DOM order: row by row, from left to right.
        boxes = (frame or self.page).evaluate(
            "(container) => [...document.querySelectorAll(`${container} > [data-id]`)].map((card) => card.getBoundingClientRect()).map((box) => [Math.round(box.top), Math.round(box.left)])", container)
        assert boxes == sorted(boxes), "the cards are not at the positions of their order"

    def said(self):
        return f"errors: {self.errors}; {self.page.evaluate('document.querySelector(`#away`)?.textContent')}"

    def text(self, selector):
        return self.page.inner_text(selector)

    def holds(self, pattern):
        """Delays requests until they are released."""
        return DelayedRequests(self.page, pattern)

    def sort(self, sort, frame=None):
        place = frame or self.page
        place.click("#sort")
        place.click(f"#sorts [value='{sort}']")

    def ignores_errors(self, *parts):
        """Ignores the browser's own messages about expected errors."""
        self.errors = [error for error in self.errors if not any(part in error for part in parts)]

    def is_accessible(self):
        found = Axe().run(self.page).response["violations"]
        assert not found, [(violation["id"], [node["html"][:160] for node in violation["nodes"][:3]]) for violation in found]

    def close(self):
        self.context.close()


def play(tests, server, browser):
    """Runs tests, each of which returns its tab or tabs, which must have no errors. Returns the number of failures."""
    failed = 0
    for test in tests:
        for context in browser.contexts:
            context.close()
        name, start = test.__name__.replace("_", " "), time.time()
        try:
            tabs = test(server, browser)
            for tab in tabs if isinstance(tabs, list) else [tabs]:
                assert not tab.errors, tab.errors
                tab.close()
            print(f"passed: {name} ({time.time() - start:.1f} s)", flush=True)
        except Exception:
            failed += 1
            print(f"FAILED: {name}\n{traceback.format_exc()}", flush=True)
    return failed
