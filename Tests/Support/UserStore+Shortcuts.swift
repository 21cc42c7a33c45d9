package import Catalog

extension UserStore {
    /// Returns all data stored about a user whose purchases were reported under the user's own name.
    package func export(_ user: UserID) async throws(CatalogError) -> UserExport {
        try await export(user, customer: user.text)
    }

    /// Erases all data stored about a user whose purchases were reported under the user's own name.
    package func erase(_ user: UserID) async throws(CatalogError) { try await erase(user, customer: user.text) }

    /// Merges a guest who is known.
    package func merge(
        _ guest: UserID,
        into user: UserID,
        once call: IdempotentCall<GuestMerge>?
    ) async throws(CatalogError) -> GuestMerge {
        try await merge(into: user, once: call) { guest }
    }
}
