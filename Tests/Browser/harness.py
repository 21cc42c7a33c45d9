"""A server with our own catalog, and a browser, for the tests of the page."""
import contextlib, json, os, re, signal, socket, subprocess, sys, tempfile, urllib.request

from playwright.sync_api import sync_playwright

AISLE = os.path.abspath(sys.argv[1])
CHROMIUM = next(path for path in ("/usr/bin/chromium", "/usr/bin/chromium-browser") if os.path.exists(path))


class Server:
    """`aisle dev` in a folder of its own."""

    def __init__(self):
        self.folder = tempfile.mkdtemp(prefix="aisle-browser-")
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.base = f"http://127.0.0.1:{self.port}"
        self.start()

    def start(self):
        self.process = subprocess.Popen([AISLE, "dev", "--port", str(self.port)], cwd=self.folder, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)
        for line in self.process.stderr:
            if "serves" in line:
                break
        else:
            raise RuntimeError("the server does not start")

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        self.process.communicate()

    def close(self):
        self.stop()
        self.run("db", "stop")

    def run(self, *words):
        return subprocess.run([AISLE, *words], cwd=self.folder, check=True, capture_output=True, text=True).stdout.strip()

    def get(self, path):
        with urllib.request.urlopen(self.base + path) as answer:
            return json.load(answer)

    def send(self, method, path, body, token):
        headers = {"content-type": "application/json", "authorization": f"Bearer {token}"}
        request = urllib.request.Request(self.base + path, json.dumps(body).encode(), headers, method=method)
        with urllib.request.urlopen(request) as answer:
            return json.load(answer)

    def order(self, shelf, query):
        return self.get(f"/v1/stores/{shelf.split('/')[0]}/shelves/{shelf.split('/')[1]}/order?{query}")["ids"]


@contextlib.contextmanager
def browser():
    with sync_playwright() as playwright:
        found = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        try:
            yield found
        finally:
            found.close()


class Tab:
    """A page, whose errors are kept."""

    def __init__(self, browser, **options):
        self.context = browser.new_context(**{"viewport": {"width": 1280, "height": 900}, **options})
        self.page = self.context.new_page()
        self.errors = []
        self.page.on("console", lambda message: self.errors.append(message.text) if message.type == "error" else None)
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))

    def open(self, url):
        self.page.goto(url)
        self.page.wait_for_selector("#products .card")

    def ids(self):
        return self.page.evaluate("[...document.querySelectorAll('#products > [data-id]')].map((card) => card.dataset.id)")

    def shows(self, ids):
        """Waits until exactly these stand there, in this order, and nothing moves any more."""
        self.page.wait_for_function(
            """(ids) => {
                const cards = [...document.querySelectorAll("#products > [data-id]")];
                return cards.map((card) => card.dataset.id).join("/") === ids.join("/") && document.getAnimations().every((one) => one.playState !== "running");
            }""", arg=ids, timeout=20_000)

    def sort(self, sort):
        self.page.click("#sort")
        self.page.click(f"#sorts input[value='{sort}']")

    def close(self):
        self.context.close()
