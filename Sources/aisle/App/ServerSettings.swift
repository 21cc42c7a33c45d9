internal import ArgumentParser
internal import Catalog
internal import CatalogHTTP
internal import CatalogJSON
internal import CatalogPostgres
internal import Configuration
internal import FoundationEssentials
internal import JSON
internal import Logging
internal import NIOCore
internal import Platform
internal import Site

/// The settings of a server, by precedence: option, `AISLE_…` variable, settings file, default.
struct ServerSettings: Sendable {
    let host: String
    let port: Int
    /// Whether the port was set on the command line.
    let hasOwnPort: Bool
    let origins: [String]
    /// The origins of photos.
    let imageOrigins: [WebOrigin]
    let pageCacheMegabytes: Int
    /// The memory for shelves, their views and facets.
    let shelfMegabytes: Int
    let connections: ConnectionCounts
    /// The maximum lag of a replica that is used for reads.
    let readLag: Duration
    /// Whether pages are read from the workers of a Citus cluster.
    let readsWorkers: Bool
    /// The quota of each client; nil for none.
    let rateLimit: RateLimitPolicy?
    /// The proxies whose `X-Forwarded-For` is trusted.
    let trustedProxies: TrustedProxies
    let cursorKey: String?
    /// The maximum number of open event streams.
    let streamLimit: Int
    /// The maximum number of open connections.
    let connectionLimit: Int
    /// The maximum size of all request bodies in flight, in megabytes.
    let bodyMegabytes: Int
    /// Whether to use LISTEN for changes; a transaction pooler does not support it.
    let listens: Bool
    /// How long a stopping server still accepts new requests, until load balancers notice.
    let drain: Duration
    /// How long entries of the audit log are kept.
    let auditRetention: AuditRetention
    var tokens: TokenSettings
    let traces: TraceSettings
    let logLevel: Logger.Level
    let logFormat: LogFormat
    /// Whether the log has a line for each request.
    let logsRequests: Bool
    /// The duration from which a request is logged as slow; nil for never.
    let slowRequest: Duration?
    /// The address of the admin port.
    let adminHost: String
    /// The admin port; nil for none.
    let adminPort: Int?
    /// The settings file, if there is one.
    let file: String?

    /// - Throws: `CommandFailure`, naming the invalid setting.
    init(_ options: ServerOptions) async throws {
        let named = options.config ?? ProcessInfo.processInfo.environment["AISLE_CONFIG"]
        let path = named ?? "aisle.json"
        var providers: [any ConfigProvider] = [EnvironmentVariablesProvider().prefixKeys(with: "aisle")]
        file = named != nil || FileManager.default.fileExists(atPath: path) ? path : nil
        if file != nil {
            providers.append(InMemoryProvider(name: path, values: try Self.read(path)))
        }
        let reader = ConfigReader(providers: providers)
        host = try options.host ?? Self.present("host") { try reader.requiredString(forKey: $0) } ?? "127.0.0.1"
        port = try Self.number("port", options.port, in: 0...65535, default: 8080, reader)
        hasOwnPort = options.port != nil
        origins = try Self.present("cors.origins") { try reader.requiredStringArray(forKey: $0) } ?? []
        imageOrigins = try Self.list("image.origins", of: WebOrigin.rule, reader) { WebOrigin($0) }
        pageCacheMegabytes = try Self.number("page.cache.mb", in: 0...4096, default: 32, reader)
        shelfMegabytes = try Self.number(
            "shelf.memory",
            in: 16...1_048_576,
            default: max(16, MemoryLimit.bytes() >> 20 / 4),
            reader
        )
        let counts = ConnectionCounts()
        connections = ConnectionCounts(
            eventLoops: try Self.number(
                "event.loops",
                in: 1...256,
                default: ConnectionCounts.eventLoops(processors: System.coreCount),
                reader
            ),
            pagesPerEventLoop: try Self.number(
                "page.connections",
                in: 1...100,
                default: counts.pagesPerEventLoop,
                reader
            ),
            writes: try Self.number("pool.size", in: 1...1000, default: counts.writes, reader),
            longReads: try Self.number(
                "long.read.connections",
                in: 1...1000,
                default: ConnectionCounts.longReads(processors: System.coreCount),
                reader
            )
        )
        let defaultLag = Int(Replicas.lagLimit.components.seconds)
        readLag = .seconds(try Self.number("read.lag.seconds", in: 1...3600, default: defaultLag, reader))
        readsWorkers = try Self.present("read.workers") { try reader.requiredBool(forKey: $0) } ?? true
        rateLimit = try Self.rateLimit(reader)
        trustedProxies = TrustedProxies(
            try Self.list("trusted.proxies", of: "addresses or ranges, such as 10.0.0.0/8", reader) { NetworkRange($0) }
        )
        cursorKey = try Self.present("cursor.key") { try reader.requiredString(forKey: $0, isSecret: true) }
        guard (cursorKey?.utf8.count ?? Self.cursorKeyLength) >= Self.cursorKeyLength else {
            throw CommandFailure(
                "cursor.key must have at least \(Self.cursorKeyLength) bytes",
                CommandFailure.configuration
            )
        }
        let level = try Self.present("log.level") { try reader.requiredString(forKey: $0) } ?? "notice"
        guard let logLevel = Logger.Level(rawValue: level) else {
            throw CommandFailure(
                "log.level must be one of \(Logger.Level.allCases.map(\.rawValue).joined(separator: ", ")) (got “\(level)”)",
                CommandFailure.configuration
            )
        }
        self.logLevel = logLevel
        let format = try Self.present("log.format") { try reader.requiredString(forKey: $0) }
        guard let logFormat = format.map({ LogFormat(rawValue: $0) }) ?? (Console.notesAreTerminal ? .text : .json)
        else {
            throw CommandFailure(
                "log.format must be \(LogFormat.allCases.map(\.rawValue).joined(separator: " or ")) (got “\(format ?? "")”)",
                CommandFailure.configuration
            )
        }
        self.logFormat = logFormat
        logsRequests = try Self.present("access.log") { try reader.requiredBool(forKey: $0) } ?? false
        let slow = try Self.number("slow.request.ms", in: 0...3_600_000, default: 1000, reader)
        slowRequest = slow == 0 ? nil : .milliseconds(slow)
        adminHost = try Self.present("admin.host") { try reader.requiredString(forKey: $0) } ?? "127.0.0.1"
        adminPort = try Self.number("admin.port", in: 0...65535, reader)
        streamLimit = try Self.number("streams", in: 1...1_000_000, default: 10_000, reader)
        connectionLimit = try Self.number("connections", in: 1...1_000_000, default: 20_000, reader)
        bodyMegabytes = try Self.number("body.memory.mb", in: 160...65_536, default: 256, reader)
        listens = try Self.present("listen") { try reader.requiredBool(forKey: $0) } ?? true
        drain = .seconds(try Self.number("drain.seconds", in: 0...3600, default: 0, reader))
        auditRetention = try Self.auditRetention(reader)
        tokens = try TokenSettings(reader)
        traces = try TraceSettings()
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

    /// The minimum length of a cursor key, in bytes.
    private static let cursorKeyLength = 16

    /// The settings allowed in a file.
    private static let names = [
        "host", "port", "cors.origins", "image.origins", "page.cache.mb", "pool.size", "long.read.connections",
        "event.loops", "page.connections", "read.lag.seconds", "read.workers", "rate.limit",
        "trusted.proxies", "cursor.key", "log.level", "log.format", "access.log", "slow.request.ms", "admin.host",
        "admin.port", "streams", "connections", "body.memory.mb", "listen", "drain.seconds", "audit.days",
        "jwt.secret", "jwt.secret.file", "jwt.accepted.secrets", "jwks", "jwks.allow.http",
        "jwt.issuer", "jwt.audience",
    ]

    /// Reads the settings of a file.
    ///
    /// - Throws: `CommandFailure` for a file that is not JSON, or has a setting that does not exist.
    private static func read(_ path: String) throws -> [AbsoluteConfigKey: ConfigValue] {
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
        var values: [AbsoluteConfigKey: ConfigValue] = [:]
        func read(_ value: JSONValue, _ prefix: String) throws {
            guard case .object(let members) = value else {
                if names.contains(prefix) {
                    values[AbsoluteConfigKey(ConfigKey(prefix))] = ConfigValue(content(value), isSecret: false)
                    return
                }
                throw CommandFailure(
                    "unknown setting “\(prefix)” in \(path); allowed are \(names.joined(separator: ", "))",
                    CommandFailure.configuration
                )
            }
            for member in members { try read(member.value, prefix.isEmpty ? member.name : "\(prefix).\(member.name)") }
        }
        try read(file, "")
        return values
    }

    /// Converts a value for the configuration library. An impossible value, such as `null`, becomes a string, which is then rejected
    /// by type or value.
    private static func content(_ value: JSONValue) -> ConfigContent {
        switch value {
        case .string(let text): return .string(text)
        case .bool(let flag): return .bool(flag)
        case .number(let digits):
            return Int(digits).map { .int($0) } ?? Double(digits).map { .double($0) } ?? .string(digits)
        case .array(let items):
            let texts = items.compactMap { if case .string(let text) = $0 { text } else { nil } }
            return texts.count == items.count ? .stringArray(texts) : .string(value.text)
        case .null, .object: return .string(value.text)
        }
    }

    private static func number(
        _ key: String,
        _ given: Int? = nil,
        in range: ClosedRange<Int>,
        default fallback: Int,
        _ reader: ConfigReader
    ) throws -> Int {
        try number(key, given, in: range, reader) ?? fallback
    }

    /// Reads a number; nil if it is missing.
    private static func number(
        _ key: String,
        _ given: Int? = nil,
        in range: ClosedRange<Int>,
        _ reader: ConfigReader
    ) throws -> Int? {
        let rule = "a whole number between \(range.lowerBound) and \(range.upperBound)"
        guard let number = try given ?? present(key, of: rule, { try reader.requiredInt(forKey: $0) }) else {
            return nil
        }
        guard range.contains(number) else {
            throw CommandFailure(
                "\(key) must be between \(range.lowerBound) and \(range.upperBound) (got \(number))",
                CommandFailure.configuration
            )
        }
        return number
    }

    /// Reads a list of texts and parses each; empty if it is missing.
    private static func list<Element>(
        _ key: String,
        of rule: String,
        _ reader: ConfigReader,
        _ parse: (String) -> Element?
    ) throws -> [Element] {
        let texts = try present(key) { try reader.requiredStringArray(forKey: $0) } ?? []
        return try texts.map { text in
            guard let element = parse(text) else {
                throw CommandFailure("\(key) must be \(rule) (got “\(text)”)", CommandFailure.configuration)
            }
            return element
        }
    }

    private static func rateLimit(_ reader: ConfigReader) throws -> RateLimitPolicy? {
        guard let text = try present("rate.limit", { try reader.requiredString(forKey: $0) }) else { return .standard }
        if text == "off" { return nil }
        guard let policy = RateLimitPolicy(text) else {
            throw CommandFailure(
                "rate.limit must be \(RateLimitPolicy.rule) (got “\(text)”)",
                CommandFailure.configuration
            )
        }
        return policy
    }

    private static func auditRetention(_ reader: ConfigReader) throws -> AuditRetention {
        guard let days = try present("audit.days", { try reader.requiredInt(forKey: $0) }) else { return .standard }
        guard let retention = AuditRetention(days: days) else {
            throw CommandFailure(
                "audit.days must be 0, or between \(AuditRetention.minimumDays) and \(AuditRetention.maximumDays) (got \(days))",
                CommandFailure.configuration
            )
        }
        return retention
    }

    /// Returns a setting; nil if it is missing. A setting of the wrong type is an error.
    ///
    /// - Parameter rule: what the setting must be, if it is more than its type.
    static func present<T>(_ key: String, of rule: String? = nil, _ read: (ConfigKey) throws -> T) throws -> T? {
        do { return try read(ConfigKey(key)) } catch {
            // The library's error is not public; its text is.
            if "\(error)".hasPrefix("Missing required") { return nil }
            let variable = "AISLE_" + key.uppercased().replacing(".", with: "_")
            throw CommandFailure(
                rule.map { "\(key) (\(variable)) must be \($0)" }
                    ?? "the setting \(key) (\(variable)) has the wrong type",
                CommandFailure.configuration
            )
        }
    }

    /// The name and value of each setting; secrets only as set or not.
    var listed: [(name: String, value: String)] {
        [
            ("settings file", file ?? "none"), ("host", host), ("port", "\(port)"),
            ("cors.origins", origins.joined(separator: ",")),
            ("image.origins", imageOrigins.map(\.text).joined(separator: ",")), ("pool.size", "\(connections.writes)"),
            ("long.read.connections", "\(connections.longReads)"), ("event.loops", "\(connections.eventLoops)"),
            ("page.connections", "\(connections.pagesPerEventLoop)"),
            ("read.lag.seconds", "\(readLag.components.seconds)"), ("read.workers", "\(readsWorkers)"),
            ("rate.limit", rateLimit.map { "\($0.burst)/\($0.rate)" } ?? "off"),
            ("trusted.proxies", trustedProxies.texts.joined(separator: ",")),
            ("page.cache.mb", "\(pageCacheMegabytes)"), ("shelf.memory", "\(shelfMegabytes)"),
            ("log.level", "\(logLevel)"),
            ("log.format", logFormat.rawValue), ("access.log", "\(logsRequests)"),
            ("slow.request.ms", slowRequest.map { "\($0 / .milliseconds(1))" } ?? "0"), ("admin.host", adminHost),
            ("admin.port", adminPort.map { "\($0)" } ?? "none"),
            ("cursor.key", cursorKey == nil ? "the deployment's" : "set"), ("streams", "\(streamLimit)"),
            ("connections", "\(connectionLimit)"), ("body.memory.mb", "\(bodyMegabytes)"),
            ("listen", "\(listens)"), ("drain.seconds", "\(drain.components.seconds)"),
            ("audit.days", "\(auditRetention.days ?? 0)"),
            (
                "jwt.secret",
                tokens.secret != nil
                    ? "set" : LocalSecret.read() == nil ? "none" : "none; aisle dev uses the one in .aisle/"
            ),
            ("jwt.accepted.secrets", tokens.acceptedSecrets.isEmpty ? "none" : "\(tokens.acceptedSecrets.count) set"),
            ("jwks", tokens.keySet ?? "none"), ("jwks.allow.http", "\(tokens.allowsHTTP)"),
            ("jwt.issuer", tokens.rules.issuer ?? "any"),
            ("jwt.audience", tokens.rules.audiences.isEmpty ? "any" : tokens.rules.audiences.joined(separator: ",")),
        ] + traces.listed
    }
}

/// The command line options of a server.
struct ServerOptions: ParsableArguments {
    @Option(help: "The address to listen on (AISLE_HOST; default 127.0.0.1).")
    var host: String?
    @Option(parsing: .unconditional, help: "The port to listen on, 0 for any free port (AISLE_PORT; default 8080).")
    var port: Int?
    @Option(help: "A JSON file with settings (AISLE_CONFIG; aisle.json if it exists).")
    var config: String?

    func settings() async throws -> ServerSettings { try await ServerSettings(self) }
}
