/// A total order of a shelf's products: keys with directions, with name and SKU as tie-breakers.
///
/// Name and SKU ascend if the first key has its natural direction, and descend otherwise. Within a
/// group (availability, missing values, dimension) the opposite direction is the exact reverse. Every sort has these
/// tie-breakers, so no two products compare equal.
package struct Sort: Hashable, Sendable, CustomStringConvertible {
    /// A sort key with its direction.
    package struct Term: Hashable, Sendable {
        package let key: SortKey
        package let direction: SortDirection

        package init(_ key: SortKey, _ direction: SortDirection) {
            self.key = key
            self.direction = direction
        }

        /// The term in the API's grammar: `-unit_price`.
        fileprivate var text: String { (direction == .descending ? "-" : "") + key.name }
    }

    /// The keys in sequence; at least one, without duplicates.
    package let terms: [Term]

    private init(checked terms: [Term]) { self.terms = terms }

    /// Creates a sort by one key; nil if the key does not support the direction.
    package init?(_ key: SortKey, _ direction: SortDirection) {
        guard key.isReversible || direction == key.naturalDirection else { return nil }
        self.init(checked: [Term(key, direction)])
    }

    /// `-popularity`, the default sort.
    package static let system = Sort(checked: [Term(.popularity, .descending)])
    /// `-relevance`, the default sort of a search.
    package static let relevance = Sort(checked: [Term(.relevance, .descending)])
    package static let position = Sort(checked: [Term(.position, .ascending)])

    /// The direction of the tie-breakers.
    package var tieBreakerDirection: SortDirection {
        terms[0].direction == terms[0].key.naturalDirection ? .ascending : .descending
    }

    /// The sort or its mirror, whichever has the first key in its natural direction. Keys that cannot be reversed stay as they are.
    package var natural: Sort {
        if tieBreakerDirection == .ascending { return self }
        return Sort(checked: terms.map { $0.key.isReversible ? Term($0.key, $0.direction.opposite) : $0 })
    }

    /// Whether the sort has the manual order of a shelf.
    package var readsPositions: Bool { terms.contains { $0.key == .position } }

    /// Whether the sort has the relevance of a search, which is its first key then.
    package var readsRelevance: Bool { terms[0].key == .relevance }

    /// The keys that are compared, from the first to the last. Popularity decides between equally relevant products whose other keys are equal, and
    /// closeness decides after it.
    package var comparedTerms: [Term] {
        guard readsRelevance else { return terms }
        func has(_ key: SortKey) -> Bool { terms.contains { $0.key == key } }
        // Names decide before closeness, so a sort by name does not compare it.
        return terms + (has(.popularity) ? [] : Self.system.terms) + (has(.name) ? [] : [Term(.closeness, .ascending)])
    }

    /// Whether sold-out products can be shown last or hidden; the manual order ignores availability.
    package var respectsAvailability: Bool { terms[0].key.respectsAvailability }

    /// The sort in the API's grammar: `-unit_price,name`.
    package var description: String {
        terms.map(\.text).joined(separator: ",")
    }

    /// All sorts by a single built-in key.
    package static let allSingle: [Sort] = SortKey.allCases.flatMap { key in
        [key.naturalDirection, key.naturalDirection.opposite].compactMap { Sort(key, $0) }
    }
}

extension Sort {
    /// Parses comma-separated keys, with `-` for descending, as in JSON:API. Any name of an attribute is accepted: `resolved` looks it up.
    ///
    /// - Parameter allowsRelevance: whether the sort may have the relevance of a search. A stored one may not.
    package static func parse(_ text: String, allowsRelevance: Bool = false) throws(SortError) -> Sort {
        var terms: [Term] = []
        for word in text.split(separator: ",", omittingEmptySubsequences: false) {
            let isDescending = word.hasPrefix("-")
            let name = isDescending ? word.dropFirst() : word
            guard !name.isEmpty else { throw SortError(word: String(word), reason: "empty sort key", hint: nil) }
            guard let key = SortKey(name: name) else {
                throw SortError(
                    word: String(word.prefix(64)),
                    reason: "unknown sort key",
                    hint: name.closest(among: SortKey.allCases.lazy.map(\.name))
                )
            }
            let direction: SortDirection = isDescending ? .descending : .ascending
            guard !terms.contains(where: { $0.key == key }) else {
                throw SortError(word: String(word), reason: "duplicate sort key", hint: nil)
            }
            if key == .relevance {
                try checkRelevance(word, direction, isFirst: terms.isEmpty, isAllowed: allowsRelevance)
            } else if !key.isReversible, direction != key.naturalDirection {
                throw SortError(word: String(word), reason: "the manual order cannot be reversed", hint: key.name)
            }
            terms.append(Term(key, direction))
        }
        if terms.count(where: \.key.isAttribute) > attributeLimit {
            throw SortError(word: "", reason: "a sort has at most \(attributeLimit) attributes", hint: nil)
        }
        return Sort(checked: terms)
    }

    /// Returns the key with the name that is closest to another one; nil if none is close.
    private static func hint(for name: String, among attributes: [String], _ allowsRelevance: Bool) -> String? {
        let relevance = allowsRelevance ? [SortKey.relevance.name] : []
        let closest = name.closest(among: SortKey.allCases.map(\.name) + relevance + attributes)
        return closest == SortKey.relevance.name ? Self.relevance.description : closest
    }

    private static func checkRelevance(
        _ word: Substring,
        _ direction: SortDirection,
        isFirst: Bool,
        isAllowed: Bool
    ) throws(SortError) {
        let reason: String? =
            if !isAllowed {
                "the relevance exists only in a request with a search (q)"
            } else if direction != SortKey.relevance.naturalDirection {
                "the relevance cannot be reversed, because the best matches come first"
            } else if !isFirst {
                "-relevance must be the first sort key"
            } else {
                nil
            }
        guard let reason else { return }
        let hint = isAllowed && isFirst ? relevance.description : nil
        throw SortError(word: String(word), reason: reason, hint: hint)
    }

    /// Checks that a sort by relevance has a search.
    ///
    /// - Throws: `SortError`.
    package func check(for search: SearchText?) throws(SortError) {
        guard readsRelevance, search == nil else { return }
        throw SortError(
            word: terms[0].text,
            reason: "the relevance is the order of a search; add the parameter q, or sort by another key",
            hint: nil
        )
    }

    /// The maximum number of attributes: a cursor contains their values.
    package static let attributeLimit = 4

    /// Whether a key is an attribute.
    package var namesAttributes: Bool { terms.contains(where: \.key.isAttribute) }

    /// The attributes that were looked up.
    package var attributes: [ResolvedAttribute] { terms.compactMap(\.key.attribute) }

    /// Looks up the attributes that are keys.
    ///
    /// - Parameter allowsRelevance: whether the sort may have the relevance of a search, so that errors suggest it.
    /// - Throws: `SortError` for an attribute that the store does not have, and for a set.
    package func resolved(
        in attributes: ResolvedAttributes,
        allowsRelevance: Bool = false
    ) throws(SortError) -> Sort {
        guard namesAttributes else { return self }
        var resolved: [Term] = []
        for term in terms {
            guard case .attribute(let reference) = term.key else {
                resolved.append(term)
                continue
            }
            let known = attributes[reference.name]
            guard let attribute = known, attribute.isSortable else {
                let sortable = attributes.all.filter(\.isSortable).map { SortKey.attribute(.resolved($0)).name }
                let name = term.key.name
                throw SortError(
                    word: term.text,
                    reason: known == nil ? "unknown sort key" : "a set has no order, so it is not a sort key",
                    hint: known == nil ? Self.hint(for: name, among: sortable, allowsRelevance) : nil,
                    attributes: sortable,
                    allowsRelevance: allowsRelevance
                )
            }
            resolved.append(Term(.attribute(.resolved(attribute)), term.direction))
        }
        return Sort(checked: resolved)
    }

    /// The same, with the error of a request.
    ///
    /// - Throws: `unknownSortKey`.
    package func known(
        in attributes: ResolvedAttributes,
        allowsRelevance: Bool = false
    ) throws(CatalogError) -> Sort {
        do { return try resolved(in: attributes, allowsRelevance: allowsRelevance) } catch {
            throw .unknownSortKey(error)
        }
    }

    /// The allowed built-in sort keys, for `allowed` in errors.
    package static let allowed: [String] = SortKey.allCases.flatMap {
        $0.isReversible ? [$0.name, "-" + $0.name] : [$0.name]
    }
}

extension ResolvedAttributes {
    static func changed(_ new: Sort?, _ old: Sort?, _ field: String) -> [(field: String, sort: Sort)] {
        guard let new, new.namesAttributes, new != old else { return [] }
        return [(field, new)]
    }

    /// Checks that the store has the attributes of sorts.
    ///
    /// - Throws: `unknownSortKey`.
    package func check(_ sorts: [(field: String, sort: Sort)]) throws(CatalogError) {
        for (field, sort) in sorts {
            do { _ = try sort.resolved(in: self) } catch { throw .unknownSortKey(error, parameter: field) }
        }
    }
}

/// An error in the text of a sort.
package struct SortError: Error, Sendable, Equatable {
    /// The invalid word.
    package let word: String
    package let reason: String
    /// A suggested key.
    package let hint: String?
    /// The attributes of the store that are sort keys.
    package let attributes: [String]
    /// Whether the relevance of a search is allowed.
    package let allowsRelevance: Bool

    package init(
        word: String,
        reason: String,
        hint: String?,
        attributes: [String] = [],
        allowsRelevance: Bool = false
    ) {
        (self.word, self.reason, self.hint, self.attributes) = (word, reason, hint, attributes)
        self.allowsRelevance = allowsRelevance
    }

    /// The allowed sort keys.
    package var allowed: [String] {
        let relevance = allowsRelevance ? [Sort.relevance.description] : []
        return Sort.allowed + relevance + attributes.flatMap { [$0, "-" + $0] }
    }

    package var detail: String { "\(reason)\(word.isEmpty ? "" : ": “\(word)”")" }
}

/// The source of a response's sort. Cursors contain the index of a case, so new ones are the last.
package enum SortSource: String, CaseIterable, Sendable, Hashable {
    case query, user, shelf, store, system
    /// The relevance, which is the default with a search.
    case search
}
