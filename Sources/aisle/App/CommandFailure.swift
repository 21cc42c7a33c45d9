internal import Catalog
internal import CatalogPostgres
internal import LibPQ
internal import LocalPostgres

/// A command's failure: its message and exit code (`sysexits.h`).
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

    /// Maps any error to a message and exit code.
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

    /// Says that something does not exist, and what was probably meant; otherwise, the command that lists what exists.
    static func missing(_ kind: String, _ name: String, among names: [String], list: String) -> CommandFailure {
        let remedy = name.closest(among: names).map { "did you mean \($0)?" } ?? "list them with: \(list)"
        return CommandFailure("\(kind) “\(name)” does not exist; \(remedy)", noInput)
    }

    private init(catalog error: CatalogError) {
        switch error {
        case .malformed(_, let detail, let allowed, _):
            self.init(allowed.isEmpty ? detail : "\(detail) (\(allowed.joined(separator: ", ")))", Self.usage)
        case .unknownSortKey(let error, _):
            let hint = error.hint.map { "; did you mean \($0)?" } ?? "; keys: \(error.allowed.joined(separator: " "))"
            self.init(error.detail + hint, Self.usage)
        case .unknownFilter(let error):
            let hint =
                error.hint.map { "; did you mean \($0)?" } ?? "; filters: \(error.allowed.joined(separator: " "))"
            self.init(error.detail + hint, Self.usage)
        case .invalidCursor: self.init("invalid cursor", Self.usage)
        case .notFound, .unknownStores: self.init(error.reason, Self.noInput)
        // A repetition would fail again.
        case .unprocessable, .tooLarge, .conflict: self.init(error.reason, Self.badData)
        case .inUse(let name, let uses):
            self.init(
                "attribute “\(name)” is in use: \(uses.description); nothing was changed, confirm with --yes",
                Self.badData
            )
        case .stale(let current):
            self.init("the order has changed; check it, and repeat with --if-version \(current)", Self.tryAgain)
        case .staleSetting(let current):
            self.init(
                current.map {
                    "the setting has changed; read it, and repeat the change (the current revision is \($0))"
                }
                    ?? "the setting does not exist",
                Self.tryAgain
            )
        case .staleList(let current):
            self.init(
                "the list has changed; read it, and repeat the change (the current version is \(current))",
                Self.tryAgain
            )
        case .staleAttribute: self.init("the attribute has changed; read it, and repeat the change", Self.tryAgain)
        case .staleSynonyms: self.init("the synonyms have changed; read them, and repeat the change", Self.tryAgain)
        case .forbidden: self.init(error.reason, Self.denied)
        case .tooMany: self.init(error.reason, Self.tryAgain)
        case .keyReused: self.init("the idempotency key was used for a different request", Self.usage)
        case .unavailable: self.init("the database is unreachable or overloaded", Self.unavailable)
        case .readOnly: self.init("the database is read-only; connect to the primary server", Self.unavailable)
        case .cancelled: self.init("interrupted", 130)
        case .fault(let text): self.init("internal error: \(text)", Self.failed)
        }
    }

    private init(postgres error: PostgresError) {
        let text = error.message.split(separator: "\n").first.map(String.init) ?? error.kind.rawValue
        if error.sqlState == .insufficientPrivilege || error.sqlState?.classCode == "28" {
            self.init("permission denied by the database: \(text)", Self.denied)
        } else if error.meansUnavailable {
            self.init("the database is unreachable: \(text)", Self.unavailable)
        } else if error.isRetryable {
            self.init("conflicting concurrent change; try again", Self.tryAgain)
        } else if error.kind == .misuse {
            self.init(text, Self.configuration)
        } else if error.sqlState == .undefinedTable {
            self.init("the database has no aisle schema; run: aisle db migrate", Self.configuration)
        } else {
            self.init("database error: \(text)", Self.failed)
        }
    }
}
