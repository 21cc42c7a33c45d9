internal import Catalog

// How import rows set the fields of a product.
extension ProductField {
    /// Reads the field from an import row. Fields are read in the order of `allCases`: a size needs the name and the prices. Attributes
    /// are read apart; imports do not set fields that the server computes.
    ///
    /// - Parameter text: returns the checked text of a column of at most that many bytes; nil if it is empty.
    func read(
        _ row: ValueReader,
        into record: inout ImportRecord,
        _ text: (ImportColumn, _ limit: Int) throws(ImportRejection) -> String?
    ) throws(ImportRejection) {
        switch self {
        case .name:
            guard let name = try text(.name, Product.nameLimit) else { throw row.reject(.name, nil, "is missing") }
            record.product.name = name
        // All prices, also the regular one: a promotion decides which is which.
        case .priceMinor:
            let deposit =
                row.options.profile.pricesIncludeDeposit ? try row.price(.deposit, try text(.deposit, 64)) : nil
            let price = try row.withoutDeposit(try row.price(.price, try text(.price, 64)), deposit)
            let promotionText = try text(.promoPrice, 64)
            let (start, end) = (try text(.promoFrom, 64), try text(.promoTo, 64))
            var promotion = ImportRecord.Promotion.current
            let promotional = record.readOptional(nil) { () throws(ImportRejection) -> ImportRecord.Price? in
                let stated = try row.price(.promoPrice, promotionText)
                guard let promotional = try row.withoutDeposit(stated, deposit) else { return nil }
                guard promotional.minor > 0 || price?.minor == 0 else {
                    throw row.reject(.promoPrice, promotionText, "must be more than 0; leave it empty for no promotion")
                }
                guard promotional.minor <= price?.minor ?? .max else {
                    throw row.reject(.promoPrice, promotionText, "must not exceed the price")
                }
                promotion = try row.promotion(from: start, to: end)
                return promotion == .current ? promotional : nil
            }
            record.promotion = promotion
            let regular = record.readOptional(nil) { () throws(ImportRejection) -> ImportRecord.Price? in
                try row.withoutDeposit(try row.price(.regularPrice, try text(.regularPrice, 64)), deposit)
            }
            record.set(price: price, promotional: promotional, regular: regular)
        case .size:
            let (sizeText, unitText) = (try text(.size, 200), try text(.unit, 64))
            var columns = SizeColumns(
                size: sizeText,
                unit: unitText,
                packs: try text(.packCount, 32),
                drained: try text(.drained, 64)
            )
            let unitPrice = record.readOptional(nil) { () throws(ImportRejection) -> String? in try text(.unitPrice, 64)
            }
            if let unitPrice {
                let product = record.product
                columns.unitPrice = row.unitPrice(unitPrice, of: [product.priceMinor, product.regularPriceMinor])
            }
            record.set(try row.size(columns, name: record.product.name))
            if record.product.size == nil {
                record.unknownSize = row.unknownSize(name: record.product.name, sizeText, unit: unitText)
            }
        case .text(.barcode):
            let code = try text(.barcode, ProductText.barcode.limit)
            record.product.barcode = record.readOptional(nil) { () throws(ImportRejection) -> String? in
                try row.barcode(code)
            }
        case .text(.imageURL):
            let found = record.readOptional((first: nil, ignored: 0)) {
                () throws(ImportRejection) -> (first: String?, ignored: Int) in
                try row.imageURL(try text(.imageURL, 16 * ProductText.imageURL.limit))
            }
            (record.product.imageURL, record.ignoredImages) = found
        case .text(.group):
            // The handles of other systems can be longer than keys of groups.
            record.product.group = record.readOptional(nil) { () throws(ImportRejection) -> String? in
                try text(.group, ProductText.group.limit)
            }
        case .text(let other): record.product[other] = try text(other.column, other.limit)
        case .popularity: record.popularity = try row.popularity(try text(.popularity, 64))
        case .inStock:
            do throws(ImportRejection) { record.product.inStock = try row.stock(try text(.inStock, 200)) } catch {
                record.unreadableStock = error
            }
        case .tags: record.product.tags = try row.tags(try text(.tags, 4096))
        case .sku, .currency, .regularPriceMinor, .unitPrice, .attributes, .asOf, .shelves, .createdAt, .modifiedAt:
            break
        }
    }
}
