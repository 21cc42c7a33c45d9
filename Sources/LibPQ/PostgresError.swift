internal import CLibPQ
internal import Platform

/// An error of a connection, pool or pipeline.
///
/// `description` is safe to log: it contains the kind and the SQLSTATE, never the server's text, which may quote
/// data. `debugDescription` contains everything.
package struct PostgresError: Error, Sendable {
    package enum Kind: String, Sendable {
        /// The server returned an error, identified by `sqlState`.
        case server
        /// The connection broke or could not be established. Statements in flight may or may not have run.
        case connection
        /// The pool or pipeline had no capacity before the deadline, or was shut down.
        case exhausted
        /// The calling task was cancelled.
        case cancelled
        /// The call's deadline passed.
        case deadline
        /// A column did not have the expected type or value.
        case decoding
        /// A block found that a concurrent transaction changed what it had read: its transaction must run again.
        case conflict
        /// The caller violated a rule, such as a value with a NUL byte or a COPY out of order.
        case misuse
    }

    package let kind: Kind
    package let sqlState: SQLState?
    /// The name of the violated constraint, if the server reports one.
    package let constraint: String?
    /// The message of the server or the library. It may quote data and must never be shown to clients.
    package let message: String
    /// Whether a COMMIT was sent without a response: the transaction may have been committed.
    package var commitIsUncertain = false

    package init(_ kind: Kind, _ message: String, sqlState: SQLState? = nil, constraint: String? = nil) {
        self.kind = kind
        self.message = message
        self.sqlState = sqlState
        self.constraint = constraint
    }

    /// Whether the database is unreachable or out of resources, as opposed to an invalid statement.
    package var meansUnavailable: Bool {
        switch kind {
        case .connection, .exhausted, .deadline: true
        case .server: sqlState?.meansUnavailable == true || isLossOfWorker
        case .cancelled, .conflict, .decoding, .misuse: false
        }
    }

    /// Whether Citus has lost the connection to a worker in a transaction or during its commit, for which it has no SQLSTATE.
    private var isLossOfWorker: Bool {
        sqlState == .internalError && Self.lossesOfWorkers.contains { message.hasPrefix($0) }
    }

    /// The beginnings of messages: those of Citus, and those of libpq, with which Citus connects to workers.
    private static let lossesOfWorkers = [
        "failure on connection marked as essential", "could not commit transaction for shard",
        "failed to prepare transaction", "postmaster was shut down, exiting",
        "server closed the connection unexpectedly", "could not receive data from server",
        "could not send data to server",
        "no connection to the server", "connection not open", "SSL SYSCALL error",
        "SSL connection has been closed unexpectedly",
    ]

    /// Whether the server, or a server that it depends on, took too long.
    var isTimeout: Bool { kind == .deadline || sqlState == .queryCanceled }

    /// Whether a lock was not granted in time.
    package var isLockTimeout: Bool { sqlState == .lockNotAvailable }

    /// Whether the same transaction may succeed if it is retried.
    package var isRetryable: Bool { kind == .conflict || sqlState?.isRetryable == true }
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
    /// Creates the error of a failed result. The text is copied immediately, because libpq reuses the buffer.
    init(result: OpaquePointer) {
        func field(_ code: Character) -> String? {
            PQresultErrorField(result, Int32(code.asciiValue!)).map { String(cString: $0) }
        }
        self.init(
            .server,
            // Without the detail and the context, which quote rows.
            field("M") ?? PQresultErrorMessage(result).map { String(cString: $0) } ?? "",
            sqlState: field("C").map(SQLState.init(rawValue:)),
            constraint: field("n")
        )
    }

    init(_ error: OSThreadError) { self.init(.exhausted, error.description) }
}

/// A notification from a listener.
package enum PostgresNotice: Sendable, Equatable {
    /// Listening started or resumed: earlier notifications were missed.
    case gap
    case notification(channel: String, payload: String)
    /// The connection was lost; a `gap` follows after reconnecting.
    case lost
}
