import AisleDiff
import Foundation
import Testing

@Suite(.timeLimit(.minutes(15))) struct ShelfDiffJSONTests {
    private struct Product: Decodable, Sendable { var name: String }

    private let response = """
        {"from_version":42,"to_version":43,"old_count":6,"new_count":6,"mode":"moves","deletes":[{"id":"a","from":0}],
        "inserts":[{"id":"x","to":2,"after":"d","product":{"name":"Milk","brand":null}}],
        "moves":[{"id":"f","from":5,"to":3,"after":"x"},{"id":"b","from":1,"to":4,"after":"f"}],"changed":[{"id":"c","at":0}],
        "later":true}
        """

    @Test("A JSON diff is decoded and applied")
    func decodesAndAppliesDiffs() throws {
        let diff = try JSONDecoder().decode(ShelfDiff<Product>.self, from: Data(response.utf8))
        #expect(diff.fromVersion == 42)
        #expect(diff.toVersion == 43 && diff.nextPage == .unknown)
        #expect(try diff.apply(to: ["a", "b", "c", "d", "e", "f"]) == ["c", "d", "x", "f", "b", "e"])
        guard case .moves(let moves, let inserts) = diff.content else {
            Issue.record("the diff has no moves: \(diff.content)")
            return
        }
        #expect(inserts.first?.product?.name == "Milk")
        #expect(moves.changed == [0] && diff.changedProducts.isEmpty)
        let changed = response.replacing(#""at":0}"#, with: #""at":0,"product":{"name":"Tea"}}"#)
        let grouped = try JSONDecoder().decode(ShelfDiff<Product>.self, from: Data(changed.utf8))
        #expect(grouped.changedProducts.mapValues(\.name) == [0: "Tea"])
        _ = try JSONDecoder().decode(
            ShelfDiff<NoProduct>.self,
            from: Data(response.replacing(#""product":{"name":"Milk","brand":null}"#, with: #""x":1"#).utf8)
        )
    }

    @Test("A diff that is a whole order is decoded")
    func decodesWholeOrders() throws {
        let json = #"{"from_version":null,"old_count":3,"new_count":2,"mode":"order","ids":["b","a"]}"#
        let diff = try JSONDecoder().decode(ShelfDiff<NoProduct>.self, from: Data(json.utf8))
        #expect(try diff.apply(to: ["a", "b", "c"]) == ["b", "a"])
        #expect(diff.nextPage == .unknown)
        for (cursor, read) in [(#""c-1""#, .cursor("c-1")), ("null", .end)] as [(String, ShelfDiff<NoProduct>.NextPage)]
        {
            let json = json.replacing(#""mode""#, with: #""next_cursor":\#(cursor),"mode""#)
            let window = try JSONDecoder().decode(ShelfDiff<NoProduct>.self, from: Data(json.utf8))
            #expect(window.nextPage == read)
        }
        #expect(diff.wireForm() == nil)
    }

    @Test(
        "A JSON diff that contradicts itself is rejected",
        arguments: [
            (#""from":0}]"#, #""from":5}]"#), (#""to":2,"after":"d""#, #""to":9,"after":"d""#),
            (#""new_count":6"#, #""new_count":5"#),
            (#""old_count":6"#, #""old_count":-6"#), (#""from":5,"#, ""), (#""inserts""#, #""insert""#),
        ]
    )
    func rejectsContradictions(_ part: String, _ other: String) {
        let json = response.replacing(part, with: other)
        #expect(json != response)
        #expect(throws: DecodingError.self) {
            try JSONDecoder().decode(ShelfDiff<NoProduct>.self, from: Data(json.utf8))
        }
    }
}
