import Catalog
import Foundation
import Ordering
import Testing
import TestSupport

@Suite(.timeLimit(.minutes(15))) struct UnitPriceTests {
    struct Case: Decodable {
        let id: String
        let price_minor: Int64
        let currency: String
        let qty: String
        let unit: String
        let packs: Int
        let ref: String
        let rule: String
        let exact_minor: String
        let display: String
    }

    static let cases: [Case] = {
        let url = Bundle.module.url(forResource: "unit-price", withExtension: "json", subdirectory: "Cases")!
        return try! JSONDecoder().decode([Case].self, from: Data(contentsOf: url))
    }()

    @Test("Each golden unit price is shown as published")
    func matchesGoldenUnitPrices() throws {
        #expect(Self.cases.count >= 20)
        for golden in Self.cases {
            let unit = try #require(MeasureUnit(rawValue: golden.unit))
            let size = try Size(amount: ExactDecimal(golden.qty)!, unit: unit, packs: golden.packs)
            let price = UnitPrice(priceMinor: golden.price_minor, size: size)
            let reference = golden.ref.split(separator: " ")
            let rounding: UnitPriceRounding = try #require(
                [
                    "plain2": .currency, "au": .hundredths, "us_cent": .hundredths, "gb": .thousandthsBelowOne,
                    "us_tenth": .thousandthsBelowOne,
                ][golden.rule]
            )
            let shown = price?.display(
                per: UnitPriceReference(Int(reference[0])!, MeasureUnit(rawValue: String(reference[1]))!),
                rounding: rounding,
                currency: Currency(golden.currency)!
            )
            let expected = ["NONE", "INCOMPARABLE"].contains(golden.display) ? nil : golden.display
            #expect(shown?.value == expected, "\(golden.id)")
        }
    }

    @Test(
        "A unit price has the reference quantity of the store's rules",
        arguments: [
            (UnitPricing.eu, "250", MeasureUnit.ml, 290, "EUR", "11.60", "1 l"),
            (.eu, "300", .g, 99, "EUR", "3.30", "1 kg"), (.eu, "100", .g, 99, "JPY", "990", "1 kg"),
            (.se, "1140", .piece, 8995, "SEK", "0.08", "1 piece"), (.se, "99", .piece, 990, "SEK", "0.10", "1 piece"),
            (.gb, "500", .g, 29, "GBP", "0.580", "1 kg"), (.gb, "500", .g, 50, "GBP", "1.00", "1 kg"),
            (.au, "500", .g, 250, "AUD", "0.50", "100 g"), (.au, "1", .kg, 255, "AUD", "0.26", "100 g"),
            (.au, "2", .l, 310, "AUD", "0.16", "100 ml"), (.au, "41", .piece, 410, "AUD", "0.10", "1 piece"),
            (.us, "12", .floz_us, 129, "USD", "3.44", "1 qt_us"), (.us, "1", .gal_us, 399, "USD", "0.998", "1 qt_us"),
            (.us, "1", .qt_us, 399, "USD", "3.99", "1 qt_us"), (.us, "1", .lb, 99, "USD", "0.990", "1 lb"),
        ]
    )
    func usesStoreReferenceQuantity(
        _ rules: UnitPricing,
        _ amount: String,
        _ unit: MeasureUnit,
        _ price: Int64,
        _ currency: String,
        _ value: String,
        _ per: String
    ) throws {
        let size = try Size(amount: ExactDecimal(amount)!, unit: unit)
        let shown = rules.display(priceMinor: price, size: size, currency: Currency(currency)!)
        #expect(shown?.value == value)
        #expect(shown?.per == per)
    }

    @Test("Each rule set has one reference quantity per dimension, whatever the size of the pack")
    func referenceIgnoresThePack() throws {
        let metric = ["1 kg", "1 l", "1 piece", "1 m", "1 m2", "1 dose"]
        let expected: [UnitPricing: [String]] = [
            .eu: metric, .se: metric, .gb: metric, .au: ["100 g", "100 ml"] + metric.dropFirst(2),
            .us: ["1 lb", "1 qt_us", "1 piece", "1 ft", "1 ft2", "1 dose"],
        ]
        for rules in UnitPricing.allCases {
            #expect(Dimension.allCases.map { rules.reference(for: $0).description } == expected[rules])
            for unit in MeasureUnit.allCases {
                for amount in ["0.5", "1", "41", "100", "1000", "5000"] {
                    let size = try? Size(amount: ExactDecimal(amount)!, unit: unit)
                    guard let size else { continue }
                    let shown = rules.display(priceMinor: 100, size: size, currency: Currency("EUR")!)
                    #expect(shown?.per == rules.reference(for: unit.dimension).description)
                }
            }
        }
    }

    @Test("Unit price keys compare exactly like the fractions")
    func keysCompareLikeFractions() throws {
        var generator = SeededGenerator(seed: 3)
        var prices: [UnitPrice] = []
        for _ in 0..<400 {
            let scale = Int.random(in: 0...14, using: &generator)
            let digits = Int128(Int64.random(in: 1...999_999_999, using: &generator))
            let price = [0, 1, 99, 999_999_999_999, Int64.random(in: 0..<1_000_000, using: &generator)].randomElement(
                using: &generator
            )!
            guard let size = try? Size(amount: ExactDecimal(digits, scale: scale), unit: .g) else { continue }
            prices.append(UnitPrice(priceMinor: price, size: size)!)
        }
        #expect(prices.count > 200)
        func padded(_ key: String) -> String { String(repeating: "0", count: 60 - key.utf8.count) + key }
        for a in prices {
            for b in prices {
                #expect((padded(a.key) < padded(b.key)) == a.isLess(than: b))
                #expect((a.key == b.key) == a.isEqual(to: b))
            }
        }
    }
}
