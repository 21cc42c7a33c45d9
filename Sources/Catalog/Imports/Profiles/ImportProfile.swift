/// How the files of one origin are written: their form, and the meaning of their columns and words.
package struct ImportProfile: Sendable, Hashable {
    /// The purpose of the profile, in one line.
    package var title: String?
    /// The format; nil for that of the file's name or media type.
    package var format: ImportOptions.Format?
    package var dialect = FileDialect()
    /// The names of the elements of XML that are rows.
    package var recordNames = Self.defaultRecordNames
    package var mapping = ImportMapping()
    /// The conditions of the rows that are products; others are skipped. A condition on a column that the file lacks holds.
    package var rows: [RowCondition] = []
    package var variants: VariantRows?
    /// Words of the file beside those that imports know.
    package var words = Words()
    /// An ISO 639-1 code of the language of sizes; nil for that of the store.
    package var language: String?
    /// The separators of several values in a cell, by column.
    package var separators: [ImportColumn: String] = [:]
    /// The separator of a shelf from the shelf above it, such as `>`; nil if texts of shelves are titles or keys.
    package var shelfPathSeparator: String?
    /// The time zone of dates that state none, by its name in the IANA database; nil for UTC.
    package var timeZone: String?
    /// The currency of the prices in new stores; nil for the one that the first row states.
    package var currency: Currency?
    /// Whether prices include the deposit, which is subtracted.
    package var pricesIncludeDeposit = false
    /// Whether sizes are read from names, too.
    package var readsSizeFromName = false

    package init() {}

    /// Words of a file, and what they mean.
    package struct Words: Sendable, Hashable {
        package var available: Set<String> = []
        package var unavailable: Set<String> = []
        /// By the word as sizes compare it.
        package var units: [String: MeasureUnit] = [:]

        package init() {}
    }

    /// How a row of a variant finds the row of its product, whose texts it lacks.
    package struct VariantRows: Sendable, Hashable {
        /// The column with the reference to the product; the rows of one product have the same text, or the text of a key.
        package var reference: [ColumnTitle]
        /// The columns of products that references name, and what the reference has before their text. Without any, the
        /// row of the product is the first one with the same reference.
        package var keys: [Key]
        /// The columns that variants take from their product.
        package var columns: [ColumnTitle]

        package struct Key: Sendable, Hashable {
            package var column: ColumnTitle
            package var prefix: String

            package init(_ column: ColumnTitle, prefix: String) {
                self.column = column
                self.prefix = prefix
            }
        }

        package init(reference: [ColumnTitle], keys: [Key], columns: [ColumnTitle]) {
            self.reference = reference
            self.keys = keys
            self.columns = columns
        }
    }

    package static let defaultRecordNames = ["item", "entry"]
    /// The maximum size of a profile as JSON, in bytes.
    package static let byteLimit = 64 << 10
    /// The maximum number of stored profiles.
    package static let countLimit = 1000
}
