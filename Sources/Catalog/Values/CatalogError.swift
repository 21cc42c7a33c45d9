/// Every error of the domain. HTTP and the command line each map it in one place.
package enum CatalogError: Error, Sendable, Equatable {
    /// A parameter or body that cannot be read.
    case malformed(parameter: String?, detail: String, allowed: [String] = [], hint: String? = nil)
    case unknownSortKey(SortError, parameter: String = "sort")
    /// Altered, or made for another sort or shelf.
    case invalidCursor
    /// What does not exist, named: `store “x”`.
    case notFound(String)
    /// Well-formed, but wrong.
    case unprocessable(field: String, detail: String)
    case conflict(String)
    /// The order version that was expected is not the current one.
    case stale(current: Int64)
    /// The revision of a setting that was expected is not the current one; nil where there is none.
    case staleSetting(current: Int64?)
    /// A list is at another version than was expected.
    case staleList(current: Int64)
    /// What the caller may not do with what they may see.
    case forbidden(String)
    /// The same idempotency key was used with another request.
    case keyReused
    /// More than is taken at once.
    case tooLarge(String)
    /// More than one caller may have at a time.
    case tooMany(String)
    /// The database is away or out of resources; the same request may succeed later.
    case unavailable
    /// The database takes no writes: it is a standby, or read-only.
    case readOnly
    /// The caller gave up.
    case cancelled
    /// A fault of ours. The text is for the log, never for a client.
    case fault(String)

    package static func currencyInUse(_ store: Store) -> CatalogError {
        .conflict("the store has prices in \(store.currency.code); its currency cannot change")
    }

    package static func currencyChanged(_ store: Store) -> CatalogError {
        .conflict("the store's currency was changed to \(store.currency.code) at the same time")
    }
}
