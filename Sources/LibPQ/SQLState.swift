/// The five-character condition code of a PostgreSQL error.
///
/// Source: PostgreSQL documentation, Appendix A, "PostgreSQL Error Codes".
package struct SQLState: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
    package let rawValue: String

    package init(rawValue: String) { self.rawValue = rawValue }
    package init(_ rawValue: String) { self.rawValue = rawValue }

    /// The two characters that name the class of the condition.
    package var classCode: String { String(rawValue.prefix(2)) }
    package var description: String { rawValue }

    package static let uniqueViolation = SQLState("23505")
    package static let foreignKeyViolation = SQLState("23503")
    package static let serializationFailure = SQLState("40001")
    package static let deadlockDetected = SQLState("40P01")
    package static let queryCanceled = SQLState("57014")
    package static let undefinedTable = SQLState("42P01")
    package static let insufficientPrivilege = SQLState("42501")
    package static let lockNotAvailable = SQLState("55P03")
    package static let internalError = SQLState("XX000")
    package static let readOnlyTransaction = SQLState("25006")

    /// Whether the same transaction may succeed if it is retried.
    package var isRetryable: Bool { self == .serializationFailure || self == .deadlockDetected }

    /// Whether the cause is the server, not the statement: unreachable, starting, stopping, full or out of resources.
    package var meansUnavailable: Bool {
        switch classCode {
        case "08", "53": true
        default: ["57P01", "57P02", "57P03", "25P03", "55P03"].contains(rawValue)
        }
    }
}
