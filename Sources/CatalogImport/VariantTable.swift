internal import Catalog

/// The texts that rows of variants take from the rows of their products.
struct VariantTable {
    private let usesKeys: Bool
    private(set) var reference = 0
    private var referenceTitle = ""
    private var keys: [(column: Int, prefix: String)] = []
    private var inherited: [Int] = []
    private var products: [String: [Int: String]] = [:]
    /// The reference of the rows of one product, and the texts of the first one.
    private var current: (reference: String, texts: [Int: String])?
    private var size = 0

    /// The maximum number of bytes of all texts.
    private static let sizeLimit = 64 << 20

    /// The columns that the table reads.
    var columns: [Int] { [reference] + keys.map(\.column) + inherited }

    init(usesKeys: Bool) { self.usesKeys = usesKeys }

    mutating func set(reference: Int, _ title: String, keys: [(column: Int, prefix: String)], inherited: [Int]) {
        (self.reference, referenceTitle, self.keys, self.inherited) = (reference, title, keys, inherited)
    }

    /// Adds the row of a product, or returns the texts that a row takes from that of its product.
    ///
    /// With keys, these have a reference by the first key of the product, which is equal for all of its variants.
    ///
    /// - Returns: nil for the row of a product.
    /// - Throws: the rejection of a row whose product is not above it.
    mutating func product(of line: Int, _ cell: (Int) -> String?) throws(ImportRejection) -> [Int: String]? {
        let text = cell(reference)?.trimmed ?? ""
        guard usesKeys else {
            if let current, current.reference == text, !text.isEmpty { return current.texts }
            current = (text, texts(cell))
            return nil
        }
        if !text.isEmpty {
            if let texts = products[text] { return texts }
            throw ImportRejection(
                line: line,
                column: referenceTitle,
                value: text,
                reason:
                    "names a product that is not above it in the file, or too far above it; put products before their variants"
            )
        }
        var texts = texts(cell)
        let names = keys.compactMap { key -> String? in
            guard let name = cell(key.column)?.trimmed, !name.isEmpty else { return nil }
            return key.prefix + name
        }
        texts[reference] = names.first
        for name in names {
            size += name.utf8.count + texts.values.reduce(0) { $0 + $1.utf8.count } + 100 * (texts.count + 1)
            guard size <= Self.sizeLimit else { return nil }
            products[name] = texts
        }
        return nil
    }

    private func texts(_ cell: (Int) -> String?) -> [Int: String] {
        var texts: [Int: String] = [:]
        for column in inherited {
            if let text = cell(column)?.trimmed, !text.isEmpty { texts[column] = text }
        }
        return texts
    }
}
