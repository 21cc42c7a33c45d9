internal import ArgumentParser
internal import Catalog
internal import CatalogPostgres
internal import FoundationEssentials

/// What every command that changes a manual order has.
struct OrderEditOptions: ParsableArguments {
    @OptionGroup var database: DatabaseOptions
    @Flag(help: "Only tell what would be done.") var dryRun = false
    @Option(help: "Only if the order is still of this version.") var ifVersion: Int64?
    @Option(help: "table, tsv, json, ndjson or csv.") var format: OutputFormat?

    func run(_ shelf: ShelfName, _ edit: OrderEdit) async throws {
        let catalog = try await database.catalog()
        defer { catalog.shutDown() }
        let (store, key) = try await shelf.resolve(catalog)
        let outcome = try await catalog.editOrder(
            OrderEditRequest(
                store: store,
                shelf: key,
                edit: edit,
                expected: ifVersion,
                subject: ProcessInfo.processInfo.userName,
                isRehearsal: dryRun,
                wantsIndexes: true
            )
        )
        if format == .json { return Console.data(outcome.json + [0x0A]) }
        var table = Table(columns: [
            .init(title: "id"), .init(title: "from", isNumber: true), .init(title: "to", isNumber: true),
            .init(title: "after"),
        ])
        table.rows = outcome.moved.map { [$0.id, $0.from.map { "\($0)" }, $0.to.map { "\($0)" }, $0.after] }
        table.print(.chosen(format))
        Console.note(
            outcome.moved.isEmpty && outcome.change == nil
                ? "everything is in place; order version \(outcome.orderVersion)"
                : "\(dryRun ? "would move" : "moved") \(outcome.moved.count); order version \(outcome.orderVersion)"
        )
    }
}

struct MoveCommand: AisleCommand {
    static let configuration = CommandConfiguration(
        commandName: "move",
        abstract: "Move products in a shelf's manual order; several keep the order in which they are named."
    )
    @Argument(help: "STORE/SHELF, or the shelf alone where there is one store.") var shelf: ShelfName
    @Argument(help: "The products' skus.") var skus: [String]
    @Option(help: "Right behind this product.") var after: String?
    @Option(help: "Right before this product.") var before: String?
    @Flag(help: "To the front.") var first = false
    @Flag(help: "To the end.") var last = false
    @Option(name: .customLong("to"), help: "So many products from the front, from 0.") var position: Int?
    @OptionGroup var options: OrderEditOptions

    func execute() async throws {
        var targets: [OrderMove.Target] = []
        if let after { targets.append(.after(after.composed)) }
        if let before { targets.append(.before(before.composed)) }
        if first { targets.append(.first) }
        if last { targets.append(.last) }
        if let position { targets.append(.position(position)) }
        guard targets.count == 1 else {
            throw CommandFailure(
                "say where to, with one of --after, --before, --first, --last and --to",
                CommandFailure.usage
            )
        }
        try await options.run(shelf, .moves([OrderMove(skus.map(\.composed), targets[0])]))
    }
}

struct OrderCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "order",
        abstract: "Set, bake, take back, list and tidy manual orders.",
        subcommands: [Set.self, Bake.self, Undo.self, Log.self, Compact.self]
    )

    struct Set: AisleCommand {
        static let configuration = CommandConfiguration(
            abstract: "Set the whole order from a file of ids, one a line; those left out stay behind."
        )
        @Argument(help: "STORE/SHELF.") var shelf: ShelfName
        @Argument(help: "The file, or - for standard input.") var file: String
        @OptionGroup var options: OrderEditOptions
        func execute() async throws { try await options.run(shelf, .set(try IDList.read(file))) }
    }

    struct Bake: AisleCommand {
        static let configuration = CommandConfiguration(abstract: "Make a sort's order of now the manual one.")
        @Argument(help: "STORE/SHELF.") var shelf: ShelfName
        @Option(parsing: .unconditional, help: "The sort, such as -popularity.") var from: String
        @OptionGroup var options: OrderEditOptions
        func execute() async throws { try await options.run(shelf, .bake(try parseSort(from))) }
    }

    struct Undo: AisleCommand {
        static let configuration = CommandConfiguration(
            abstract: "Take the last change back that still stands.",
            discussion: "To do a change again that was taken back, name the undo itself: --change N."
        )
        @Argument(help: "STORE/SHELF.") var shelf: ShelfName
        @Option(help: "The number of the change, as aisle order log shows it.") var change: Int64?
        @OptionGroup var options: OrderEditOptions
        func execute() async throws { try await options.run(shelf, .undo(change: change)) }
    }

    struct Log: AisleCommand {
        static let configuration = CommandConfiguration(abstract: "List the last changes, the latest first.")
        @Argument(help: "STORE/SHELF.") var shelf: ShelfName
        @OptionGroup var database: DatabaseOptions
        @Option(help: "table, tsv, json, ndjson or csv.") var format: OutputFormat?
        func execute() async throws {
            let catalog = try await database.catalog()
            defer { catalog.shutDown() }
            let (store, key) = try await shelf.resolve(catalog)
            var table = Table(columns: [
                .init(title: "change", isNumber: true), .init(title: "at"), .init(title: "who"), .init(title: "kind"),
                .init(title: "moved", isNumber: true), .init(title: "ids"), .init(title: "undoes", isNumber: true),
                .init(title: "undone_by", isNumber: true),
            ])
            for change in try await catalog.orderHistory(store, key) {
                let ids = change.ids.joined(separator: " ") + (change.count > change.ids.count ? " …" : "")
                table.rows.append([
                    "\(change.number)", change.at.rfc3339, change.subject, change.kind, "\(change.count)", ids,
                    change.undoes.map { "\($0)" }, change.undoneBy.map { "\($0)" },
                ])
            }
            table.print(.chosen(format))
        }
    }

    struct Compact: AisleCommand {
        static let configuration = CommandConfiguration(
            abstract: "Make keys short that many moves into one place made long; no order changes."
        )
        @Argument(help: "STORE/SHELF.") var shelf: ShelfName?
        @Flag(help: "Every shelf of every store.") var all = false
        @OptionGroup var database: DatabaseOptions
        func execute() async throws {
            guard all != (shelf != nil) else {
                throw CommandFailure("name a shelf, or say --all", CommandFailure.usage)
            }
            let catalog = try await database.catalog()
            defer { catalog.shutDown() }
            let place = try await shelf?.resolve(catalog)
            let written = try await OrderCompaction(catalog).run(store: place?.0, shelf: place?.1)
            Console.note("made \(written) keys anew")
        }
    }
}

/// Files of ids, one a line.
enum IDList {
    static func read(_ path: String) throws -> [String] {
        guard let text = String(validating: try InputFile.contents(path), as: UTF8.self) else {
            throw CommandFailure("\(path) is not valid UTF-8", CommandFailure.badData)
        }
        return text.composed.split(whereSeparator: \.isNewline).map(String.init)
    }
}
