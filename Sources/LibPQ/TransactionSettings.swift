/// Server settings for a single transaction.
///
/// Behind a transaction pooler, a session's `SET` would affect other clients, and startup
/// `options` are rejected. Therefore every transaction starts with a statement that applies the settings to itself. Only the session of a
/// direct connection of a pipeline has the settings.
struct TransactionSettings: Sendable {
    /// The statement that applies all settings; its only parameter is the statement timeout. nil without settings.
    let statement: PostgresStatement?
    private let values: [String: String]

    /// - Parameters:
    ///   - settings: names and values; trusted text.
    ///   - excluded: names that are already set on the connection.
    init(_ settings: [String: String], excluding excluded: Set<String> = []) {
        let kept = settings.filter { !excluded.contains($0.key) }
        values = kept
        guard !kept.isEmpty else {
            statement = nil
            return
        }
        var calls: [SQL] = kept.sorted { $0.key < $1.key }.filter { $0.key != "statement_timeout" }
            .map { "set_config(\(literal: $0.key), \(literal: $0.value), true)" }
        if !excluded.contains("statement_timeout") { calls.append("set_config('statement_timeout', $1, true)") }
        statement = PostgresStatement("SELECT \(calls.joined())", name: "TransactionSettings")
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
        let calls: [SQL] = values.sorted { $0.key < $1.key }
            .map { "set_config(\(literal: $0.key), \(literal: $0.value), false)" }
        let script: SQL = "SELECT \(calls.joined())"
        return "\(script.text) WHERE pg_backend_pid() = \(id)"
    }

    /// The value of a setting; nil if it is not set.
    subscript(name: String) -> String? { values[name] }
}
