internal import Catalog

/// The table of a shelf as bytes, which are stored and read at once.
///
/// Numbers have the byte order of the processor. A program on a processor with another byte order does not know the first number, and reads
/// no image.
///
///     number of the format: UInt32 · numbers of rows, brands, tags, sizes, sets of tags, bytes of the prefix of image URLs, parts of details, loose bytes of details: UInt32
///     one value per row: prices, popularities, times of creation and change, sizes, brands, sets of tags, stock
///     prefix of image URLs
///     ends, then bytes: skus, names, keys of names, positions, codes of details, rests of image URLs · parts of details · brands and their keys
///     · tags and their keys
///     sizes: quantities, then dimensions · sets of tags: ends, then numbers of tags
///     checksum of everything before: UInt64
package struct ShelfImage: Sendable {
    package let table: ShelfTable

    /// - Precondition: the table is that of a shelf, not of a union.
    package init(_ table: ShelfTable) {
        precondition(table.positions.count == table.count)
        self.table = table
    }

    /// The number of the layout, to be raised with each change but that of `ProductDetails.texts`.
    static let layout = 6

    /// The number of the format: of the layout, and of the texts that are details.
    package static let format: UInt32 = formatNumber(ProductDetails.texts)

    static func formatNumber(_ texts: [ProductText]) -> UInt32 {
        var hash = FNV64()
        hash.combine("\(layout)")
        for text in texts { hash.combine(text.name.description) }
        return UInt32(truncatingIfNeeded: hash.value)
    }

    // MARK: - Writing

    package var bytes: [UInt8] {
        var bytes: [UInt8] = []
        func append<Value: BitwiseCopyable>(_ values: [Value]) {
            values.withUnsafeBytes { bytes.append(contentsOf: $0) }
        }
        func append(_ column: TextColumn) {
            append(column.ends)
            append(column.arena)
        }
        let table = table
        let counts = [
            table.count, table.brandTexts.count, table.tagTexts.count, table.sizeValues.count, table.tagSetValues.count,
            table.imageURLs.prefix.count, table.details.parts.count, table.details.looseBytes,
        ]
        append([Self.format] + counts.map { UInt32(clamping: $0) })
        append(table.prices)
        append(table.popularities)
        append(table.created)
        append(table.modified)
        append(table.sizes)
        append(table.brands)
        append(table.tagSets)
        append(table.inStock.map { $0 ? 1 : 0 } as [UInt8])
        append(table.imageURLs.prefix)
        let columns = [
            table.skus, table.names, table.nameKeys, table.positions, table.details.codes, table.imageURLs.rests,
            table.details.parts,
        ]
        for column in columns { append(column) }
        for texts in [table.brandTexts, table.tagTexts] {
            append(texts.texts)
            append(texts.keys)
        }
        append(table.sizeValues.digits)
        append(table.sizeValues.dimensions.map { UInt8($0.ordinal) })
        append(table.tagSetValues.ends)
        append(table.tagSetValues.numbers)
        append([Self.checksum(bytes)])
        return bytes
    }

    /// Returns a checksum that notices damage, not forgery.
    package static func checksum(_ bytes: [UInt8]) -> UInt64 {
        bytes.withUnsafeBytes { checksum($0) }
    }

    private static func checksum(_ bytes: UnsafeRawBufferPointer) -> UInt64 {
        var value: UInt64 = 0xcbf2_9ce4_8422_2325
        var offset = 0
        while offset + 8 <= bytes.count {
            value = (value ^ bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self)) &* 0x9E37_79B9_7F4A_7C15
            value ^= value >> 32
            offset += 8
        }
        for byte in bytes[offset...] { value = (value ^ UInt64(byte)) &* 0x100_0000_01b3 }
        return value
    }

    // MARK: - Reading

    /// Reads an image; nil if it is damaged or has another format.
    ///
    /// - Complexity: O(*n*); texts and numbers are copied as they are.
    package init?(_ bytes: UnsafeRawBufferPointer) {
        guard let image = Self.read(bytes) else { return nil }
        self = image
    }

    private static func read(_ bytes: UnsafeRawBufferPointer) -> ShelfImage? {
        guard bytes.count > 8 else { return nil }
        let content = UnsafeRawBufferPointer(rebasing: bytes[..<(bytes.count - 8)])
        guard bytes.loadUnaligned(fromByteOffset: content.count, as: UInt64.self) == checksum(content) else {
            return nil
        }
        var reader = MemoryReader(content)
        func number() -> UInt32? { reader.value() }
        guard number() == format, let rows = number(), let brandCount = number(), let tagCount = number(),
            let sizeCount = number(), let setCount = number(), let prefixCount = number(), let partCount = number(),
            let looseBytes = number()
        else { return nil }
        var table = ShelfTable()
        guard reader.read(&table.prices, rows), reader.read(&table.popularities, rows),
            reader.read(&table.created, rows), reader.read(&table.modified, rows), reader.read(&table.sizes, rows),
            reader.read(&table.brands, rows), reader.read(&table.tagSets, rows)
        else { return nil }
        var stock: [UInt8] = []
        var (prefix, rests): ([UInt8], TextColumn) = ([], TextColumn())
        var (codes, parts) = (TextColumn(), TextColumn())
        guard reader.read(&stock, rows), reader.read(&prefix, prefixCount) else { return nil }
        table.inStock = stock.map { $0 != 0 }
        guard reader.read(&table.skus, rows), reader.read(&table.names, rows), reader.read(&table.nameKeys, rows),
            reader.read(&table.positions, rows), reader.read(&codes, rows), reader.read(&rests, rows),
            reader.read(&parts, partCount),
            reader.read(&table.brandTexts, brandCount), reader.read(&table.tagTexts, tagCount),
            reader.read(&table.sizeValues, sizeCount), reader.read(&table.tagSetValues, setCount), reader.isAtEnd
        else { return nil }
        table.imageURLs = PrefixedColumn(prefix: prefix, rests: rests)
        guard let details = PackedColumn(parts: parts, codes: codes, looseBytes: Int(looseBytes)) else { return nil }
        table.details = details
        guard table.prices.allSatisfy({ ShelfTable.noPrice <= $0 && Int128($0) < Product.priceLimit }),
            !table.popularities.contains(where: \.isNaN),
            table.sizes.allSatisfy({ $0 == ShelfTable.none || $0 < sizeCount }),
            table.brands.allSatisfy({ $0 == ShelfTable.none || $0 < brandCount }),
            table.tagSets.allSatisfy({ $0 < setCount }),
            table.tagSetValues.numbers.allSatisfy({ $0 < tagCount }),
            (0..<table.count).allSatisfy({ table.details.withBytes($0, ProductDetails.isValid) }),
            (1..<max(1, table.count)).allSatisfy({ table.compare($0 - 1, table, $0) < 0 })
        else { return nil }
        return ShelfImage(table)
    }
}

/// Parts of an image.
extension MemoryReader {
    fileprivate mutating func read(_ column: inout TextColumn, _ count: UInt32) -> Bool {
        var ends: [UInt32] = []
        var arena: [UInt8] = []
        guard read(&ends, count), read(&arena, ends.last ?? 0), let found = TextColumn(arena: arena, ends: ends) else {
            return false
        }
        column = found
        return true
    }

    fileprivate mutating func read(_ texts: inout CollatedTexts, _ count: UInt32) -> Bool {
        var (text, keys) = (TextColumn(), TextColumn())
        guard read(&text, count), read(&keys, count) else { return false }
        texts = CollatedTexts(texts: text, keys: keys)
        return true
    }

    fileprivate mutating func read(_ sizes: inout Quantities, _ count: UInt32) -> Bool {
        var digits: [UInt128] = []
        var dimensions: [UInt8] = []
        guard read(&digits, count), read(&dimensions, count) else { return false }
        var found: [BaseQuantity] = []
        for (digits, dimension) in zip(digits, dimensions) {
            guard dimension < Dimension.allCases.count,
                let size = BaseQuantity(dimension: Dimension.allCases[Int(dimension)], digits: digits)
            else { return false }
            found.append(size)
        }
        sizes = Quantities(found)
        return true
    }

    fileprivate mutating func read(_ lists: inout NumberLists, _ count: UInt32) -> Bool {
        var (numbers, ends): ([UInt32], [UInt32]) = ([], [])
        guard read(&ends, count), read(&numbers, ends.last ?? 0),
            let found = NumberLists(numbers: numbers, ends: ends)
        else { return false }
        lists = found
        return true
    }
}
