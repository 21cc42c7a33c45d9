internal import CLibPQ
internal import FoundationEssentials

/// How to reach a server: a connection string or URL over libpq's own environment and defaults.
package struct PostgresConfiguration: Sendable {
    /// `postgresql://…` or `keyword=value …`, as libpq reads it; empty for libpq's environment and defaults.
    package var dsn: String
    /// What the server shows in `pg_stat_activity`.
    package var applicationName: String
    /// Bounds the making of a connection; libpq counts whole seconds, two at least.
    package var connectTimeout: Duration
    /// Bounds how long unacknowledged data may hang on a dead route (`tcp_user_timeout`).
    package var unacknowledgedTimeout: Duration
    /// Server settings that each transaction applies to itself, such as `lock_timeout`. A setting that the connection
    /// string's own `options` name is left to them.
    package var settings: [String: String]
    /// Whether statements are prepared under names.
    package var statements: PreparedStatements

    package init(
        dsn: String,
        applicationName: String = "aisle",
        connectTimeout: Duration = .seconds(5),
        unacknowledgedTimeout: Duration = .seconds(5),
        settings: [String: String] = [:],
        statements: PreparedStatements = .named
    ) {
        self.dsn = dsn
        self.applicationName = applicationName
        self.connectTimeout = connectTimeout
        self.unacknowledgedTimeout = unacknowledgedTimeout
        self.settings = settings
        self.statements = statements
    }

    /// libpq's keywords in the order in which they override each other.
    var connectionKeywords: [(key: String, value: String)] {
        var keywords = [
            ("client_encoding", "UTF8"), ("fallback_application_name", applicationName),
            ("connect_timeout", String(max(2, connectTimeout.components.seconds))),
            ("tcp_user_timeout", String(unacknowledgedTimeout.milliseconds)),
            ("keepalives_idle", "10"), ("keepalives_interval", "5"), ("keepalives_count", "3"),
        ]
        if !dsn.isEmpty { keywords.append(("dbname", dsn)) }
        return keywords
    }

    /// The settings of each transaction.
    var transactionSettings: TransactionSettings {
        let options = (try? Self.parse(dsn))?["options"] ?? ProcessInfo.processInfo.environment["PGOPTIONS"] ?? ""
        return TransactionSettings(settings, excluding: Self.settingNames(options))
    }

    /// The settings that a server's command-line options name: `-c name=value`, `-cname=value` or `--name=value`.
    static func settingNames(_ options: String) -> Set<String> {
        var names: Set<String> = []
        var expectsName = false
        for word in options.split(separator: " ") {
            var rest = word
            if word.hasPrefix("--") {
                rest = word.dropFirst(2)
            } else if word.hasPrefix("-c") {
                rest = word.dropFirst(2)
                expectsName = rest.isEmpty
                if expectsName { continue }
            } else if !expectsName {
                continue
            }
            expectsName = false
            names.insert(rest.prefix { $0 != "=" }.replacing("-", with: "_").lowercased())
        }
        return names
    }

    /// The same server, another database of it.
    package func database(_ name: String) throws(PostgresError) -> PostgresConfiguration {
        var copy = self
        var parts = try Self.parse(dsn)
        parts["dbname"] = name
        copy.dsn = parts.sorted { $0.key < $1.key }.map { "\($0.key)='\(quoted($0.value))'" }.joined(separator: " ")
        return copy
    }

    /// A connection string's keywords and values.
    ///
    /// - Throws: kind `misuse`, where libpq cannot read it. The message never repeats the string: it may hold a password.
    package static func parse(_ dsn: String) throws(PostgresError) -> [String: String] {
        guard let options = PQconninfoParse(dsn, nil) else {
            throw PostgresError(.misuse, "the connection string cannot be read")
        }
        defer { PQconninfoFree(options) }
        var parts: [String: String] = [:]
        var option = options
        while let keyword = option.pointee.keyword {
            if let value = option.pointee.val { parts[String(cString: keyword)] = String(cString: value) }
            option += 1
        }
        return parts
    }

    private func quoted(_ value: String) -> String {
        value.replacing("\\", with: "\\\\").replacing("'", with: "\\'")
    }
}

/// How statements reach the server.
package enum PreparedStatements: String, Sendable {
    /// Prepared once under a name. A pooler that lends connections by the transaction must follow prepared statements, as
    /// PgBouncer does from 1.21 on.
    case named
    /// Sent whole each time, for poolers that do not follow prepared statements.
    case unnamed

    /// How many names a connection has at most.
    var capacity: Int { self == .named ? 256 : 0 }
}

extension Duration {
    /// Whole milliseconds, rounded up.
    package var milliseconds: Int64 {
        components.seconds * 1000 + (components.attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000
    }
}
