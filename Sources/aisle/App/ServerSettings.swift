internal import Catalog
internal import CatalogHTTP
internal import CatalogPostgres
internal import FoundationEssentials
internal import JSON
internal import LibPQ
internal import Logging
internal import NIOCore
internal import Platform
internal import Site

/// The settings of a server, by precedence: option, `AISLE_…` variable, settings file, default.
///
/// A setting is a property with its default, and a row of `table`.
struct ServerSettings: Sendable {
    var host = "127.0.0.1"
    var port = 8080
    var origins: [String] = []
    /// The origins of photos.
    var imageOrigins: [WebOrigin] = []
    var connections = ConnectionCounts(
        eventLoops: ConnectionCounts.eventLoops(processors: System.coreCount),
        longReads: ConnectionCounts.longReads(processors: System.coreCount)
    )
    /// The maximum lag of a replica that is used for reads.
    var readLag = Replicas.lagLimit
    /// Whether pages are read from the workers of a Citus cluster.
    var readsWorkers = true
    /// The quota of each client; nil for none.
    var rateLimit: RateLimitPolicy? = .standard
    /// The proxies whose `X-Forwarded-For` is trusted.
    var trustedProxies = TrustedProxies()
    var pageCacheMegabytes = 32
    /// The memory for shelves, unions, their views, facets, columns and search indexes, and rendered products.
    var shelfMegabytes = max(Self.shelfMemory.lowerBound, MemoryLimit.bytes() >> 20 / 4)
    var logLevel = Logger.Level.notice
    var logFormat = Console.notesAreTerminal ? LogFormat.text : LogFormat.json
    /// Whether the log has a line for each request.
    var logsRequests = false
    /// The duration from which a request is logged as slow; nil for never.
    var slowRequest: Duration? = .seconds(1)
    /// The address of the admin port.
    var adminHost = "127.0.0.1"
    /// The admin port; nil for none.
    var adminPort: Int?
    var cursorKey: String?
    /// The maximum number of open event streams.
    var streamLimit = 10_000
    /// The maximum number of open connections.
    var connectionLimit = 20_000
    /// The maximum size of all request bodies in flight, in megabytes.
    var bodyMegabytes = 256
    /// Whether to use LISTEN for changes; a transaction pooler does not support it.
    var listens = true
    /// How long a stopping server still accepts new requests, until load balancers notice.
    var drain = Duration.zero
    /// How long entries of the audit log are kept.
    var auditRetention = AuditRetention.standard
    var tokens = TokenSettings()
    let traces: TraceSettings
    /// Whether the port was set on the command line.
    let hasOwnPort: Bool
    /// The settings file, if there is one.
    let file: String?

    /// The settings in the order of `aisle config show`.
    static var table: [ServerSetting] {
        [
            .text("host", \.host),
            .number("port", \.port, in: 0...65535),
            .list("cors.origins", \.origins),
            ServerSetting("image.origins", \.imageOrigins, shown: { $0.map(\.text).joined(separator: ",") }) { given in
                try given.list(of: WebOrigin.rule) { WebOrigin($0) }
            },
            .number("pool.size", \.connections.writes, in: 1...1000),
            .number("long.read.connections", \.connections.longReads, in: 1...1000),
            .number("event.loops", \.connections.eventLoops, in: 1...256),
            .number("page.connections", \.connections.pagesPerEventLoop, in: 1...100),
            .seconds("read.lag.seconds", \.readLag, in: 1...3600),
            .flag("read.workers", \.readsWorkers),
            ServerSetting("rate.limit", \.rateLimit, shown: { $0.map { "\($0.burst)/\($0.rate)" } ?? "off" }) { given in
                let text = try given.text()
                if text == "off" { return nil }
                guard let policy = RateLimitPolicy(text) else { throw given.invalid(RateLimitPolicy.rule, text) }
                return policy
            },
            ServerSetting("trusted.proxies", \.trustedProxies, shown: { $0.texts.joined(separator: ",") }) { given in
                TrustedProxies(
                    try given.list(of: "addresses or ranges, such as 10.0.0.0/8") { NetworkRange($0) }
                )
            },
            .number("page.cache.mb", \.pageCacheMegabytes, in: 0...4096),
            .number("shelf.memory", \.shelfMegabytes, in: Self.shelfMemory),
            .choice("log.level", \.logLevel),
            .choice("log.format", \.logFormat),
            .flag("access.log", \.logsRequests),
            ServerSetting("slow.request.ms", \.slowRequest, shown: { "\($0?.milliseconds ?? 0)" }) { given in
                let limit = try given.number(in: 0...3_600_000)
                return limit == 0 ? nil : .milliseconds(limit)
            },
            .text("admin.host", \.adminHost),
            .number("admin.port", \.adminPort, in: 0...65535, none: "none"),
            ServerSetting("cursor.key", \.cursorKey, shown: { $0 == nil ? "the deployment's" : "set" }) { given in
                let key = try given.text()
                guard key.utf8.count >= Self.cursorKeyLength else {
                    throw given.failure("must have at least \(Self.cursorKeyLength) bytes")
                }
                return key
            },
            .number("streams", \.streamLimit, in: 1...1_000_000),
            .number("connections", \.connectionLimit, in: 1...1_000_000),
            .number("body.memory.mb", \.bodyMegabytes, in: 160...65_536),
            .flag("listen", \.listens),
            .seconds("drain.seconds", \.drain, in: 0...3600),
            ServerSetting("audit.days", \.auditRetention, shown: { "\($0.days ?? 0)" }) { given in
                let days = try given.number()
                guard let retention = AuditRetention(days: days) else {
                    let (first, last) = (AuditRetention.minimumDays, AuditRetention.maximumDays)
                    throw given.failure("must be 0, or between \(first) and \(last) (got \(days))")
                }
                return retention
            },
            ServerSetting(
                "jwt.secret",
                \.tokens.secret,
                shown: {
                    $0 != nil ? "set" : LocalSecret.read() == nil ? "none" : "none; aisle dev uses the one in .aisle/"
                }
            ) { given in
                Array(try given.text().utf8)
            },
            .text("jwt.secret.file", \.tokens.secretFile, none: "none"),
            ServerSetting(
                "jwt.accepted.secrets",
                \.tokens.acceptedSecrets,
                shown: { $0.isEmpty ? "none" : "\($0.count) set" }
            ) { given in
                try given.list().map { Array($0.utf8) }
            },
            .text("jwks", \.tokens.keySet, none: "none"),
            .flag("jwks.allow.http", \.tokens.allowsHTTP),
            .text("jwt.issuer", \.tokens.rules.issuer, none: "any"),
            ServerSetting(
                "jwt.audience",
                \.tokens.rules.audiences,
                shown: { $0.isEmpty ? "any" : $0.joined(separator: ",") }
            ) { given in
                let audiences = try given.list()
                guard audiences.allSatisfy({ !$0.isEmpty }) else {
                    let rule = "a list of audiences, separated by commas, none of them empty"
                    throw given.invalid(rule, audiences.joined(separator: ","))
                }
                return audiences
            },
        ]
    }

    /// The range of the memory for shelves, in megabytes.
    private static let shelfMemory = 16...1_048_576

    /// The minimum length of a cursor key, in bytes.
    private static let cursorKeyLength = 16

    /// - Parameters:
    ///   - options: the texts of command-line options, by the names of their settings.
    ///   - file: the settings file; nil for the file of `AISLE_CONFIG`, or `aisle.json` if it exists.
    /// - Throws: `CommandFailure`, naming the invalid setting.
    init(
        _ options: [String: String] = [:],
        file named: String? = nil,
        environment: [String: String] = ProcessInfo.processInfo.environment
    ) throws {
        let existing = FileManager.default.fileExists(atPath: "aisle.json") ? "aisle.json" : nil
        let path = named ?? environment["AISLE_CONFIG"] ?? existing
        let values = try path.map { try Self.read($0) } ?? [:]
        file = path
        hasOwnPort = options["port"] != nil
        traces = try TraceSettings(environment)
        for setting in Self.table {
            if let text = options[setting.name] ?? environment[setting.variable] {
                try setting.set(&self, .text(text))
            } else if let value = values[setting.name] {
                try setting.set(&self, .json(value))
            }
        }
        try tokens.complete()
    }

    /// Reads the settings of a file, by their names.
    ///
    /// - Throws: `CommandFailure` for a file that is not JSON, or has a setting that does not exist.
    private static func read(_ path: String) throws -> [String: JSONValue] {
        guard let data = FileManager.default.contents(atPath: path) else {
            throw CommandFailure("cannot read the settings file \(path)", CommandFailure.configuration)
        }
        let file: JSONValue
        do { file = try JSONReader.parse(Array(data)) } catch {
            throw CommandFailure(
                "the settings file \(path) is not valid JSON at byte \(error.offset): \(error.detail)",
                CommandFailure.configuration
            )
        }
        let names = table.map(\.name)
        var values: [String: JSONValue] = [:]
        func read(_ value: JSONValue, _ name: String) throws {
            if case .object(let members) = value {
                for member in members { try read(member.value, name.isEmpty ? member.name : "\(name).\(member.name)") }
                return
            }
            guard names.contains(name) else {
                throw CommandFailure(
                    "unknown setting “\(name)” in \(path); allowed are \(names.joined(separator: ", "))",
                    CommandFailure.configuration
                )
            }
            values[name] = value
        }
        try read(file, "")
        return values
    }

    /// The name and value of each setting; secrets only as set or not.
    var listed: [(name: String, value: String)] {
        var lines: [(name: String, value: String)] = [("settings file", file ?? "none")]
        lines += Self.table.map { (name: $0.name, value: $0.shown(self)) }
        return lines + traces.listed
    }

    /// The admin port that packages set, and that commands assume.
    static let usualAdminPort = 9464

    /// The address of the admin port for programs on this machine; nil if the port is not known before the server runs.
    var adminAddress: String? {
        let port = adminPort ?? Self.usualAdminPort
        if port == 0 { return nil }
        // A server that listens on all addresses also listens on the loopback address.
        let host = ["0.0.0.0", "::", ""].contains(adminHost) ? "127.0.0.1" : adminHost
        return host.contains(":") ? "http://[\(host)]:\(port)" : "http://\(host):\(port)"
    }
}
