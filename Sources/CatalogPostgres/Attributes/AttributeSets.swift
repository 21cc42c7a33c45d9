internal import Catalog
internal import LibPQ

/// The attributes of stores that this server has read, by the version of the store and the revision of the deployment's attributes. Each page
/// confirms both.
final class AttributeSets: Sendable {
    /// The attributes of a store at one version of the store and one revision of those of the deployment.
    struct Known: Sendable {
        let storeVersion: Int64
        let revision: Int64
        fileprivate(set) var attributes: ResolvedAttributes

        fileprivate func isOf(_ head: ShelfHead) -> Bool {
            storeVersion == head.storeVersion && revision == head.attributeRevision
        }
    }

    private struct LoadKey: Hashable {
        let storeID: Int32
        let storeVersion: Int64
        let revision: Int64
        let origin: ReadSource.Origin
    }

    /// The size of each cache, in bytes: several thousand stores with some attributes each.
    private static let limit = 32 << 20
    /// The size of the largest entry to keep, in bytes: a store and the deployment may declare 64 attributes each, with 200 values.
    private static let largest = 8 << 20

    /// The size of an entry is an upper bound, because equal attributes are kept once.
    private let known = SharedCache<Int32, Known>(limit: limit, largest: largest) { $1.attributes.size }
    /// Equal attributes, such as those of all stores without declarations of their own, are kept once.
    private let shared = SharedCache<ResolvedAttributes, ResolvedAttributes>(limit: limit, largest: largest) {
        attributes,
        _ in attributes.size
    }
    private let loads = SharedWork<LoadKey, Known?>()

    // MARK: - Titles

    private struct Titled: Sendable {
        let storeVersion: Int64
        let revision: Int64
        let attributes: TitledAttributes
        /// The size of the declarations, in bytes.
        let size: Int

        func isOf(_ head: ShelfHead) -> Bool {
            storeVersion == head.storeVersion && revision == head.attributeRevision
        }
    }

    private struct TitledKey: Hashable {
        let store: CatalogKey
        let storeVersion: Int64
        let revision: Int64
    }

    /// The attributes of stores with titles, which only pickers need. A parsed declaration takes several times the memory of its text.
    private let titled = SharedCache<CatalogKey, Titled>(limit: limit, largest: largest) {
        1024 + $0.text.utf8.count + 4 * $1.size + $1.attributes.resolved.size
    }
    private let titledLoads = SharedWork<TitledKey, Titled?>()

    /// Returns the attributes of a store with titles, at the versions of a head or later.
    ///
    /// - Parameter source: returns the id of the store, and where it is read.
    /// - Throws: `notFound` for the store, and what `source` throws.
    func titledAttributes(
        of head: ShelfHead,
        _ source: @escaping @Sendable () async throws -> (storeID: Int32, source: PostgresPipeline)
    ) async throws -> TitledAttributes {
        let store = head.store.key
        if let found = titled[store], found.isOf(head) { return found.attributes }
        let key = TitledKey(store: store, storeVersion: head.storeVersion, revision: head.attributeRevision)
        let found = try await titledLoads.value(key) {
            let (storeID, source) = try await source()
            return try await source.read([Self.query(storeID)], into: Titled?.none) { found, _, rows in
                found = try Self.readTitled(rows)
            }
        }
        guard let found else { throw CatalogError.notFound("store “\(store)”") }
        if found.isOf(head) { titled[store] = found }
        return found.attributes
    }

    // MARK: - Pages

    /// Returns the attributes of a store, at the versions of a head, if they are in memory.
    func known(of head: ShelfHead, in storeID: Int32) -> ResolvedAttributes? {
        known[storeID].flatMap { $0.isOf(head) ? $0.attributes : nil }
    }

    /// Returns the attributes of a store, at the versions of a head; nil if the store, or a declaration of the deployment, has changed since.
    func attributes(of head: ShelfHead, in storeID: Int32, _ source: ReadSource) async throws -> ResolvedAttributes? {
        if let found = known(of: head, in: storeID) { return found }
        let key = LoadKey(
            storeID: storeID,
            storeVersion: head.storeVersion,
            revision: head.attributeRevision,
            origin: source.origin
        )
        let found = try await loads.value(key) {
            try await source.read([Self.query(storeID)], into: Known?.none) { found, _, rows in
                found = try Self.read(rows)
            }
        }
        return keep(found, of: head, storeID)
    }

    /// The same in a transaction.
    func attributes(
        of head: ShelfHead,
        in storeID: Int32,
        _ connection: isolated PostgresConnection
    ) throws -> ResolvedAttributes? {
        if let found = known(of: head, in: storeID) { return found }
        let query = Self.query(storeID)
        return keep(try connection.query(query.statement, query.parameters) { try Self.read($0) }, of: head, storeID)
    }

    /// Returns the attributes that a transaction sees, without keeping them: the transaction may have changed them.
    static func current(_ storeID: Int32, _ connection: isolated PostgresConnection) throws -> ResolvedAttributes {
        let query = query(storeID)
        return try connection.query(query.statement, query.parameters) { try read($0) }?.attributes ?? .none
    }

    func keep(_ found: Known?, of head: ShelfHead, _ storeID: Int32) -> ResolvedAttributes? {
        guard var found, found.isOf(head) else { return nil }
        // Another caller of the same load may have kept it.
        if let known = known(of: head, in: storeID) { return known }
        if let equal = shared[found.attributes] {
            found.attributes = equal
        } else {
            shared[found.attributes] = found.attributes
        }
        known[storeID] = found
        return found.attributes
    }

    private static func query(_ storeID: Int32) -> PostgresQuery { PostgresQuery(withVersions, [.int4(storeID)]) }

    /// Returns nil if the store does not exist.
    private static func read(_ rows: borrowing PostgresRows) throws -> Known? {
        try readTitled(rows).map { found in
            Known(
                storeVersion: found.storeVersion,
                revision: found.revision,
                attributes: found.attributes.resolved
            )
        }
    }

    private static func readTitled(_ rows: borrowing PostgresRows) throws -> Titled? {
        var versions: (store: Int64, deployment: Int64)?
        var (shared, own) = ([AttributeDeclaration](), [AttributeDeclaration]())
        var size = 0
        try rows.forEach { row in
            versions = (try row.int8(3), try row.int8(4))
            guard !row.isNull(0) else { return }
            size += try row.text(1).utf8.count
            let declaration = try PostgresAttributeStore.declaration(row)
            if try row.bool(2) { own.append(declaration) } else { shared.append(declaration) }
        }
        return versions.map { versions in
            Titled(
                storeVersion: versions.store,
                revision: versions.deployment,
                attributes: TitledAttributes(AttributeSet(deployment: shared, store: own)),
                size: size
            )
        }
    }

    /// The declarations of the deployment, and those of a store, `$1`, with the versions of both. A row without a name if there are none.
    static let withVersions: PostgresStatement = """
        SELECT a.name, a.document, a.is_of_store, t.version, d.attribute_revision
        FROM store_state t JOIN deployment d ON d.deployment_id = 1
        LEFT JOIN (SELECT name, document::text AS document, false AS is_of_store FROM attribute
            UNION ALL SELECT name, document::text, true FROM store_attribute WHERE store_id = $1) a ON true
        WHERE t.store_id = $1
        """
}

extension ResolvedAttributes {
    /// The approximate size in memory, in bytes.
    fileprivate var size: Int {
        all.reduce(256) { size, attribute in
            attribute.form.options.reduce(size + 1024) { $0 + 96 + $1.key.utf8.count }
        }
    }
}
