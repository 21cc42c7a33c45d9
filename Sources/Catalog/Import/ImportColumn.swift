/// The columns of an import file, by their canonical names.
package enum ImportColumn: String, CaseIterable, Sendable, Hashable {
    case store, shelf, sku, name, brand, price
    case promoPrice = "promo_price"
    case currency, size, unit
    case packCount = "pack_count"
    case drained, popularity
    case inStock = "in_stock"
    case tags, position, barcode
    case imageURL = "image_url"
}

/// How a file is read.
package struct ImportOptions: Sendable {
    package enum Format: String, CaseIterable, Sendable { case csv, ndjson }

    package var format: Format
    /// The store of all rows, where the file has no such column.
    package var store: CatalogKey?
    /// Whether rows of other stores are refused.
    package var isForOneStore = false
    /// The file's own names of columns.
    package var mapping: [ImportColumn: String]
    /// The currency of stores that the import creates, where the file has none.
    package var currency: Currency
    /// Whether a row without a size has it read from the end of its name.
    package var readsSizeFromName: Bool
    /// Whether one bad row stops everything.
    package var abortsOnError: Bool
    /// Whether what the file does not name is taken away from the stores that it names.
    package var prunes: Bool
    /// Only tells what would be done.
    package var isRehearsal: Bool
    /// How many shelves the import may create; a wrongly mapped column would make one of each row.
    package var newShelfLimit = Self.defaultNewShelfLimit
    package static let defaultNewShelfLimit = 1000
    package static let greatestNewShelfLimit = 1_000_000
    /// Whether a rejection has the row itself, which may be a megabyte.
    package var keepsRejectedRows = false

    package init(
        format: Format,
        store: CatalogKey? = nil,
        mapping: [ImportColumn: String] = [:],
        currency: Currency = Currency("EUR")!,
        readsSizeFromName: Bool = false,
        abortsOnError: Bool = false,
        prunes: Bool = false,
        isRehearsal: Bool = false
    ) {
        self.format = format
        self.store = store
        self.mapping = mapping
        self.currency = currency
        self.readsSizeFromName = readsSizeFromName
        self.abortsOnError = abortsOnError
        self.prunes = prunes
        self.isRehearsal = isRehearsal
    }

    /// The file's name of a column.
    package func title(of column: ImportColumn) -> String { mapping[column] ?? column.rawValue }
}

/// A row that is not taken, and why.
package struct ImportRejection: Sendable, Hashable, Error {
    package let line: Int
    /// The file's own name of the column; nil where the whole row is wrong.
    package let column: String?
    package let value: String?
    package let reason: String
    /// The row as the file has it; nil where it was not asked for, or too long to keep.
    package var row: String?

    package init(line: Int, column: String? = nil, value: String? = nil, reason: String) {
        self.line = line
        self.column = column.map { Self.cut($0, 100) }
        self.value = value.map { Self.cut($0, 200) }
        self.reason = reason
    }

    /// The first bytes of a text, whole characters of Unicode only: one grapheme may be a megabyte.
    private static func cut(_ text: String, _ bound: Int) -> String {
        guard text.utf8.count > bound else { return text }
        var scalars = String.UnicodeScalarView()
        var length = 0
        for scalar in text.unicodeScalars {
            length += UTF8.width(scalar)
            if length > bound { break }
            scalars.append(scalar)
        }
        return String(scalars)
    }

    package var description: String {
        let place = column.map { ", \($0)" } ?? ""
        let shown = value.map { " “\($0)”" } ?? ""
        return "line \(line)\(place):\(shown) \(reason)"
    }
}

/// What an import did, or would do.
package struct ImportSummary: Sendable, Hashable {
    package var read = 0
    package var inserted = 0
    package var updated = 0
    package var unchanged = 0
    package var rejected = 0
    /// Rows that name the same product on the same shelf as a later row, which counts.
    package var repeated = 0
    /// Placements taken away, and products deleted, by pruning.
    package var removedPlacements = 0
    package var removedProducts = 0
    package var sizesApproximate = 0
    package var sizesUnknown = 0
    package var pricesRounded = 0
    package var storesCreated = 0
    package var shelvesCreated = 0
    /// What was noticed about the file as a whole, such as columns that nothing reads.
    package var warnings: [String] = []

    package init() {}

    /// Name and number of each count, in the order in which they are told.
    package var counts: [(name: String, count: Int)] {
        [
            ("read", read), ("inserted", inserted), ("updated", updated), ("unchanged", unchanged),
            ("rejected", rejected), ("repeated", repeated), ("removed_placements", removedPlacements),
            ("removed_products", removedProducts), ("sizes_approximate", sizesApproximate),
            ("sizes_unknown", sizesUnknown), ("prices_rounded", pricesRounded), ("stores_created", storesCreated),
            ("shelves_created", shelvesCreated),
        ]
    }
}
