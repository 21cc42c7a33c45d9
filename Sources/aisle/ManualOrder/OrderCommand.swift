internal import ArgumentParser
internal import Catalog
internal import CatalogPostgres

struct OrderCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "order",
        abstract: "Set, snapshot, undo, list and compact manual orders.",
        subcommands: [Set.self, Snapshot.self, Undo.self, Log.self, Compact.self]
    )

    struct Set: AisleCommand {
        static let configuration = CommandConfiguration(
            abstract:
                "Set the whole order from a file with one id per line; other products follow in their current order."
        )
        @Argument(help: "STORE/SHELF, or just SHELF if there is only one store.") var shelf: ShelfName
        @Argument(help: "The file, or - for standard input.") var file: String
        @OptionGroup var options: OrderEditOptions
        func execute() async throws { try await options.run(shelf, .set(try InputFile.ids(file))) }
    }

    struct Snapshot: AisleCommand {
        static let configuration = CommandConfiguration(
            commandName: "snapshot",
            abstract: "Copy a sort's current order into the manual order.",
            // The name in 0.1.
            aliases: ["bake"]
        )
        @Argument(help: "STORE/SHELF, or just SHELF if there is only one store.") var shelf: ShelfName
        @Option(parsing: .unconditional, help: "The sort, such as -popularity.") var from: String
        @OptionGroup var options: OrderEditOptions
        func execute() async throws { try await options.run(shelf, .snapshot(try parseSort(from))) }
    }

    struct Undo: AisleCommand {
        static let configuration = CommandConfiguration(
            abstract: "Undo the last change.",
            discussion: "To redo a change, undo its undo: --change N."
        )
        @Argument(help: "STORE/SHELF, or just SHELF if there is only one store.") var shelf: ShelfName
        @Option(
            parsing: .unconditional,
            help: "The number of the change, from aisle order log; the last change by default."
        ) var change: Int64?
        @OptionGroup var options: OrderEditOptions
        func execute() async throws { try await options.run(shelf, .undo(change: change)) }
    }

    struct Log: AisleCommand {
        static let configuration = CommandConfiguration(abstract: "List recent changes, the latest first.")
        @Argument(help: "STORE/SHELF, or just SHELF if there is only one store.") var shelf: ShelfName
        @OptionGroup var database: DatabaseOptions
        @Option(help: "The output format; table on a terminal, otherwise tsv.") var format: OutputFormat?
        func execute() async throws {
            try await database.withCatalog { catalog in
                let (store, key) = try await shelf.resolve(catalog)
                var table = Table(columns: [
                    .init(title: "change", isNumber: true), .init(title: "at"), .init(title: "who"),
                    .init(title: "kind"),
                    .init(title: "moved", isNumber: true), .init(title: "ids"), .init(title: "undoes", isNumber: true),
                    .init(title: "undone_by", isNumber: true),
                ])
                for change in try await catalog.manualOrder.orderHistory(store, key) {
                    let ids = change.ids.joined(separator: " ") + (change.count > change.ids.count ? " …" : "")
                    table.rows.append([
                        "\(change.number)", change.at.rfc3339, change.subject, change.kind.rawValue, "\(change.count)",
                        ids,
                        change.undoes.map { "\($0)" }, change.undoneBy.map { "\($0)" },
                    ])
                }
                table.print(.resolve(format))
            }
        }
    }

    struct Compact: AisleCommand {
        static let configuration = CommandConfiguration(
            abstract: "Compact long ordering keys. Orders do not change."
        )
        @Argument(help: "STORE/SHELF, or just SHELF if there is only one store.") var shelf: ShelfName?
        @Flag(help: "Every shelf of every store.") var all = false
        @OptionGroup var database: DatabaseOptions
        func execute() async throws {
            guard all != (shelf != nil) else {
                throw CommandFailure("specify a shelf or --all", CommandFailure.usage)
            }
            try await database.withCatalog { catalog in
                let place = try await shelf?.resolve(catalog)
                let written = try await ManualOrderCompaction(catalog).run(store: place?.0, shelf: place?.1)
                Console.note("rewrote \(written) keys")
            }
        }
    }
}
