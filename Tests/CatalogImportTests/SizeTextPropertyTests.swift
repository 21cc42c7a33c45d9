import Catalog
import CatalogImport
import CatalogJSON
import Testing

@Suite(.timeLimit(.minutes(15))) struct SizeTextPropertyTests {
    @Test(
        "A size that is written with any words of a language is read again",
        arguments: ImportLanguage.all.map(\.code)
    )
    func writtenSizesAreRead(_ code: String) throws {
        let language = try #require(ImportLanguage.all.first { $0.code == code })
        let context = SizeText.Context(language: code.isEmpty ? nil : code)
        let nouns = ImportLanguage.words(
            [language.bundles, language.containers, language.items].joined(separator: ",")
        )
        let connectors = ImportLanguage.words(language.connectors)
        let times = code.isEmpty ? connectors : ["x", "×", "*"]
        func check(
            _ text: String,
            _ amount: ExactDecimal,
            _ unit: MeasureUnit,
            packs: Int,
            drained: ExactDecimal? = nil
        ) {
            guard let size = try? Size(amount: amount, unit: unit, packs: packs, drained: drained) else { return }
            let read = SizeText.parse(text, in: context)
            #expect(read?.baseQuantity == size.baseQuantity && read?.unit.dimension == unit.dimension, "\(text)")
            // Without the store's language, the same or unknown.
            let other = SizeText.parse(text)
            #expect(other == nil || other == read, "\(text)")
        }
        var written = 0
        for (unit, list) in language.units where [.mass, .volume].contains(unit.dimension) && unit != .mg {
            for spelling in ImportLanguage.words(list) where !["t", "т", "тонна"].contains(spelling) {
                for (text, amount) in [("400", ExactDecimal(400)), ("0,75", ExactDecimal(75, scale: 2))] {
                    check("\(text) \(spelling)", amount, unit, packs: 1)
                    check("\(text)\(spelling)", amount, unit, packs: 1)
                    for sign in times {
                        check("6 \(sign) \(text) \(spelling)", amount, unit, packs: 6)
                        check("2\(sign)6\(sign)\(text)\(spelling)", amount, unit, packs: 12)
                        check("\(text) \(spelling) \(sign) 6", amount, unit, packs: 6)
                    }
                    written += 2
                }
            }
        }
        for noun in nouns {
            check("6 \(noun) x 330 ml", ExactDecimal(330), .ml, packs: 6)
            check("330 ml \(noun)", ExactDecimal(330), .ml, packs: 1)
            for connector in connectors where !code.isEmpty {
                check("6 \(noun) \(connector) 330 ml", ExactDecimal(330), .ml, packs: 6)
            }
            written += 1
        }
        for word in ImportLanguage.words(language.net) { check("\(word) 400 g", ExactDecimal(400), .g, packs: 1) }
        for word in ImportLanguage.words(language.drained) {
            check("400 g, \(word): 240 g", ExactDecimal(400), .g, packs: 1, drained: ExactDecimal(240))
            check("3 x 400 g (3 x 240 g \(word))", ExactDecimal(400), .g, packs: 3, drained: ExactDecimal(240))
        }
        for word in ImportLanguage.words(language.approximate) {
            for text in ["\(word) 1 kg", "1 kg \(word)"] {
                #expect(SizeText.parse(text, in: context)?.isApproximate == true, "\(text)")
            }
        }
        for word in ImportLanguage.words(language.per) { check("\(word) kg", ExactDecimal(1), .kg, packs: 1) }
        #expect(written > 20)
    }

    @Test("An unknown word at any place of a text leaves its size the same, or makes it unknown")
    func unknownWordsChangeNoSize() throws {
        for row in try UnseenSizes().rows {
            let size = row.parsed
            let words = row.text.split(separator: " ", omittingEmptySubsequences: false)
            for place in 0...words.count {
                for unknown in ["zyxq", "«zyxq»", "Ωmega"] {
                    let text = (words[..<place] + [Substring(unknown)] + words[place...]).joined(separator: " ")
                    var changed = row
                    changed.text = text
                    let read = changed.parsed
                    #expect(
                        read == nil
                            || read?.baseQuantity == size?.baseQuantity && read?.unit.dimension == size?.unit.dimension,
                        "\(text)"
                    )
                }
            }
        }
    }

    @Test("A word that two languages understand differently is unknown without the language of the store")
    func disputedWordsAreUnknown() {
        // Polish and Spanish: a pair; French: per.
        #expect(SizeText.parse("3 par", in: .init(language: "hr"))?.baseQuantity == ExactDecimal(6))
        // Croatian: of; Polish: from.
        #expect(SizeText.parse("6 kom od 100 g", in: .init(language: "hr"))?.packs == 6)
        #expect(SizeText.parse("6 kom od 100 g") == nil)
    }
}
