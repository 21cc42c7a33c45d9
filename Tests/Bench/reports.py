"""The processor time per page that metrics, the access log and traces cost, relative to a server without them."""
import http.server, statistics, threading

import pages
from harness import *

COLLECTOR_PORT = 18081
MODES = {
    "nothing": {"AISLE_SLOW_REQUEST_MS": "0"},
    "metrics": {"AISLE_SLOW_REQUEST_MS": "0", "AISLE_ADMIN_PORT": "18082"},
    "access log": {"AISLE_SLOW_REQUEST_MS": "0", "AISLE_ACCESS_LOG": "true"},
    "slow requests": {"AISLE_SLOW_REQUEST_MS": "1000"},
    "traces, a tenth": {"AISLE_SLOW_REQUEST_MS": "0", "OTEL_EXPORTER_OTLP_ENDPOINT": f"http://127.0.0.1:{COLLECTOR_PORT}",
                        "OTEL_TRACES_SAMPLER": "parentbased_traceidratio", "OTEL_TRACES_SAMPLER_ARG": "0.1"},
    "traces, all": {"AISLE_SLOW_REQUEST_MS": "0", "OTEL_EXPORTER_OTLP_ENDPOINT": f"http://127.0.0.1:{COLLECTOR_PORT}"},
}
AIMS = {"metrics": "≤ 1.08", "access log": "≤ 1.08", "traces, a tenth": "≤ 1.15", "traces, all": "≤ 1.15"}


class Collector(http.server.BaseHTTPRequestHandler):
    """Accepts spans and drops them."""
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(200)
        self.send_header("Content-Length", "2")
        self.end_headers()
        self.wfile.write(b"{}")

    def log_message(self, *words):
        pass


def all():
    big()
    pages.write_paths()
    collector = http.server.ThreadingHTTPServer(("127.0.0.1", COLLECTOR_PORT), Collector)
    threading.Thread(target=collector.serve_forever, daemon=True).start()
    times = {name: [] for name in MODES}
    for turn in range(len(MODES)):
        # Each mode has each place in a round once.
        for name in list(MODES)[turn:] + list(MODES)[:turn]:
            with open(f"{FOLDER}/log", "w") as log, served("big", log=log, **MODES[name]) as server:
                times[name].append(pages.measured(server)["server"])
    collector.shutdown()
    os.remove(f"{FOLDER}/log")
    for name in list(MODES)[1:]:
        ratio = statistics.median(ours / theirs for ours, theirs in zip(times[name], times["nothing"]))
        print(f"processor time per page with {name}, µs: {statistics.median(times[name]):.1f} ÷ {statistics.median(times['nothing']):.1f} = {ratio:.3f}"
              + (f" (aim: {AIMS[name]})" if name in AIMS else ""), flush=True)
