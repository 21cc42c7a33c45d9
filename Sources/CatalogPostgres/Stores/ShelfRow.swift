internal import Catalog
internal import LibPQ

/// The columns of a store and of a shelf's state, in read order.
enum ShelfRow {
    /// The stores `s` that are not deleted, which are settings, with their states `t` and the deployment `d`.
    static let stores: SQL = """
        store s JOIN store_state t ON t.store_id = s.store_id AND s.deleted_at IS NULL \
        JOIN deployment d ON d.deployment_id = 1
        """

    static let storeColumns: SQL = """
        s.store_id, t.version, s.key, s.title, s.currency, s.locale, s.unit_pricing, s.sold_out, s.default_sort, \
        s.popularity_metric, s.popularity_half_life_days, s.newcomer_boost, t.counted_metric, t.counted_half_life_days, \
        t.counted_newcomer_boost, t.counted_on - date '1970-01-01', s.sort_language, d.attribute_revision, \
        d.synonym_revision
        """

    /// The language by whose rules the names of a store are ordered.
    static func language(ofStore id: SQL) -> SQL {
        "(SELECT coalesce(l.sort_language, l.locale) FROM store l WHERE l.store_id = \(id))"
    }

    /// The default sort of the nearest ancestor of shelf `h` of a store, `$1`, looked up only if it can matter.
    static let inheritedSort: SQL = """
        CASE WHEN h.default_sort IS NULL AND h.parent_id IS NOT NULL THEN (
            WITH RECURSIVE ancestor (shelf_id, parent_id, default_sort, depth) AS (
                SELECT a.shelf_id, a.parent_id, a.default_sort, 1 FROM shelf a
                WHERE a.store_id = $1 AND a.shelf_id = h.parent_id
                UNION ALL
                SELECT a.shelf_id, a.parent_id, a.default_sort, depth + 1 FROM ancestor
                JOIN shelf a ON a.store_id = $1 AND a.shelf_id = ancestor.parent_id
                WHERE ancestor.default_sort IS NULL AND depth < 32
            ) SELECT ancestor.default_sort FROM ancestor WHERE ancestor.default_sort IS NOT NULL ORDER BY depth LIMIT 1
        ) END
        """

    /// The columns of shelf `h` of a store, `$1`.
    static let stateColumns: SQL = """
        h.shelf_id, h.key, h.title, h.default_sort, h.dimension, h.sold_out, h.position_source, h.product_count,
        coalesce(h.dimension, h.settled_dimension), h.modified_at, h.version, h.order_version,
        (SELECT u.key FROM shelf u WHERE u.store_id = $1 AND u.shelf_id = h.parent_id),
        \(inheritedSort), h.key_generation, h.includes_descendants, h.collapses_groups
        """

    /// The settings of shelf `h`.
    static func settingsColumns(ofStore id: SQL) -> SQL {
        """
        h.title, (SELECT u.key FROM shelf u WHERE u.store_id = \(id) AND u.shelf_id = h.parent_id), h.default_sort, \
        h.dimension, h.sold_out, h.position_source, h.includes_descendants, h.collapses_groups
        """
    }

    struct StoreRead: Sendable, Hashable {
        let id: Int32
        let version: Int64
        /// The revision of the attributes of the deployment.
        let attributeRevision: Int64
        /// The revision of the synonyms of the deployment.
        let synonymRevision: Int64
        let store: Store
    }

    static let storeWidth = 19
    /// The number of state columns.
    static let stateWidth = 17

    static func store(_ row: borrowing PostgresRow) throws -> StoreRead {
        guard let key = CatalogKey(try row.text(2)), let currency = Currency(try row.text(4)),
            let pricing = UnitPricing(rawValue: try row.text(6)), let soldOut = SoldOut(rawValue: try row.text(7)),
            let metric = PopularityMetric(rawValue: try row.text(9)),
            let countedMetric = PopularityMetric(rawValue: try row.text(12))
        else { throw PostgresError(.decoding, "invalid stored store") }
        return StoreRead(
            id: try row.int4(0),
            version: try row.int8(1),
            attributeRevision: try row.int8(17),
            synonymRevision: try row.int8(18),
            store: Store(
                key: key,
                title: try row.text(3),
                currency: currency,
                locale: try row.text(5),
                collation: try row.textOrNil(16),
                unitPricing: pricing,
                soldOut: soldOut,
                defaultSort: try sort(row, 8),
                popularityMetric: metric,
                popularityHalfLifeDays: Int(try row.int4(10)),
                newcomerBoost: try row.float8(11),
                counted: PopularityCount(
                    metric: countedMetric,
                    halfLifeDays: Int(try row.int4(13)),
                    newcomerBoost: try row.float8(14),
                    day: try row.int4OrNil(15).map(Int.init)
                )
            )
        )
    }

    /// Reads a state from the columns that start at `start`.
    static func state(_ row: borrowing PostgresRow, from start: Int = 0) throws -> ShelfState {
        guard let key = CatalogKey(try row.text(start + 1)) else {
            throw PostgresError(.decoding, "invalid stored shelf")
        }
        return ShelfState(
            shelf: Shelf(
                key: key,
                title: try row.text(start + 2),
                parent: try row.textOrNil(start + 12).flatMap { CatalogKey($0) },
                defaultSort: try sort(row, start + 3),
                dimension: try row.int2OrNil(start + 4).map { try Dimension(stored: $0) },
                soldOut: try row.textOrNil(start + 5).flatMap(SoldOut.init),
                positionSource: try sort(row, start + 6),
                includesDescendants: try row.bool(start + 15),
                collapsesGroups: try row.bool(start + 16)
            ),
            productCount: Int(try row.int4(start + 7)),
            comparisonDimension: try Dimension(stored: try row.int2(start + 8)),
            inheritedSort: try sort(row, start + 13),
            modifiedAt: Timestamp(microseconds: try row.timestamptz(start + 9)),
            version: try row.int8(start + 10),
            orderVersion: try row.int8(start + 11),
            keyGeneration: Int64(try row.int4(start + 14))
        )
    }

    /// Reads the settings from the columns that start at `start`.
    static func settings(_ row: borrowing PostgresRow, of key: CatalogKey, from start: Int) throws -> Shelf {
        Shelf(
            key: key,
            title: try row.text(start),
            parent: try row.textOrNil(start + 1).flatMap { CatalogKey($0) },
            defaultSort: try sort(row, start + 2),
            dimension: try row.int2OrNil(start + 3).map { try Dimension(stored: $0) },
            soldOut: try row.textOrNil(start + 4).flatMap(SoldOut.init),
            positionSource: try sort(row, start + 5),
            includesDescendants: try row.bool(start + 6),
            collapsesGroups: try row.bool(start + 7)
        )
    }

    static func head(_ row: borrowing PostgresRow) throws -> LocatedHead {
        let store = try store(row)
        return LocatedHead(
            head: ShelfHead(
                store: store.store,
                storeVersion: store.version,
                attributeRevision: store.attributeRevision,
                synonymRevision: store.synonymRevision,
                state: try state(row, from: storeWidth)
            ),
            location: ShelfLocation(storeID: store.id, shelfID: try row.int4(storeWidth))
        )
    }

    private static func sort(_ row: borrowing PostgresRow, _ column: Int) throws -> Sort? {
        try row.textOrNil(column).map { try Sort.parse($0) }
    }
}

extension Dimension {
    /// Creates a dimension from its stored ordinal.
    ///
    /// - Throws: kind `decoding`.
    init(stored ordinal: Int16) throws(PostgresError) {
        guard Self.allCases.indices.contains(Int(ordinal)) else {
            throw PostgresError(.decoding, "invalid stored dimension \(ordinal)")
        }
        self = Self.allCases[Int(ordinal)]
    }
}
