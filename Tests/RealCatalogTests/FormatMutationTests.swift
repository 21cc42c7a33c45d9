import Catalog
import CatalogImport
import CatalogJSON
import Foundation
import Ordering
import Testing
import TestSupport

/// Real price lists, written in other forms.
@Suite(.timeLimit(.minutes(15))) struct FormatMutationTests {
    private typealias Products = [String: [Product]]

    private func read(_ bytes: [UInt8]) throws -> (products: Products, records: Int, rejections: Int) {
        var reader = ImportReader(ImportOptions(format: .csv), currencies: [:])
        var (products, records, rejections): (Products, Int, Int) = ([:], 0, 0)
        func take(_ event: ImportReader.Event) {
            switch event {
            case .record(let record):
                records += 1
                products["\(record.store) \(record.product.sku)", default: []].append(record.product)
            case .rejected: rejections += 1
            case .header, .skipped: break
            }
        }
        try bytes.withUnsafeBytes { try reader.read($0, take) }
        try reader.end(take)
        return (products, records, rejections)
    }

    /// Writes rows in a form that the generator chooses; digits never change.
    private func mutate(_ rows: [[String]], price: Int, _ random: inout SeededGenerator) -> [UInt8] {
        let separator: Character = [",", ";", "\t", "|"].randomElement(using: &random)!
        let line = ["\n", "\r\n", "\r"].randomElement(using: &random)!
        let currency = ["", " EUR", "€", " €"].randomElement(using: &random)!
        let hasComma = Bool.random(using: &random)
        let isQuoted = Bool.random(using: &random)
        let trailing = Int.random(in: 0..<4, using: &random)
        func text(_ row: [String]) -> String {
            row.map { field in
                let needsQuotes = isQuoted || field.contains { $0 == separator || $0 == "\"" || $0.isNewline }
                return needsQuotes ? "\"" + field.replacing("\"", with: "\"\"") + "\"" : field
            }.joined(separator: String(separator))
        }
        var lines: [String] = []
        if Int.random(in: 0..<4, using: &random) == 0 { lines.append("sep=\(separator)") }
        if Int.random(in: 0..<4, using: &random) == 0 { lines += ["Price list", String(separator)] }
        for (index, row) in rows.enumerated() {
            var row = row
            if index > 0, !row[price].isEmpty {
                row[price] = (hasComma ? row[price].replacing(".", with: ",") : row[price]) + currency
            }
            let isTrailing = trailing == 1 && index == 0 || trailing == 2 && index > 0 || trailing == 3
            lines.append(text(row) + (isTrailing ? String(separator) : ""))
            if Int.random(in: 0..<10, using: &random) == 0 { lines.append(String(repeating: separator, count: 5)) }
        }
        let content = lines.joined(separator: line) + (Bool.random(using: &random) ? line : "")
        let encodings: [(String.Encoding, [UInt8])] = [
            (.utf8, []), (.utf8, [0xEF, 0xBB, 0xBF]), (.utf16LittleEndian, [0xFF, 0xFE]), (.utf16BigEndian, []),
            (.utf16LittleEndian, []), (.windowsCP1250, []), (.windowsCP1252, []), (.isoLatin2, []),
        ]
        let (encoding, mark) = encodings.randomElement(using: &random)!
        return content.data(using: encoding).map { mark + Array($0) } ?? Array(content.utf8)
    }

    @Test(
        "In 10,000 other forms of a real file, each row is the same, or rejected",
        arguments: ["konzum-hr.csv", "spar-at.csv"]
    )
    func rowsAreReadRightOrRejected(_ name: String) throws {
        let folder = try #require(ProcessInfo.processInfo.environment["AISLE_REAL_DATA"])
        let bytes = Array(try Data(contentsOf: URL(fileURLWithPath: folder + "/" + name)))
        let expected = try read(bytes).products
        var reader = CSVReader()
        var rows: [[String]] = []
        bytes.withUnsafeBytes {
            reader.read($0) { event in
                if case .record(let record) = event { rows.append((0..<record.count).map { record.text($0) ?? "" }) }
            }
        }
        let price = try #require(rows[0].firstIndex(of: "price"))
        var random = SeededGenerator(seed: 16)
        var (same, rejected, refused) = (0, 0, 0)
        for _ in 0..<5000 {
            let start = Int.random(in: 1..<(rows.count - 20), using: &random)
            let window = [rows[0]] + rows[start..<(start + 20)]
            let file = mutate(window, price: price, &random)
            guard let found = try? read(file) else {
                refused += 1
                continue
            }
            #expect(found.records + found.rejections == 20)
            for (key, products) in found.products {
                #expect(products.allSatisfy { expected[key]?.contains($0) == true }, "\(key) \(products)")
            }
            same += found.records
            rejected += found.rejections
        }
        // Most files are read; the others have too few letters to show their encoding.
        #expect(same > 80_000, "same \(same), rejected \(rejected), refused \(refused)")
    }
}
