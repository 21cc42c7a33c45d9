/// What a token permits beyond its user's own.
package enum Scope: String, CaseIterable, Sendable, Hashable {
    /// To change the catalog.
    case catalogWrite = "catalog:write"
}
