package import Catalog
package import JSON

/// The report of an import: the response of the API, and the file of `--report`.
package struct ImportReport {
    /// The counts and their names, in reporting order.
    package let counts: [(name: String, count: Int)]
    /// How the file was read.
    package let dialect: FileDialect
    package var isDryRun = false
    package var warnings: [String] = []
    package var unknownSizes: [TextCounts.Entry] = []
    package var unreadableAttributes: [UnreadableAttributes.Entry] = []
    /// The first rows as they were read, in a dry run.
    package var preview: [ImportPreview] = []
    /// The removals by pruning, by store and shelf.
    package var removedByShelf: [ShelfRemoval] = []
    /// Why the file would not be imported, in a dry run; nil if it would be.
    package var error: String?
    /// The first rejected rows.
    package var rejections: [ImportRejection] = []

    /// The maximum number of rejected rows in a report.
    package static let rejectionLimit = 1000

    package init(counts: [(name: String, count: Int)], dialect: FileDialect) {
        self.counts = counts
        self.dialect = dialect
    }

    package init(_ summary: ImportSummary, isDryRun: Bool, rejections: [ImportRejection]) {
        counts = summary.counts
        dialect = summary.dialect
        self.isDryRun = isDryRun
        warnings = summary.warnings
        unknownSizes = summary.unknownSizes.mostFrequent
        unreadableAttributes = summary.unreadableAttributes.entries
        preview = summary.preview
        removedByShelf = summary.removedByShelf
        self.rejections = rejections
    }

    package var json: [UInt8] {
        JSONWriter.object { json in
            if let error { json.field("error", error) }
            for (name, count) in counts { json.field(name: name, count) }
            json.field("dry_run", isDryRun)
            json.object("file") { json in
                json.field("encoding", dialect.encoding?.rawValue)
                json.field("separator", dialect.separator?.rawValue)
                json.field("decimal_mark", dialect.decimalMark?.rawValue)
                json.field("header_line", dialect.headerLine)
            }
            json.array("warnings", warnings) { $0.string($1) }
            json.array("unknown_sizes", unknownSizes) { json, size in
                json.object { json in
                    json.field("text", size.text)
                    json.field("count", size.count)
                }
            }
            json.array("unreadable_attributes", unreadableAttributes) { json, attribute in
                json.object { json in
                    json.field("name", attribute.name)
                    json.field("count", attribute.count)
                    json.field("line", attribute.first.line)
                    json.field("value", attribute.first.value)
                    json.field("reason", attribute.first.reason)
                }
            }
            json.array("removed_by_shelf", removedByShelf) { json, removal in
                json.object { json in
                    json.field("store", removal.store.text)
                    json.field("shelf", removal.shelf?.text)
                    json.field("removed", removal.removed)
                    json.field("remaining", removal.remaining)
                }
            }
            if isDryRun { json.array("preview", preview) { json, row in Self.write(row, to: &json) } }
            rejections.write(to: &json)
        }
    }

    private static func write(_ row: ImportPreview, to json: inout JSONWriter) {
        json.object { json in
            json.field("line", row.line)
            json.field("store", row.store.text)
            json.array("shelves", row.shelves) { json, path in json.array(path) { $0.string($1) } }
            let store = Store(key: row.store, title: row.store.text, currency: row.currency)
            let presentation = ProductPresentation(store: store)
            for field in ProductField.allCases where field.isSetByRequests || field == .sku || field == .currency {
                field.write(row.product, presentation, shelves: nil, to: &json)
            }
        }
    }

    /// The report of an import that failed, so that nothing was imported.
    package static func failure(_ detail: String, _ rejections: [ImportRejection]) -> [UInt8] {
        JSONWriter.object { json in
            json.field("error", detail)
            rejections.write(to: &json)
        }
    }
}

extension [ImportRejection] {
    package func write(to json: inout JSONWriter) {
        json.array("rejects", self) { json, rejection in
            json.object { json in
                json.field("line", rejection.line)
                json.field("column", rejection.column)
                json.field("value", rejection.value)
                json.field("reason", rejection.reason)
            }
        }
    }
}
