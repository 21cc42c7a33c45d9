package import Catalog

/// The findings of an import in its rows, for the counts and warnings of its report.
package struct RowFindings {
    private var emptied = EmptiedFields()
    private var outliers = UnitPriceOutliers()
    private var skips = TextCounts()
    /// The rows with cells of attributes that their store does not declare.
    private var undeclared: [Undeclared: (count: Int, firstLine: Int)] = [:]
    private var firstDifference: ImportRejection?
    private var firstLines: (zeroPrice: Int?, suspiciousSKU: Int?)
    /// The number of first products that the summary shows as they were read.
    private let previewLimit: Int

    private struct Undeclared: Hashable {
        let store: CatalogKey
        let attribute: String
    }

    /// The maximum number of stores and attributes that are counted, and of those that warnings name.
    private static let (undeclaredLimit, undeclaredWarnings) = (10_000, 20)

    package init(previewLimit: Int) { self.previewLimit = previewLimit }

    /// Counts a row that is not a product.
    ///
    /// - Parameters:
    ///   - column: the file's name of the column that shows it.
    ///   - value: the text in it.
    package mutating func skip(column: String, value: String, in summary: inout ImportSummary) {
        summary.skipped += 1
        let (column, value) = (column.unicodeScalars.prefix(24), value.unicodeScalars.prefix(24))
        skips.add(value.isEmpty ? "no \(String(column))" : "\(String(column)) “\(String(value))”")
    }

    /// Counts what a record has that is unknown, was repaired, is implausible or was not applied.
    ///
    /// - Parameters:
    ///   - shelf: the first shelf of the record; nil for none.
    ///   - pricing: the rule set of the store.
    package mutating func add(
        _ record: ImportRecord,
        on shelf: CatalogKey?,
        _ pricing: UnitPricing,
        to summary: inout ImportSummary
    ) {
        if summary.preview.count < previewLimit { summary.preview.append(record.preview) }
        let product = record.product
        switch product.size {
        case nil where !record.hasSizes: break
        case nil:
            summary.sizesUnknown += 1
            summary.unknownSizes.add(record.unknownSize)
        case let size?: if size.isApproximate { summary.sizesApproximate += 1 }
        }
        if record.hasComputedSize { summary.sizesComputed += 1 }
        if let difference = record.sizeDifference {
            summary.sizesDifferent += 1
            firstDifference = firstDifference ?? difference
        }
        for invalid in record.emptied { emptied.add(invalid) }
        for (name, invalid) in record.unreadableAttributes { summary.unreadableAttributes.add(invalid, of: name) }
        for name in record.undeclaredAttributes {
            let key = Undeclared(store: record.store, attribute: name)
            guard undeclared[key] != nil || undeclared.count < Self.undeclaredLimit else { continue }
            undeclared[key, default: (0, record.line)].count += 1
        }
        summary.decimalsRounded += record.roundedDecimals
        if record.wasRounded { summary.pricesRounded += 1 }
        if record.hasPrices, product.priceMinor == nil { summary.pricesUnknown += 1 }
        if product.priceMinor == 0 {
            summary.pricesZero += 1
            firstLines.zeroPrice = firstLines.zeroPrice ?? record.line
        }
        if SKUText.isSuspicious(product.sku.text) {
            summary.skusSuspicious += 1
            firstLines.suspiciousSKU = firstLines.suspiciousSKU ?? record.line
        }
        switch record.promotion {
        case .current: break
        case .future: summary.promotionsFuture += 1
        case .expired: summary.promotionsExpired += 1
        }
        summary.imagesIgnored += record.ignoredImages
        if record.unreadableStock != nil { summary.stockKept += 1 }
        if let shelf {
            outliers.add(
                line: record.line,
                product,
                on: shelf,
                of: record.store,
                pricing: pricing,
                currency: record.currency
            )
        }
    }

    /// Adds the warnings to the summary, after those about the file as a whole.
    package mutating func end(_ summary: inout ImportSummary) {
        summary.warnings += emptied.warnings
        summary.fieldsEmptied = emptied.count
        let ignored = undeclared.sorted { ($0.key.store, $0.key.attribute) < ($1.key.store, $1.key.attribute) }
        for (key, found) in ignored.prefix(Self.undeclaredWarnings) {
            summary.warnings.append(
                """
                ignored \(key.attribute) in \(found.count.rows) of store “\(key.store)”, which does not declare the attribute, first on \
                line \(found.firstLine)
                """
            )
        }
        if ignored.count > Self.undeclaredWarnings {
            let rest = ignored.count - Self.undeclaredWarnings
            summary.warnings.append("ignored attributes that stores do not declare in \(rest) more columns of stores")
        }
        if let firstDifference {
            summary.warnings.append(
                "sizes differ from names in \(summary.sizesDifferent.rows): \(firstDifference.description)"
            )
        }
        if summary.skipped > 0 {
            let reasons = skips.mostFrequent.map { "\($0.text) (\($0.count))" }.joined(separator: ", ")
            summary.warnings.append(
                "skipped \(summary.skipped.rows) that the profile excludes: \(reasons)"
            )
        }
        func warn(_ count: Int, _ line: Int?, _ text: String) {
            guard count > 0, let line else { return }
            summary.warnings.append("\(text) in \(count.rows), first on line \(line)")
        }
        warn(summary.pricesZero, firstLines.zeroPrice, "price 0")
        warn(
            summary.skusSuspicious,
            firstLines.suspiciousSKU,
            "sku that ends in zeros, as if a spreadsheet had rounded it,"
        )
        let (count, warnings) = outliers.find()
        summary.unitPricesImplausible = count
        summary.warnings += warnings
        outliers = UnitPriceOutliers()
    }
}
