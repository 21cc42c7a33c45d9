internal import JSON
package import Catalog

/// A cache of rendered products. Most pages show products that other pages have shown before.
///
/// A fragment is used only for the state of the product that it was rendered from, so changes need not invalidate
/// anything.
package final class ProductFragments: Sendable {
    final class Fragment: Sendable {
        /// The product as JSON, without the value of its popularity.
        let bytes: [UInt8]
        /// The offset of the popularity in bytes.
        let gap: Int
        let modifiedAt: Timestamp
        let currency: Currency
        let unitPricing: UnitPricing

        init(bytes: [UInt8], gap: Int, modifiedAt: Timestamp, currency: Currency, unitPricing: UnitPricing) {
            self.bytes = bytes
            self.gap = gap
            self.modifiedAt = modifiedAt
            self.currency = currency
            self.unitPricing = unitPricing
        }

        func isOf(_ modifiedAt: Timestamp, _ store: Store) -> Bool {
            self.modifiedAt == modifiedAt && currency == store.currency && unitPricing == store.unitPricing
        }
    }

    struct Key: Hashable, Sendable {
        let store: CatalogKey
        let sku: SKU
    }

    private typealias Cache = SharedCache<Key, Fragment>
    private let fragments: Cache

    /// The approximate size of an entry without its JSON, in bytes: the object and the header of its array take 180.
    private static let overhead = Cache.entryOverhead + 180
    /// The size of the largest product to keep, in bytes.
    private static let largest = 16 << 10

    /// - Parameter limit: the maximum size in bytes.
    package init(limit: Int) {
        fragments = Cache(limit: max(2, limit), largest: Self.largest) { $1.bytes.count + Self.overhead }
    }

    /// The use of the memory.
    package var use: CacheUse { fragments.use }

    subscript(key: Key) -> Fragment? {
        get { fragments[key] }
        set { fragments[key] = newValue }
    }
}

/// The products of a page as JSON.
package struct RenderedProducts: PageItems {
    private let presentation: ProductPresentation
    private let fragments: ProductFragments
    /// The products, separated by commas.
    private(set) var bytes: [UInt8] = []
    /// The end of each product in `bytes`.
    private var ends: [Int] = []

    package init(_ store: Store, day: Int, _ fragments: ProductFragments) {
        presentation = ProductPresentation(store: store, day: day)
        self.fragments = fragments
    }

    package mutating func addKnown(_ sku: SKU, modifiedAt: Timestamp, popularity: Popularity) -> Bool {
        guard let fragment = fragment(sku, modifiedAt) else { return false }
        append(fragment, popularity)
        return true
    }

    /// Returns the fragment of a product's state.
    private func fragment(_ sku: SKU, _ modifiedAt: Timestamp) -> ProductFragments.Fragment? {
        let store = presentation.store
        guard let fragment = fragments[.init(store: store.key, sku: sku)], fragment.isOf(modifiedAt, store) else {
            return nil
        }
        return fragment
    }

    package mutating func add(_ product: Product) {
        let fragment = presentation.fragment(product)
        fragments[.init(store: presentation.store.key, sku: product.sku)] = fragment
        append(fragment, product.popularity)
    }

    private mutating func append(_ fragment: ProductFragments.Fragment, _ popularity: Popularity) {
        if !bytes.isEmpty { bytes.append(UInt8(ascii: ",")) }
        bytes.append(contentsOf: fragment.bytes[..<fragment.gap])
        bytes.append(contentsOf: JSONWriter.text(of: presentation.score(popularity)).utf8)
        bytes.append(contentsOf: fragment.bytes[fragment.gap...])
        ends.append(bytes.count)
    }

    /// Returns the products with their matches and cards. Fragments have neither, because all pages share fragments.
    ///
    /// - Parameters:
    ///   - matches: those of each product; empty without a search.
    ///   - cards: what each product represents; empty unless groups are collapsed.
    ///   - members: those of each card; empty unless the request asks for them.
    func bytes(
        with matches: [[ProductMatch]],
        _ cards: [GroupCard] = [],
        _ members: [RenderedProducts] = []
    ) -> [UInt8] {
        guard !matches.isEmpty || !cards.isEmpty else { return bytes }
        var (all, start) = ([UInt8](), 0)
        let added = members.reduce(128 * matches.count + 64 * cards.count) { $0 + $1.bytes.count + 16 }
        all.reserveCapacity(bytes.count + added)
        for (index, end) in ends.enumerated() {
            all.append(contentsOf: bytes[start..<(end - 1)])
            if !cards.isEmpty { all.append(contentsOf: cards[index].text) }
            if !members.isEmpty {
                all.append(contentsOf: #","members":["#.utf8)
                all.append(contentsOf: members[index].bytes)
                all.append(UInt8(ascii: "]"))
            }
            if !matches.isEmpty { all.append(contentsOf: matches[index].member) }
            all.append(UInt8(ascii: "}"))
            start = end
        }
        return all
    }
}
