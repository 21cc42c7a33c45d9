/// The options of an import.
package struct ImportOptions: Sendable {
    package enum Format: String, CaseIterable, Sendable { case csv, ndjson, xml }

    /// The effect of an invalid row on the rest of the import.
    package enum ErrorPolicy: String, CaseIterable, Sendable {
        /// Skip the row.
        case skip
        /// Stop the import without changing anything.
        case abort
    }

    package var format: Format
    /// How the file is written, and what its columns mean.
    package var profile = ImportProfile()
    /// The names of columns in the file, as far as they are known.
    package var titles: [ImportColumn: String] = [:]
    /// The name of the profile; nil for none.
    package var profileName: String?
    /// The time at which promotions are checked.
    package var now = Timestamp.now()
    /// The same in the time zone of the file, as if that were UTC: dates without a zone are compared with it.
    package var localNow: Timestamp?
    /// The store of all rows if the file has no `store` column.
    package var store: CatalogKey?
    /// Whether rows for other stores than `store` are rejected; otherwise the first one stops the import.
    package var rejectsOtherStores = false
    /// The maximum percentage of rejected rows, from 0 to 100; with more, the import changes nothing.
    package var rejectedPercentLimit = ExactDecimal(100)
    package static let defaultRejectedPercentLimit = ExactDecimal(5)
    /// The currency of stores that the import creates if the file has no `currency` column. If nil, the first price of a
    /// store determines the currency, or else it is the euro.
    package var currency: Currency?
    /// The handling of invalid rows.
    package var onError: ErrorPolicy
    /// Whether the shelves in the file lose the products that it does not list, and products on no other shelf are deleted.
    package var prunes: Bool
    /// Whether pruning may remove more than a tenth of a shelf's products.
    package var confirmsPrune = false
    /// Whether the stores in the file that do not exist are created; otherwise, such a store stops the import.
    package var createsStores: Bool
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
        mapping: ImportMapping = [:],
        currency: Currency? = nil,
        readsSizeFromName: Bool = false,
        onError: ErrorPolicy = .skip,
        prunes: Bool = false,
        createsStores: Bool = false,
        isDryRun: Bool = false
    ) {
        self.format = format
        self.store = store
        profile.mapping = mapping
        profile.readsSizeFromName = readsSizeFromName
        self.currency = currency
        self.onError = onError
        self.prunes = prunes
        self.createsStores = createsStores
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

    /// Checks the number of rejected rows of a file.
    ///
    /// - Parameter limit: the maximum percentage.
    /// - Throws: `unprocessable` for more, or if all rows were rejected; nothing may be imported then.
    package static func checkRejected(_ rejected: Int, of read: Int, limit: ExactDecimal) throws(CatalogError) {
        guard read == 0 || rejected < read else {
            throw .unprocessable(
                field: "file",
                detail: read == 1
                    ? "the only row was rejected; correct it, or check the names of the columns"
                    : "all \(read) rows were rejected; correct them, or check the names of the columns"
            )
        }
        let allowed = limit.multiplied(by: ExactDecimal(Int128(read)))
        guard let allowed, ExactDecimal(Int128(rejected) * 100) <= allowed else {
            throw .unprocessable(
                field: "file",
                detail: """
                    \(rejected) of \(read) rows were rejected, more than \(limit) %; nothing was imported. Correct the \
                    rows, or raise max_rejects (command line: --max-rejects)
                    """
            )
        }
    }

    /// Whether cells of a CSV file may be lists of shelves with quotes around those that have commas.
    package var hasQuotedLists: Bool {
        guard format == .csv, let separator = profile.separators[.shelf] else { return false }
        return separator != ","
    }

    /// The form of the file.
    package var dialect: FileDialect {
        get { profile.dialect }
        set { profile.dialect = newValue }
    }

    /// Returns the file's name for a column.
    package func title(of column: ImportColumn) -> String {
        titles[column] ?? profile.mapping.source(of: column).alternatives.first.map {
            $0.map(\.text).joined(separator: " ")
        }
            ?? column.columnName
    }
}

/// A service that imports files into a catalog.
package protocol CatalogImporting: Sendable {
    /// - Parameters:
    ///   - chunks: the file, in chunks of any size.
    ///   - onReject: called for every rejected row, in file order; those that need the catalog come last.
    ///   - onProgress: called periodically with the number of rows read.
    ///   - onPrune: called with what pruning removes, before anything is changed; returns whether the caller confirms it.
    /// - Throws: `unprocessable` if the whole file is unusable, or if a row is invalid and the options say to abort. Nothing was changed
    ///   then.
    func importFile<Chunks: AsyncSequence>(
        _ chunks: Chunks,
        _ options: ImportOptions,
        onReject: (ImportRejection) throws -> Void,
        onProgress: (Int) -> Void,
        onPrune: ([ShelfRemoval]) throws -> Bool
    ) async throws(CatalogError) -> ImportSummary where Chunks.Element == [UInt8]
}
