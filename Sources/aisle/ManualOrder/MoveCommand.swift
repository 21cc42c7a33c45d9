internal import ArgumentParser
internal import Catalog
internal import CatalogPostgres

struct MoveCommand: AisleCommand {
    static let configuration = CommandConfiguration(
        commandName: "move",
        abstract: "Move products in a shelf's manual order. Several products keep the order in which they are given."
    )
    @Argument(help: "STORE/SHELF, or just SHELF if there is only one store.") var shelf: ShelfName
    @Argument(help: "The SKUs of the products.") var skus: [String]
    @Option(help: "Move directly after this product.") var after: String?
    @Option(help: "Move directly before this product.") var before: String?
    @Flag(help: "Move to the front.") var first = false
    @Flag(help: "Move to the end.") var last = false
    @Option(
        name: .customLong("to"),
        parsing: .unconditional,
        help: "Move to this position, from 0; beyond the end, to the end."
    ) var position: Int?
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
                "specify the target with exactly one of --after, --before, --first, --last and --to",
                CommandFailure.usage
            )
        }
        try await options.run(shelf, .moves([OrderMove(skus.map(\.composed), targets[0])]))
    }
}
