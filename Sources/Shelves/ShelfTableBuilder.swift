package import Catalog

/// Builds a table from rows in any order, without an object for each of them.
///
/// It is a class, because a structure of many arrays would be copied for each row.
package final class ShelfTableBuilder {
    /// The values of a product, of which texts and keys are in memory that the caller owns.
    package struct Row {
        package var sku: UnsafeRawBufferPointer
        package var name: UnsafeRawBufferPointer
        package var nameKey: UnsafeRawBufferPointer
        /// nil without a brand.
        package var brand: UnsafeRawBufferPointer?
        package var brandKey: UnsafeRawBufferPointer?
        /// The tags in a form in which equal lists have equal bytes.
        package var tags: UnsafeRawBufferPointer
        package var priceMinor: Int64?
        /// The size in a form in which equal sizes of a dimension have equal bytes.
        package var quantity: UnsafeRawBufferPointer?
        package var dimension: Dimension?
        package var popularity: Double
        package var inStock: Bool
        /// Microseconds since 1970.
        package var createdAt: Int64
        /// Microseconds since 1970.
        package var modifiedAt: Int64
        package var position: UnsafeRawBufferPointer
        package var imageURL: UnsafeRawBufferPointer?
        /// The values without a column of their own.
        package var details: Details

        package enum Details {
            case source(ProductDetails.Source)
            case bytes(ProductDetails)
        }

        package init(
            sku: UnsafeRawBufferPointer,
            name: UnsafeRawBufferPointer,
            nameKey: UnsafeRawBufferPointer,
            brand: UnsafeRawBufferPointer?,
            brandKey: UnsafeRawBufferPointer?,
            tags: UnsafeRawBufferPointer,
            priceMinor: Int64?,
            quantity: UnsafeRawBufferPointer?,
            dimension: Dimension?,
            popularity: Double,
            inStock: Bool,
            createdAt: Int64,
            modifiedAt: Int64,
            position: UnsafeRawBufferPointer,
            imageURL: UnsafeRawBufferPointer?,
            details: Details
        ) {
            self.sku = sku
            self.name = name
            self.nameKey = nameKey
            self.brand = brand
            self.brandKey = brandKey
            self.tags = tags
            self.priceMinor = priceMinor
            self.quantity = quantity
            self.dimension = dimension
            self.popularity = popularity
            self.inStock = inStock
            self.createdAt = createdAt
            self.modifiedAt = modifiedAt
            self.position = position
            self.imageURL = imageURL
            self.details = details
        }
    }

    /// The rows in the order in which they came. Their brands and sizes are numbers in the lists below.
    private var unsorted = ShelfTable()
    private var imageURLs = TextColumn()
    private var details = TextColumn()
    private var detailBytes: [UInt8] = []
    private var brands: [CollatedText] = []
    private var sizes: [BaseQuantity] = []
    private var tagSets: [[CollatedText]] = []
    /// The numbers of keys and texts of brands together.
    private var brandNumbers = ByteNumbers()
    private var sizeNumbers = ByteNumbers()
    private var tagSetNumbers = ByteNumbers()
    /// The number, in `sizes`, of each size with its dimension.
    private var known: [BaseQuantity: UInt32] = [:]
    private var numberOfSize: [UInt32] = []
    private var numberOfTagSet: [UInt32] = []
    private var knownSets: [[CollatedText]: UInt32] = [:]
    private var bytes: [UInt8] = []

    /// - Parameter rows: the number of rows to expect.
    package init(rows: Int) { unsorted.reserve(rows) }

    /// Appends a product.
    ///
    /// - Parameters:
    ///   - tags: reads the tags of the row, if they are new.
    ///   - size: reads the size of the row, if it is new.
    ///   - text: returns the bytes of a text by its index in `ProductDetails.texts`, if the row has the source of its details.
    package func append(
        _ row: Row,
        tags: () throws -> [CollatedText],
        size: () throws -> BaseQuantity,
        text: (Int) -> UnsafeRawBufferPointer?
    ) rethrows {
        unsorted.skus.append(row.sku)
        unsorted.names.append(row.name)
        unsorted.nameKeys.append(row.nameKey)
        unsorted.positions.append(row.position)
        unsorted.brands.append(brandNumber(row))
        let (tagList, isNewList) = tagSetNumbers.number(of: row.tags)
        if isNewList { numberOfTagSet.append(ShelfTable.number(of: try tags(), &knownSets, &tagSets)) }
        unsorted.tagSets.append(numberOfTagSet[Int(tagList)])
        if let written = row.quantity, let dimension = row.dimension {
            bytes.removeAll(keepingCapacity: true)
            bytes.append(UInt8(truncatingIfNeeded: dimension.ordinal))
            bytes.append(contentsOf: written)
            let (number, isNew) = bytes.withUnsafeBytes { sizeNumbers.number(of: $0) }
            if isNew { numberOfSize.append(ShelfTable.number(of: try size(), &known, &sizes)) }
            unsorted.sizes.append(numberOfSize[Int(number)])
        } else {
            unsorted.sizes.append(ShelfTable.none)
        }
        unsorted.prices.append(row.priceMinor ?? ShelfTable.noPrice)
        unsorted.popularities.append(row.popularity)
        unsorted.inStock.append(row.inStock)
        unsorted.created.append(row.createdAt)
        unsorted.modified.append(row.modifiedAt)
        imageURLs.append(row.imageURL ?? UnsafeRawBufferPointer(start: nil, count: 0))
        switch row.details {
        case .source(let source):
            ProductDetails.write(source, text: text, to: &detailBytes)
            details.append(detailBytes)
        case .bytes(let row): details.append(row.bytes)
        }
    }

    /// Appends a product.
    func append(_ row: TableRow) {
        // The bytes of all texts and keys, one after another.
        var bytes: [UInt8] = []
        func added(_ other: some Sequence<UInt8>) -> Range<Int> {
            let start = bytes.count
            bytes.append(contentsOf: other)
            return start..<bytes.count
        }
        let (sku, name, nameKey) = (added(row.sku.text.utf8), added(row.name.text.utf8), added(row.name.key))
        let brand = row.brand.map { (text: added($0.text.utf8), key: added($0.key)) }
        let (position, imageURL) = (added(row.position), row.imageURL.map { added($0.utf8) })
        var tags: [UInt8] = []
        for tag in row.tags {
            for part in [Array(tag.text.utf8), tag.key] {
                withUnsafeBytes(of: UInt32(part.count)) { tags.append(contentsOf: $0) }
                tags += part
            }
        }
        let tagBytes = added(tags)
        let quantity = row.size.map { size in withUnsafeBytes(of: size.digits) { added($0) } }
        bytes.withUnsafeBytes { bytes in
            func part(_ range: Range<Int>) -> UnsafeRawBufferPointer { UnsafeRawBufferPointer(rebasing: bytes[range]) }
            append(
                Row(
                    sku: part(sku),
                    name: part(name),
                    nameKey: part(nameKey),
                    brand: brand.map { part($0.text) },
                    brandKey: brand.map { part($0.key) },
                    tags: part(tagBytes),
                    priceMinor: row.priceMinor,
                    quantity: quantity.map(part),
                    dimension: row.size?.dimension,
                    popularity: row.popularity.log2,
                    inStock: row.inStock,
                    createdAt: row.createdAt.microseconds,
                    modifiedAt: row.modifiedAt.microseconds,
                    position: part(position),
                    imageURL: imageURL.map(part),
                    details: .bytes(row.details)
                ),
                tags: { row.tags },
                size: { row.size! },
                text: { _ in nil }
            )
        }
    }

    private func brandNumber(_ row: Row) -> UInt32 {
        guard let brand = row.brand, let key = row.brandKey else { return ShelfTable.none }
        bytes.removeAll(keepingCapacity: true)
        bytes.append(contentsOf: key)
        // Texts have no NUL, so the last one ends the key.
        bytes.append(0)
        bytes.append(contentsOf: brand)
        let (number, isNew) = bytes.withUnsafeBytes { brandNumbers.number(of: $0) }
        if isNew { brands.append(CollatedText(String(decoding: brand, as: UTF8.self), key: Array(key))) }
        return number
    }

    /// Returns the table.
    ///
    /// - Precondition: each sku occurs once.
    /// - Complexity: O(*n*), and O(*k* log *k*) for *k* names with equal beginnings.
    package func table() -> ShelfTable {
        let order = order()
        var sorted = ShelfTable()
        sorted.skus = unsorted.skus.gathered(order)
        sorted.names = unsorted.names.gathered(order)
        sorted.nameKeys = unsorted.nameKeys.gathered(order)
        sorted.positions = unsorted.positions.gathered(order)
        sorted.details = PackedColumn(details, order)
        sorted.imageURLs = PrefixedColumn(imageURLs.gathered(order))
        func gathered<Value>(_ column: [Value]) -> [Value] { order.map { column[Int($0)] } }
        sorted.prices = gathered(unsorted.prices)
        sorted.popularities = gathered(unsorted.popularities)
        sorted.inStock = gathered(unsorted.inStock)
        sorted.created = gathered(unsorted.created)
        sorted.modified = gathered(unsorted.modified)
        sorted.sizes = gathered(unsorted.sizes)
        sorted.tagSets = gathered(unsorted.tagSets)
        let (brandTexts, brandRanks) = CollatedTexts.numbered(brands)
        let ranks = brands.map { brandRanks[$0]! }
        sorted.brands = order.map { row in
            let number = unsorted.brands[Int(row)]
            return number == ShelfTable.none ? number : ranks[Int(number)]
        }
        let (tagTexts, tagRanks) = CollatedTexts.numbered(tagSets.lazy.flatMap { $0 })
        (sorted.brandTexts, sorted.tagTexts, sorted.sizeValues) = (brandTexts, tagTexts, Quantities(sizes))
        sorted.tagSetValues = NumberLists(tagSets.lazy.map { $0.lazy.map { tagRanks[$0]! } })
        return sorted
    }

    /// Returns the rows in the order of names and then skus.
    private func order() -> [UInt32] {
        // A copy of the table for each comparison would cost more than all comparisons.
        let (names, skus) = (unsorted.names, unsorted.skus)
        var rows = (0..<UInt32(skus.count)).map { $0 }
        RowOrder.sort(&rows, by: unsorted.nameKeys) { a, b in
            let order = TextColumn.compare(names, a, names, b)
            return order != 0 ? order : TextColumn.compare(skus, a, skus, b)
        }
        return rows
    }
}
