import Ordering
import TestSupport
import Testing

@testable import Shelves

@Suite struct PrefixedColumnTests {
    private static let beginnings = ["https://a.example/", "https://a.example/images/", "http://b.example/", "é"]

    /// Returns random texts, of which some are missing.
    private static func texts(_ count: Int, using generator: inout SeededGenerator) -> [String] {
        let usual = beginnings.randomElement(using: &generator)!
        let unusual = Int.random(in: 0...2, using: &generator)
        return (0..<count).map { _ in
            if Int.random(in: 0..<4, using: &generator) == 0 { return "" }
            let isUsual = Int.random(in: 0..<10, using: &generator) >= unusual
            let beginning = isUsual ? usual : beginnings.randomElement(using: &generator)!
            return beginning + String(repeating: "x", count: Int.random(in: 0...3, using: &generator))
        }
    }

    private static func column(_ texts: [String]) -> PrefixedColumn {
        var column = TextColumn()
        for text in texts { column.append(text.utf8) }
        return PrefixedColumn(column)
    }

    private static func texts(_ column: PrefixedColumn) -> [String] {
        (0..<column.count).map { column.text($0) ?? "" }
    }

    @Test("Texts are what they were, also after replacements and in merged columns", arguments: 0..<200)
    func keepsTexts(_ seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        let all = (0..<3).map { _ in Self.texts(Int.random(in: 0...9, using: &generator), using: &generator) }
        let columns = all.map(Self.column)
        #expect(columns.map(Self.texts) == all)

        var (replaced, changes) = (all[0], [Int: [UInt8]]())
        for row in replaced.indices where Bool.random(using: &generator) {
            replaced[row] = Self.texts(1, using: &generator)[0]
            changes[row] = Array(replaced[row].utf8)
        }
        #expect(Self.texts(columns[0].replacing(changes)) == replaced)

        var (parts, expected) = ([(column: Int, rows: Range<Int>)](), [String]())
        for _ in 0..<6 {
            let number = Int.random(in: 0..<3, using: &generator)
            let start = Int.random(in: 0...all[number].count, using: &generator)
            let rows = start..<Int.random(in: start...all[number].count, using: &generator)
            parts.append((number, rows))
            expected += all[number][rows]
        }
        #expect(Self.texts(PrefixedColumn(columns, parts)) == expected)
    }

    @Test("The common beginning is kept once, and is shorter than each text")
    func keepsTheBeginningOnce() {
        let column = Self.column(["", "https://a.example/1", "https://a.example/2", "https://a.example/"])
        #expect(String(decoding: column.prefix, as: UTF8.self) == "https://a.example")
        #expect(column.rests.arena.count == 5)
        #expect(Self.column(["", ""]).prefix.isEmpty)
        let others = [column, Self.column([""]), Self.column(["https://a.example/123"])]
        let parts: [(column: Int, rows: Range<Int>)] = [(0, 0..<4), (1, 0..<1), (2, 0..<1)]
        let merged = PrefixedColumn(others, parts)
        #expect(merged.prefix == column.prefix)
        #expect(merged.rests.arena.capacity <= merged.rests.arena.count + 48, "no more than the allocator's rounding")

        // A text with another beginning hides the common one while it is there.
        let other = Self.column(["https://a.example/1", "/2"])
        #expect(other.prefix.isEmpty)
        #expect(other.replacing([1: Array("https://a.example/3".utf8)]).prefix == Array("https://a.example/".utf8))
        let kept: [(column: Int, rows: Range<Int>)] = [(0, 0..<1), (1, 1..<3)]
        #expect(PrefixedColumn([other, column], kept).prefix == Array("https://a.example/".utf8))
    }
}
