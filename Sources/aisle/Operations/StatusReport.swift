internal import JSON
internal import Catalog
internal import CatalogJSON

/// The state of a server as lines of text.
struct StatusReport {
    private let state: JSONValue

    /// - Parameter state: the JSON of the admin port.
    init(_ state: JSONValue) { self.state = state }

    var lines: [String] {
        [summary, requests, connections, shelves] + lanes + replicas + workers + [resort, process] + droppedLogLines
    }

    private var summary: String {
        let (reads, writes) = (isTrue("ready", "reads"), isTrue("ready", "writes"))
        let readiness =
            isTrue("draining")
            ? "draining" : reads && writes ? "ready" : reads ? "ready for reads only" : "not ready"
        return "aisle \(text("version") ?? "?"), \(readiness), up \(Self.duration(count("uptime_seconds")))"
    }

    private var requests: String {
        var line =
            "last minute: \(count("last_minute", "requests")) requests, \(count("last_minute", "errors")) errors, "
            + "\(count("last_minute", "rate_limited")) rate-limited"
        if let median = decimal("last_minute", "p50_ms"), let slow = decimal("last_minute", "p99_ms") {
            line += ", p50 \(median) ms, p99 \(slow) ms"
        }
        return line
    }

    private var connections: String {
        let streams = elements("streams").reduce(0) { $0 + Self.count($1["open"]) }
        return "connections: \(count("connections")), event streams: \(streams)"
    }

    private var shelves: String {
        let (bytes, limit) = (count("shelf_memory", "bytes"), count("shelf_memory", "limit_bytes"))
        return "shelves in memory: \(count("shelf_memory", "shelves")), \(bytes >> 20) of \(limit >> 20) MB, "
            + "\(count("shelf_memory", "evicted")) evicted"
    }

    private var lanes: [String] {
        elements("lanes").map { lane in
            let parts = [("in use", "in_use"), ("open", "open"), ("limit", "limit"), ("waiting", "waiting")]
            let counts = parts.compactMap { title, name in lane[name].map { "\(Self.count($0)) \(title)" } }
            return "lane \(Self.text(lane["lane"]) ?? "?"): \(counts.joined(separator: ", "))"
        }
    }

    private var replicas: [String] { servers("replicas", "replica") }
    private var workers: [String] { servers("workers", "worker") }

    /// Describes the servers from which pages are read.
    private func servers(_ list: String, _ kind: String) -> [String] {
        elements(list).map { server in
            let problem = Self.text(server["problem"]).map { "passed over: \($0)" } ?? "in use"
            return "\(kind) \(Self.text(server[kind]) ?? "?"): \(problem), \(Self.count(server["reads"])) reads"
        }
    }

    private var resort: String {
        guard value("resort") != nil else { return "last re-sort: unknown, because the database does not answer" }
        let failed = isTrue("resort", "failed") ? "; the last run failed" : ""
        let running = count("resort", "running") > 0 ? "; running now" : ""
        return "last re-sort: \(text("resort", "last_success_at") ?? "none")\(failed)\(running)"
    }

    private var process: String {
        let limit = value("process", "descriptor_limit").map { " of \(Self.count($0))" } ?? ""
        return "memory: \(count("process", "resident_bytes") >> 20) MB, "
            + "descriptors: \(count("process", "open_descriptors"))\(limit)"
    }

    private var droppedLogLines: [String] {
        let dropped = count("dropped_log_lines")
        return dropped > 0 ? ["dropped log lines: \(dropped)"] : []
    }

    // MARK: - Values

    private func value(_ path: String...) -> JSONValue? { value(path) }

    /// Returns a value of the state; nil for null.
    private func value(_ path: [String]) -> JSONValue? {
        let value = path.reduce(Optional(state)) { $0?[$1] }
        return value == .null ? nil : value
    }

    private func isTrue(_ path: String...) -> Bool { value(path) == .bool(true) }

    private func count(_ path: String...) -> Int { Self.count(value(path)) }

    private func text(_ path: String...) -> String? { Self.text(value(path)) }

    /// Returns a number with at most two decimals.
    private func decimal(_ path: String...) -> Double? {
        guard case .number(let digits)? = value(path), let number = Double(digits) else { return nil }
        return (number * 100).rounded() / 100
    }

    private func elements(_ path: String...) -> [JSONValue] {
        guard case .array(let elements)? = value(path) else { return [] }
        return elements
    }

    private static func count(_ value: JSONValue?) -> Int {
        guard case .number(let digits)? = value else { return 0 }
        return Int(digits) ?? 0
    }

    private static func text(_ value: JSONValue?) -> String? {
        guard case .string(let text)? = value else { return nil }
        return text
    }

    private static func duration(_ seconds: Int) -> String {
        let parts = [
            (seconds / 86400, "d"), (seconds / 3600 % 24, "h"), (seconds / 60 % 60, "min"), (seconds % 60, "s"),
        ]
        let first = parts.firstIndex { $0.0 > 0 } ?? parts.count - 1
        return parts[first...].prefix(2).map { "\($0.0) \($0.1)" }.joined(separator: " ")
    }
}
