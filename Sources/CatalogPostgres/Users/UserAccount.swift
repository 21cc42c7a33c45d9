internal import Catalog
internal import LibPQ

/// The row of a user's account, which changes to the user's data lock.
struct UserAccount {
    let user: UserID

    /// Locks the account, creates it if it does not exist, and reserves revisions for changes that may not happen.
    ///
    /// - Returns: the last revision.
    @discardableResult
    func reserveRevisions(
        _ count: Int,
        at now: Timestamp = .now(),
        _ connection: isolated PostgresConnection
    ) throws -> Int64 {
        try connection.query(
            UserStatements.reserveRevisions,
            [.text(user.text), .int8(SettingsEdit.firstRevision(now)), .int8(Int64(count))]
        ) { try $0.first { try $0.int8(0) }! }
    }

    /// Locks the account, which the transaction may delete; returns false if it does not exist.
    @discardableResult
    func lockExclusively(_ connection: isolated PostgresConnection) throws -> Bool {
        try connection.query(UserStatements.lockForErasure, [.text(user.text)]) { $0.count > 0 }
    }

    /// Deletes all of the user's data, under the lock.
    func erase(_ connection: isolated PostgresConnection) throws {
        let parameters: [PostgresValue] = [.text(user.text)]
        try connection.execute(UserStatements.deleteSettings, parameters)
        try connection.execute(UserStatements.deleteTickets, parameters)
        try connection.execute(UserStatements.deleteTokens, parameters)
        try connection.execute(UserStatements.deleteResponses, parameters)
        try connection.execute(UserStatements.deleteEvents, parameters)
        let left = try connection.query(UserStatements.deletePlaces, parameters) {
            try $0.map { (try $0.text(0), try $0.text(1)) }
        }
        for (owner, list) in left {
            try connection.execute(ListStatements.deleteMember, [.text(owner), .text(list), .text(user.text)])
        }
        try connection.execute(UserStatements.deleteAccount, parameters)
    }
}
