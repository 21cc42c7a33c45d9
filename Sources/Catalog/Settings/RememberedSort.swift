package import JSON

/// A user's remembered sort and filter for a shelf or a whole store: the value of a catalog setting.
package struct RememberedSort: Hashable, Sendable {
    package var sort: Sort
    package var filter: Filter

    /// The member of a value that asks for filters by attributes to be remembered: they may be about health.
    package static let consent = "remember_attributes"

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
        let allowed = ["sort", "filter", Self.consent]
        if let unknown = members.first(where: { !allowed.contains($0.name) }) {
            throw .malformed(
                parameter: "\(field).\(unknown.name.prefix(64))",
                detail: "unknown property",
                allowed: allowed
            )
        }
        let sort: Sort
        do throws(SortError) { sort = try Sort.parse(text) } catch {
            throw .unknownSortKey(error, parameter: "\(field).sort")
        }
        let given = value["filter"].flatMap { $0 == .null ? nil : $0 }
        let filter = try given.map { json throws(CatalogError) in try Filter(json: json, field: "\(field).filter") }
        let isAllowed: Bool
        switch value[Self.consent] ?? .null {
        case .bool(let flag): isAllowed = flag
        case .null: isAllowed = false
        default:
            throw .malformed(parameter: "\(field).\(Self.consent)", detail: "\(Self.consent) must be true or false")
        }
        if let filter, filter.namesAttributes, !isAllowed {
            throw .unprocessable(
                field: "\(field).filter",
                detail:
                    "a filter by attributes is only remembered with \"\(Self.consent)\":true, because it may be personal"
            )
        }
        self.init(sort, filter ?? .none)
    }

    /// Whether the sort or the filter is by an attribute.
    package var namesAttributes: Bool { sort.namesAttributes || filter.namesAttributes }

    /// Checks that a store has the attributes.
    ///
    /// - Throws: `unknownSortKey` for the field `sort`, `malformed` for a member of `filter`.
    package func check(in attributes: ResolvedAttributes) throws(CatalogError) {
        _ = try sort.known(in: attributes)
        do { _ = try filter.resolved(in: attributes) } catch { throw error.inside("filter") }
    }

    /// Returns whether a store has the attributes.
    package func isKnown(in attributes: ResolvedAttributes) -> Bool {
        do { try check(in: attributes) } catch { return false }
        return true
    }

    /// The stored value: a plain string if there is no filter.
    package var value: JSONValue {
        let sort = JSONValue.string(sort.description)
        guard !filter.isEmpty else { return sort }
        let members: [JSONValue.Member] = [.init("sort", sort), .init("filter", filter.json)]
        return .object(filter.namesAttributes ? members + [.init(Self.consent, .bool(true))] : members)
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

    /// Returns the sort for a request without one. Sorts by attributes that the store no longer has are ignored.
    ///
    /// - Parameters:
    ///   - filter: the filter of the request, which replaces the remembered one; nil without one.
    ///   - allowsPositions: whether the manual order can be shown.
    package func applying(
        to filter: Filter?,
        allowsPositions: Bool = true,
        in attributes: ResolvedAttributes
    ) -> (own: RememberedSort?, isAnyIgnored: Bool) {
        var isAnyIgnored = false
        for case let own? in [shelf, store] where allowsPositions || !own.sort.readsPositions {
            let shown = filter == nil ? own : RememberedSort(own.sort)
            if shown.isKnown(in: attributes) { return (own, isAnyIgnored) }
            isAnyIgnored = true
        }
        return (nil, isAnyIgnored)
    }
}
