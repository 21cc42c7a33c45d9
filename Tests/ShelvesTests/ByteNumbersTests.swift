import Ordering
import Testing

@testable import Shelves

@Suite struct ByteNumbersTests {
    @Test("Values are numbered as they come, and equal ones have one number", arguments: [1, 3, 9, 40])
    func numbers(length: Int) {
        var generator = SeededGenerator(seed: UInt64(length))
        var numbers = ByteNumbers()
        var expected: [[UInt8]: UInt32] = [:]
        for _ in 0..<3000 {
            // Few different bytes, among them zeros, so that values repeat, and differ only in their length.
            let count = Int.random(in: 0...length, using: &generator)
            let value = (0..<count).map { _ in UInt8.random(in: 0...1, using: &generator) }
            let found = value.withUnsafeBytes { numbers.number(of: $0) }
            #expect(found.isNew == (expected[value] == nil))
            let number = expected[value] ?? UInt32(expected.count)
            expected[value] = number
            #expect(found.number == number)
        }
        #expect(numbers.count == expected.count)
    }

    @Test("The rows of texts are found, and those of others are not")
    func rowsOfTexts() {
        var generator = SeededGenerator(seed: 5)
        for _ in 0..<100 {
            let all = Set((0..<200).map { _ in "p\(Int.random(in: 0..<1000, using: &generator))" }).sorted()
            var column = TextColumn()
            for text in all { column.append(text.utf8) }
            let wanted = Set(
                (0..<Int.random(in: 0...20, using: &generator)).map { _ in
                    "p\(Int.random(in: 0..<1200, using: &generator))"
                }
            )
            let expected = Dictionary(
                uniqueKeysWithValues: all.indices.filter { wanted.contains(all[$0]) }.map { (all[$0], $0) }
            )
            #expect(column.rows(of: wanted) == expected)
        }
        #expect(TextColumn().rows(of: ["p"]).isEmpty)
    }
}
