/// The errors of the domain. HTTP and the command line each map them in one place.
package enum CatalogError: Error, Sendable, Equatable {
    /// A parameter or body that cannot be parsed.
    case malformed(parameter: String?, detail: String, allowed: [String] = [], hint: String? = nil)
    case unknownSortKey(SortError, parameter: String = "sort")
    /// A filter by an attribute that the store does not have. Most are other parameters with a mistake.
    case unknownFilter(FilterError)
    /// The cursor was altered, or belongs to another sort or shelf.
    case invalidCursor
    /// The named resource does not exist: `store “x”`.
    case notFound(String)
    /// An import names stores that do not exist, and may not create any.
    case unknownStores(detail: String, hint: String?)
    /// The request is well-formed but invalid.
    case unprocessable(field: String, detail: String)
    case conflict(String)
    /// The expected order version is not the current one.
    case stale(current: Int64)
    /// The expected revision of a setting is not the current one; nil if the setting does not exist.
    case staleSetting(current: Int64?)
    /// The expected version of a list is not the current one.
    case staleList(current: Int64)
    /// The attribute is not as expected; it is nil if it does not exist.
    case staleAttribute(current: EffectiveAttribute?)
    /// Something uses the attribute, which would be deleted or get another type.
    case inUse(AttributeName, AttributeUses)
    /// The synonyms are not as expected; they are nil if there are none.
    case staleSynonyms(current: Synonyms?)
    /// The caller may see the resource but lacks permission for the operation.
    case forbidden(String)
    /// The idempotency key was used with another request.
    case keyReused
    /// The request exceeds a size limit.
    case tooLarge(String)
    /// The caller exceeds a concurrency limit.
    case tooMany(String)
    /// The database is unreachable or out of resources; the same request may succeed later.
    case unavailable
    /// The database rejects writes: it is a standby, or read-only.
    case readOnly
    /// The request was cancelled.
    case cancelled
    /// An internal error. The text is for the log, never for a client.
    case fault(String)

    /// The reason: for the log, and for most errors on the command line.
    package var reason: String {
        switch self {
        case .malformed(_, let detail, _, _), .unprocessable(_, let detail), .unknownStores(let detail, _): detail
        case .unknownSortKey(let error, _): error.detail
        case .unknownFilter(let error): error.detail
        case .notFound(let what): "\(what) does not exist"
        case .inUse(let name, let uses):
            "the attribute “\(name)” is in use: \(uses.description); to change it anyway, confirm the change; these uses are then ignored"
        case .conflict(let text), .forbidden(let text), .tooLarge(let text), .tooMany(let text), .fault(let text): text
        case .staleAttribute: "the attribute is not as expected"
        case .staleSynonyms: "the synonyms are not as expected"
        case .invalidCursor, .stale, .staleSetting, .staleList, .keyReused, .unavailable, .readOnly, .cancelled:
            "\(self)"
        }
    }

    /// - Parameters:
    ///   - stores: the keys of the stores, at least one.
    ///   - known: the keys of the stores that exist.
    package static func unknownStores(_ stores: some Sequence<CatalogKey>, known: some Sequence<CatalogKey>)
        -> CatalogError
    {
        let (names, known) = (stores.map(\.text).sorted(), known.map(\.text).sorted())
        let shown = names.prefix(5).map { "“\($0)”" }.joined(separator: ", ")
        let rest = names.count > 5 ? " and \(names.count - 5) more" : ""
        let what = names.count == 1 ? "store \(shown) does not exist" : "stores \(shown)\(rest) do not exist"
        let closest = names.lazy.compactMap { $0.closest(among: known) }.first
        let problem = known.isEmpty ? "the catalog has no stores yet: \(what)" : what
        let hint = closest.map { "; did you mean “\($0)”?" } ?? "."
        let pronoun = names.count == 1 ? "it" : "them"
        return .unknownStores(
            detail: """
                \(problem)\(hint) Nothing was imported. To create \(pronoun), set create_store (command line: --create-store)
                """,
            hint: closest
        )
    }

    package static func currencyInUse(_ store: Store) -> CatalogError {
        .conflict("the store has prices in \(store.currency.code), so its currency cannot change; create another store")
    }

    package static func currencyChanged(_ store: Store) -> CatalogError {
        .conflict("the store's currency was changed to \(store.currency.code) at the same time; send prices in it")
    }
}
