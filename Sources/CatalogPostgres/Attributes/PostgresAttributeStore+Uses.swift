internal import Catalog
internal import JSON
internal import LibPQ

// The uses of an attribute. The statements select texts that have its name as a word, and `AttributeName` decides.
extension PostgresAttributeStore {
    func uses(of attribute: AttributeName, in owner: DeclarationOwner) async throws(CatalogError) -> AttributeUses {
        try await database.mappingErrors {
            var store: String?
            if case .store(let key) = owner { store = try await lookup.readStore(key).store.key.text }
            let name = attribute.text
            return try await database.longReads.snapshot(within: .shelf) { [store] connection in
                // A store's own declaration stays in effect without that of the deployment.
                let others =
                    store == nil
                    ? try connection.query(Self.declaringStores, [.text(name)]) { try $0.map { try $0.text(0) } } : []
                let word = PostgresValue.text(Self.word(attribute))
                let scope: [PostgresValue] = [word, .text(store), .textArray(others)]
                var uses = AttributeUses()
                let remembered = try connection.query(
                    Self.rememberedValues,
                    scope + [.int8(Int64(AttributeUses.valueLimit) + 1)]
                ) { rows in
                    try rows.map { (value: try $0.text(0), count: Int(try $0.int8(1))) }
                }
                uses.settings = remembered.reduce(0) { sum, row in
                    attribute.isUsed(by: Self.json(row.value)) ? sum + row.count : sum
                }
                // One of the others may use it.
                if remembered.count > AttributeUses.valueLimit { uses.settings = max(1, uses.settings) }
                uses.stores = try connection.query(Self.storeSorts, scope) { rows in
                    try rows.map { (key: try CatalogKey(stored: $0.text(0)), sort: try $0.text(1)) }
                }.filter { attribute.isUsed(bySort: $0.sort) }.map(\.key)
                uses.shelves = try connection.query(Self.shelfSorts, scope) { rows in
                    try rows.map { row in
                        (
                            place: AttributeUses.Place(
                                store: try CatalogKey(stored: row.text(0)),
                                shelf: try CatalogKey(stored: row.text(1))
                            ),
                            sorts: [try row.textOrNil(2), try row.textOrNil(3)].compactMap { $0 }
                        )
                    }
                }.filter { $0.sorts.contains(where: attribute.isUsed(bySort:)) }.map(\.place)
                uses.profiles = try connection.query(Self.profiles, [word]) { rows in
                    try rows.map { (name: try CatalogKey(stored: $0.text(0)), document: try $0.text(1)) }
                }.filter { attribute.isUsed(byProfile: Self.json($0.document)) }.map(\.name)
                return uses
            }
        }
    }

    /// Parses a stored document; null for one that a later release wrote in another form.
    private static func json(_ text: String) -> JSONValue { (try? JSONReader.parse(Array(text.utf8))) ?? .null }

    /// Returns a regular expression for texts that have the name of an attribute as a word, with an ending of filters or without. Names have
    /// only letters, digits and underscores.
    static func word(_ attribute: AttributeName) -> String {
        let endings = AttributeName.reservedEndings.sorted().joined(separator: "|")
        let path = AttributeReference.pathPrefix.replacing(".", with: #"\."#)
        return #"(^|[^a-z0-9_.])(\#(path))?\#(attribute.text)(\#(endings))?($|[^a-z0-9_])"#
    }

    // MARK: - Statements. `$1` is the regular expression, `$2` a store or null for all, `$3` stores that do not count.

    /// The stores that declare an attribute themselves.
    static let declaringStores: PostgresStatement = """
        SELECT s.key FROM store_attribute a JOIN store s ON s.store_id = a.store_id
        WHERE a.name = $1 AND a.document ->> 'type' IS NOT NULL AND s.deleted_at IS NULL
        """
    /// The different remembered sorts and filters, at most `$4`, and the numbers of users who have them. All settings are read, on all shards:
    /// an index would slow down every write of a setting, for a statement that hardly ever runs. The keys are those of `SettingKey.isSort`.
    static let rememberedValues: PostgresStatement = """
        SELECT value::text, count(*) FROM user_setting
        WHERE deleted_at IS NULL AND key LIKE 'stores/%/sort'
            AND key ~ '^stores/[a-z0-9][a-z0-9-]*/(shelves/[a-z0-9][a-z0-9-]*/)?sort$' AND value::text ~ $1
            AND ($2::text IS NULL OR split_part(key, '/', 2) = $2) AND split_part(key, '/', 2) <> ALL ($3::text[])
        GROUP BY value::text LIMIT $4
        """
    static let storeSorts: PostgresStatement = """
        SELECT key, default_sort FROM store
        WHERE deleted_at IS NULL AND default_sort ~ $1 AND ($2::text IS NULL OR key = $2) AND key <> ALL ($3::text[])
        ORDER BY key
        """
    static let shelfSorts: PostgresStatement = """
        SELECT s.key, h.key, h.default_sort, h.position_source FROM shelf h JOIN store s ON s.store_id = h.store_id
        WHERE h.deleted_at IS NULL AND s.deleted_at IS NULL
            AND (h.default_sort ~ $1 OR h.position_source ~ $1)
            AND ($2::text IS NULL OR s.key = $2) AND s.key <> ALL ($3::text[])
        ORDER BY s.key, h.key
        """
    static let profiles: PostgresStatement = """
        SELECT name, document::text FROM import_profile WHERE document::text ~ $1 ORDER BY name
        """
}
