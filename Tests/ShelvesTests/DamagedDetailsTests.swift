import Catalog
import Testing

@testable import Shelves

/// The details of a product whose bytes are divided into values, but whose values are not valid.
@Suite(.timeLimit(.minutes(15))) struct DamagedDetailsTests {
    /// The parts of a size as bytes.
    private struct Parts {
        var amount = "250"
        var unit = "g"
        var packs: Int32 = 2
        var drained: String? = "150"
    }

    /// Returns the product whose details have the parts; nil if they are damaged.
    private static func product(_ parts: Parts) -> Product? {
        var (amount, unit, drained) = (parts.amount, parts.unit, parts.drained)
        let details = amount.withUTF8 { amount in
            unit.withUTF8 { unit in
                var source = ProductDetails.Source(
                    amount: UnsafeRawBufferPointer(amount),
                    unit: UnsafeRawBufferPointer(unit),
                    packs: parts.packs,
                    isApproximate: false,
                    attributes: UnsafeRawBufferPointer(start: nil, count: 0)
                )
                guard drained != nil else { return ProductDetails(source) { _ in nil } }
                return drained!.withUTF8 { drained in
                    source.drained = UnsafeRawBufferPointer(drained)
                    return ProductDetails(source) { _ in nil }
                }
            }
        }
        var product = Product(sku: SKU("a")!, name: "A")
        // They are divided into values in any case.
        let isDivided = details.bytes.withUnsafeBytes { ProductDetails.isValid($0) }
        #expect(isDivided)
        return details.bytes.withUnsafeBytes { ProductDetails.read($0, into: &product) } ? product : nil
    }

    @Test("The parts of a size are read")
    func validParts() throws {
        let size = try #require(Self.product(Parts())?.size)
        #expect(size.amount == ExactDecimal(250) && size.unit == .g && size.packs == 2)
        #expect(size.drained == ExactDecimal(150))
        let whole = try #require(Self.product(Parts(packs: 1, drained: nil))?.size)
        #expect(whole.packs == 1 && whole.drained == nil)
    }

    @Test("An amount, a unit, a number of packs or a drained amount that is not valid means damage")
    func damagedParts() {
        for amount in ["", "x", "-1", "0", "1e3"] { #expect(Self.product(Parts(amount: amount)) == nil, "\(amount)") }
        for unit in ["", "G", "gram"] { #expect(Self.product(Parts(unit: unit)) == nil, "\(unit)") }
        for packs in [0, -1, 1_000_001] as [Int32] { #expect(Self.product(Parts(packs: packs)) == nil, "\(packs)") }
        for drained in ["", "x", "-1"] {
            #expect(Self.product(Parts(drained: drained)) == nil, "\(drained)")
        }
    }
}
