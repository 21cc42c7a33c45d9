internal import Catalog
internal import Collation
internal import LibPQ
internal import Shelves

/// Reads shelves from the database: only what changed since a version, from an image and the changes since then, or as a whole.
///
/// Each read is one statement, so that versions and products are from one snapshot.
enum ShelfReader {
    /// The number of the format of the images that this program reads and writes: of their layout, their numbers and the keys in them.
    ///
    /// The language of a store is not a part of it: with another language, its shelves have versions that do not follow from the images.
    static let imageFormat: Int64 = {
        var hash = FNV64()
        hash.combine("\(ShelfImage.format) \(1.bigEndian == 1 ? "big" : "little")-endian")
        hash.combine(LanguageCollator.version)
        return Int64(bitPattern: hash.value)
    }()

    /// A shelf as it was read.
    struct ReadShelf: Sendable {
        let shelf: ShelfSnapshot
        let kind: DatabaseObservation.ShelfReadKind
        /// The number of products that changed since its image.
        var changeCount = 0
    }

    /// Reads what changed on a shelf since a version, or the shelf from its image, or as a whole.
    ///
    /// - Parameter known: the shelf at an earlier version; nil if there is none.
    /// - Precondition: the transaction has not changed the shelf: the image is of the version before.
    /// - Returns: the shelf, nil if it does not exist, and whether it has an image that cannot be read.
    /// - Complexity: O(*n* + *m* log *m*) for *n* products and *m* changed ones, or as `readWhole`.
    static func read(
        after known: ShelfSnapshot? = nil,
        _ shelfID: Int32,
        of storeID: Int32,
        _ connection: isolated PostgresConnection
    ) throws -> (shelf: ReadShelf?, isDamaged: Bool) {
        let query = latestQuery(after: known, ShelfLocation(storeID: storeID, shelfID: shelfID), readsImage: true)
        let latest = try connection.query(query.statement, query.parameters) { try Self.latest($0) }
        if let found = latest.shelf(after: known) { return (found, latest.isDamaged) }
        let whole = try readWhole(shelfID, of: storeID, connection)
        return (whole.map { ReadShelf(shelf: $0, kind: .whole) }, latest.isDamaged)
    }

    /// Reads all products of a shelf.
    ///
    /// - Returns: nil if the shelf does not exist.
    /// - Complexity: O(*n* log *n*) for *n* products.
    static func readWhole(
        _ shelfID: Int32,
        of storeID: Int32,
        _ connection: isolated PostgresConnection
    ) throws -> ShelfSnapshot? {
        let query = wholeQuery(ShelfLocation(storeID: storeID, shelfID: shelfID))
        return try connection.query(query.statement, query.parameters) { try whole($0) }
    }

    static func wholeQuery(_ location: ShelfLocation) -> PostgresQuery {
        PostgresQuery(ShelfReadStatements.whole, [.int4(location.storeID), .int4(location.shelfID)])
    }

    /// Returns the shelf of the rows of `wholeQuery`; nil if it does not exist.
    static func whole(_ rows: borrowing PostgresRows) throws -> ShelfSnapshot? {
        var keys = TextKeys()
        var version: Int64?
        let builder = ShelfTableBuilder(rows: rows.count)
        try rows.forEach { row in
            version = try row.int8(0)
            try keys.setLanguage(row, ShelfReadStatements.languageColumn)
            if !row.isNull(1) { try Self.append(row, to: builder, &keys) }
        }
        return version.map { ShelfSnapshot(version: $0, table: builder.table()) }
    }

    /// Returns the query for the way to the current version of a shelf.
    ///
    /// - Parameters:
    ///   - known: the shelf at an earlier version; nil if there is none.
    ///   - readsImage: whether to read the image if the changes since then are missing.
    static func latestQuery(
        after known: ShelfSnapshot?,
        _ location: ShelfLocation,
        readsImage: Bool
    ) -> PostgresQuery {
        PostgresQuery(
            ShelfReadStatements.latest,
            [
                .int4(location.storeID), .int4(location.shelfID), .int8(known?.version),
                .int8(readsImage ? imageFormat : nil),
            ]
        )
    }

    /// The way to the current version of a shelf.
    struct Latest: Sendable {
        /// The changes since the image, or else since the known version; nil if the shelf must be read as a whole, or does not exist.
        fileprivate(set) var changes: Changes?
        /// nil if the changes are those since the known version.
        fileprivate(set) var image: ShelfTable?
        /// Whether there is an image that should be one of this program's, but cannot be read.
        fileprivate(set) var isDamaged = false

        /// Returns the current shelf; nil if it must be read as a whole, or does not exist.
        ///
        /// - Parameter known: the shelf of the query.
        func shelf(after known: ShelfSnapshot?) -> ReadShelf? {
            guard let changes else { return nil }
            if let image {
                let table = changes.rows.isEmpty ? image : image.applying(changes.rows)
                let shelf = ShelfSnapshot(version: changes.version, table: table)
                return ReadShelf(shelf: shelf, kind: .image, changeCount: changes.rows.count)
            }
            return known.map { known in
                ReadShelf(shelf: changes.version == known.version ? known : known.applying(changes), kind: .changes)
            }
        }
    }

    /// Reads the rows of `latestQuery`.
    static func latest(_ rows: borrowing PostgresRows) throws -> Latest {
        var keys = TextKeys()
        var latest = Latest()
        try rows.forEach { row in
            let version = try row.int8(0)
            if latest.changes == nil { latest.changes = Changes(version: version) }
            try keys.setLanguage(row, ShelfReadStatements.languageColumn)
            if let sku = try row.textOrNil(1) {
                try latest.changes?.add(SKU(stored: sku), row, &keys)
            } else if !row.isNull(ShelfReadStatements.imageColumn) {
                latest.image = ShelfImage(try row.presentBytes(ShelfReadStatements.imageColumn))?.table
                latest.isDamaged = latest.image == nil
            }
        }
        return latest.isDamaged ? Latest(isDamaged: true) : latest
    }

    /// The products of a shelf that changed since a version.
    struct Changes: Sendable {
        var version: Int64
        /// nil for a product that is no longer on the shelf.
        private(set) var rows: [SKU: TableRow?]

        init(version: Int64, rows: [SKU: TableRow?] = [:]) { (self.version, self.rows) = (version, rows) }

        fileprivate mutating func add(_ sku: SKU, _ row: borrowing PostgresRow, _ keys: inout TextKeys) throws {
            rows[sku] = .some(try ShelfReader.product(row, &keys))
        }
    }

    /// Reads products of a shelf; nil for those that are not on it.
    static func products(
        _ skus: [String],
        _ shelfID: Int32,
        of storeID: Int32,
        _ connection: isolated PostgresConnection
    ) throws -> [SKU: TableRow?] {
        var keys = TextKeys()
        let values: [PostgresValue] = [.int4(storeID), .int4(shelfID), .textArray(skus)]
        let rows = try connection.query(ShelfReadStatements.some, values) {
            try $0.map { row in
                try keys.setLanguage(row, ShelfReadStatements.languageColumn)
                return (SKU(stored: try row.text(1)), try Self.product(row, &keys))
            }
        }
        return Dictionary(rows) { first, _ in first }
    }

    /// The sort keys of texts that many products have.
    fileprivate struct TextKeys {
        /// The collator of the rows' store; all rows of a read have the same.
        private var collator: LanguageCollator?
        private var known: [String: [UInt8]] = [:]

        mutating func setLanguage(_ row: borrowing PostgresRow, _ column: Int) throws {
            if collator == nil { collator = .of(try row.text(column)) }
        }

        mutating func collated(_ text: String) -> CollatedText {
            if let key = known[text] { return CollatedText(text, key: key) }
            guard let collator else { preconditionFailure("the language of the rows was not read") }
            let key = collator.key(text)
            known[text] = key
            return CollatedText(text, key: key)
        }
    }

    /// Reads the product of a row, whose first column is the version; nil if there is none.
    private static func product(_ row: borrowing PostgresRow, _ keys: inout TextKeys) throws -> TableRow? {
        guard let name = try row.textOrNil(2) else { return nil }
        return TableRow(
            sku: SKU(stored: try row.text(1)),
            name: CollatedText(name, key: try row.bytea(3)),
            brand: try row.textOrNil(4).map { CollatedText($0, key: try row.bytea(5)) },
            tags: try row.textArray(6).map { keys.collated($0) },
            priceMinor: try row.int8OrNil(7),
            size: try size(row),
            popularity: Popularity(log2: try row.float8(10)),
            inStock: try row.bool(11),
            createdAt: Timestamp(microseconds: try row.timestamptz(12)),
            modifiedAt: Timestamp(microseconds: try row.timestamptz(13)),
            position: try row.bytea(14),
            imageURL: try row.textOrNil(21),
            details: ProductDetails(try details(row)) { row.bytes(ShelfReadStatements.firstText + $0) }
        )
    }

    /// Appends the product of a row of `wholeQuery`. The texts of a shelf are not made into strings.
    private static func append(
        _ row: borrowing PostgresRow,
        to builder: ShelfTableBuilder,
        _ keys: inout TextKeys
    ) throws {
        func tags() throws -> [CollatedText] { try row.textArray(6).map { keys.collated($0) } }
        func size() throws -> BaseQuantity {
            guard let size = try Self.size(row) else { throw PostgresError(.decoding, "a quantity is NULL") }
            return size
        }
        try builder.append(
            ShelfTableBuilder.Row(
                sku: try row.presentBytes(1),
                name: try row.presentBytes(2),
                nameKey: try row.presentBytes(3),
                brand: row.bytes(4),
                brandKey: row.bytes(5),
                tags: try row.presentBytes(6),
                priceMinor: try row.int8OrNil(7),
                quantity: row.bytes(8),
                dimension: row.isNull(8) ? nil : try Dimension(stored: try row.int2(9)),
                popularity: try row.float8(10),
                inStock: try row.bool(11),
                createdAt: try row.timestamptz(12),
                modifiedAt: try row.timestamptz(13),
                position: try row.presentBytes(14),
                imageURL: row.bytes(21),
                details: .source(try details(row))
            ),
            tags: tags,
            size: size,
            text: { row.bytes(ShelfReadStatements.firstText + $0) }
        )
    }

    /// Reads the values without a column of their own, apart from the texts.
    private static func details(_ row: borrowing PostgresRow) throws -> ProductDetails.Source {
        ProductDetails.Source(
            regularPriceMinor: try row.int8OrNil(15),
            amount: row.bytes(16),
            unit: row.bytes(17),
            packs: try row.int4OrNil(18),
            drained: row.bytes(19),
            isApproximate: try row.isNull(20) ? false : row.bool(20),
            attributes: try row.presentBytes(22)
        )
    }

    private static func size(_ row: borrowing PostgresRow) throws -> BaseQuantity? {
        guard let quantity = try row.textOrNil(8) else { return nil }
        let dimension = try Dimension(stored: try row.int2(9))
        guard let decimal = ExactDecimal(quantity), let size = BaseQuantity(decimal, dimension: dimension) else {
            throw PostgresError(.decoding, "invalid stored quantity \(quantity)")
        }
        return size
    }
}
