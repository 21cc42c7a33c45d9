package import Catalog

/// A validated row of an import.
package struct ImportRecord: Sendable {
    package let line: Int
    package let store: CatalogKey
    /// The shelves by their keys or titles in the file, each after those above it.
    package let shelves: [[String]]
    package let currency: Currency
    /// The product as the row states it.
    package var product: Product
    /// Whether the file has prices. Otherwise, stored products keep theirs.
    package var hasPrices = true
    /// Whether the file has sizes. Otherwise, stored products keep theirs.
    package var hasSizes = true
    /// Whether a price had more digits than the currency.
    package var wasRounded = false
    /// The number of decimals whose binary noise was removed.
    package var roundedDecimals = 0
    /// The invalid values that were left empty.
    package var emptied: [ImportRejection] = []
    /// The availability that was not understood: a stored product keeps its own, and a new one is rejected; nil if it is
    /// known.
    package var unreadableStock: ImportRejection?
    /// The time of the promotion. One that begins later or has ended was not applied.
    package var promotion = Promotion.current
    /// The number of addresses of images after the first one.
    package var ignoredImages = 0
    /// Whether the row has attributes of the product. Otherwise, a stored product keeps its own.
    package var hasAttributes = false
    /// Whether a row without the object of all attributes has some of its own, and the product keeps its others. Only in a file without a header.
    package var keepsOtherAttributes = false
    /// The attributes that the row has, and the store does not declare. They were left out.
    package var undeclaredAttributes: [String] = []
    /// The values of attributes that cells do not state, by name. The product lacks them.
    package var unreadableAttributes: [String: ImportRejection] = [:]
    /// The values of another type than declared that the object of all attributes has, by name. The product has them: they are kept if the
    /// stored product has them, too.
    package var mistypedAttributes: [String: ImportRejection] = [:]
    /// Whether the size was computed from the unit price.
    package var hasComputedSize = false
    /// The text of a size that was not understood; nil if there is none, or if the size is known.
    package var unknownSize: String?
    /// The difference between the size column and the size of the name; nil if they agree.
    package var sizeDifference: ImportRejection?
    /// The purchases that the row states.
    package var popularity = 0.0
    /// The manual position as a fraction: numerator ÷ denominator.
    package let position: (ExactDecimal, ExactDecimal)?

    /// The time of a row's promotion.
    package enum Promotion: Sendable { case current, future, expired }

    /// Reads an optional value; an invalid one is recorded and left empty.
    mutating func readOptional<Value>(
        _ empty: Value,
        _ read: () throws(ImportRejection) -> Value
    ) -> Value {
        do throws(ImportRejection) { return try read() } catch {
            emptied.append(error)
            return empty
        }
    }

    /// A price in minor units.
    struct Price: Equatable {
        var minor: Int64
        /// Whether the text had more digits than the currency.
        var wasRounded: Bool
        /// Whether the text had binary noise.
        var hadNoise: Bool
    }

    /// Sets the prices: the promotional price is the current one, and makes the price the regular one.
    ///
    /// - Parameter regular: the crossed-out price; it does not count unless it is above the current one.
    mutating func set(price: Price?, promotional: Price?, regular: Price? = nil) {
        let current = promotional ?? price
        let crossedOut = regular ?? (promotional == nil ? nil : price)
        product.priceMinor = current?.minor
        product.regularPriceMinor = nil
        if let current, let crossedOut, crossedOut.minor > current.minor {
            product.regularPriceMinor = crossedOut.minor
        }
        let prices = [price, promotional, regular]
        wasRounded = prices.contains { $0?.wasRounded == true }
        roundedDecimals += prices.count { $0?.hadNoise == true }
    }

    /// The record as a dry run shows it.
    package var preview: ImportPreview {
        ImportPreview(
            line: line,
            store: store,
            currency: currency,
            shelves: shelves,
            product: product,
            hasPrices: hasPrices,
            hasSizes: hasSizes
        )
    }

    /// Sets the size; contradictory columns leave it empty.
    mutating func set(_ reading: SizeReading) {
        product.size = reading.size
        roundedDecimals += reading.roundedDecimals
        sizeDifference = reading.difference
        hasComputedSize = reading.isComputed
        if let contradiction = reading.contradiction { emptied.append(contradiction) }
    }
}
