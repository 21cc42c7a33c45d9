import Catalog
import Ordering
import TestSupport
import Testing

@testable import Shelves

@Suite struct PackedColumnTests {
    /// Returns rows that look like details: some with members that repeat, some without, some empty.
    private static func rows(_ count: Int, using generator: inout SeededGenerator) -> [[UInt8]] {
        (0..<count).map { _ in
            var text = ""
            switch Int.random(in: 0..<5, using: &generator) {
            case 0: break
            case 1: text = String(repeating: "z", count: Int.random(in: 1...300, using: &generator))
            default:
                let members = (0..<Int.random(in: 0...6, using: &generator)).map { number in
                    let values = [
                        "true", "1.5", #""a, \"b\": }""#, #"["x", "y"]"#, #"{"k": 1}"#,
                        "\(Int.random(in: 0...999, using: &generator))",
                    ]
                    return #""name\#(number)": \#(values.randomElement(using: &generator)!)"#
                }
                text = "\u{1}\u{0}{" + members.joined(separator: ", ") + "}g\u{3}500"
            }
            return Array(text.utf8)
        }
    }

    private static func column(_ rows: [[UInt8]]) -> PackedColumn {
        var texts = TextColumn()
        for row in rows { texts.append(row) }
        return PackedColumn(texts, (0..<UInt32(texts.count)).map { $0 })
    }

    private static func rows(_ column: PackedColumn) -> [[UInt8]] { (0..<column.count).map { column[$0] } }

    @Test("Rows are the same after packing, and in the parts of an image", arguments: 0..<8 as Range<UInt64>)
    func packing(_ seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        let rows = Self.rows([0, 1, 3, 20, 200, 2000, 50, 500][Int(seed)], using: &generator)
        let column = Self.column(rows)
        #expect(Self.rows(column) == rows)
        #expect(rows.indices.allSatisfy { column.isEqual($0, rows[$0]) && !column.isEqual($0, rows[$0] + [7]) })
        let read = try #require(PackedColumn(parts: column.parts, codes: column.codes, looseBytes: column.looseBytes))
        #expect(read == column && Self.rows(read) == rows)
        if rows.count >= 200 {
            #expect(column.parts.count > 5)
            #expect(column.size < rows.reduce(0) { $0 + $1.count + 4 } * 3 / 4)
        }
    }

    @Test("Repeated members take a byte or two, and rare values only their own bytes")
    func size() {
        let rows = (0..<1000).map { number in
            Array(
                #"{"vegan": \#(number % 2 == 0), "origin": "country-\#(number % 20)", "remark": "no \#(number)"}"#.utf8
            )
        }
        let column = Self.column(rows)
        #expect(Self.rows(column) == rows)
        // Two parts, the name of the remark, and a literal with its code and the value.
        let packed = rows.reduce(0) { sum, _ in sum + 4 + "\"no 999\"}".utf8.count }
        #expect(column.codes.arena.count <= packed)
        #expect(column.parts.count < 30)
    }

    @Test(
        "Changed rows, and rows of several columns, are the same as those of a new column",
        arguments: 0..<20 as Range<UInt64>
    )
    func changing(_ seed: UInt64) {
        var generator = SeededGenerator(seed: 100 + seed)
        var rows = Self.rows(Int.random(in: 1...150, using: &generator), using: &generator)
        var column = Self.column(rows)
        for _ in 0..<4 {
            let other = Self.rows(Int.random(in: 1...120, using: &generator), using: &generator)
            var changes: [Int: [UInt8]] = [:]
            for row in other { changes[rows.indices.randomElement(using: &generator)!] = row }
            column = column.replacing(changes)
            for (row, bytes) in changes { rows[row] = bytes }
            #expect(Self.rows(column) == rows)
            // Rows of both columns by turns; some are left out.
            var (segments, merged, places) = ([(column: Int, rows: Range<Int>)](), [[UInt8]](), [0, 0])
            let sources = [rows, other]
            while places[0] < rows.count || places[1] < other.count {
                let source = Int.random(in: 0...1, using: &generator)
                let end = min(sources[source].count, places[source] + Int.random(in: 0...5, using: &generator))
                let segment = places[source]..<end
                places[source] = end
                guard Int.random(in: 0..<5, using: &generator) > 0 else { continue }
                segments.append((source, segment))
                merged += sources[source][segment]
            }
            column = PackedColumn([column, Self.column(other)], segments).packedAgain
            rows = merged
            #expect(Self.rows(column) == rows)
            #expect(column == Self.column(rows))
            if rows.isEmpty {
                rows = [[1]]
                column = Self.column(rows)
            }
        }
    }

    @Test("Columns are equal if their rows are, whatever their parts are")
    func equality() {
        let rows = (0..<10).map { Array("{\"a\": \($0 % 2)}".utf8) }
        let packed = Self.column(rows)
        let replaced = Self.column(rows.map { _ in [1] }).replacing(
            Dictionary(uniqueKeysWithValues: rows.enumerated().map { ($0, $1) })
        )
        #expect(packed == replaced && packed.parts.count > 0 && replaced.parts != packed.parts)
        #expect(packed != Self.column(Array(rows.dropLast())) && packed != packed.replacing([3: [9]]))
    }

    @Test("A column of which half was added since is packed again, whether its rows were replaced or merged")
    func packingAgain() {
        let rows = (0..<2000).map { Array("{\"color\": \"blue\", \"shape\": \"round\", \"n\": \($0)}".utf8) }
        let first = Self.column(rows)
        let all = Dictionary(
            uniqueKeysWithValues: rows.enumerated().map { ($0, Array($1.dropLast()) + Array(" }".utf8)) }
        )
        let changed = first.replacing(all)
        #expect(changed.size < 2 * first.size && Self.rows(changed) == (0..<2000).map { all[$0]! })
        var (replaced, merged) = (first, first)
        for row in 0..<2000 {
            replaced = replaced.replacing([row: all[row]!])
            let parts = [(0, 0..<row), (1, 0..<1), (0, (row + 1)..<2000)].filter { !$0.1.isEmpty }
            merged =
                PackedColumn([merged, Self.column([all[row]!])], parts.map { (column: $0.0, rows: $0.1) }).packedAgain
        }
        #expect(replaced == changed && merged == changed)
        #expect(replaced.size < 3 * first.size && merged.size < 3 * first.size)
    }

    @Test("A column with few rows is packed again when it is merged, even if it was packed again before")
    func fewRows() {
        let rows = (0..<32).map { row in Array("{\"key\": \"\(row)\(String(repeating: "a", count: 200))\"}".utf8) }
        let changed = Self.column(rows.map { _ in [1] }).replacing(
            Dictionary(uniqueKeysWithValues: rows.enumerated().map { ($0, $1) })
        )
        #expect(changed.parts.count == 1 && Self.rows(changed) == rows)
        #expect(changed.looseBytes == changed.codes.arena.count)
    }

    /// Returns the rows of a shelf of products whose attributes have a hundred values each.
    private static func tableRows(_ count: Int) -> [TableRow] {
        (0..<count).map { number in
            var product = Product(sku: SKU("s\(number)")!, name: "Product \(number * 7919 % count)")
            let members = (0..<8).map { "\"attribute \($0)\": \"a rather long value \(number * (2 * $0 + 1) % 100)\"" }
            product.attributes = "{\(members.joined(separator: ", "))}"
            return RandomShelf.row(Listing(product: product, position: [1], isSoldOut: false))
        }
    }

    @Test("A union of shelves takes as much memory as one shelf with all rows", arguments: [1, 8, 48, 100, 180, 250])
    func unions(_ count: Int) {
        let rows = Self.tableRows(1000)
        let shelves = stride(from: 0, to: rows.count, by: count).map { start in
            ShelfTable(Array(rows[start..<min(rows.count, start + count)]))
        }
        let (union, one) = (ShelfTable.union(shelves).details, ShelfTable(rows).details)
        #expect(union == one && one.parts.count >= 600)
        #expect(union.size < one.size * 9 / 8)
    }

    /// Merges columns of rows, one after the other, without packing.
    private static func merged(_ shelves: [[[UInt8]]]) -> PackedColumn {
        PackedColumn(shelves.map(column), shelves.enumerated().map { (column: $0, rows: $1.indices) })
    }

    @Test("Literal bytes that repeat are packed in a union, but not after a change of a shelf")
    func repeatedLiterals() {
        let shelves = (0..<10).map { _ in
            (0..<100).map { Array("{\"key\": \"value \($0)\(String(repeating: "a", count: 30))\"}".utf8) }
        }
        let column = Self.merged(shelves)
        let (changed, union) = (column.packedAgain, column.packedAsUnion)
        #expect(changed.codes == column.codes && changed.parts == column.parts)
        #expect(union == column && union.parts.count == 100 && union.size < column.size / 4)
    }

    @Test("A union of rows whose values differ is not packed again, because that would save nothing")
    func differentLiterals() {
        func rows(_ name: String, _ count: Int) -> [[UInt8]] {
            (0..<count).map { Array("{\"\(name)\": \"value \($0) of \(name) for one row\"}".utf8) }
        }
        let shelves = [rows("first", 100), rows("second", 300)]
        let column = Self.merged(shelves)
        let union = column.packedAsUnion
        #expect(union.codes == column.codes && union.parts == column.parts)
        // Another packing would begin with the more frequent name.
        #expect(Self.column(Array(shelves.joined())).parts != column.parts)
    }

    @Test("Parts that no row has any more are left out if they have half of the bytes")
    func unusedParts() {
        let rows = Self.tableRows(1000)
        let table = ShelfTable(rows)
        func without(_ rows: some Sequence<TableRow>) -> PackedColumn {
            table.applying(Dictionary(uniqueKeysWithValues: rows.map { ($0.sku, TableRow?.none) })).details
        }
        // Each value is left.
        #expect(without(rows[..<500]).parts == table.details.parts)
        // Each attribute has ten values.
        let left = rows.indices.filter { $0 % 10 == 0 }
        let few = without(rows.indices.filter { $0 % 10 != 0 }.map { rows[$0] })
        #expect(few == ShelfTable(left.map { rows[$0] }).details)
        #expect(few.parts.count <= 100 && table.details.parts.count >= 600)
    }

    @Test("A name that is also a whole piece is one part, so rows of other columns get the right ones")
    func equalParts() throws {
        let rows =
            (0..<8).map { Array("{\"key\": \"}abc\\\": \($0 < 4 ? "," : "\($0)") \"}".utf8) }
            + (0..<8).map { _ in Array("{\"longer\": \"value\"}".utf8) }
        let column = Self.column(rows)
        #expect(Self.rows(column) == rows)
        #expect(Set((0..<column.parts.count).map { column.parts.text($0) }).count == column.parts.count)
        let other = Self.column(Array(rows.reversed()))
        let both = PackedColumn([column, other], [(column: 1, rows: 0..<16), (column: 0, rows: 0..<16)])
        #expect(Self.rows(both) == rows.reversed() + rows)
        var parts = column.parts
        parts.append(parts[0])
        #expect(PackedColumn(parts: parts, codes: column.codes, looseBytes: 0) == nil)
    }

    @Test("Columns with many parts are merged, and take about as much memory as one")
    func manyParts() {
        func rows(_ start: Int) -> [[UInt8]] {
            (0..<3000).map { Array("{\"a long name of a member\": \"value \(start + $0 % 300)\"}".utf8) }
        }
        let (a, b) = (Self.column(rows(0)), Self.column(rows(300)))
        #expect(a.parts.count >= 300 && b.parts.count >= 300)
        let both = PackedColumn([a, b], [(column: 0, rows: 0..<3000), (column: 1, rows: 0..<3000)])
        #expect(Self.rows(both) == rows(0) + rows(300))
        #expect(both.size < (a.size + b.size) * 6 / 5)
    }

    @Test("An image cannot ask for rows of any length, alone or together")
    func longRows() {
        var (codes, parts) = (TextColumn(), TextColumn())
        parts.append([UInt8](repeating: 65, count: 1 << 20))
        codes.append([UInt8](repeating: 2, count: 16))
        #expect(PackedColumn(parts: parts, codes: codes, looseBytes: 0) != nil)
        var longer = codes
        longer.append([UInt8](repeating: 2, count: 17))
        #expect(PackedColumn(parts: parts, codes: longer, looseBytes: 0) == nil)
        while codes.count < 128 { codes.append(codes[0]) }
        #expect(PackedColumn(parts: parts, codes: codes, looseBytes: 0) != nil)
        codes.append([2])
        #expect(PackedColumn(parts: parts, codes: codes, looseBytes: 0) == nil)
    }

    @Test("An image cannot have more loose bytes than bytes")
    func looseBytes() {
        let column = Self.column(
            (0..<200).map { Array("{\"key\": \"\(String(repeating: "\($0)", count: 40))\"}".utf8) }
        )
        let count = column.parts.arena.count + column.codes.arena.count
        for (looseBytes, isValid) in [(0, true), (count, true), (count + 1, false), (Int(UInt32.max), false)] {
            let read = PackedColumn(parts: column.parts, codes: column.codes, looseBytes: looseBytes)
            #expect((read != nil) == isValid)
        }
    }

    @Test("Rows that are too long together are merged, but not packed again")
    func longUnion() throws {
        var (codes, parts) = (TextColumn(), TextColumn())
        parts.append([UInt8](repeating: 65, count: 1 << 20))
        for _ in 0..<128 { codes.append([UInt8](repeating: 2, count: 16)) }
        let column = try #require(PackedColumn(parts: parts, codes: codes, looseBytes: parts.arena.count))
        let both = PackedColumn([column, column], [(column: 0, rows: 0..<128), (column: 1, rows: 0..<128)]).packedAgain
        #expect(both.parts == parts && both.count == 256)
        #expect((0..<256).allSatisfy { both.codes[$0].elementsEqual(codes[0]) })
    }

    @Test(
        "A column is not read from damaged codes",
        arguments: [
            [2], [3], [1], [1, 5, 65], [0x80], [0x80, 0x80, 0x80, 0x80, 0x80, 0x80], [1, 0xFF, 0xFF, 0xFF, 0xFF, 0x7F],
        ] as [[UInt8]]
    )
    func damage(_ codes: [UInt8]) {
        var (column, parts) = (TextColumn(), TextColumn())
        column.append(codes)
        #expect(PackedColumn(parts: TextColumn(), codes: column, looseBytes: 0) == nil)
        parts.append([65])
        // The first part exists now.
        #expect((PackedColumn(parts: parts, codes: column, looseBytes: 0) != nil) == (codes == [2]))
    }
}

@Suite struct NarrowNumbersTests {
    @Test(
        "Numbers are the same, in as few bytes as their range needs",
        arguments: [
            ([], 0), ([.min], 1), ([5], 1), ([0, 254], 1), ([0, 255], 2), ([-3, .min, 251], 1), ([7, 65_541], 2),
            ([7, 65_542], 4),
            ([-1, 4_294_967_293], 4), ([-1, 4_294_967_294], 8), ([.min, .min + 1, .max], 8), ([.max, .max], 1),
            ([.min + 1], 1),
        ] as [([Int64], Int)]
    )
    func numbers(_ numbers: [Int64], _ bytes: Int) {
        let narrow = NarrowNumbers(numbers)
        #expect(Array(narrow) == numbers)
        #expect(narrow.size >= bytes * numbers.count && narrow.size < 2 * bytes * numbers.count + 32)
    }

    @Test("Random numbers are the same")
    func random() {
        var generator = SeededGenerator(seed: 1)
        for _ in 0..<200 {
            let bits = Int.random(in: 0..<64, using: &generator)
            let numbers = (0..<20).map { _ -> Int64 in
                Bool.random(using: &generator) ? .min : Int64.random(in: .min ... .max, using: &generator) >> bits
            }
            #expect(Array(NarrowNumbers(numbers)) == numbers)
        }
    }
}
