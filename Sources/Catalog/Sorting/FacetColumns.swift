/// The products of a shelf as columns, from which facets are counted without the database.
///
/// A column numbers its distinct values. A count compares each value with the filter once, and then looks at each product's numbers.
///
/// - Complexity: a count takes O(*n* + *v* log *v*) for *n* products with *v* values. A copy shares its columns until they change.
package struct FacetColumns: Sendable {
    /// The values of a product.
    package struct Row: Sendable {
        package let sku: SKU
        package let brand: String?
        package let tags: [String]
        package let inStock: Bool
        package let priceMinor: Int64?

        package init(sku: SKU, brand: String?, tags: [String], inStock: Bool, priceMinor: Int64?) {
            (self.sku, self.brand, self.tags, self.inStock, self.priceMinor) = (sku, brand, tags, inStock, priceMinor)
        }
    }

    /// A text that is compared byte by byte, as the database does; Swift would compare letters.
    private struct Text: Hashable, Sendable {
        let text: String

        /// The approximate size in memory, in bytes.
        var size: Int { 32 + text.utf8.count }

        static func == (a: Text, b: Text) -> Bool { a.text.hasSameBytes(as: b.text) }

        func hash(into hasher: inout Hasher) { text.hashBytes(into: &hasher) }
    }

    /// A value of each product, as a number.
    private struct Column<Value: Hashable & Sendable>: Sendable {
        private(set) var values: [Value] = []
        private var numbers: [Value: Int32] = [:]
        /// The number of each product's value.
        private(set) var cells: [Int32] = []
        /// The approximate size of the values in memory, in bytes.
        private(set) var size = 0

        /// Sets the value of a product, or appends that of the next one.
        mutating func set(_ value: Value, at row: Int, size: @autoclosure () -> Int = 0) {
            let number = number(of: value, size())
            if row == cells.count { cells.append(number) } else { cells[row] = number }
        }

        private mutating func number(of value: Value, _ valueSize: @autoclosure () -> Int) -> Int32 {
            if let known = numbers[value] { return known }
            size += 160 + valueSize()
            let number = Int32(values.count)
            values.append(value)
            numbers[value] = number
            return number
        }
    }

    private var rows: [SKU: Int32] = [:]
    /// nil for products without a brand.
    private var brands = Column<Text?>()
    private var tags = Column<[Text]>()
    private var inStock: [Bool] = []
    /// nil for products without a price.
    private var prices = Column<Int64?>()
    /// The ranks of brands and tags in the catalog's collation; nil if a text is not among them.
    private var ranks: [Text: Int]? = [:]

    /// - Parameter capacity: the expected number of products.
    package init(capacity: Int = 0) { rows.reserveCapacity(capacity) }

    /// The number of products.
    package var count: Int { rows.count }

    /// The approximate size in memory, in bytes.
    package var size: Int { 256 + 128 * count + brands.size + tags.size + prices.size }

    private var valueCount: Int { brands.values.count + tags.values.count + prices.values.count }

    /// Whether so many values were replaced that new columns would be much smaller.
    package var hasManyUnusedValues: Bool { valueCount > 4 * count + 1000 }

    /// Adds a product.
    package mutating func append(_ row: Row) {
        let number = rows.count
        precondition(rows.updateValue(Int32(number), forKey: row.sku) == nil, "a product is on a shelf once")
        inStock.append(row.inStock)
        set(row, at: number)
    }

    /// Replaces the values of a product.
    ///
    /// - Returns: false if the columns do not have the product.
    package mutating func replace(_ row: Row) -> Bool {
        guard let number = rows[row.sku].map(Int.init) else { return false }
        inStock[number] = row.inStock
        set(row, at: number)
        return true
    }

    private mutating func set(_ row: Row, at number: Int) {
        let (brand, texts) = (row.brand.map(Text.init), row.tags.map(Text.init))
        brands.set(brand, at: number, size: brand?.size ?? 0)
        tags.set(texts, at: number, size: texts.reduce(0) { $0 + 16 + $1.size })
        prices.set(row.priceMinor, at: number)
        if let ranks, !(brand.map { ranks[$0] != nil } ?? true) || texts.contains(where: { ranks[$0] == nil }) {
            self.ranks = nil
        }
    }

    // MARK: - Collation

    /// The brands and tags, if the ranks of some of them in the catalog's collation are unknown; otherwise nil.
    package var unrankedTexts: [String]? { ranks == nil ? distinctTexts.map(\.text) : nil }

    private var distinctTexts: Set<Text> {
        brands.values.reduce(into: Set(tags.values.joined())) { texts, brand in
            if let brand { texts.insert(brand) }
        }
    }

    /// Sets the order of all brands and tags in the catalog's collation.
    package mutating func rank(_ ordered: [String]) {
        ranks = Dictionary(uniqueKeysWithValues: ordered.enumerated().map { (Text(text: $1), $0) })
    }

    // MARK: - Counting

    /// The filters that columns can apply.
    private static let filters: Set<FilterKey> = Facet.allCases.reduce(into: []) { $0.formUnion($1.keys) }

    /// Whether the columns have all that a filter compares.
    package static func canApply(_ filter: Filter) -> Bool { filters.isSuperset(of: filter.keys) }

    /// Counts facets; each one's counts ignore its own filter.
    ///
    /// - Precondition: the columns can apply the filter, and the ranks of all texts are known.
    package func facets(_ counted: Set<Facet>, _ filter: Filter, in currency: Currency) -> Facets {
        precondition(Self.canApply(filter))
        guard let ranks else { preconditionFailure("the ranks of brands and tags are unknown") }
        // For each value, the bit of its facet if the filter excludes the value.
        func excluded<Value>(_ column: Column<Value>, _ facet: Facet, _ accepts: (Value) -> Bool) -> [UInt8] {
            let filters = filter.keys.contains(where: facet.keys.contains)
            return column.values.map { !filters || accepts($0) ? 0 : facet.bit }
        }
        let excludedBrands = excluded(brands, .brand) { filter.accepts(brand: $0?.text) }
        let excludedTags = excluded(tags, .tag) { filter.accepts(tags: $0.map(\.text)) }
        let excludedStock = [false, true].map { filter.accepts(inStock: $0) ? 0 : Facet.inStock.bit }
        let excludedPrices = excluded(prices, .price) { filter.accepts(priceMinor: $0, in: currency) }

        var brandCounts = Array(repeating: 0, count: brands.values.count)
        var tagCounts = Array(repeating: 0, count: tags.values.count)
        var stockCounts = [0, 0]
        var priceCounts = Array(repeating: 0, count: prices.values.count)
        var facets = Facets(counted: counted)
        for row in 0..<count {
            let (brand, tag) = (Int(brands.cells[row]), Int(tags.cells[row]))
            let (stock, price) = (inStock[row] ? 1 : 0, Int(prices.cells[row]))
            let failed = excludedBrands[brand] | excludedTags[tag] | excludedStock[stock] | excludedPrices[price]
            if failed == 0 { facets.total += 1 }
            if failed & ~Facet.brand.bit == 0 { brandCounts[brand] += 1 }
            if failed & ~Facet.tag.bit == 0 { tagCounts[tag] += 1 }
            if failed & ~Facet.inStock.bit == 0 { stockCounts[stock] += 1 }
            if failed & ~Facet.price.bit == 0 { priceCounts[price] += 1 }
        }

        if counted.contains(.brand) {
            facets.brands = Self.ordered(zip(brands.values, brandCounts), ranks)
        }
        if counted.contains(.tag) {
            var counts: [Text?: Int] = [:]
            for (texts, count) in zip(tags.values, tagCounts) where count > 0 {
                if texts.isEmpty { counts[nil, default: 0] += count }
                for text in texts { counts[text, default: 0] += count }
            }
            facets.tags = Self.ordered(counts.lazy.map { ($0.key, $0.value) }, ranks)
        }
        if counted.contains(.inStock) {
            (facets.soldOut, facets.inStock) = (stockCounts[0], stockCounts[1])
        }
        if counted.contains(.price) {
            for (price, count) in zip(prices.values, priceCounts) where count > 0 {
                if let price { facets.prices.append(PriceCount(price, count)) } else { facets.unpriced = count }
            }
            facets.prices.sort { $0.minor < $1.minor }
        }
        return facets
    }

    /// Returns counts by descending count, then by text in the catalog's collation, in which no text is first.
    private static func ordered(_ counts: some Sequence<(Text?, Int)>, _ ranks: [Text: Int]) -> [Facets.Count] {
        counts.filter { $0.1 > 0 }.map { (text: $0.0, count: $0.1, rank: $0.0.map { ranks[$0]! } ?? -1) }
            .sorted { ($1.count, $0.rank) < ($0.count, $1.rank) }.map { Facets.Count($0.text?.text ?? "", $0.count) }
    }
}

extension Facet {
    /// The facet's bit in a set of facets.
    fileprivate var bit: UInt8 {
        switch self {
        case .brand: 1
        case .tag: 2
        case .inStock: 4
        case .price: 8
        }
    }
}
