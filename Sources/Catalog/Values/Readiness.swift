/// The readiness of a server.
package enum Readiness: Sendable, Equatable {
    /// The server accepts reads and writes.
    case ready
    /// The server accepts reads only: the database is a standby, or read-only.
    case readOnly
    case unavailable

    /// The purpose for which a client needs a server.
    package enum Purpose: String, CaseIterable, Sendable {
        case reads, writes
    }

    package func allows(_ purpose: Purpose) -> Bool {
        switch self {
        case .ready: true
        case .readOnly: purpose == .reads
        case .unavailable: false
        }
    }
}

/// A source of the storage's readiness.
package protocol ReadinessSource: Sendable {
    /// Returns the current readiness. A database with another schema version is unavailable.
    func readiness() async -> Readiness
}
