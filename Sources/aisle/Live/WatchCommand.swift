internal import ArgumentParser
internal import Catalog
internal import Live
internal import CatalogJSON
internal import CatalogPostgres

struct WatchCommand: AisleCommand {
    static let configuration = CommandConfiguration(
        commandName: "watch",
        abstract: "Print changes to a user's settings or a shelf's order, one event per line, until Ctrl-C."
    )

    @OptionGroup var database: DatabaseOptions
    @Option(help: "The user whose changes to print.") var user: UserID?
    @Option(help: "STORE/SHELF, or just SHELF if there is only one store.") var shelf: ShelfName?
    @Option(parsing: .unconditional, help: "The sort; defaults to the shelf's sort.") var by: String?
    @Option(parsing: .unconditional, help: "The number of products to watch.") var limit: Int?
    @Flag(
        inversion: .prefixedNo,
        help: "Whether to watch one card for each group of products; by default, the shelf decides."
    )
    var collapse: Bool?
    @Option(parsing: .unconditional, help: "Start after this revision of the user, or at this version of the shelf.")
    var since: Int64?

    func validate() throws {
        guard (user == nil) != (shelf == nil) else { throw ValidationError("specify either --user or --shelf") }
        guard user == nil || (by == nil && limit == nil && collapse == nil) else {
            throw ValidationError("--by, --limit and --collapse require --shelf")
        }
        guard limit.map({ PageRequest.limits.contains($0) }) ?? true else {
            throw ValidationError("--limit must be \(PageRequest.limitRule)")
        }
    }

    func execute() async throws {
        let sort = try by.map { text in try parseSort(text) }
        try await database.withCatalog { catalog in
            let start = since.map { SubscriptionStart.after($0) } ?? .now
            let live = LiveHub(
                pages: catalog.pages,
                versions: catalog.versions,
                source: PostgresChangeSource(try database.directConfiguration())
            )
            let changes: any LiveSubscription
            if let user {
                changes = try await live.subscribe(user, from: start)
            } else {
                let (store, key) = try await shelf!.resolve(catalog)
                changes = try await live.subscribe(
                    ShelfAddress(store, key),
                    by: sort,
                    collapsesGroups: collapse,
                    limit: limit ?? PageRequest.defaultLimit,
                    from: start
                )
            }
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { await live.run() }
                defer { group.cancelAll() }
                while let output = try await changes.next() {
                    guard case .events(let events) = output else { continue }
                    for event in events {
                        Console.data(Array("\(event.name.rawValue) \(event.id) ".utf8) + event.data + [0x0A])
                    }
                }
                // Ended by Ctrl-C, not by the shelf.
                try Task.checkCancellation()
            }
        }
    }
}
