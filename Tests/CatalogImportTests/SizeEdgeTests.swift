import Catalog
import Testing

@testable import CatalogImport

/// Sizes in texts at the edges of each rule.
@Suite struct SizeEdgeTests {
    private func text(_ text: String, _ source: SizeText.Source = .size, _ context: SizeText.Context = .init())
        -> String?
    {
        SizeText.parse(text, from: source, in: context).map {
            ($0.isApproximate ? "~" : "") + ($0.packs == 1 ? "" : "\($0.packs)x") + "\($0.amount)"
                + ($0.drained.map { "/\($0)" } ?? "") + " \($0.unit.rawValue)"
        }
    }

    private func numbers(_ text: String) -> [SizeNumber] {
        SizeTerm.terms(of: text, in: SizeText.Context()).compactMap { term in
            if case .number(let number) = term { number } else { nil }
        }
    }

    @Test(
        "A number knows its digits, and a count is a whole number from 1 to 100,000",
        arguments: [
            ("500 g", "500", 3, 0, false, 500), ("0.5", "0.5", 1, 1, false, nil), ("05", "5", 2, 0, true, nil),
            ("0", "0", 1, 0, true, nil), ("00.5", "0.5", 2, 1, true, nil), (".33", "0.33", 0, 2, false, nil),
            ("6.00", "6", 1, 2, false, 6), ("6,0", "6", 1, 1, false, 6), ("6.000", "6", 1, 3, false, nil),
            ("1.234.5", nil, 1, 4, false, nil), ("100000", "100000", 6, 0, false, 100_000),
            ("100001", "100001", 6, 0, false, nil),
            ("1.5", "1.5", 1, 1, false, nil), ("1", "1", 1, 0, false, 1),
        ] as [(String, String?, Int, Int, Bool, Int?)]
    )
    func digits(_ text: String, _ value: String?, _ whole: Int, _ decimals: Int, _ hasLeadingZero: Bool, _ count: Int?)
        throws
    {
        let number = try #require(numbers(text).first)
        #expect(number.value?.description == value)
        #expect(number.wholeDigits == whole && number.decimals == decimals && number.hasLeadingZero == hasLeadingZero)
        #expect(number.count == count)
    }

    @Test("A number of more than 30 digits has no value")
    func longNumbers() {
        let thirty = String(repeating: "1", count: 30)
        #expect(numbers(thirty).first?.value?.description == thirty && numbers(thirty + "1").first?.value == nil)
    }

    @Test(
        "The characters beside a number decide what it belongs to",
        arguments: [
            ("12", false, false, false), ("B12", true, false, false), ("b-12", true, false, false),
            ("b.12", true, false, false),
            ("b 12", false, false, false), ("(12", false, false, false), ("22-CL", false, true, false),
            ("500-g-pack", false, false, false),
            ("22-", false, false, false), ("-5", false, false, true), ("x -5", false, false, true),
            ("x −5", false, false, true),
        ]
    )
    func neighbors(_ text: String, _ isJoined: Bool, _ isHyphenated: Bool, _ isUnclear: Bool) throws {
        let number = try #require(numbers(text).first)
        #expect(number.isJoined == isJoined && number.isHyphenated == isHyphenated && number.isUnclear == isUnclear)
    }

    @Test("A number after the mark of thousands is unclear, and one of a range is not")
    func laterNumbers() {
        #expect(
            numbers("1'000").map(\.isUnclear) == [false, true] && numbers("1_000").map(\.isUnclear) == [false, true]
        )
        #expect(
            numbers("6-10").map(\.isUnclear) == [false, false] && numbers("2x200").map(\.isJoined) == [false, true]
        )
    }

    @Test(
        "Measures of two systems agree up to 1.5 %, and of one system only if they are equal",
        arguments: [
            ("453.6 g (1 lb)", "453.6 g"), ("460.4 g (1 lb)", "460.4 g"), ("460.5 g (1 lb)", nil),
            ("500 g (501 g)", nil),
            ("500 g (0.5 kg)", "500 g"), ("ca. 500 g (0.5 kg)", "~500 g"), ("500 g (ca. 0.5 kg)", "~500 g"),
        ] as [(String, String?)]
    )
    func agreement(_ given: String, _ expected: String?) { #expect(text(given) == expected) }

    @Test(
        "A drained amount is at most the content, and that of one pack at least half of it",
        arguments: [
            ("400 g (400 g drained)", "400/400 g"), ("400 g (401 g drained)", nil),
            ("1 kg (600 g drained)", "1000/600 g"),
            ("3 x 400 g (240 g drained)", "3x400/240 g"), ("3 x 400 g (200 g drained)", "3x400/200 g"),
            ("3 x 400 g (199 g drained)", nil), ("400 g (200 ml drained)", nil), ("400 g (100 g drained)", "400/100 g"),
        ] as [(String, String?)]
    )
    func drained(_ given: String, _ expected: String?) { #expect(text(given) == expected) }

    @Test(
        "Amounts of one dimension are added",
        arguments: [
            ("250 g + 50 g", "300 g"), ("1 kg + 500 g", "1500 g"), ("2 x 100 g + 50 g", "250 g"), ("500 g + 1 l", nil),
            ("10 pcs + 2 pcs", "12 piece"), ("500 g + 10 %", nil),
        ] as [(String, String?)]
    )
    func sums(_ given: String, _ expected: String?) { #expect(text(given) == expected) }

    @Test(
        "Fractions of units are halves, quarters, fifths and eighths",
        arguments: [
            ("1/2 l", "0.5 l"), ("1/8 l", "0.125 l"), ("3/4 kg", "0.75 kg"), ("2/5 kg", "0.4 kg"), ("1/3 l", nil),
            ("5/4 l", nil),
            ("4/4 l", nil), ("1/4 dozen", "3 piece"), ("1/8 dozen", nil), ("half kg", "0.5 kg"),
        ] as [(String, String?)]
    )
    func fractions(_ given: String, _ expected: String?) { #expect(text(given) == expected) }

    @Test(
        "Three decimals are thousands unless the unit is large or the number small",
        arguments: [
            ("0.750 kg", "0.75 kg"), ("12.125 kg", "12.125 kg"), ("125.125 kg", nil), ("1.125 l", "1.125 l"),
            ("1.125 g", nil),
            ("0.125 g", "0.125 g"), (".125 g", "0.125 g"), ("1.25 g", "1.25 g"), ("1.1255 g", "1.1255 g"),
        ] as [(String, String?)]
    )
    func thousands(_ given: String, _ expected: String?) { #expect(text(given) == expected) }

    @Test(
        "A word that labels a number hides that number, and nothing without one",
        arguments: [("size 4 500 g", "500 g"), ("size ca. 500 g", "~500 g"), ("size 500 g", nil)] as [(String, String?)]
    )
    func labels(_ given: String, _ expected: String?) { #expect(text(given) == expected) }

    @Test("Ounces after pounds are sixteenths")
    func pounds() {
        #expect(text("2 lb 8 oz") == "2.5 lb" && text("2 lb 15 oz") == "2.9375 lb" && text("2 lb 16 oz") == nil)
    }

    @Test("A name states at most 200 kg or 200 l, a column more, and packs have a limit")
    func limits() {
        #expect(text("Milk 200 l", .name) == "200 l" && text("Milk 201 l", .name) == nil && text("201 l") == "201 l")
        #expect(text("100000 x 1 g") == "100000x1 g" && text("2 x 100000 x 1 g") == nil)
        #expect(text("500 g" + String(repeating: " ", count: 1019)) == "500 g")
        #expect(text("500 g" + String(repeating: " ", count: 1020)) == nil)
    }

    @Test("A unit has a name, also after the number 1")
    func units() {
        for (given, expected) in [
            ("kg", .kg), ("1 kg", .kg), ("2 kg", nil), ("Stück", .piece), ("g.", .g), ("", nil), ("blob", nil),
            ("oz", .oz),
        ] as [(String, MeasureUnit?)] {
            #expect(SizeText.unit(given) == expected, "\(given)")
        }
        var context = SizeText.Context()
        context.units = ["blob": .pair]
        #expect(SizeText.unit("Blob", in: context) == .pair && text("3 blob", .size, context) == "6 piece")
    }
}
