import Testing

@testable import Shelves

@Suite struct TextColumnTests {
    private static let texts: [[UInt8]] = [
        [], [0], [0, 0], [1], [1, 2], [1, 2, 3, 4, 5, 6, 7, 8], [1, 2, 3, 4, 5, 6, 7, 8, 9], [127], [128], [255, 255],
    ]

    private static func column(_ texts: [[UInt8]]) -> TextColumn {
        var column = TextColumn()
        for text in texts { column.append(text) }
        return column
    }

    @Test("Rows compare like their bytes; a prefix comes first")
    func comparison() {
        let column = Self.column(Self.texts)
        for (i, a) in Self.texts.enumerated() {
            for (j, b) in Self.texts.enumerated() {
                let expected = a.lexicographicallyPrecedes(b) ? -1 : a == b ? 0 : 1
                #expect(TextColumn.compare(column, i, column, j).signum() == expected)
                #expect(column.compare(i, b).signum() == expected)
                if column.number(i, at: 0) < column.number(j, at: 0) { #expect(expected < 0) }
            }
        }
    }

    @Test("Prefixes have the first byte in front")
    func prefixes() {
        let column = Self.column([[], [1], [128], [1, 2, 3, 4, 5, 6, 7, 8, 9]])
        #expect((0..<4).map { column.number($0, at: 0) } == [0, 1 << 56, 128 << 56, 0x0102_0304_0506_0708])
    }

    @Test("Some rows get other bytes, the others keep theirs")
    func replacing() {
        let column = Self.column(Self.texts)
        for rows in [[:], [0: [9]], [3: [], 4: [5, 6, 7]], [Self.texts.count - 1: [1]]] as [[Int: [UInt8]]] {
            let replaced = column.replacing(rows)
            #expect(
                (0..<replaced.count).map { Array(replaced[$0]) }
                    == Self.texts.indices.map { rows[$0] ?? Self.texts[$0] }
            )
        }
    }

    @Test("Rows of another column are appended as they are")
    func appending() {
        let source = Self.column(Self.texts)
        var target = Self.column([[7, 7]])
        target.append(3..<6, of: source)
        target.append(2..<2, of: source)
        target.append(0..<1, of: source)
        let expected = [[7, 7]] + Self.texts[3..<6] + [[]]
        #expect((0..<target.count).map { Array(target[$0]) } == expected)
        #expect(target.byteCount(1..<4) == Self.texts[3..<6].joined().count)
        #expect(target.byteCount(2..<2) == 0)
    }
}
