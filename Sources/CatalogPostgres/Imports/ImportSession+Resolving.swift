internal import Catalog
internal import LibPQ

// Values of staged rows that depend on the stored products: an availability that was not understood, attributes of another type, and
// attributes that the file does not have.
extension ImportSession {
    /// Gives rows whose availability was not understood that of the stored product, and rejects the rows of new products.
    func resolveStock(_ onReject: (ImportRejection) throws -> Void) async throws {
        guard summary.stockKept > 0 else { return }
        let dropped = try await transaction { [id] connection in
            try connection.execute(ImportStatements.keepStock, [id.parameter])
            return try connection.query(ImportStatements.dropUnreadableStock, [id.parameter]) {
                try $0.map { Int(try $0.int8(0)) }
            }
        }
        let numbers = Set(dropped)
        summary.stockKept -= numbers.count
        for number in numbers.sorted() {
            let reason = "is not understood, and the product is new"
            var rejection = ImportRejection(line: line(of: number), column: options.title(of: .inStock), reason: reason)
            if let known = unreadableStock[number] {
                rejection = known
                rejection.reason += "; the product is new and has no earlier value"
            }
            try reject(rejection, onReject)
        }
        let kept = unreadableStock.filter { number, _ in !numbers.contains(number) }.min { $0.key < $1.key }
        if let (_, first) = kept {
            summary.warnings.append(
                "kept the stored availability in \(summary.stockKept.rows): \(first.description)"
            )
        }
    }

    /// Whether rows may lack the column with all attributes, as no row of a file with a header does.
    var keepsAttributes: Bool { columns.hasAttributes && hasAllAttributes && options.format != .csv }

    /// Adds the further attributes of stored products to those in the file, and rejects products with too many.
    func resolveAttributes(_ onReject: (ImportRejection) throws -> Void) async throws {
        guard columns.hasAttributes else { return }
        if hasAllAttributes { try await clearMistypedAttributes() }
        summary.warnings += summary.unreadableAttributes.warnings
        guard !hasAllAttributes || keepsAttributes else { return }
        guard !hasAllAttributes || attributeNames.values.contains(where: { !$0.isEmpty }) else {
            return try await transaction { [id] connection in
                try connection.set("enable_nestloop", "off")
                try connection.execute(ImportStatements.keepAttributes, [id.parameter])
            }
        }
        // Most files have the same attributes for all of their stores.
        let groups = Dictionary(grouping: attributeNames.keys) { attributeNames[$0]! }.map { names, stores in
            (names: names, stores: stores.compactMap { self.stores[$0]?.id }.map(Int64.init))
        }
        let merge =
            hasAllAttributes ? ImportStatements.mergeAttributesOfPartialRows : ImportStatements.mergeAttributes
        let (merged, numbers) = try await transaction { [id, hasAllAttributes] connection in
            try connection.set("enable_nestloop", "off")
            var merged = 0
            for group in groups {
                merged += try connection.execute(
                    merge,
                    [id.parameter, .textArray(group.names), .int8Array(group.stores)]
                )
            }
            // The values of cells are as long in the database as in the row. Numbers of an object may be longer there.
            guard merged > 0 || hasAllAttributes else { return (0, [Int]()) }
            let numbers = try connection.query(
                ImportStatements.dropLongAttributes,
                [id.parameter, .int4(Int32(Product.attributesLimit))]
            ) { try $0.map { Int(try $0.int8(0)) } }
            return (merged, numbers)
        }
        hasMergedAttributes = merged > 0
        for number in Set(numbers).sorted() {
            let reason = """
                the attributes of the file and those of the stored product have more than \(Product.attributesLimit) bytes; \
                delete some of them
                """
            // Any row may have too many, so none is kept for the file of rejected rows.
            try reject(ImportRejection(line: line(of: number), column: "attributes", reason: reason), onReject)
        }
    }

    /// Removes attributes of another type than declared from rows, unless the stored product has the same value.
    private func clearMistypedAttributes() async throws {
        for values in mistyped.values {
            guard let storeID = stores[values.store]?.id else { continue }
            let cleared = try await transaction { [id] connection in
                try connection.set("enable_nestloop", "off")
                return try values.clear([id.parameter, .int4(storeID)], connection)
            }
            count(values, cleared)
            for (index, number) in previewNumbers.enumerated() where cleared.contains(number) {
                summary.preview[index].clear(attribute: values.name)
            }
        }
    }

    /// Counts cleared values; returns the first one.
    @discardableResult
    private func count(_ values: MistypedAttributes.Values, _ cleared: Set<Int>) -> ImportRejection? {
        guard let number = cleared.min() else { return nil }
        let first = values.rejection(of: number, line: line(of: number))
        summary.unreadableAttributes.add(first, count: cleared.count, of: values.name)
        return first
    }

    /// Counts values that were cleared only when the file was applied, because other writers had changed the products.
    func reportCleared(_ values: MistypedAttributes.Values, _ cleared: Set<Int>) {
        guard let first = count(values, cleared) else { return }
        var changed = UnreadableAttributes()
        changed.add(first, count: cleared.count, of: values.name)
        summary.warnings += changed.warnings
    }

    /// Notes that all rows of a product have the values of its last row.
    func spreadMistypedAttributes() async throws {
        for values in mistyped.values {
            guard let storeID = stores[values.store]?.id else { continue }
            let numbers = try await transaction { [id] connection in
                try connection.set("enable_nestloop", "off")
                return try connection.query(
                    ImportStatements.rowsOfProducts,
                    [id.parameter, .int4(storeID), .int8Array(values.numbers.map(Int64.init))]
                ) { try $0.map { Int(try $0.int8(0)) } }
            }
            mistyped.set(numbers, of: values)
        }
    }
}
