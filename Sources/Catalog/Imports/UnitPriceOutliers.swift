/// The rows of a file whose unit price is far from the median of their shelf and dimension, in bounded memory.
///
/// Unit prices are counted in classes that are at most 3 % wide. So a row costs a lookup, and the file is not sorted.
package struct UnitPriceOutliers: Sendable {
    /// The factor above or below the median from which a unit price is implausible.
    package static let factor = 1000.0
    /// The minimum number of unit prices of a shelf and dimension; the median of fewer says little.
    package static let minimumCount = 5
    /// The maximum number of warnings.
    package static let warningLimit = 20

    private struct Group: Hashable {
        let store: CatalogKey
        let shelf: CatalogKey
        let dimension: Dimension
    }

    private struct Row: Sendable {
        let line: Int
        let name: String
        let price: Int64
        let size: Size
        let value: Double
    }

    private struct Prices: Sendable {
        let pricing: UnitPricing
        let currency: Currency
        /// The number of rows of each class, and its first one.
        var classes: [Int: (count: Int, first: Row)] = [:]
        var lowest: [Row] = []
        var highest: [Row] = []
        /// The number of lowest and of highest rows that are kept.
        static let keptLimit = 5

        mutating func add(_ row: Row) {
            classes[UnitPriceOutliers.class(of: row.value), default: (0, row)].count += 1
            if lowest.count < Self.keptLimit || row.value < lowest[lowest.count - 1].value {
                lowest.insert(row, at: lowest.firstIndex { row.value < $0.value } ?? lowest.count)
                if lowest.count > Self.keptLimit { lowest.removeLast() }
            }
            if highest.count < Self.keptLimit || row.value > highest[highest.count - 1].value {
                highest.insert(row, at: highest.firstIndex { row.value > $0.value } ?? highest.count)
                if highest.count > Self.keptLimit { highest.removeLast() }
            }
        }

        /// A row of the class in which the median lies; nil for too few rows.
        var median: Row? {
            let count = classes.values.reduce(0) { $0 + $1.count }
            guard count >= UnitPriceOutliers.minimumCount else { return nil }
            var seen = 0
            for (_, found) in classes.sorted(by: { $0.key < $1.key }) {
                seen += found.count
                if seen * 2 >= count { return found.first }
            }
            return nil
        }

        func text(_ row: Row) -> String {
            let shown = pricing.display(priceMinor: row.price, size: row.size, currency: currency)
            return shown.map { "\($0.value) \(currency.code) per \($0.per)" } ?? ""
        }
    }

    private var groups: [Group: Prices] = [:]

    package init() {}

    /// Adds a row. Products without a unit price or with a price of 0 are ignored.
    package mutating func add(
        line: Int,
        _ product: Product,
        on shelf: CatalogKey,
        of store: CatalogKey,
        pricing: UnitPricing,
        currency: Currency
    ) {
        guard let size = product.size, let price = product.priceMinor, price > 0,
            let unitPrice = UnitPrice(priceMinor: price, size: size)
        else { return }
        let row = Row(line: line, name: product.name, price: price, size: size, value: unitPrice.approximateValue)
        let group = Group(store: store, shelf: shelf, dimension: unitPrice.dimension)
        groups[group, default: Prices(pricing: pricing, currency: currency)].add(row)
    }

    /// Returns the number of implausible rows, and a warning for each of the first ones by line.
    package func find() -> (count: Int, warnings: [String]) {
        var count = 0
        var found: [(line: Int, text: String)] = []
        for (group, prices) in groups {
            guard let median = prices.median else { continue }
            count += prices.classes.values.reduce(0) { sum, entry in
                Self.isImplausible(entry.first, median) ? sum + entry.count : sum
            }
            for row in prices.lowest + prices.highest where Self.isImplausible(row, median) {
                let name = String(row.name.unicodeScalars.prefix(60))
                let cost = "\(prices.currency.decimal(row.price)) \(prices.currency.code)"
                let text = """
                    line \(row.line): “\(name)” costs \(cost), \(prices.text(row)); the median of its shelf “\(group.shelf)” \
                    of “\(group.store)” is \(prices.text(median))
                    """
                found.append((row.line, text))
            }
        }
        return (count, found.sorted { $0.line < $1.line }.prefix(Self.warningLimit).map(\.text))
    }

    private static func isImplausible(_ row: Row, _ median: Row) -> Bool {
        row.value > median.value * factor || row.value * factor < median.value
    }

    /// The class of a positive value: its binary exponent, and the first five bits of its significand.
    private static func `class`(of value: Double) -> Int {
        Int(value.exponent) * 32 + Int(value.significandBitPattern >> 47)
    }
}
