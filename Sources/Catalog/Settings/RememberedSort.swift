package import JSON

/// A user's remembered sort for a shelf or a whole store, with a filter and whether groups are collapsed: the value of a catalog setting.
package struct RememberedSort: Hashable, Sendable {
    package var sort: Sort
    package var filter: Filter
    /// Whether each group of products has one card; nil for what the shelf says.
    package var collapsesGroups: Bool?

    /// The member of a value that asks for filters by attributes to be remembered: they may be about health.
    package static let consent = "remember_attributes"

    /// The member of a value for `collapsesGroups`.
    package static let collapse = "collapse"

    package init(_ sort: Sort, _ filter: Filter = .none, collapsesGroups: Bool? = nil) {
        self.sort = sort
        self.filter = filter
        self.collapsesGroups = collapsesGroups
    }

    /// Reads a sort, `"price"`, or an object with more, `{"sort":"price","filter":{"in_stock":true},"collapse":true}`. The object may have
    /// `remember_attributes`, too.
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
        let allowed = ["sort", "filter", Self.collapse, Self.consent]
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
        func flag(_ name: String) throws(CatalogError) -> Bool? {
            switch value[name] ?? .null {
            case .bool(let flag): return flag
            case .null: return nil
            default: throw .malformed(parameter: "\(field).\(name)", detail: "\(name) must be true or false")
            }
        }
        let isAllowed = try flag(Self.consent) ?? false
        if let filter, filter.namesAttributes, !isAllowed {
            throw .unprocessable(
                field: "\(field).filter",
                detail:
                    "a filter by attributes is only remembered with \"\(Self.consent)\":true, because it may be personal"
            )
        }
        self.init(sort, filter ?? .none, collapsesGroups: try flag(Self.collapse))
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

    /// The stored value: a plain string if there is only a sort.
    package var value: JSONValue {
        var members = [JSONValue.Member("sort", .string(sort.description))]
        if !filter.isEmpty { members.append(.init("filter", filter.json)) }
        if let collapsesGroups { members.append(.init(Self.collapse, .bool(collapsesGroups))) }
        if filter.namesAttributes { members.append(.init(Self.consent, .bool(true))) }
        return members.count == 1 ? members[0].value : .object(members)
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
