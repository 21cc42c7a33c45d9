internal import Catalog
internal import CatalogImport

/// The values of attributes that have another type than declared, in the rows of an import.
///
/// A row keeps such a value if the stored product has it, too: it was stored before the attribute was declared. All others are cleared
/// when the rows are compared with the catalog.
struct MistypedAttributes {
    /// The values of one attribute of a store.
    struct Values {
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
    }

    private struct Key: Hashable {
        let store: CatalogKey
        let name: String
    }

    private var byKey: [Key: Values] = [:]
    private var count = 0

    /// The maximum number of values. Others are cleared at once.
    private static let limit = 1_000_000
    /// The maximum number of rows of an attribute of which the value is known.
    private static let rejectionLimit = 100

    /// Adds the values of a row.
    ///
    /// - Parameter number: the number under which the row is staged.
    mutating func add(_ record: inout ImportRecord, _ number: Int) {
        for (name, rejection) in record.mistypedAttributes {
            guard count < Self.limit else {
                record.clear(attribute: name)
                continue
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

    /// The values by store and attribute.
    var values: [Values] { byKey.values.sorted { ($0.store, $0.name) < ($1.store, $1.name) } }
}
