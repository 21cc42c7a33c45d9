internal import ArgumentParser
internal import Catalog
internal import CatalogJSON
internal import CatalogPostgres
internal import FoundationEssentials

/// The common options of commands that edit a manual order.
struct OrderEditOptions: ParsableArguments {
    @OptionGroup var database: DatabaseOptions
    @Flag(help: "Report the result without changing anything.") var dryRun = false
    @Option(parsing: .unconditional, help: "Fail unless the order still has this version.") var ifVersion: Int64?
    @Option(help: "The output format; table on a terminal, otherwise tsv.") var format: OutputFormat?

    func run(_ shelf: ShelfName, _ edit: ManualOrderEdit) async throws {
        try await database.withCatalog { catalog in
            let (store, key) = try await shelf.resolve(catalog)
            let outcome = try await catalog.manualOrder.editOrder(
                OrderEditRequest(
                    store: store,
                    shelf: key,
                    edit: edit,
                    expected: ifVersion.map { [$0] },
                    subject: ProcessInfo.processInfo.userName,
                    isDryRun: dryRun,
                    wantsIndexes: true
                )
            )
            if format == .json { return Console.data(outcome.json + [0x0A]) }
            var table = Table(columns: [
                .init(title: "id"), .init(title: "from", isNumber: true), .init(title: "to", isNumber: true),
                .init(title: "after"),
            ])
            table.rows = outcome.moved.map { [$0.id, $0.from.map { "\($0)" }, $0.to.map { "\($0)" }, $0.after] }
            table.print(.resolve(format))
            Console.note(
                outcome.moved.isEmpty && outcome.change == nil
                    ? "nothing moved; order version \(outcome.orderVersion)"
                    : "\(dryRun ? "would move" : "moved") \(outcome.moved.count); order version \(outcome.orderVersion)"
            )
        }
    }
}
