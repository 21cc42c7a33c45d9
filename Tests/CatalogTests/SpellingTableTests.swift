import Testing

@testable import Catalog

/// The spellings of units in several languages together.
@Suite(.timeLimit(.minutes(15))) struct SpellingTableTests {
    private static func language(
        _ units: [MeasureUnit: String],
        _ customaryUnits: [ImportLanguage.CustomaryUnit: String] = [:]
    ) -> ImportLanguage {
        ImportLanguage(code: "x", units: units, customaryUnits: customaryUnits)
    }

    @Test("A word that two languages understand differently is not a spelling, whatever others understand")
    func conflicts() {
        let languages: [ImportLanguage] = [
            Self.language([.g: "weight, gramo", .l: "Litre"]), Self.language([.kg: "weight", .l: "litre, litro"]),
            Self.language([.g: "weight"]),
        ]
        for order in [languages, languages.reversed()] {
            let table = MeasureUnit.spellings(in: order)
            #expect(table["weight"] == nil)
            #expect(table["gramo"] == .g)
            #expect(table["litre"] == .l && table["litro"] == .l)
        }
    }

    @Test("An ounce is a mass, and other units that depend on the country have no spelling")
    func customaryUnits() {
        let ounces = Self.language([:], [.ounce: "onza, onzas", .fluidOunce: "onza fluida", .pint: "pinta"])
        let table = MeasureUnit.spellings(in: [ounces])
        #expect(table["onza"] == .oz && table["onzas"] == .oz)
        #expect(table["onza fluida"] == nil && table["pinta"] == nil)
        #expect(MeasureUnit.spellings(in: [ounces, Self.language([.piece: "onza"])])["onza"] == nil)
    }

    @Test("The name of a unit in responses is its spelling, whatever languages understand")
    func names() {
        let names = MeasureUnit.spellings(in: [])
        #expect(names.count == MeasureUnit.allCases.count)
        for unit in MeasureUnit.allCases { #expect(names[unit.rawValue] == unit) }
        let table = MeasureUnit.spellings(in: [Self.language([.kg: "g, t"]), Self.language([.g: "t"])])
        #expect(table["g"] == .g && table["t"] == .t)
    }
}
