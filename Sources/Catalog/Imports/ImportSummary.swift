/// The result of an import, or of a dry run.
package struct ImportSummary: Sendable, Equatable {
    /// The number of rows. Each of them is in one of the next six counts.
    package var read = 0
    /// Rows with new products.
    package var inserted = 0
    /// Rows whose product, or its shelves, changed.
    package var updated = 0
    package var unchanged = 0
    package var rejected = 0
    /// Rows that are not products by the conditions of the profile.
    package var skipped = 0
    /// Rows superseded by a later row for the same product and shelf.
    package var repeated = 0
    /// Placements and products deleted by pruning.
    package var removedPlacements = 0
    package var removedProducts = 0
    /// The removals by pruning, by store and shelf; only shelves that lose products.
    package var removedByShelf: [ShelfRemoval] = []
    /// The number of products whose size is only approximate.
    package var sizesApproximate = 0
    /// The number of rows without a size that was understood, in a file with sizes.
    package var sizesUnknown = 0
    /// The number of approximate sizes that were computed from unit prices.
    package var sizesComputed = 0
    /// The number of rows whose size differs from the size of the name.
    package var sizesDifferent = 0
    /// The number of prices that were rounded to minor units.
    package var pricesRounded = 0
    /// The number of decimals that were rounded to 9 digits after the point.
    package var decimalsRounded = 0
    /// The number of invalid values that were left empty.
    package var fieldsEmptied = 0
    /// The values of attributes that could not be read, and are unknown now.
    package var unreadableAttributes = UnreadableAttributes()
    /// The number of availabilities that were not understood, so that products kept theirs.
    package var stockKept = 0
    /// The number of rows without a price, in a file with prices.
    package var pricesUnknown = 0
    /// The number of prices of 0.
    package var pricesZero = 0
    /// The number of rows whose unit price is far from the median of their shelf.
    package var unitPricesImplausible = 0
    /// The number of promotions that begin later or have ended. These promotions are not applied.
    package var promotionsFuture = 0
    package var promotionsExpired = 0
    /// Rows whose product has other values in a later row.
    package var conflicts = 0
    /// The number of ids that a spreadsheet may have rounded.
    package var skusSuspicious = 0
    /// The number of addresses of images after the first one of a product.
    package var imagesIgnored = 0
    package var storesCreated = 0
    package var shelvesCreated = 0
    /// The texts of sizes that were not understood.
    package var unknownSizes = TextCounts()
    /// Warnings about the file as a whole, such as ignored columns.
    package var warnings: [String] = []
    /// How the file was read.
    package var dialect = FileDialect()
    /// Why the file would not be imported, in a dry run; nil if it would be.
    package var refusal: CatalogError?
    /// The first products as they were read, in a dry run.
    package var preview: [ImportPreview] = []
    package static let previewLimit = 5

    package init() {}

    /// The counts and their names, in reporting order.
    package var counts: [(name: String, count: Int)] {
        [
            ("read", read), ("inserted", inserted), ("updated", updated), ("unchanged", unchanged),
            ("rejected", rejected), ("skipped", skipped), ("repeated", repeated),
            ("removed_placements", removedPlacements),
            ("removed_products", removedProducts), ("sizes_approximate", sizesApproximate),
            ("sizes_unknown", sizesUnknown), ("sizes_computed", sizesComputed), ("sizes_different", sizesDifferent),
            ("prices_rounded", pricesRounded), ("decimals_rounded", decimalsRounded),
            ("fields_emptied", fieldsEmptied), ("attributes_unreadable", unreadableAttributes.count),
            ("stock_kept", stockKept), ("prices_unknown", pricesUnknown), ("prices_zero", pricesZero),
            ("unit_prices_implausible", unitPricesImplausible),
            ("promotions_future", promotionsFuture), ("promotions_expired", promotionsExpired),
            ("conflicts", conflicts), ("skus_suspicious", skusSuspicious), ("images_ignored", imagesIgnored),
            ("stores_created", storesCreated), ("shelves_created", shelvesCreated),
        ]
    }
}

/// The invalid values that an import left empty instead of rejecting their rows, by column.
package struct EmptiedFields: Sendable {
    private var columns: [String: (count: Int, first: ImportRejection)] = [:]

    package init() {}

    package mutating func add(_ invalid: ImportRejection) {
        let column = invalid.column ?? ""
        columns[column] = ((columns[column]?.count ?? 0) + 1, columns[column]?.first ?? invalid)
    }

    package var count: Int { columns.values.reduce(0) { $0 + $1.count } }

    /// A warning per column, with the first of its invalid values.
    package var warnings: [String] {
        columns.sorted { $0.key < $1.key }.map { column, found in
            "left \(column) empty in \(found.count.rows): \(found.first.description)"
        }
    }
}

/// The values of attributes that an import could not read, by attribute.
package struct UnreadableAttributes: Sendable, Equatable {
    /// An attribute, the number of its unreadable values, and the first of them in the file.
    package struct Entry: Sendable, Equatable {
        package let name: String
        package fileprivate(set) var count: Int
        package fileprivate(set) var first: ImportRejection
    }

    private var byName: [String: Entry] = [:]

    package init() {}

    /// Adds a number of values of an attribute.
    ///
    /// - Parameter first: the first of them.
    package mutating func add(_ first: ImportRejection, count: Int = 1, of name: String) {
        var entry = byName[name] ?? Entry(name: name, count: 0, first: first)
        entry.count += count
        if first.line < entry.first.line { entry.first = first }
        byName[name] = entry
    }

    /// The attributes, by name.
    package var entries: [Entry] { byName.values.sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) } }

    package var count: Int { byName.values.reduce(0) { $0 + $1.count } }

    /// A warning per attribute, with the first of its unreadable values.
    package var warnings: [String] {
        entries.map { "attribute \($0.name) is unknown in \($0.count.rows): \($0.first.description)" }
    }
}

extension Int {
    /// A number of rows in a message, such as `1 row` or `2 rows`.
    package var rows: String { "\(self) row\(self == 1 ? "" : "s")" }
}
