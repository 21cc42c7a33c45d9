/// A permission of a token beyond the user's own data.
package enum Scope: String, CaseIterable, Sendable, Hashable {
    /// Permission to change the catalog.
    case catalogWrite = "catalog:write"
}
