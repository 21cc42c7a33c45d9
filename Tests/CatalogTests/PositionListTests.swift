import Catalog
import Ordering
import Testing

@Suite(.timeLimit(.minutes(15))) struct PositionListTests {
    private func list(_ ids: String, removed: String = "") -> PositionList {
        let keys = PathKey.appending(ids.count, after: nil)
        return PositionList(
            zip(ids, keys).map { .init(id: String($0), key: $1, isRemoved: removed.contains($0)) }
        )
    }

    @Test("Ids are those of present products, ordered by key")
    func ids() {
        #expect(list("ABCD", removed: "BD").ids == ["A", "C"])
    }

    @Test("A move assigns keys to the moved products only")
    func moves() throws {
        var list = list("ABCDE")
        let made = try list.apply(OrderMove(["D", "B"], .after("E")))
        #expect(made.map(\.id) == ["D", "B"])
        #expect(list.ids == ["A", "C", "E", "D", "B"])
    }

    @Test("A move to the current position changes nothing")
    func movesInPlace() throws {
        var list = list("ABC")
        #expect(try list.apply(OrderMove(["B"], .after("A"))).isEmpty)
        #expect(list.ids == ["A", "B", "C"])
    }

    @Test("A product is placed directly after its left neighbor, before a removed one")
    func removedNeighbors() throws {
        var list = list("AXB", removed: "X")
        _ = try list.apply(OrderMove(["B"], .after("A")))
        #expect(list.ids == ["A", "B"])
        var other = self.list("AXBC", removed: "X")
        _ = try other.apply(OrderMove(["C"], .after("A")))
        #expect(other.rows.map(\.id) == ["A", "C", "X", "B"])
    }

    @Test("Reordering writes a minimal number of rows, and removed products keep their positions")
    func reorders() throws {
        var list = list("ABXCD", removed: "X")
        let made = try list.reorder(to: ["D", "A", "B", "C"])
        #expect(made.map(\.id) == ["D"])
        #expect(list.ids == ["D", "A", "B", "C"])
        #expect(list.rows.map(\.id) == ["D", "A", "B", "X", "C"])
    }

    @Test("Any order can be reached with one new key per moved product")
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

    @Test("The recorded left neighbors restore an order")
    func restores() throws {
        var list = list("ABCDE")
        let before = list
        let made = try list.reorder(to: ["E", "A", "D", "B", "C"])
        let lefts = before.leftNeighbours(of: Set(made.map(\.id)))
        #expect(list.restoring(lefts) == before.ids)
    }
}
