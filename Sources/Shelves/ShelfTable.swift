package import Catalog

/// A shelf in memory: the values of its products as columns.
///
/// Rows are in the order of names and then skus. So each other order is a stable sort of the row numbers, and a tie-break compares row numbers.
/// A table is immutable for its users: changes produce another table, which shares the columns that did not change.
/// It takes about 240 bytes per product, without attributes.
package struct ShelfTable: Sendable {
    // MARK: - One value per row

    var skus = TextColumn()
    var names = TextColumn()
    var nameKeys = TextColumn()
    /// The keys of the manual order; empty in a union of shelves.
    var positions = TextColumn()
    /// The bytes of `ProductDetails`.
    var details = PackedColumn()
    var imageURLs = PrefixedColumn()
    /// `noPrice` for products without a price.
    var prices: [Int64] = []
    var popularities: [Double] = []
    var inStock: [Bool] = []
    /// Microseconds since 1970.
    var created: [Int64] = []
    var modified: [Int64] = []
    /// Numbers in `sizeValues`, or `none`.
    var sizes: [UInt32] = []
    /// Numbers in `brandTexts`, or `none`.
    var brands: [UInt32] = []
    /// Numbers in `tagSetValues`.
    var tagSets: [UInt32] = []

    // MARK: - Distinct values

    var sizeValues = Quantities()
    var brandTexts = CollatedTexts()
    var tagTexts = CollatedTexts()
    /// The numbers of tags in `tagTexts`, in the order of the product.
    var tagSetValues = NumberLists()

    /// The columns of attributes that were added to the table; empty in memory and in images. Changed tables have none.
    var attributes: [ResolvedAttribute: AttributeColumn] = [:]
    /// The groups of the products, if they were added to the table, as the columns of attributes.
    var groups: GroupColumn?

    /// The number of a missing value.
    static let none = UInt32.max
    static let noPrice: Int64 = -1

    /// Creates an empty table.
    package init() {}

    /// The number of products.
    package var count: Int { skus.count }

    /// The size in memory, in bytes, including columns that the table shares with others.
    package var size: Int {
        let texts =
            skus.size + names.size + nameKeys.size + positions.size + details.size + imageURLs.size + brandTexts.size
            + tagTexts.size
        let numbers =
            8 * (prices.capacity + popularities.capacity + created.capacity + modified.capacity)
        let references = 4 * (sizes.capacity + brands.capacity + tagSets.capacity) + inStock.capacity
        let values = sizeValues.size + tagSetValues.size
        return texts + numbers + references + values + MemoryLayout<ShelfTable>.size + Self.arrayCount
            * Self.arrayOverhead
    }

    /// The bytes of an array's header and of the allocator.
    static let arrayOverhead = 48
    private static let arrayCount = 35

    package func sku(_ row: Int) -> SKU { SKU(stored: skus.text(row)) }
    package func name(_ row: Int) -> String { names.text(row) }
    package func popularity(_ row: Int) -> Popularity { Popularity(log2: popularities[row]) }
    package func modifiedAt(_ row: Int) -> Timestamp { Timestamp(microseconds: modified[row]) }
    package func isInStock(_ row: Int) -> Bool { inStock[row] }

    /// Returns the rows of the products that are on the shelf.
    ///
    /// - Complexity: O(*n* + *m*) for *m* products.
    package func rows(of skus: some Sequence<SKU>) -> [SKU: Int] {
        Dictionary(uniqueKeysWithValues: self.skus.rows(of: skus.map(\.text)).map { (SKU(stored: $0), $1) })
    }

    /// Returns the values of a row.
    package func values(_ row: Int) -> TableRow {
        TableRow(
            sku: sku(row),
            name: CollatedText(names.text(row), key: Array(nameKeys[row])),
            brand: brands[row] == Self.none ? nil : brandTexts[Int(brands[row])],
            tags: tagSetValues[Int(tagSets[row])].map { tagTexts[Int($0)] },
            priceMinor: price(row),
            size: quantity(row),
            popularity: Popularity(log2: popularities[row]),
            inStock: inStock[row],
            createdAt: Timestamp(microseconds: created[row]),
            modifiedAt: Timestamp(microseconds: modified[row]),
            position: positions.count == 0 ? [] : Array(positions[row]),
            imageURL: imageURLs.text(row),
            details: ProductDetails(bytes: details[row])
        )
    }

    /// Returns the product of a row; nil if its details are damaged.
    package func product(_ row: Int) -> Product? {
        var product = Product(
            sku: sku(row),
            name: names.text(row),
            brand: brands[row] == Self.none ? nil : brandTexts[Int(brands[row])].text,
            priceMinor: price(row),
            popularity: Popularity(log2: popularities[row]),
            inStock: inStock[row],
            tags: tagSetValues[Int(tagSets[row])].map { tagTexts[Int($0)].text },
            createdAt: Timestamp(microseconds: created[row]),
            modifiedAt: Timestamp(microseconds: modified[row])
        )
        product.imageURL = imageURLs.text(row)
        return details.withBytes(row) { ProductDetails.read($0, into: &product) } ? product : nil
    }

    func price(_ row: Int) -> Int64? { prices[row] == Self.noPrice ? nil : prices[row] }

    func quantity(_ row: Int) -> BaseQuantity? { sizes[row] == Self.none ? nil : sizeValues[Int(sizes[row])] }

    /// Whether a product has a unit price: a price and a size.
    func hasUnitPrice(_ row: Int) -> Bool { prices[row] != Self.noPrice && sizes[row] != Self.none }

    func unitPrice(_ row: Int) -> UnitPrice? { UnitPrice(priceMinor: price(row), baseQuantity: quantity(row)) }

    /// Whether two rows have the same name, byte by byte, with the same key. While keys are written again, equal names may have different ones.
    func haveSameName(_ a: Int, _ b: Int) -> Bool {
        TextColumn.compare(names, a, names, b) == 0 && TextColumn.compare(nameKeys, a, nameKeys, b) == 0
    }

    /// The dimension that most products with a unit price have, the first one of several; nil without such products.
    ///
    /// - Complexity: O(*n*) for *n* rows.
    package var mostFrequentDimension: Dimension? {
        var counts = [Int](repeating: 0, count: Dimension.allCases.count)
        for row in 0..<count where hasUnitPrice(row) { counts[sizeValues.dimensions[Int(sizes[row])].ordinal] += 1 }
        guard let most = counts.max(), most > 0 else { return nil }
        return Dimension.allCases[counts.firstIndex(of: most)!]
    }

    /// Compares the name of a row with a text: negative, zero or positive.
    func compareName(_ row: Int, _ text: CollatedText) -> Int {
        let keys = nameKeys.compare(row, text.key)
        return keys != 0 ? keys : names.compare(row, Array(text.text.utf8))
    }

    /// Compares a row with one of another table by name and sku: negative, zero or positive.
    func compare(_ row: Int, _ other: ShelfTable, _ otherRow: Int) -> Int {
        let keys = TextColumn.compare(nameKeys, row, other.nameKeys, otherRow)
        if keys != 0 { return keys }
        let texts = TextColumn.compare(names, row, other.names, otherRow)
        return texts != 0 ? texts : TextColumn.compare(skus, row, other.skus, otherRow)
    }

    mutating func reserve(_ rows: Int) {
        prices.reserveCapacity(rows)
        popularities.reserveCapacity(rows)
        inStock.reserveCapacity(rows)
        created.reserveCapacity(rows)
        modified.reserveCapacity(rows)
        sizes.reserveCapacity(rows)
        brands.reserveCapacity(rows)
        tagSets.reserveCapacity(rows)
    }
}

/// The distinct sizes of a shelf's products, half as large in memory as an array of them.
struct Quantities: Sendable {
    private(set) var digits: [UInt128] = []
    private(set) var dimensions: [Dimension] = []

    init() {}

    init(_ quantities: some Collection<BaseQuantity>) {
        digits = quantities.map(\.digits)
        dimensions = quantities.map(\.dimension)
    }

    /// The size in memory, in bytes.
    var size: Int { MemoryLayout<UInt128>.stride * digits.capacity + dimensions.capacity }
}

extension Quantities: RandomAccessCollection {
    var startIndex: Int { 0 }
    var endIndex: Int { digits.count }

    subscript(number: Int) -> BaseQuantity {
        BaseQuantity(dimension: dimensions[number], digits: digits[number])!
    }
}
