import Catalog
import CatalogImport
import CatalogJSON
import Foundation
import Testing

@Suite(.timeLimit(.minutes(15))) struct SizeTextTests {
    @Test("Each golden text is parsed to its size")
    func parsesGoldenTexts() throws {
        let lines = try lines(of: "sizes")
        #expect(lines.count >= 40)
        for columns in lines {
            let (text, amount, unit, packs, note) = (
                columns[0], columns[1], columns[2], columns[3], columns.count > 4 ? columns[4] : ""
            )
            let size = SizeText.parse(text, from: note.contains("name") ? .name : .size)
            let read = size.map { "\($0.amount) \($0.unit.rawValue) \($0.packs)" }
            #expect(read == (amount.isEmpty ? nil : "\(amount) \(unit) \(packs)"), "\(text)")
            if note.hasPrefix("approximate") { #expect(size?.isApproximate == true, "\(text)") }
        }
    }

    @Test("Each golden text of a language is parsed to its size, whatever the language of the store is")
    func parsesTextsOfLanguages() throws {
        let lines = try lines(of: "sizes-by-language")
        for code in ImportLanguage.all.map(\.code) where !code.isEmpty {
            #expect(lines.count { $0[0] == code } >= 10, "\(code)")
        }
        for columns in lines {
            let source: SizeText.Source = columns[2] == "name" ? .name : .size
            let pricing = UnitPricing(rawValue: columns[1]) ?? .eu
            let context = SizeText.Context(pricing: pricing, language: columns[0])
            let expected = columns[3].isEmpty ? nil : columns[3]
            #expect(text(SizeText.parse(columns[4], from: source, in: context)) == expected, "\(columns[4])")
            let other = SizeText.parse(columns[4], from: source, in: SizeText.Context(pricing: pricing))
            #expect(other == nil || text(other) == expected, "\(columns[4])")
        }
    }

    @Test(
        "An ambiguous size stays unknown",
        arguments: [
            "1 400 ml", "6-10kg", "6 Stück 300 g", "1.000 g", "12 oz", "500 g 2 Stück", "x 5 g", "", "  ",
            "99999999999999999999999999999999999999999 kg", "0.0000000000000000001 kg", "3x", "((((", "+", "5 +",
            "1 kg +",
            "500 g 400 g", "1 kg / 1 l", "4 foo 400 g", "6 x foo 330 ml", "4 pc 3 boxes", "2+1 gratis", "500 g per kg",
            "400 g (500 g drained)", "1'000 g", "1.000.000 g", "-5 g", "5 x -3 g", "80/100 g", "4 x 2,5 x 30 g",
            "30 x 40 cm",
            "1 gal", "1 pt", "12 fl oz", "4 4 4 4 4 4 4 g",
        ]
    )
    func ambiguousSizesAreUnknown(_ text: String) { #expect(SizeText.parse(text) == nil) }

    @Test(
        "A size is read from a name",
        arguments: [
            ("Vollmilch 3,5% 1 l", "1 l 1"), ("Coca-Cola 6x0,33l", "0.33 l 6"), ("Mehl Type 00 1 kg", "1 kg 1"),
            ("0.500 kg", "0.5 kg 1"), ("1.125 kg", "1.125 kg 1"), ("Bananen ca. 1 kg", "1 kg 1"), ("MILK 2L", "2 l 1"),
            ("Tea 20 Stk", "20 piece 1"), ("Rope 5 m", nil), ("Cola 12 oz", nil), ("11er Knusper Rösti", nil),
            ("Ink 22-CL", nil), ("All in ® Drink", nil), ("Vitamin B12 500 g", "500 g 1"), ("Pizza 4 Pack 266 g", nil),
            ("Chips 6 foo 400 g", nil),
        ]
    )
    func parsesSizeOfName(_ text: String, _ expected: String?) {
        let read = SizeText.parse(text, from: .name).map { "\($0.amount) \($0.unit.rawValue) \($0.packs)" }
        #expect(read == expected)
    }

    @Test("Customary units have the sizes of the store's country, and none without one")
    func customaryUnitsDependOnCountry() {
        for (text, us, gb) in [
            ("12 fl oz", "12 floz_us", "12 floz_uk"), ("1 pt", "1 pt_us", "1 pt_uk"),
            ("2 gallons", "2 gal_us", "2 gal_uk"),
            ("1 qt", "1 qt_us", nil),
        ] {
            #expect(self.text(SizeText.parse(text, in: .init(pricing: .us))) == us)
            #expect(self.text(SizeText.parse(text, in: .init(pricing: .gb))) == gb)
            #expect(SizeText.parse(text) == nil)
        }
    }

    @Test("An ounce is what the shelf holds, and unknown in doubt")
    func ouncesDependOnShelf() {
        func read(_ text: String, _ dimension: Catalog.Dimension?) -> String? {
            self.text(SizeText.parse(text, in: .init(pricing: .us, dimension: dimension)))
        }
        #expect(read("64 oz", .volume) == "64 floz_us")
        #expect(read("64 oz", .mass) == "64 oz")
        #expect(read("64 oz", nil) == nil)
        #expect(read("64 oz", .piece) == nil)
        #expect(read("Net wt 10.5 oz", nil) == "10.5 oz")
        #expect(read("10.5 oz (298 g)", nil) == "10.5 oz")
        #expect(text(SizeText.parse("64 oz", in: .init(dimension: .volume))) == nil)
    }

    @Test(
        "Numbers that may have a thousands separator are never guessed",
        arguments: [".", ",", " ", "'", "’", "\u{A0}", "\u{202F}"],
        ["g", "ml", "Stück", "pcs", "cl", "oz", "мл", "tabs"]
    )
    func thousandsAreNeverGuessed(_ separator: String, _ unit: String) {
        for whole in [1, 2, 9, 12, 99, 125, 999] {
            for rest in ["000", "500", "125", "099"] {
                for text in ["\(whole)\(separator)\(rest) \(unit)", "6 x \(whole)\(separator)\(rest)\(unit)"] {
                    for source in [SizeText.Source.size, .name] {
                        #expect(SizeText.parse(text, from: source, in: .init(dimension: .mass)) == nil, "\(text)")
                    }
                }
            }
        }
        #expect(SizeText.parse("125\(separator)000 kg") == nil)
    }

    @Test("No text makes the parser trap, and hostile texts are parsed in linear time")
    func parserNeverTraps() {
        var generator = SystemRandomNumberGenerator()
        let pieces = [
            "1", "0,5", " ", "x", "(", ")", "+", "-", "kg", "ml", "pack", "of", "set", "ca", ".", "é", "🍎", "each",
            "per", "stuk", "999999999999", "/", "Dosen", "à", "drained", "=", "mg", "lb", "oz", "4er", "half", "e", "℮",
        ]
        for _ in 0..<3000 {
            let text = (0..<Int.random(in: 0...14, using: &generator)).map { _ in
                pieces.randomElement(using: &generator)!
            }.joined()
            for source in [SizeText.Source.size, .name] {
                guard let size = SizeText.parse(text, from: source) else { continue }
                #expect(Size.quantityRange.contains(size.baseQuantity), "\(text)")
            }
        }
        for piece in pieces + ["1 x ", "1 g ", "4 Dosen à ", "+1 g", "(", "fl ", "peso netto "] {
            let text = String(repeating: piece, count: 1024 / piece.utf8.count)
            _ = SizeText.parse(text)
            #expect(SizeText.parse(text + String(repeating: " ", count: 1024) + "5 g") == nil)
        }
    }

    private func lines(of name: String) throws -> [[String]] {
        let url = Bundle.module.url(forResource: name, withExtension: "tsv", subdirectory: "Cases")!
        return try String(contentsOf: url, encoding: .utf8).split(separator: "\n").dropFirst().map {
            $0.split(separator: "\t", omittingEmptySubsequences: false).map(String.init)
        }
    }

    /// A size in the notation of the golden cases: `~3x400/240 g` is about 3 packs of 400 g, 240 g drained.
    private func text(_ size: Size?) -> String? {
        size.map {
            ($0.isApproximate ? "~" : "") + ($0.packs == 1 ? "" : "\($0.packs)x") + "\($0.amount)"
                + ($0.drained.map { "/\($0)" } ?? "") + " \($0.unit.rawValue)"
        }
    }
}
