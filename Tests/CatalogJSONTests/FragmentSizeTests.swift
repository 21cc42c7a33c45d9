import Catalog
import Testing

@testable import CatalogJSON

@Suite("Sizes of fragments") struct FragmentSizeTests {
    private static let euro = Currency("EUR")!

    private static func fragment(_ bytes: Int) -> ProductFragments.Fragment {
        .init(
            bytes: [UInt8](repeating: 65, count: bytes),
            gap: 0,
            modifiedAt: Timestamp(microseconds: 1),
            currency: euro,
            unitPricing: .eu
        )
    }

    private static func key(_ number: Int) -> ProductFragments.Key {
        .init(store: CatalogKey("s")!, sku: SKU("p\(number)")!)
    }

    @Test("A fragment takes its bytes, 180 bytes and those of an entry")
    func size() {
        let fragments = ProductFragments(limit: 1 << 20)
        fragments[Self.key(1)] = Self.fragment(1000)
        let overhead = SharedCache<ProductFragments.Key, ProductFragments.Fragment>.entryOverhead
        #expect(fragments.use.count == 1)
        #expect(fragments.use.size == 1000 + 180 + overhead)
        #expect(fragments[Self.key(1)]?.bytes.count == 1000 && fragments[Self.key(2)] == nil)
    }

    @Test("A fragment belongs to the state, the currency and the unit prices that it was rendered with")
    func states() {
        let fragment = Self.fragment(1)
        let store = Store(key: CatalogKey("s")!, title: "S", currency: Self.euro)
        #expect(fragment.isOf(Timestamp(microseconds: 1), store))
        #expect(!fragment.isOf(Timestamp(microseconds: 2), store))
        var other = store
        other.currency = Currency("JPY")!
        #expect(!fragment.isOf(Timestamp(microseconds: 1), other))
        other = store
        other.unitPricing = .us
        #expect(!fragment.isOf(Timestamp(microseconds: 1), other))
    }

    @Test("The smallest cache keeps nothing and does not fail", arguments: [0, 1, 2, -1])
    func smallestCache(_ limit: Int) {
        let fragments = ProductFragments(limit: limit)
        fragments[Self.key(1)] = Self.fragment(1)
        #expect(fragments[Self.key(1)] == nil)
    }
}
