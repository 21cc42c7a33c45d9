internal import JSON
internal import ArgumentParser
internal import Catalog
internal import CatalogJSON
internal import CatalogPostgres

struct AuditCommand: AisleCommand {
    static let configuration = CommandConfiguration(
        commandName: "audit",
        abstract: "Show the audit log of a store or a user, the latest change first.",
        discussion: """
            Each line says who changed what, when, from where and by which token. json and ndjson have the entries of \
            the API. The log of a user also has the user's erasures, without the user.
            """
    )

    @Argument(help: "The store's key; not needed if there is only one store.") var store: StoreName?
    @OptionGroup var database: DatabaseOptions
    @Option(help: "Show the log of a user's own data, not of a store.") var user: UserID?
    @Option(help: "The first time: an age such as 24h or 7d, or a time such as 2026-03-01T08:00:00Z.")
    var since: Moment?
    @Option(help: "The first later time that is not shown, in the same forms.") var until: Moment?
    @Option(help: "Only this kind of change, such as prices.set.") var action: AuditAction?
    @Option(help: "Only changes by this user.") var actor: String?
    @Option(help: "Only changes of this product, shelf, setting or list alone.") var subject: String?
    @Option(help: "The maximum number of entries.") var limit = 50
    @Option(help: "The output format; table on a terminal, otherwise tsv.") var format: OutputFormat?

    /// The maximum number of entries.
    private static let maximumLimit = 1_000_000
    /// The number of entries that are read at once.
    private static let pageSize = 1000

    func validate() throws {
        guard user == nil || store == nil else { throw ValidationError("specify a store or --user, not both") }
        guard (1...Self.maximumLimit).contains(limit) else {
            throw ValidationError("--limit must be between 1 and \(Self.maximumLimit)")
        }
        guard action.map({ $0.concernsUser == (user != nil) }) ?? true else {
            let allowed = (user == nil ? AuditAction.ofStores : AuditAction.ofUsers).map(\.rawValue)
            throw ValidationError("--action must be one of \(allowed.joined(separator: ", "))")
        }
    }

    func execute() async throws {
        try await database.withCatalog { catalog in
            var request = AuditRequest(
                try await log(catalog),
                since: since?.time,
                until: until?.time,
                action: action,
                actor: actor,
                subject: subject
            )
            var entries: [AuditEntry] = []
            repeat {
                request.limit = min(limit - entries.count, Self.pageSize)
                let page = try await self.page(request, catalog)
                entries += page.entries
                request.after = page.next
            } while request.after != nil && entries.count < limit
            Self.show(entries, .resolve(format))
        }
    }

    private func log(_ catalog: PostgresCatalog) async throws -> AuditRequest.Log {
        if let user { return .user(user) }
        guard let store else { return .store(try await StoreName.resolve(nil, catalog)) }
        // Do not resolve it: a deleted store has a log, too.
        return .store(try store.key)
    }

    private func page(_ request: AuditRequest, _ catalog: PostgresCatalog) async throws -> AuditPage {
        do throws(CatalogError) { return try await catalog.audit.audit(request) } catch {
            // For a suggestion.
            if case .notFound = error { _ = try await StoreName.resolve(store, catalog) }
            throw error
        }
    }

    private static func show(_ entries: [AuditEntry], _ format: OutputFormat) {
        switch format {
        case .json: Console.data(JSONWriter.document { $0.array(entries) { $1.write(to: &$0) } } + Array("\n".utf8))
        case .ndjson:
            for entry in entries { Console.data(JSONWriter.document { entry.write(to: &$0) } + Array("\n".utf8)) }
        case .table, .tsv, .csv:
            var table = Table(columns: [
                .init(title: "at"), .init(title: "action"), .init(title: "subject"), .init(title: "actor"),
                .init(title: "source"), .init(title: "address"), .init(title: "token"), .init(title: "request_id"),
                .init(title: "detail"),
            ])
            for entry in entries {
                let origin = entry.origin
                table.rows.append([
                    entry.at.rfc3339, entry.action, entry.subject, origin.actor, origin.source.rawValue,
                    origin.address, origin.token, origin.requestID, entry.detail,
                ])
            }
            table.print(format)
        }
    }
}
