internal import ArgumentParser
internal import Catalog
internal import CatalogPostgres

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
