import Catalog
import Testing

@Suite struct ShelfRemovalTests {
    private func removal(_ removed: Int, _ remaining: Int, shelf: String? = "dairy") -> ShelfRemoval {
        ShelfRemoval(
            store: CatalogKey("corner")!,
            shelf: shelf.map { CatalogKey($0)! },
            removed: removed,
            remaining: remaining
        )
    }

    @Test("More than a tenth of a shelf must be confirmed, unless it is one product")
    func findsLargeRemovals() {
        for (removed, remaining, isLarge) in [
            (1, 0, false), (1, 1, false), (2, 0, true), (2, 18, false), (2, 17, true), (10, 90, false), (11, 89, true),
            (9, 0, true), (100_000, 900_000, false), (100_001, 899_999, true),
        ] { #expect(removal(removed, remaining).isLarge == isLarge, "\(removed) of \(removed + remaining)") }
    }

    @Test("An unconfirmed removal names the shelves, the counts and the options")
    func describesRemovals() throws {
        #expect(throws: Never.self) { try ShelfRemoval.checkUnconfirmed([removal(1, 5), removal(2, 20)]) }
        let removals = [removal(1, 99)] + (2...8).map { removal($0, 0) } + [removal(3, 1, shelf: nil)]
        let error = #expect(throws: CatalogError.self) { try ShelfRemoval.checkUnconfirmed(removals) }
        guard case .unprocessable("prune", let detail)? = error else {
            Issue.record("\(error!)")
            return
        }
        #expect(detail.contains("2 of 2 products from the shelf “dairy” of “corner”, 3 of 3"))
        #expect(detail.contains("and products from 3 more shelves, more than a tenth; nothing was changed"))
        #expect(detail.contains("confirm_prune (command line: --yes)") && !detail.contains("1 of 100"))
        #expect(removal(3, 1, shelf: nil).description == "3 of 4 products without a shelf from “corner”")
    }
}
