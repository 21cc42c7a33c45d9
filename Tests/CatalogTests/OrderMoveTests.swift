import Catalog
import Testing

@Suite(.timeLimit(.minutes(15))) struct OrderMoveTests {
    private func apply(_ order: String, _ moves: [OrderMove]) throws -> String {
        var ids = order.map(String.init)
        for move in moves { ids = try move.apply(to: ids) }
        return ids.joined()
    }

    @Test(
        "A list of moves leads to the expected order",
        arguments: [
            ("ABC", [OrderMove(["B"], .after("B"))], "ABC"), ("ABC", [OrderMove(["B"], .before("B"))], "ABC"),
            ("ABCDE", [OrderMove(["B", "D"], .after("E"))], "ACEBD"),
            ("ABCDE", [OrderMove(["D", "B"], .after("E"))], "ACEDB"),
            ("ABC", [OrderMove(["B"], .position(100))], "ACB"), ("ABC", [OrderMove(["C"], .position(0))], "CAB"),
            ("ABCDE", [OrderMove(["E"], .position(1)), OrderMove(["C"], .position(4))], "AEBDC"),
            ("ABCDE", [OrderMove(["D", "A"], .first)], "DABCE"), ("ABCDE", [OrderMove(["A", "C"], .last)], "BDEAC"),
            ("ABCDE", [OrderMove(["E", "A"], .before("C"))], "BEACD"),
        ]
    )
    func moves(_ order: String, _ moves: [OrderMove], _ expected: String) throws {
        #expect(try apply(order, moves) == expected)
    }

    @Test(
        "An invalid move is rejected",
        arguments: [
            OrderMove(["B", "C"], .after("C")), OrderMove(["B", "B"], .last), OrderMove([], .first),
            OrderMove(["A"], .position(-1)), OrderMove(["X"], .first), OrderMove(["A"], .after("X")),
        ]
    )
    func rejectsInvalidMoves(_ move: OrderMove) {
        #expect(throws: CatalogError.self) { try apply("ABC", [move]) }
    }
}
