internal import AisleDiff
internal import ArgumentParser
internal import Catalog
internal import CatalogJSON
internal import CatalogPostgres

struct DiffCommand: AisleCommand {
    static let configuration = CommandConfiguration(
        commandName: "diff",
        abstract: "Show the minimal moves between two orders of a shelf, or between two lists of ids.",
        usage: """
            aisle diff SHELF [--from SORT] [--to SORT] [--limit N]
            aisle diff OLD.txt NEW.txt
            """,
        discussion: "“from” is an index in the old order, “to” an index in the new order, both from 0."
    )

    enum Format: String, ExpressibleByArgument, CaseIterable {
        case moves, json
        case jsonPatch = "json-patch"
        case order
    }

    @Argument(help: "STORE/SHELF, or two files with one id per line; - for standard input.") var what: [String]
    @OptionGroup var database: DatabaseOptions
    @Option(parsing: .unconditional, help: "The old sort; the shelf's default sort if omitted.") var from: String?
    @Option(parsing: .unconditional, help: "The new sort; the shelf's default sort if omitted.") var to: String?
    @Option(parsing: .unconditional, help: "Compare only the first N products of both orders.") var limit: Int?
    @Flag(
        inversion: .prefixedNo,
        help: "Whether to show one id for each group of products; by default, the shelf decides."
    )
    var collapse: Bool?
    @Option(help: "moves (a table), json, json-patch or order (the new ids).") var format: Format = .moves

    func execute() async throws {
        switch what.count {
        case 1: try await diffShelf()
        case 2: try diffFiles()
        default: throw CommandFailure("specify a shelf, or two files", CommandFailure.usage)
        }
    }

    private func diffShelf() async throws {
        guard let name = ShelfName(argument: what[0]) else {
            throw CommandFailure("“\(what[0])” is not a shelf; use STORE/SHELF", CommandFailure.usage)
        }
        let (from, to) = (try from.map { try parseSort($0) }, try to.map { try parseSort($0) })
        try await database.withCatalog { catalog in
            let (store, shelf) = try await name.resolve(catalog)
            let diff = try await catalog.pages.diff(
                DiffRequest(
                    store: store,
                    shelf: shelf,
                    from: .sort(RequestedSort(sort: from, collapsesGroups: collapse)),
                    to: RequestedSort(sort: to, collapsesGroups: collapse),
                    limit: limit
                )
            )
            guard format == .moves else { return show(diff, names: [:]) }
            // Look up names only for the rows that people read.
            let named = Set((diff.diff.placements.map { diff.new[Int($0.to)] } + diff.deletedIDs).prefix(1000))
            let products = try await catalog.products.products(store, named.map { SKU(stored: $0) }).products
            show(diff, names: Dictionary(products.map { ($0.sku.text, $0.name) }, uniquingKeysWith: { a, _ in a }))
        }
    }

    private func diffFiles() throws {
        guard from == nil, to == nil, collapse == nil else {
            throw CommandFailure("--from, --to and --collapse require a shelf, not files", CommandFailure.usage)
        }
        guard what != ["-", "-"] else {
            throw CommandFailure("only one of the lists can be standard input", CommandFailure.usage)
        }
        var lists = try what.map(InputFile.ids)
        if let limit {
            guard limit > 0 else { throw CommandFailure("--limit must be 1 or more", CommandFailure.usage) }
            lists = lists.map { Array($0.prefix(limit)) }
        }
        show(try OrderDiff(old: lists[0], new: lists[1], mode: .moves), names: [:])
    }

    private func show(_ diff: OrderDiff, names: [String: String]) {
        switch format {
        case .json: Console.data(diff.json() + [0x0A])
        case .jsonPatch: Console.data(diff.jsonPatch() + [0x0A])
        case .order: Console.data(diff.new.map { $0 + "\n" }.joined())
        case .moves:
            table(diff, names).print(.resolve(nil))
            let sorts = diff.fromSort.flatMap { from in diff.targetOrder.map { " from \(from) to \($0.sort)" } } ?? ""
            Console.note(
                "\(diff.diff.moves.count) of \(diff.new.count) moved\(sorts); \(diff.diff.inserts.count) inserted, \(diff.diff.deletes.count) deleted"
            )
        }
    }

    private func table(_ diff: OrderDiff, _ names: [String: String]) -> Table {
        var table = Table(columns: [
            .init(title: "change"), .init(title: "id"), .init(title: "name"), .init(title: "from", isNumber: true),
            .init(title: "to", isNumber: true), .init(title: "after"),
        ])
        func add(_ change: String, _ id: String, from: Int32?, to: Int32?) {
            let after = to.flatMap { $0 > 0 ? diff.new[Int($0) - 1] : nil }
            table.rows.append([change, id, names[id], from.map { "\($0)" }, to.map { "\($0)" }, after])
        }
        for index in diff.diff.deletes { add("delete", diff.old[Int(index)], from: index, to: nil) }
        for placement in diff.diff.placements {
            let change = placement.from == nil ? "insert" : "move"
            add(change, diff.new[Int(placement.to)], from: placement.from, to: placement.to)
        }
        return table
    }
}
