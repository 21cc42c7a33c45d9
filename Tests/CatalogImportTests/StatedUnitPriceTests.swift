import Catalog
import Testing

@testable import CatalogImport

/// Sizes and the unit prices that rows state, at the limits of their agreement.
@Suite struct StatedUnitPriceTests {
    private func unitPrice(
        _ text: String,
        of prices: [Int64] = [129],
        pricing: UnitPricing = .eu,
        currency: String = "EUR"
    ) throws -> StatedUnitPrice? {
        StatedUnitPrice(
            text,
            of: prices,
            in: try #require(Currency(currency)),
            SizeText.Context(pricing: pricing)
        ) { ExactDecimal($0) }
    }

    private func size(_ amount: Int, _ unit: MeasureUnit, packs: Int = 1) throws -> Size {
        try #require(try Size(amount: ExactDecimal(Int128(amount)), unit: unit, packs: packs))
    }

    @Test(
        "A size agrees up to the last digit of the unit price, or up to 1 %",
        arguments: [
            // 2.58 ± 0.0258 € per kg for 1.29 €: from 495.1 to 505.05 g.
            ("2.58", [129], 500, .g, 1, true), ("2.58", [129], 505, .g, 1, true), ("2.58", [129], 506, .g, 1, false),
            ("2.58", [129], 496, .g, 1, true), ("2.58", [129], 495, .g, 1, false), ("2.58", [129], 250, .g, 2, true),
            // 0.2 ± 0.1 € per l for 0.10 €: from 333.3 to 1000 ml.
            ("0.2", [10], 1000, .ml, 1, true), ("0.2", [10], 1001, .ml, 1, false), ("0.2", [10], 334, .ml, 1, true),
            ("0.2", [10], 333, .ml, 1, false),
            // The zeros at the end are digits, too.
            ("1.00", [100], 1000, .g, 1, true), ("1.00/kg", [100], 1010, .g, 1, true),
            ("1.00/kg", [100], 2000, .g, 1, false), ("2.50/kg", [250], 1030, .g, 1, false),
            ("2.58", [100, 129], 500, .g, 1, true), ("2.58", [100, 130], 490, .g, 1, false),
            ("2.58/kg", [129], 500, .g, 1, true), ("2.58 / kg", [129], 500, .ml, 1, nil),
            ("2.58/l", [129], 500, .ml, 1, true), ("2.58/l", [129], 500, .g, 1, nil),
            ("0.26/100 g", [129], 500, .g, 1, true), ("0.26/100 g", [129], 600, .g, 1, false),
            // A price of a piece in a list of prices per kg does not concern the size.
            ("1.29", [129], 6, .piece, 1, nil), ("1.29", [129], 500, .g, 1, nil), ("1.29/kg", [129], 500, .g, 1, false),
            ("0.13", [129], 10, .piece, 1, true), ("0.13", [129], 20, .piece, 1, false),
            ("0.43", [129], 3, .m, 1, true),
            ("0.43", [129], 3, .m2, 1, true), ("0.0645", [129], 20, .dose, 1, true),
        ] as [(String, [Int64], Int, MeasureUnit, Int, Bool?)]
    )
    func agrees(
        _ text: String,
        _ prices: [Int64],
        _ amount: Int,
        _ unit: MeasureUnit,
        _ packs: Int,
        _ expected: Bool?
    ) throws {
        let stated = try #require(try unitPrice(text, of: prices))
        #expect(stated.text == text)
        #expect(stated.agrees(with: try size(amount, unit, packs: packs)) == expected)
    }

    @Test("A unit price without a quantity may be that of the store's rules")
    func storeReferences() throws {
        let pack = try size(500, .g)
        #expect(try unitPrice("0.50", of: [250], pricing: .au)?.agrees(with: pack) == true)
        #expect(try unitPrice("0.50", of: [250], pricing: .eu)?.agrees(with: pack) == false)
        #expect(try unitPrice("5.00", of: [250], pricing: .au)?.agrees(with: pack) == true)
        #expect(try unitPrice("240", of: [120], currency: "JPY")?.agrees(with: pack) == true)
    }

    @Test(
        "Other text is rejected",
        arguments: ["", "/", "/kg", "x", "x/kg", "0", "0.00", "-1", "1/blob", "1/6-10 kg"]
    )
    func otherTexts(_ text: String) throws {
        let found = try unitPrice(text)
        #expect(found?.text == nil)
    }

    @Test("Without a price, there is no unit price to compare")
    func noPrices() throws { #expect(try unitPrice("1.00", of: [])?.text == nil) }

    @Test(
        "The size that follows is rounded to whole base units",
        arguments: [
            ("2.58/kg", 129, "~500 g"), ("3/kg", 100, "~333 g"), ("1.5/kg", 100, "~667 g"), ("2000/kg", 300, "~2 g"),
            ("2001/kg", 300, "~1 g"), ("6000/kg", 300, "~1 g"), ("6001/kg", 300, nil), ("3/l", 300, "~1000 ml"),
            ("0.50/piece", 300, "~6 piece"), ("0.25/dose", 300, "~12 dose"), ("1.00/m", 300, "~3 m"),
            ("1.00/m2", 300, "~3 m2"), ("0.3/100 g", 300, "~1000 g"), ("2.58", 129, nil), ("2.58/kg", 0, nil),
        ] as [(String, Int64, String?)]
    )
    func sizes(_ text: String, _ price: Int64, _ expected: String?) throws {
        let found = try unitPrice(text, of: [price])?.size
        #expect(found.map { "\($0.isApproximate ? "~" : "")\($0.amount) \($0.unit.rawValue)" } == expected)
        if let found { #expect(found.packs == 1 && found.drained == nil) }
    }

    @Test("The first of several prices decides the size")
    func firstPrice() throws {
        #expect(try unitPrice("1.00/kg", of: [200, 300])?.size?.amount == ExactDecimal(2000))
    }
}
