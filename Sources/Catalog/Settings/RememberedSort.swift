package import JSON

/// A user's remembered sort and filter for a shelf or a whole store: the value of a catalog setting.
package struct RememberedSort: Hashable, Sendable {
    package var sort: Sort
    package var filter: Filter

    package init(_ sort: Sort, _ filter: Filter = .none) {
        self.sort = sort
        self.filter = filter
    }

    /// Reads a sort, `"price"`, or a sort with a filter, `{"sort":"price","filter":{"in_stock":true}}`.
    ///
    /// - Throws: `unprocessable`, `malformed`, `unknownSortKey`.
    package init(_ value: JSONValue, field: String) throws(CatalogError) {
        if case .string(let text) = value {
            do { self.init(try Sort.parse(text)) } catch { throw .unknownSortKey(error, parameter: field) }
            return
        }
        guard case .object(let members) = value, case .string(let text)? = value["sort"] else {
            throw .unprocessable(
                field: field,
                detail: "\(field) must be a sort, such as \"-unit_price\", or an object with sort and filter"
            )
        }
        if let unknown = members.first(where: { !["sort", "filter"].contains($0.name) }) {
            throw .malformed(
                parameter: "\(field).\(unknown.name.prefix(64))",
                detail: "unknown property",
                allowed: ["sort", "filter"]
            )
        }
        let sort: Sort
        do throws(SortError) { sort = try Sort.parse(text) } catch {
            throw .unknownSortKey(error, parameter: "\(field).sort")
        }
        let given = value["filter"].flatMap { $0 == .null ? nil : $0 }
        let filter = try given.map { json throws(CatalogError) in try Filter(json: json, field: "\(field).filter") }
        self.init(sort, filter ?? .none)
    }

    /// The stored value: a plain string if there is no filter.
    package var value: JSONValue {
        let sort = JSONValue.string(sort.description)
        return filter.isEmpty ? sort : .object([.init("sort", sort), .init("filter", filter.json)])
    }
}

/// A user's remembered sorts for a shelf and its store; nil if there is none, or if its sort no longer exists.
package struct RememberedSorts: Sendable, Hashable {
    package var shelf: RememberedSort?
    package var store: RememberedSort?

    package init(shelf: RememberedSort? = nil, store: RememberedSort? = nil) {
        self.shelf = shelf
        self.store = store
    }

    package static let none = RememberedSorts()

    /// The sort that applies.
    package var effective: RememberedSort? { shelf ?? store }
}
