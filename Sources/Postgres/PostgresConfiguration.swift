internal import CLibPQ
internal import Foundation

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
    /// Server settings applied when a connection is made, such as `statement_timeout`.
    package var settings: [String: String]

    package init(
        dsn: String,
        applicationName: String = "aisle",
        connectTimeout: Duration = .seconds(5),
        unacknowledgedTimeout: Duration = .seconds(5),
        settings: [String: String] = [:]
    ) {
        self.dsn = dsn
        self.applicationName = applicationName
        self.connectTimeout = connectTimeout
        self.unacknowledgedTimeout = unacknowledgedTimeout
        self.settings = settings
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
        if !settings.isEmpty {
            // libpq takes one `options` alone; what the deployment asks for has the last word.
            let ours = settings.sorted { $0.key < $1.key }
                .map { "-c \($0.key)=\($0.value.replacing("\\", with: "\\\\").replacing(" ", with: "\\ "))" }
            let theirs = (try? Self.parse(dsn))?["options"] ?? ProcessInfo.processInfo.environment["PGOPTIONS"]
            keywords.append(("options", (ours + [theirs].compactMap { $0 }).joined(separator: " ")))
        }
        return keywords
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

extension Duration {
    /// Whole milliseconds, rounded up.
    package var milliseconds: Int64 {
        components.seconds * 1000 + (components.attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000
    }
}
