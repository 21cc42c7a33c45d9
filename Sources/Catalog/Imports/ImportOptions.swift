/// The options of an import.
package struct ImportOptions: Sendable {
    package enum Format: String, CaseIterable, Sendable { case csv, ndjson }

    /// The effect of an invalid row on the rest of the import.
    package enum ErrorPolicy: String, CaseIterable, Sendable {
        /// Skip the row.
        case skip
        /// Stop the import without changing anything.
        case abort
    }

    package var format: Format
    /// The store of all rows if the file has no `store` column.
    package var store: CatalogKey?
    /// Whether rows for other stores than `store` are rejected; otherwise the first one stops the import.
    package var rejectsOtherStores = false
    /// The maximum percentage of rejected rows, from 0 to 100; with more, the import changes nothing.
    package var rejectedPercentLimit = ExactDecimal(100)
    /// The file's column names.
    package var mapping: [ImportColumn: String]
    /// The currency of stores that the import creates if the file has no `currency` column.
    package var currency: Currency
    /// Whether a missing size is parsed from the end of the product's name.
    package var readsSizeFromName: Bool
    /// The handling of invalid rows.
    package var onError: ErrorPolicy
    /// Whether products and placements missing from the file are removed from the stores in it.
    package var prunes: Bool
    /// Whether to report the result without changing anything.
    package var isDryRun: Bool
    /// The maximum number of new shelves; a wrongly mapped column would create one per row.
    package var newShelfLimit = Self.defaultNewShelfLimit
    package static let defaultNewShelfLimit = 1000
    package static let maximumNewShelfLimit = 1_000_000
    /// Whether a rejection includes the raw row, which may be 1 MB long.
    package var keepsRejectedRows = false

    package init(
        format: Format,
        store: CatalogKey? = nil,
        mapping: [ImportColumn: String] = [:],
        currency: Currency = Currency("EUR")!,
        readsSizeFromName: Bool = false,
        onError: ErrorPolicy = .skip,
        prunes: Bool = false,
        isDryRun: Bool = false
    ) {
        self.format = format
        self.store = store
        self.mapping = mapping
        self.currency = currency
        self.readsSizeFromName = readsSizeFromName
        self.onError = onError
        self.prunes = prunes
        self.isDryRun = isDryRun
    }

    /// Parses a percentage from 0 to 100, such as `2.5` or `5%`; nil for anything else.
    package static func percent(_ text: String) -> ExactDecimal? {
        let range = ExactDecimal.zero...ExactDecimal(100)
        guard let percent = ExactDecimal(text.hasSuffix("%") ? text.dropLast() : text[...]), percent.scale <= 9,
            range.contains(percent)
        else { return nil }
        return percent
    }

    /// Returns the file's name for a column.
    package func title(of column: ImportColumn) -> String { mapping[column] ?? column.rawValue }
}
