internal import Catalog
internal import CatalogPostgres
internal import LibPQ

/// A command's failure: what to say, and the exit code (`sysexits.h`).
struct CommandFailure: Error {
    let message: String
    let code: Int32

    static let failed: Int32 = 1
    static let usage: Int32 = 64
    static let badData: Int32 = 65
    static let noInput: Int32 = 66
    static let unavailable: Int32 = 69
    static let cannotCreate: Int32 = 73
    static let tryAgain: Int32 = 75
    static let denied: Int32 = 77
    static let configuration: Int32 = 78

    init(_ message: String, _ code: Int32) {
        self.message = message
        self.code = code
    }

    /// What any error means to who typed the command.
    init(_ error: any Error) {
        switch error {
        case let failure as CommandFailure: self = failure
        case let error as CatalogError: self.init(catalog: error)
        case let error as PostgresError: self.init(postgres: error)
        case let error as PrivateCluster.Failure: self.init(error.description, Self.unavailable)
        case is CancellationError: self.init("interrupted", 130)
        default: self.init("\(error)", Self.failed)
        }
    }

    private init(catalog error: CatalogError) {
        switch error {
        case .malformed(_, let detail, let allowed, _):
            self.init(allowed.isEmpty ? detail : "\(detail) (\(allowed.joined(separator: ", ")))", Self.usage)
        case .unknownSortKey(let error, _):
            let hint = error.hint.map { "; did you mean \($0)?" } ?? "; keys: \(Sort.allowed.joined(separator: " "))"
            self.init(error.detail + hint, Self.usage)
        case .invalidCursor: self.init("the cursor is not valid here", Self.usage)
        case .notFound(let what): self.init("there is no \(what)", Self.noInput)
        case .unprocessable(_, let detail): self.init(detail, Self.badData)
        case .stale(let current):
            self.init("the order was changed meanwhile; it is at version \(current)", Self.tryAgain)
        case .staleSetting(let current):
            self.init(
                current.map { "the setting was changed meanwhile; it is at revision \($0)" }
                    ?? "there is no such setting",
                Self.tryAgain
            )
        case .staleList(let current):
            self.init("the list was changed meanwhile; it is at version \(current)", Self.tryAgain)
        case .forbidden(let detail): self.init(detail, Self.denied)
        case .tooMany(let detail): self.init(detail, Self.tryAgain)
        case .keyReused: self.init("the key was used with another request", Self.usage)
        case .tooLarge(let detail): self.init(detail, Self.badData)
        case .conflict(let detail): self.init(detail, Self.tryAgain)
        case .unavailable: self.init("the database is away or busy", Self.unavailable)
        case .readOnly: self.init("the database is read-only; name the primary server", Self.unavailable)
        case .cancelled: self.init("interrupted", 130)
        case .fault(let text): self.init("a fault of the program: \(text)", Self.failed)
        }
    }

    private init(postgres error: PostgresError) {
        let text = error.message.split(separator: "\n").first.map(String.init) ?? error.kind.rawValue
        if error.sqlState == .insufficientPrivilege || error.sqlState?.classCode == "28" {
            self.init("the database denies it: \(text)", Self.denied)
        } else if error.meansUnavailable {
            self.init("the database is away: \(text)", Self.unavailable)
        } else if error.isRetryable {
            self.init("somebody else was changing the same; try again", Self.tryAgain)
        } else if error.kind == .misuse {
            self.init(text, Self.configuration)
        } else if error.sqlState == .undefinedTable {
            self.init("the database has no schema of aisle's; run: aisle db migrate", Self.configuration)
        } else {
            self.init("the database says: \(text)", Self.failed)
        }
    }
}
