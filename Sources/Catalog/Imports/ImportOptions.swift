/// How a file is read.
package struct ImportOptions: Sendable {
    package enum Format: String, CaseIterable, Sendable { case csv, ndjson }

    /// What a bad row does to the others.
    package enum ErrorPolicy: String, CaseIterable, Sendable {
        /// It is left out.
        case skip
        /// It stops the import, which then changes nothing.
        case abort
    }

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
    /// What an invalid row does to the import.
    package var onError: ErrorPolicy
    /// Whether what the file does not name is taken away from the stores that it names.
    package var prunes: Bool
    /// Reports what would be done.
    package var isDryRun: Bool
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

    /// The file's name of a column.
    package func title(of column: ImportColumn) -> String { mapping[column] ?? column.rawValue }
}
