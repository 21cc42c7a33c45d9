package import JSON

/// The uses of an attribute, which would have no effect without it.
package struct AttributeUses: Sendable, Hashable {
    /// The number of remembered sorts and filters of users.
    package var settings: Int
    /// The stores whose default sort has the attribute.
    package var stores: [CatalogKey]
    /// The shelves whose default sort, or the source of whose manual order, has the attribute.
    package var shelves: [Place]
    /// The saved import profiles that map a column to the attribute.
    package var profiles: [CatalogKey]

    /// A shelf of a store.
    package struct Place: Sendable, Hashable {
        package let store: CatalogKey
        package let shelf: CatalogKey

        package init(store: CatalogKey, shelf: CatalogKey) { (self.store, self.shelf) = (store, shelf) }
    }

    package static let none = AttributeUses()

    package init(
        settings: Int = 0,
        stores: [CatalogKey] = [],
        shelves: [Place] = [],
        profiles: [CatalogKey] = []
    ) {
        (self.settings, self.stores, self.shelves, self.profiles) = (settings, stores, shelves, profiles)
    }

    /// The maximum number of stores, of shelves and of profiles that are listed.
    package static let listLimit = 100
    /// The maximum number of different remembered values that are read. With more, the attribute counts as used.
    package static let valueLimit = 10_000

    package var isEmpty: Bool { self == .none }

    /// The uses as a phrase, such as `2 remembered sorts or filters, a sort of 1 shelf`.
    package var description: String {
        var parts: [String] = []
        func add(_ count: Int, _ one: String, _ several: String) {
            if count > 0 { parts.append(count == 1 ? one : several) }
        }
        add(settings, "1 remembered sort or filter", "\(settings) remembered sorts or filters")
        add(stores.count, "the default sort of 1 store", "the default sorts of \(stores.count) stores")
        add(shelves.count, "a sort of 1 shelf", "sorts of \(shelves.count) shelves")
        add(profiles.count, "1 import profile", "\(profiles.count) import profiles")
        return parts.joined(separator: ", ")
    }
}

// MARK: - Texts that use an attribute

extension AttributeName {
    /// Returns whether a stored sort or filter uses the attribute.
    ///
    /// - Parameter value: the text of a sort, such as `-rating,price`; or a remembered sort with its filter, such as
    ///   `{"sort":"price","filter":{"attributes.rating_min":"4"}}`.
    /// - Complexity: O(n) in the length of the value.
    package func isUsed(by value: JSONValue) -> Bool {
        switch value {
        case .string(let sort): return isUsed(bySort: sort)
        case .object:
            if case .string(let sort)? = value["sort"], isUsed(bySort: sort) { return true }
            guard case .object(let filter)? = value["filter"] else { return false }
            return filter.contains { isUsed(byFilter: $0.name) }
        case .null, .bool, .number, .array: return false
        }
    }

    /// Returns whether the text of a sort has the attribute as a key. Its other keys may be those of a later release.
    package func isUsed(bySort text: String) -> Bool {
        text.split(separator: ",").contains { term in
            guard case .attribute(let key)? = SortKey(name: term.hasPrefix("-") ? term.dropFirst() : term) else {
                return false
            }
            return key.name == self
        }
    }

    /// Returns whether a filter of this name is one by the attribute.
    package func isUsed(byFilter name: String) -> Bool {
        guard case .attribute(let key, _)? = FilterKey(name: name) else { return false }
        return key.name == self
    }

    /// Returns whether the document of an import profile maps a column to the attribute.
    package func isUsed(byProfile document: JSONValue) -> Bool {
        guard case .object(let attributes)? = document["attributes"] else { return false }
        return attributes.contains { $0.name == text }
    }
}
