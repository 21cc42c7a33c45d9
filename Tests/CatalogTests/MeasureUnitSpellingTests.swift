import Catalog
import Testing

@Suite(.timeLimit(.minutes(15))) struct MeasureUnitSpellingTests {
    @Test(
        "Usual spellings of units are accepted in several languages, with any case, accents and a trailing point",
        arguments: [
            ("g", MeasureUnit.g), ("GR.", .g), ("kilogramm", .kg), ("кг", .kg), ("dkg", .dag), ("lbs", .lb),
            ("ounces", .oz),
            ("mililitara", .ml), ("Liter", .l), ("litros", .l), ("l", .l), ("Stück", .piece), ("stuck", .piece),
            ("kom", .piece), ("ko", .piece), ("szt.", .piece), ("шт", .piece), ("pz", .piece), ("blatt", .piece),
            ("paar", .pair), ("docena", .dozen), ("WG", .dose), ("waschgänge", .dose), ("prań", .dose), ("m²", .m2),
            ("floz_us", .floz_us),
        ]
    )
    func acceptsSpellings(_ spelling: String, _ unit: MeasureUnit) { #expect(MeasureUnit(spelling: spelling) == unit) }

    @Test(
        "A unit that depends on the country is not accepted",
        arguments: ["fl oz", "pt", "gal", "qt", "pint", "", "."]
    )
    func rejectsAmbiguousUnits(_ spelling: String) { #expect(MeasureUnit(spelling: spelling) == nil) }
}
