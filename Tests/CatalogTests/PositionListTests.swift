import Catalog
import Ordering
import Testing

@Suite(.timeLimit(.minutes(1))) struct PositionListTests {
    private func list(_ ids: String, removed: String = "") -> PositionList {
        let keys = PathKey.appending(ids.count, after: nil)
        return PositionList(
            zip(ids, keys).map { .init(id: String($0), key: $1, isRemoved: removed.contains($0)) }
        )
    }

    @Test("Ids are those of products that were not removed, by key")
    func ids() {
        #expect(list("ABCD", removed: "BD").ids == ["A", "C"])
    }

    @Test("A move gives keys to the moved products only")
    func moves() throws {
        var list = list("ABCDE")
        let made = try list.apply(OrderMove(["D", "B"], .after("E")))
        #expect(made.map(\.id) == ["D", "B"])
        #expect(list.ids == ["A", "C", "E", "D", "B"])
    }

    @Test("A move into its own place changes nothing")
    func movesInPlace() throws {
        var list = list("ABC")
        #expect(try list.apply(OrderMove(["B"], .after("A"))).isEmpty)
        #expect(list.ids == ["A", "B", "C"])
    }

    @Test("A product goes right behind its left neighbor, before a removed one")
    func removedNeighbors() throws {
        var list = list("AXB", removed: "X")
        _ = try list.apply(OrderMove(["B"], .after("A")))
        #expect(list.ids == ["A", "B"])
        var other = self.list("AXBC", removed: "X")
        _ = try other.apply(OrderMove(["C"], .after("A")))
        #expect(other.rows.map(\.id) == ["A", "C", "X", "B"])
    }

    @Test("Reordering writes the fewest rows, and removed products keep their places")
    func reorders() throws {
        var list = list("ABXCD", removed: "X")
        let made = try list.reorder(to: ["D", "A", "B", "C"])
        #expect(made.map(\.id) == ["D"])
        #expect(list.ids == ["D", "A", "B", "C"])
        #expect(list.rows.map(\.id) == ["D", "A", "B", "X", "C"])
    }

    @Test("Any order is reached, with one key for each moved product")
    func reachesAnyOrder() throws {
        var random = SystemRandomNumberGenerator()
        for count in 0..<40 {
            let ids = (0..<count).map { "p\($0)" }
            let keys = PathKey.appending(count, after: nil)
            var list = PositionList(zip(ids, keys).map { .init(id: $0, key: $1, isRemoved: false) })
            let target = ids.shuffled(using: &random)
            let moved = MoveDiff(from: ids, to: target).moves.count
            let made = try list.reorder(to: target)
            #expect(list.ids == target)
            #expect(made.count == moved)
            #expect(Set(list.rows.map(\.key)).count == count)
        }
    }

    @Test("What stood before each product brings an order back")
    func restores() throws {
        var list = list("ABCDE")
        let before = list
        let made = try list.reorder(to: ["E", "A", "D", "B", "C"])
        let lefts = before.leftNeighbours(of: Set(made.map(\.id)))
        #expect(list.restoring(lefts) == before.ids)
    }
}
