internal import JSON
internal import Catalog
internal import LibPQ

/// Adds entries to the audit log in the transaction of the change, without a round trip of their own: they are sent with the
/// next statement, or with COMMIT.
enum AuditLog {
    /// Records a change of a store by the current task.
    ///
    /// - Parameter change: nil if nothing changed.
    static func record(
        _ change: AuditChange?,
        in storeID: Int32,
        _ connection: isolated PostgresConnection
    ) throws {
        guard let change else { return }
        try connection.executeDeferred(AuditStatements.insertOfStore, [.int4(storeID)] + parameters(change))
    }

    /// Records a change of a user's data by the current task.
    ///
    /// - Parameter change: nil if nothing changed.
    static func record(
        _ change: AuditChange?,
        of user: UserID,
        _ connection: isolated PostgresConnection
    ) throws {
        guard let change else { return }
        try connection.executeDeferred(AuditStatements.insertOfUser, [.text(user.text)] + parameters(change))
    }

    /// Records that a customer's purchases were anonymized, under the hash that replaces the customer.
    static func recordAnonymization(of hash: [UInt8], _ connection: isolated PostgresConnection) throws {
        let parameters = parameters(AuditChange(.purchasesAnonymize))
        try connection.executeDeferred(
            AuditStatements.insertOfUser,
            [.text(CustomerHashes.erasedName(hash))] + parameters
        )
    }

    /// Deletes a user's entries in the transaction that deletes the account. Records the deletion under the hash that replaces the user.
    ///
    /// If there was neither an account nor an entry, nothing is recorded.
    ///
    /// The entry names neither the user nor the address and token of the request.
    static func erase(
        _ user: UserID,
        _ action: AuditAction,
        as hash: [UInt8],
        hadAccount: Bool,
        _ connection: isolated PostgresConnection
    ) throws {
        let origin = ChangeOrigin.current
        try connection.executeDeferred(
            AuditStatements.eraseUser,
            [
                .text(user.text), .text(CustomerHashes.erasedName(hash)), .text(UniqueID.random().text),
                .text(action.rawValue), .text(origin.source.rawValue), .text(origin.requestID), .bool(hadAccount),
            ]
        )
    }

    private static func parameters(_ change: AuditChange) -> [PostgresValue] {
        let origin = ChangeOrigin.current
        return [
            .text(UniqueID.random().text), .text(change.action.rawValue), .text(origin.source.rawValue),
            .text(origin.actor), .text(origin.address), .text(origin.token), .text(origin.requestID),
            .text(change.subject), .text(change.detail.text),
        ]
    }
}
