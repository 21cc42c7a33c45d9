/// Server settings for a single transaction.
///
/// Behind a transaction pooler, a session's `SET` would affect other clients, and startup
/// `options` are rejected. Therefore every transaction starts with a statement that applies the settings to itself. Only the session of a
/// direct connection of a pipeline has the settings.
struct TransactionSettings: Sendable {
    /// The statement that applies all settings; its only parameter is the statement timeout. nil without settings.
    let statement: PostgresStatement?
    private let values: [String: String]
    private let ofExtension: ExtensionSettings?

    /// - Parameters:
    ///   - settings: names and values; trusted text.
    ///   - ofExtension: those that replace them on a server with an extension.
    ///   - excluded: names that are already set on the connection.
    init(
        _ settings: [String: String],
        _ ofExtension: ExtensionSettings? = nil,
        excluding excluded: Set<String> = []
    ) {
        values = settings.filter { !excluded.contains($0.key) }
        self.ofExtension = ofExtension.map {
            ExtensionSettings(marker: $0.marker, settings: $0.settings.filter { !excluded.contains($0.key) })
        }
        guard !values.isEmpty else {
            statement = nil
            return
        }
        var calls = Self.calls(values.filter { $0.key != "statement_timeout" }, self.ofExtension, isLocal: true)
        if !excluded.contains("statement_timeout") { calls.append("set_config('statement_timeout', $1, true)") }
        statement = PostgresStatement("SELECT \(calls.joined())", name: "TransactionSettings")
    }

    /// Returns the calls that apply settings to the transaction or the session, by name.
    private static func calls(
        _ settings: [String: String],
        _ ofExtension: ExtensionSettings?,
        isLocal: Bool
    ) -> [SQL] {
        let scope: SQL = isLocal ? "true" : "false"
        func call(_ name: String, _ value: SQL) -> SQL { "set_config(\(literal: name), \(value), \(scope))" }
        let others = ofExtension?.settings ?? [:]
        return Set(settings.keys).union(others.keys).sorted().map { name in
            guard let ofExtension, let other = others[name] else { return call(name, "\(literal: settings[name]!)") }
            let isMissing: SQL = "current_setting(\(literal: ofExtension.marker), true) IS NULL"
            return if let value = settings[name] {
                call(name, "CASE WHEN \(isMissing) THEN \(literal: value) ELSE \(literal: other) END")
            } else {
                "CASE WHEN \(isMissing) THEN NULL ELSE \(call(name, "\(literal: other)")) END"
            }
        }
    }

    /// - Parameter deadline: the deadline of the transaction; the server cancels a statement that is still running then.
    func parameters(until deadline: ContinuousClock.Instant?) -> [PostgresValue] {
        guard let deadline else { return [.text(values["statement_timeout"] ?? "0")] }
        return [.text("\(max(1, ContinuousClock.now.duration(to: deadline).milliseconds))ms")]
    }

    /// Returns a script that applies the settings to the session, and returns a row, if the server process has the given id;
    /// nil without settings.
    func session(ofProcess id: Int32) -> String? {
        guard statement != nil else { return nil }
        let script: SQL = "SELECT \(Self.calls(values, ofExtension, isLocal: false).joined())"
        return "\(script.text) WHERE pg_backend_pid() = \(id)"
    }

    /// The value of a setting; nil if it is not set.
    subscript(name: String) -> String? { values[name] }
}

/// Settings that apply only on a server that has loaded an extension.
package struct ExtensionSettings: Sendable, Hashable {
    /// The name of a setting that only the extension defines; trusted text.
    package let marker: String
    /// Names and values; trusted text. They replace other settings of the same name.
    package let settings: [String: String]

    package init(marker: String, settings: [String: String]) {
        (self.marker, self.settings) = (marker, settings)
    }
}
