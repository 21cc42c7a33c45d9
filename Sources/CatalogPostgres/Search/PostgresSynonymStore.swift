internal import Catalog
internal import JSON
internal import LibPQ

/// The synonyms of a store and of its deployment, with what they belong to, from one snapshot.
struct EffectiveSynonyms: Sendable, Equatable {
    /// The version of the store.
    var storeVersion: Int64 = 0
    /// The revision of the deployment's synonyms.
    var revision: Int64 = 0
    var ofDeployment: Synonyms?
    var ofStore: Synonyms?

    /// All synonyms that are in effect in the store.
    var all: Synonyms { (ofDeployment ?? .none).adding(ofStore ?? .none) }
}

/// The same as its row has it. Large documents take long to parse, so a pipeline only reads their texts.
struct StoredSynonyms: Sendable {
    var storeVersion: Int64 = 0
    var revision: Int64 = 0
    var ofDeployment: String?
    var ofStore: String?

    /// Whether there are any.
    var isEmpty: Bool { ofDeployment == nil && ofStore == nil }

    /// Parses the documents.
    ///
    /// - Complexity: O(*n*) for *n* bytes of documents.
    var parsed: EffectiveSynonyms {
        EffectiveSynonyms(
            storeVersion: storeVersion,
            revision: revision,
            ofDeployment: ofDeployment.map { Synonyms(storedText: $0) },
            ofStore: ofStore.map { Synonyms(storedText: $0) }
        )
    }
}

/// The synonyms of the deployment and of stores in PostgreSQL.
///
/// A change of a store's synonyms raises the version of the store, and one of the deployment's the revision in the row of the deployment.
/// Neither depends on the other, so a store and the deployment do not wait for each other.
struct PostgresSynonymStore: SynonymStore {
    let database: Database

    private var lookup: ShelfLookup { ShelfLookup(database: database) }

    func synonyms(of owner: DeclarationOwner) async throws(CatalogError) -> Synonyms? {
        try await database.mappingErrors {
            guard case .store(let store) = owner else {
                let query = PostgresQuery(Self.ofDeployment)
                return try await database.router.shortReads.read([query], into: nil) { $0 = try Self.synonyms($2) }
            }
            let id = try await lookup.readStore(store).id
            let query = PostgresQuery(Self.ofStore, [.int4(id)])
            return try await database.router.shortReads(of: .store(id)).read([query], into: nil) {
                $0 = try Self.synonyms($2)
            }
        }
    }

    func set(
        _ synonyms: Synonyms,
        for owner: DeclarationOwner,
        expecting expectation: SynonymExpectation?
    ) async throws(CatalogError) -> Bool {
        try await change(owner, to: synonyms, expectation).isNew
    }

    func remove(
        synonymsOf owner: DeclarationOwner,
        expecting expectation: SynonymExpectation?
    ) async throws(CatalogError) {
        _ = try await change(owner, to: nil, expectation)
    }

    private func change(
        _ owner: DeclarationOwner,
        to new: Synonyms?,
        _ expectation: SynonymExpectation?
    ) async throws(CatalogError) -> SynonymChange {
        guard case .store(let store) = owner else { return try await changeForAll(to: new, expectation) }
        return try await database.write(to: store) { connection in
            let id = try lookup.store(store, connection, locking: ShelfStatements.lockStore).id
            let old = try connection.query(Self.ofStore, [.int4(id)]) { try Self.synonyms($0) }
            let change = try SynonymChange(of: owner, from: old, to: new, expecting: expectation)
            guard change.isChange else { return change }
            try connection.execute(ShelfStatements.bumpStore, [.int4(id)])
            if let new {
                try connection.execute(Self.upsertOfStore, [.int4(id), .text(new.document.text)])
            } else {
                try connection.execute(Self.deleteOfStore, [.int4(id)])
            }
            try AuditLog.record(.synonyms(change), in: id, connection)
            return change
        }
    }

    private func changeForAll(
        to new: Synonyms?,
        _ expectation: SynonymExpectation?
    ) async throws(CatalogError) -> SynonymChange {
        try await database.mappingErrors {
            let change = try await database.writes.transaction(within: .edit) { connection in
                // It also locks the synonyms against other changes.
                try connection.execute(Self.bumpRevision)
                let old = try connection.query(Self.ofDeployment) { try Self.synonyms($0) }
                let change = try SynonymChange(of: .deployment, from: old, to: new, expecting: expectation)
                guard change.isChange else { return TransactionEnd.rollback(change) }
                if let new {
                    try connection.execute(Self.upsert, [.text(new.document.text)])
                } else {
                    try connection.execute(Self.delete)
                }
                // The synonyms of the deployment belong to no store, so the entry is in the log of who changed them.
                if let actor = UserID(ChangeOrigin.current.actor) {
                    try AuditLog.record(.synonyms(change), of: actor, connection)
                }
                return .commit(change)
            }
            // Searches may find other products in all stores.
            if change.isChange { database.announcer.announce(.all) }
            return change
        }
    }

    // MARK: - Rows

    /// Reads the only document; nil if there is none.
    private static func synonyms(_ rows: borrowing PostgresRows) throws -> Synonyms? {
        try rows.first { try Synonyms(storedText: $0.text(0)) }
    }

    /// Reads the row of `inEffect`; without one, the store does not exist.
    static func inEffect(_ rows: borrowing PostgresRows) throws -> EffectiveSynonyms { try stored(rows).parsed }

    private static func stored(_ rows: borrowing PostgresRows) throws -> StoredSynonyms {
        try rows.first { row in
            StoredSynonyms(
                storeVersion: try row.int8(0),
                revision: try row.int8(1),
                ofDeployment: try row.textOrNil(2),
                ofStore: try row.textOrNil(3)
            )
        } ?? StoredSynonyms()
    }

    /// Reads the synonyms in effect in a store, without parsing them.
    static func readInEffect(_ storeID: Int32, _ source: ReadSource) async throws -> StoredSynonyms {
        let query = PostgresQuery(inEffect, [.int4(storeID)])
        return try await source.read([query], into: StoredSynonyms()) { $0 = try stored($2) }
    }

    // MARK: - Statements

    static let ofDeployment: PostgresStatement = "SELECT document::text FROM deployment_synonyms"
    static let ofStore: PostgresStatement = "SELECT document::text FROM store_synonyms WHERE store_id = $1"
    /// The version of a store, `$1`, the revision of the deployment's synonyms, the synonyms of the deployment, and those of the store.
    static let inEffect: PostgresStatement = """
        SELECT t.version, d.synonym_revision, a.document::text, s.document::text FROM store_state t
        CROSS JOIN deployment d LEFT JOIN deployment_synonyms a ON a.deployment_id = d.deployment_id
        LEFT JOIN store_synonyms s ON s.store_id = $1
        WHERE t.store_id = $1 AND d.deployment_id = 1
        """
    static let bumpRevision: PostgresStatement = """
        UPDATE deployment SET synonym_revision = \(SQL.nextVersion(after: "synonym_revision")) WHERE deployment_id = 1
        """
    static let upsert: PostgresStatement = """
        INSERT INTO deployment_synonyms (deployment_id, document) VALUES (1, $1::json)
        ON CONFLICT (deployment_id) DO UPDATE SET document = excluded.document
        """
    static let upsertOfStore: PostgresStatement = """
        INSERT INTO store_synonyms (store_id, document) VALUES ($1, $2::json)
        ON CONFLICT (store_id) DO UPDATE SET document = excluded.document
        """
    static let delete: PostgresStatement = "DELETE FROM deployment_synonyms"
    static let deleteOfStore: PostgresStatement = "DELETE FROM store_synonyms WHERE store_id = $1"
}

extension Synonyms {
    /// Reads a stored document. A later release may allow one that this one cannot parse, which has no synonyms here.
    fileprivate init(storedText text: String) {
        self.init(stored: (try? JSONReader.parse(Array(text.utf8))) ?? .object([]))
    }
}
