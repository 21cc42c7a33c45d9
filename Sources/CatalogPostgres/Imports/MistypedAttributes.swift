internal import Catalog
internal import CatalogImport
internal import LibPQ

/// The values of attributes that have another type than declared, in the rows of an import.
///
/// A row keeps such a value if the stored product has it, too: it was stored before the attribute was declared. All others are cleared
/// when the rows are compared with the catalog.
struct MistypedAttributes {
    /// The values of one attribute of a store.
    struct Values: Sendable {
        let store: CatalogKey
        let name: String
        /// The rows, by the numbers under which they are staged.
        fileprivate(set) var numbers: [Int] = []
        /// The faults of the first rows.
        fileprivate var rejections: [Int: ImportRejection] = [:]
        fileprivate let reason: String

        /// Returns the fault of a row.
        func rejection(of number: Int, line: Int) -> ImportRejection {
            rejections[number] ?? ImportRejection(line: line, column: name, reason: reason)
        }

        /// Removes the values from the rows of products that have others; returns the numbers of these rows.
        ///
        /// - Parameter rows: the import, and the id of the store.
        func clear(_ rows: [PostgresValue], _ connection: isolated PostgresConnection) throws -> Set<Int> {
            try connection.query(
                ImportStatements.clearAttribute,
                rows + [.text(name), .int8Array(numbers.map(Int64.init))]
            ) { Set(try $0.map { Int(try $0.int8(0)) }) }
        }
    }

    private struct Key: Hashable {
        let store: CatalogKey
        let name: String
    }

    private var byKey: [Key: Values] = [:]
    private var count = 0

    /// The maximum number of values, which are all held in memory.
    private static let limit = 1_000_000
    /// The maximum number of rows of an attribute of which the value is known.
    private static let rejectionLimit = 100

    /// Adds the values of a row.
    ///
    /// - Parameters:
    ///   - number: the number under which the row is staged.
    ///   - limit: the maximum number of values of all rows.
    /// - Throws: `unprocessable` beyond the limit.
    mutating func add(_ record: ImportRecord, _ number: Int, limit: Int = limit) throws(CatalogError) {
        for (name, rejection) in record.mistypedAttributes {
            guard count < limit else {
                throw .unprocessable(
                    field: rejection.column ?? name,
                    detail: """
                        more than \(limit) values of attributes have another type than declared, the last one on \(rejection.description); \
                        correct them, or split the file
                        """
                )
            }
            count += 1
            let key = Key(store: record.store, name: name)
            var values =
                byKey.removeValue(forKey: key)
                ?? Values(store: record.store, name: name, reason: rejection.reason)
            values.numbers.append(number)
            if values.rejections.count < Self.rejectionLimit { values.rejections[number] = rejection }
            byKey[key] = values
        }
    }

    /// Replaces the rows of an attribute of a store.
    mutating func set(_ numbers: [Int], of values: Values) {
        byKey[Key(store: values.store, name: values.name)]?.numbers = numbers
    }

    /// The values by store and attribute.
    var values: [Values] { byKey.values.sorted { ($0.store, $0.name) < ($1.store, $1.name) } }
}
