/// A permission of a token beyond the user's own data.
package enum Scope: String, CaseIterable, Sendable, Hashable {
    /// To change the whole catalog; it includes all other scopes.
    case catalogWrite = "catalog:write"
    /// To change products and place them on shelves.
    case productsWrite = "products:write"
    /// To set prices.
    case pricesWrite = "prices:write"
    /// To report purchases.
    case purchasesWrite = "purchases:write"
    /// To change the manual order of products and shelves, and to read its history.
    case orderWrite = "order:write"
    /// To read the audit log.
    case auditRead = "audit:read"
}
