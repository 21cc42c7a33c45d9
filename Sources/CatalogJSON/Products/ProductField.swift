internal import Catalog

/// A field of a product, with its JSON form and how request bodies and import rows set it.
///
/// The cases are in JSON order.
enum ProductField: CaseIterable {
    case sku, name, brand, priceMinor, currency, regularPriceMinor, size, unitPrice, barcode, imageURL, attributes
    case popularity, inStock, tags, asOf, shelves, createdAt, modifiedAt

    /// Whether entries of the audit log have the field: those that requests set, not those that the server computes.
    var isAudited: Bool {
        switch self {
        case .name, .brand, .priceMinor, .regularPriceMinor, .size, .barcode, .imageURL, .attributes, .inStock, .tags:
            true
        case .sku, .currency, .unitPrice, .popularity, .asOf, .shelves, .createdAt, .modifiedAt: false
        }
    }

    /// Writes the field of a response.
    ///
    /// - Parameter shelves: the product's shelves, if the response lists them.
    func write(
        _ product: Product,
        _ presentation: ProductPresentation,
        shelves: [CatalogKey]?,
        to json: inout JSONWriter
    ) {
        switch self {
        case .sku: json.field("sku", product.sku.text)
        case .name: json.field("name", product.name)
        case .brand: json.field("brand", product.brand)
        case .priceMinor: json.field("price_minor", product.priceMinor)
        case .currency: json.field("currency", presentation.store.currency.code)
        case .regularPriceMinor: json.field("regular_price_minor", product.regularPriceMinor)
        case .size: json.field("size", product.size)
        case .unitPrice: json.field("unit_price", presentation.unitPrice(product))
        case .barcode: json.field("barcode", product.barcode)
        case .imageURL: json.field("image_url", product.imageURL)
        case .attributes: json.field("attributes", json: product.attributes)
        case .popularity: json.field("popularity", presentation.score(product.popularity))
        case .inStock: json.field("in_stock", product.inStock)
        case .tags: json.array("tags", product.tags) { $0.string($1) }
        case .asOf: if shelves != nil { json.field("as_of", presentation.scoreDate) }
        case .shelves: if let shelves { json.array("shelves", shelves) { $0.string($1.text) } }
        case .createdAt: json.field("created_at", product.createdAt.rfc3339)
        case .modifiedAt: json.field("modified_at", product.modifiedAt.rfc3339)
        }
    }

    /// Reads the field from a request body. Fields that the server computes are ignored.
    func read(
        _ body: inout BodyReader,
        currency: Currency,
        into product: inout Product
    ) throws(CatalogError) {
        switch self {
        case .sku: try body.checkKey("sku", product.sku.text)
        case .name: product.name = try body.productName()
        case .brand: product.brand = try body.nonBlankString("brand", bytes: Product.brandLimit)
        case .priceMinor: product.priceMinor = try body.price("price_minor")
        case .currency: try body.checkCurrency(currency)
        case .regularPriceMinor: product.regularPriceMinor = try body.price("regular_price_minor")
        case .size: product.size = try body.size()
        case .unitPrice: body.ignore("unit_price")
        case .barcode: product.barcode = try body.nonBlankString("barcode", bytes: Product.barcodeLimit)
        case .imageURL: product.imageURL = try body.imageURL()
        case .attributes: product.attributes = try body.attributes()
        case .popularity: body.ignore("popularity")
        case .inStock: product.inStock = try body.bool("in_stock") ?? true
        case .tags: product.tags = try body.tags()
        case .asOf: body.ignore("as_of")
        case .shelves: body.ignore("shelves")
        case .createdAt: body.ignore("created_at")
        case .modifiedAt: body.ignore("modified_at")
        }
    }

    /// Reads the field from an import row. Attributes are read apart; imports do not set fields that the server computes.
    ///
    /// - Parameter text: returns the checked text of a column of at most that many bytes; nil if it is empty.
    func read(
        _ row: ImportRow,
        into record: inout ImportRecord,
        _ text: (ImportColumn, _ limit: Int) throws(ImportRejection) -> String?
    ) throws(ImportRejection) {
        switch self {
        case .name:
            guard let name = try text(.name, Product.nameLimit) else { throw row.reject(.name, nil, "is missing") }
            record.product.name = name
        case .brand: record.product.brand = try text(.brand, Product.brandLimit)
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
        case .barcode:
            let code = try text(.barcode, Product.barcodeLimit)
            record.product.barcode = record.readOptional(nil) { () throws(ImportRejection) -> String? in
                try row.barcode(code)
            }
        case .imageURL:
            let found = record.readOptional((first: nil, ignored: 0)) {
                () throws(ImportRejection) -> (first: String?, ignored: Int) in
                try row.imageURL(try text(.imageURL, 16 * Product.imageURLLimit))
            }
            (record.product.imageURL, record.ignoredImages) = found
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
