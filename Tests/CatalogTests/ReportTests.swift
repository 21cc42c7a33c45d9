import Catalog
import Testing

/// Reports of imports and re-sorts.
@Suite(.timeLimit(.minutes(15))) struct ReportTests {
    @Test("A rejection names the line, the column, the value and the reason")
    func rejectionsAreDescribed() {
        let rejection = ImportRejection(line: 7, column: "price", value: "dear", reason: "is not a number")
        #expect(rejection.description == "line 7, price: “dear” is not a number")
        #expect(ImportRejection(line: 7, reason: "is empty").description == "line 7: is empty")
    }

    @Test("A long value is truncated at a Unicode character boundary")
    func longValuesAreCut() throws {
        let value = try #require(ImportRejection(line: 1, value: String(repeating: "é", count: 150), reason: "").value)
        #expect(value == String(repeating: "é", count: 100))
        let column = try #require(
            ImportRejection(line: 1, column: "a" + String(repeating: "€", count: 50), reason: "").column
        )
        #expect(column == "a" + String(repeating: "€", count: 33))
    }

    @Test("Import counts have the field names of the API")
    func importCounts() {
        var summary = ImportSummary()
        summary.read = 3
        summary.pricesRounded = 2
        #expect(summary.counts.first { $0.name == "read" }?.count == 3)
        #expect(summary.counts.first { $0.name == "prices_rounded" }?.count == 2)
        #expect(summary.counts.reduce(0) { $0 + $1.count } == 5)
    }

    @Test("Unknown sizes are listed by frequency, then by text, in bounded memory")
    func unknownSizes() {
        var sizes = TextCounts()
        for text in ["b", "a", nil, "b", nil, nil, "c"] { sizes.add(text) }
        #expect(sizes.mostFrequent.map(\.text) == ["", "b", "a", "c"])
        #expect(sizes.mostFrequent.map(\.count) == [3, 2, 1, 1])
        for number in 0..<20_000 { sizes.add("\(number)" + String(repeating: "x", count: 100)) }
        #expect(sizes.mostFrequent.count == 20)
        #expect(sizes.mostFrequent.allSatisfy { $0.text.count <= 60 })
        #expect(sizes != TextCounts())
    }

    @Test("A re-sort reports changes if events, products or shelves changed")
    func resortCounts() {
        var summary = ResortSummary()
        summary.shelves = 5
        #expect(!summary.isChange)
        summary.changed = 1
        #expect(summary.isChange)
        #expect(summary.counts.map(\.name) == ["events", "products", "shelves", "changed", "moved"])
    }
}
