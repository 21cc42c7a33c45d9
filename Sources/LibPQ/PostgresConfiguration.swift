internal import CLibPQ
internal import FoundationEssentials

/// The configuration of a connection: a connection string or URL, on top of libpq's environment and defaults.
package struct PostgresConfiguration: Sendable {
    /// The connection string, `postgresql://…` or `keyword=value …`; empty for libpq's environment and defaults.
    package var dsn: String
    /// The name in `pg_stat_activity`.
    package var applicationName: String
    /// The connection timeout; libpq uses whole seconds, at least two.
    package var connectTimeout: Duration
    /// Server settings that each transaction applies, such as `lock_timeout`. Settings in the connection
    /// string's `options` take precedence.
    package var settings: [String: String]
    /// Settings that replace these on a server with an extension.
    package var extensionSettings: ExtensionSettings?
    /// Whether statements are prepared under names, and how many transactions may be in flight.
    package var statements: PreparedStatements
    /// The maximum number of statements that a connection prepares under names.
    package var statementLimit = 256
    /// The names of statements in logs and traces.
    package var statementNames: StatementNames

    package init(
        dsn: String,
        applicationName: String = "aisle",
        connectTimeout: Duration = .seconds(5),
        settings: [String: String] = [:],
        extensionSettings: ExtensionSettings? = nil,
        statements: PreparedStatements = .named,
        statementNames: StatementNames = .none
    ) {
        self.dsn = dsn
        self.applicationName = applicationName
        self.connectTimeout = connectTimeout
        self.settings = settings
        self.extensionSettings = extensionSettings
        self.statements = statements
        self.statementNames = statementNames
    }

    /// Returns libpq's keywords, where later ones override earlier ones.
    func connectionKeywords(
        in environment: [String: String] = ProcessInfo.processInfo.environment
    ) -> [(key: String, value: String)] {
        var keywords = [
            ("client_encoding", "UTF8"), ("fallback_application_name", applicationName),
            ("connect_timeout", String(max(2, connectTimeout.components.seconds))),
            // Ends a connection whose data is not acknowledged, for example on a dead route.
            ("tcp_user_timeout", "5000"),
            ("keepalives_idle", "10"), ("keepalives_interval", "5"), ("keepalives_count", "3"),
        ]
        // libpq's default, prefer, asks the library of Kerberos for credentials at each connect. Its exit handler aborts the program if a
        // connection is established meanwhile.
        // A service file may choose another mode; it would not override a keyword.
        let usesService = environment["PGSERVICE"] != nil || (try? Self.parse(dsn))?["service"] != nil
        if environment["PGGSSENCMODE"] == nil, !usesService { keywords.append(("gssencmode", "disable")) }
        if !dsn.isEmpty { keywords.append(("dbname", dsn)) }
        return keywords
    }

    /// The number of statements that a connection prepares under names; 0 without names.
    var statementCapacity: Int { statements == .named ? statementLimit : 0 }

    /// The maximum number of transactions in flight on a connection: the current one, and the next one for the server.
    var inFlightLimit: Int { statements == .named ? 2 : 1 }

    /// The settings of each transaction.
    var transactionSettings: TransactionSettings {
        let options = (try? Self.parse(dsn))?["options"] ?? ProcessInfo.processInfo.environment["PGOPTIONS"] ?? ""
        return TransactionSettings(settings, extensionSettings, excluding: Self.settingNames(options))
    }

    /// Returns the names of settings in server options: `-c name=value`, `-cname=value` or `--name=value`.
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

    /// Returns the configuration for another database on the same server.
    package func database(_ name: String) throws(PostgresError) -> PostgresConfiguration {
        try changing { $0["dbname"] = name }
    }

    /// Returns the configuration for the same database and user on another server.
    package func server(host: String, port: Int) throws(PostgresError) -> PostgresConfiguration {
        try changing { parts in
            // Values that are empty or defaults, so that neither the environment nor a service file replaces them.
            (parts["host"], parts["hostaddr"], parts["port"]) = (host, "", String(port))
            parts["target_session_attrs"] = "any"
            parts["load_balance_hosts"] = nil
        }
    }

    private func changing(_ change: (inout [String: String]) -> Void) throws(PostgresError) -> PostgresConfiguration {
        var copy = self
        var parts = try Self.parse(dsn)
        change(&parts)
        copy.dsn = parts.sorted { $0.key < $1.key }.map { "\($0.key)='\(quoted($0.value))'" }.joined(separator: " ")
        return copy
    }

    /// Parses a connection string into keywords and values.
    ///
    /// - Throws: kind `misuse` if it is invalid. The message never repeats the string, which may contain a password.
    package static func parse(_ dsn: String) throws(PostgresError) -> [String: String] {
        guard let options = PQconninfoParse(dsn, nil) else {
            throw PostgresError(.misuse, "invalid connection string")
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
    /// The duration in whole milliseconds, rounded up.
    package var milliseconds: Int64 {
        components.seconds * 1000 + (components.attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000
    }
}
