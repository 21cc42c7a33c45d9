internal import CLibPQ
internal import Platform

/// Why a call on a connection, a pool or a pipeline failed.
///
/// `description` is safe to log anywhere: it names the kind and the SQLSTATE, never the server's text, which may quote
/// data. `debugDescription` has everything.
package struct PostgresError: Error, Sendable {
    package enum Kind: String, Sendable {
        /// The server answered with an error; `sqlState` says which.
        case server
        /// The connection broke, or could not be made. What was in flight may or may not have happened.
        case connection
        /// The pool or pipeline had no room before the deadline, or was shut down.
        case exhausted
        /// The calling task was cancelled.
        case cancelled
        /// The call's deadline passed.
        case deadline
        /// A column did not hold what was asked of it.
        case decoding
        /// The calling code broke a rule: a value with a NUL byte, a COPY out of order.
        case misuse
    }

    package let kind: Kind
    package let sqlState: SQLState?
    /// The name of the violated constraint, where the server names one.
    package let constraint: String?
    /// The server's or the library's own words; may quote data. Never shown to clients.
    package let message: String
    /// Set when a COMMIT was sent and no answer came: the transaction may have been committed.
    package var commitIsUncertain = false

    package init(_ kind: Kind, _ message: String, sqlState: SQLState? = nil, constraint: String? = nil) {
        self.kind = kind
        self.message = message
        self.sqlState = sqlState
        self.constraint = constraint
    }

    /// Whether the database is away or out of resources, as against a statement that is wrong.
    package var meansUnavailable: Bool {
        switch kind {
        case .connection, .exhausted, .deadline: true
        case .server: sqlState?.meansUnavailable ?? false
        case .cancelled, .decoding, .misuse: false
        }
    }

    /// Whether the same transaction may succeed when it is simply run again.
    package var isRetryable: Bool { kind == .server && sqlState?.isRetryable == true }
}

extension PostgresError: CustomStringConvertible, CustomDebugStringConvertible {
    package var description: String {
        sqlState.map { "PostgresError(\(kind.rawValue), SQLSTATE \($0))" } ?? "PostgresError(\(kind.rawValue))"
    }

    package var debugDescription: String {
        "PostgresError(\(kind.rawValue), SQLSTATE \(sqlState?.rawValue ?? "none"), "
            + "constraint \(constraint ?? "none"): \(message))"
    }
}

extension PostgresError {
    /// What a failed result says. The text is copied at once: libpq reuses it.
    init(result: OpaquePointer) {
        func field(_ code: Character) -> String? {
            PQresultErrorField(result, Int32(code.asciiValue!)).map { String(cString: $0) }
        }
        self.init(
            .server,
            PQresultErrorMessage(result).map { String(cString: $0) } ?? "",
            sqlState: field("C").map(SQLState.init(rawValue:)),
            constraint: field("n")
        )
    }

    init(_ error: OSThreadError) { self.init(.exhausted, error.description) }

    /// What a connection says after a call on it failed.
    static func lost(_ connection: OpaquePointer) -> PostgresError {
        PostgresError(.connection, String(cString: PQerrorMessage(connection)))
    }
}
