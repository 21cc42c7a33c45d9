internal import LibPQ

/// The statements of an import. `$1` is the import, `$2` the store id, unless noted.
enum ImportStatements {
    // MARK: - Staging

    /// Imports without a held lock are dead.
    static let sweepRuns: PostgresStatement = """
        DELETE FROM import_run r WHERE r.import_id IN (SELECT d.import_id FROM import_run d FOR UPDATE SKIP LOCKED)
            AND \(RunLock.tryAcquire(.importRun, "hashtext(r.import_id::text)"))
        """
    static let stagedRuns: PostgresStatement = "SELECT DISTINCT import_id::text FROM import_row"
    static let runs: PostgresStatement = "SELECT import_id::text FROM import_run"
    /// Deletes the rows of some imports, `$1`.
    static let sweepRows: PostgresStatement = "DELETE FROM import_row WHERE import_id = ANY ($1::text[]::uuid[])"
    static let register: PostgresStatement =
        "INSERT INTO import_run (import_id, started_at) VALUES ($1::text::uuid, now())"
    static let stage: PostgresStatement = "COPY import_row (\(WrittenColumns.copyColumns)) FROM STDIN"

    // MARK: - Comparing ($1 only)

    static let findRepeats: PostgresStatement = """
        SELECT 1 FROM import_row WHERE import_id = $1::text::uuid GROUP BY store_id, sku HAVING count(*) > 1 LIMIT 1
        """

    /// Copies the availability of stored products to rows whose own was not understood.
    static let keepStock: PostgresStatement = """
        UPDATE import_row i SET in_stock = r.in_stock, keeps_stock = true FROM product r
        WHERE i.import_id = $1::text::uuid AND i.in_stock IS NULL AND r.store_id = i.store_id AND r.sku = i.sku
        """
    /// Deletes the rows of new products whose availability was not understood.
    static let dropUnreadableStock: PostgresStatement = """
        DELETE FROM import_row WHERE import_id = $1::text::uuid AND in_stock IS NULL RETURNING line
        """

    /// Adds the stored attributes of products of some stores, `$3`, apart from those that the file has, `$2`, to their rows.
    static let mergeAttributes: PostgresStatement = merging("true")
    /// The same for the rows without the object of all attributes, in a file with rows that have it.
    static let mergeAttributesOfPartialRows: PostgresStatement = merging("i.keeps_attributes")

    private static func merging(_ condition: SQL) -> PostgresStatement {
        """
        UPDATE import_row i SET attributes = (r.attributes - $2::text[]) || i.attributes FROM product r
        WHERE i.import_id = $1::text::uuid AND i.store_id = ANY ($3::bigint[]) AND r.store_id = i.store_id AND r.sku = i.sku
            AND \(condition) AND i.attributes IS NOT NULL AND r.attributes - $2::text[] <> '{}'
        """
    }

    /// Removes an attribute, `$3`, from a store's rows with the numbers `$4`, unless the stored product has the same value.
    static let clearAttribute: PostgresStatement = """
        UPDATE import_row i SET attributes = i.attributes - $3::text
        WHERE \(ownRows) AND i.line IN (SELECT unnest($4::bigint[])) AND i.attributes -> $3::text IS NOT NULL AND NOT EXISTS (
            SELECT FROM product r WHERE r.store_id = $2 AND r.sku = i.sku
                AND r.attributes -> $3::text = i.attributes -> $3::text)
        RETURNING i.line
        """
    /// Returns all rows of the products of a store whose last row is among `$3`. They have the values of the last row.
    static let rowsOfProducts: PostgresStatement = """
        SELECT DISTINCT i.line FROM import_row i
        JOIN (SELECT i.sku, max(i.line) AS line FROM import_row i WHERE \(ownRows) GROUP BY i.sku) l ON l.sku = i.sku
        WHERE \(ownRows) AND l.line IN (SELECT unnest($3::bigint[]))
        """
    /// Copies the attributes of stored products to rows without the column.
    static let keepAttributes: PostgresStatement = """
        UPDATE import_row i SET attributes = r.attributes, keeps_attributes = true FROM product r
        WHERE i.import_id = $1::text::uuid AND i.attributes IS NULL AND r.store_id = i.store_id AND r.sku = i.sku
        """
    /// Deletes the rows whose attributes have more bytes than `$2`, without the spaces that the database puts between values.
    static let dropLongAttributes: PostgresStatement = """
        DELETE FROM import_row WHERE import_id = $1::text::uuid AND \(isLong("$2")) RETURNING line
        """
    private static func isLong(_ limit: SQL) -> SQL {
        """
        octet_length(attributes::text) > \(limit)
            AND octet_length(attributes::text)
                - (octet_length(\(structure)) - octet_length(replace(\(structure), ' ', ''))) > \(limit)
        """
    }

    /// The attributes without their strings.
    private static let structure: SQL = #"regexp_replace(attributes::text, '"(\\.|[^"\\])*"', '', 'g')"#

    /// Counts the rows whose product has other values in its last row.
    static func countConflicts(_ columns: WrittenColumns) -> PostgresStatement {
        ("SELECT count(*) FROM \(conflicting(columns))" as PostgresStatement).named("ImportStatements.countConflicts")
    }

    /// Returns up to 20 of these rows: store, sku, name, both lines and the differences.
    static func conflicts(_ columns: WrittenColumns) -> PostgresStatement {
        let differences = columns.compared.map { column -> SQL in
            """
            CASE WHEN i.\(column) IS DISTINCT FROM l.\(column)
                THEN '\(column) ' || coalesce(i.\(column)::text, 'none') || ' and ' || coalesce(l.\(column)::text, 'none') END
            """
        }
        return
            ("""
        SELECT l.store_id, l.sku, l.name, i.line, l.line, left(concat_ws(', ', \(differences.joined())), 300)
        FROM \(conflicting(columns)) ORDER BY i.line LIMIT 20
        """ as PostgresStatement).named("ImportStatements.conflicts")
    }

    private static func conflicting(_ columns: WrittenColumns) -> SQL {
        """
        import_row i JOIN (SELECT DISTINCT ON (store_id, sku) * FROM import_row WHERE import_id = $1::text::uuid
            ORDER BY store_id, sku, line DESC, part) l ON l.store_id = i.store_id AND l.sku = i.sku AND i.line < l.line
        WHERE i.import_id = $1::text::uuid AND \(columns.row("i")) IS DISTINCT FROM \(columns.row("l"))
        """
    }

    /// Copies the values of a product's last row to its earlier rows.
    static let applyLastRows: PostgresStatement = """
        UPDATE import_row i
        SET \(ProductColumn.staged.assignments(from: "l")), name_key = l.name_key, brand_key = l.brand_key,
            popularity_seed = l.popularity_seed, keeps_stock = l.keeps_stock, keeps_attributes = l.keeps_attributes
        FROM (SELECT DISTINCT ON (store_id, sku) * FROM import_row WHERE import_id = $1::text::uuid
            ORDER BY store_id, sku, line DESC, part) l
        WHERE i.import_id = $1::text::uuid AND i.store_id = l.store_id AND i.sku = l.sku AND i.line < l.line
        """
    static let dropRepeated: PostgresStatement = """
        DELETE FROM import_row i USING (
            SELECT store_id, line, part, row_number() OVER (PARTITION BY store_id, sku, shelf_key ORDER BY line DESC) AS place
            FROM import_row WHERE import_id = $1::text::uuid) l
        WHERE i.import_id = $1::text::uuid AND i.store_id = l.store_id AND i.line = l.line AND i.part = l.part AND l.place > 1
        """

    /// The row count above which hash joins are forced; the staging table has no statistics.
    static let hashingLimit = 2000

    /// Deletes rows whose product and placement already match.
    static func dropUnchanged(_ columns: WrittenColumns) -> [PostgresStatement] {
        dropUnchanged(columns, "i.import_id = $1::text::uuid").map { $0.named("ImportStatements.dropUnchanged") }
    }

    /// Returns a statement for rows with a shelf and one for rows without. One for both would need a subquery after an OR, which
    /// cannot be joined: if its result exceeds `work_mem`, it is searched again for each row.
    ///
    /// - Parameter store: the store of all rows; nil for several ones.
    private static func dropUnchanged(
        _ columns: WrittenColumns,
        _ scope: SQL,
        store: SQL? = nil
    ) -> [PostgresStatement] {
        let isEqual: SQL = """
            \(scope) AND r.store_id = i.store_id AND r.sku = i.sku
                AND \(columns.row("r")) IS NOT DISTINCT FROM \(columns.row("i"))
            """
        let shelves: SQL = store.map { "h.store_id = \($0)" } ?? "h.store_id = i.store_id"
        let ofStore: SQL = store.map { " AND p.store_id = \($0)" } ?? ""
        // The join has no table of shelves: without statistics, the planner would read all products of the shelf's store for each row.
        let shelf: SQL =
            "(SELECT h.shelf_id FROM shelf h WHERE \(shelves) AND h.key = i.shelf_key AND h.deleted_at IS NULL)"
        return [
            """
            DELETE FROM import_row i USING product r, placement p
            WHERE \(isEqual) AND \(PlacementStatements.key("p", store: "i.store_id", shelf: shelf, sku: "i.sku"))\(ofStore)
            """,
            "DELETE FROM import_row i USING product r WHERE \(isEqual) AND i.shelf_key IS NULL",
        ]
    }
    /// Counts the rows of the file that are left; each is staged once per shelf.
    static let countRows: PostgresStatement = """
        SELECT coalesce(sum(n), 0)::bigint FROM (
            SELECT count(DISTINCT line) AS n FROM import_row WHERE import_id = $1::text::uuid GROUP BY store_id) s
        """
    /// Counts the rows of the file with stored products, all that are left, and the staged rows.
    static let countChanged: PostgresStatement = """
        SELECT coalesce(sum(stored), 0)::bigint, coalesce(sum(n), 0)::bigint, coalesce(sum(staged), 0)::bigint FROM (
            SELECT count(DISTINCT i.line) FILTER (WHERE r.sku IS NOT NULL) AS stored, count(DISTINCT i.line) AS n,
                count(*) AS staged
            FROM import_row i LEFT JOIN product r ON r.store_id = i.store_id AND r.sku = i.sku
            WHERE i.import_id = $1::text::uuid GROUP BY i.store_id) s
        """
    /// These statements again for one store, after its shelves are locked.
    static func dropUnchangedAgain(_ columns: WrittenColumns) -> [PostgresStatement] {
        dropUnchanged(columns, "\(ownRows) AND r.store_id = $2", store: "$2").map {
            $0.named("ImportStatements.dropUnchangedAgain")
        }
    }
    /// Locks the stored products of the rows, in order.
    static let lockProducts: PostgresStatement = """
        SELECT 1 FROM product r WHERE r.store_id = $2 AND r.sku IN (SELECT i.sku FROM import_row i WHERE \(ownRows))
        ORDER BY r.sku FOR NO KEY UPDATE
        """
    /// Replaces the attributes that the file does not have by the current ones of the stored product; `$3` names those it has. The second
    /// statement removes those of a product that was deleted.
    static let mergeAttributesAgain: [PostgresStatement] = mergingAgain("true")
    /// The same for the rows without the object of all attributes, in a file with rows that have it.
    static let mergeAttributesOfPartialRowsAgain: [PostgresStatement] = mergingAgain("i.keeps_attributes")

    private static func mergingAgain(_ condition: SQL) -> [PostgresStatement] {
        [
            """
            UPDATE import_row i SET attributes = (r.attributes - $3::text[]) || \(ownAttributes) FROM product r
            WHERE \(ownRows) AND \(condition) AND r.store_id = $2 AND r.sku = i.sku AND r.attributes - $3::text[] <> i.attributes - $3::text[]
            """,
            """
            UPDATE import_row i SET attributes = \(ownAttributes)
            WHERE \(ownRows) AND \(condition) AND i.attributes - $3::text[] <> '{}'
                AND NOT EXISTS (SELECT FROM product r WHERE r.store_id = $2 AND r.sku = i.sku)
            """,
        ]
    }
    private static let ownAttributes: SQL = """
        (SELECT coalesce(jsonb_object_agg(a.key, a.value), '{}') FROM jsonb_each(i.attributes) a WHERE a.key = ANY ($3::text[]))
        """
    /// A row if the attributes of a product have more bytes than `$3`.
    static let hasLongAttributes: PostgresStatement = """
        SELECT 1 FROM import_row i WHERE \(ownRows) AND \(isLong("$3")) LIMIT 1
        """
    /// Copies the availability of the stored products to the rows that do not change it.
    static let keepStockAgain: PostgresStatement = """
        UPDATE import_row i SET in_stock = r.in_stock FROM product r
        WHERE \(ownRows) AND i.keeps_stock AND r.store_id = $2 AND r.sku = i.sku AND i.in_stock <> r.in_stock
        """
    /// Copies the attributes of the stored products to the rows that do not change them.
    static let keepAttributesAgain: PostgresStatement = """
        UPDATE import_row i SET attributes = r.attributes FROM product r
        WHERE \(ownRows) AND i.keeps_attributes AND r.store_id = $2 AND r.sku = i.sku AND i.attributes <> r.attributes
        """
    static let countRowsAgain: PostgresStatement = "SELECT count(DISTINCT i.line) FROM import_row i WHERE \(ownRows)"
    static let countChangedAgain: PostgresStatement = """
        SELECT count(DISTINCT i.line) FILTER (WHERE r.sku IS NOT NULL), count(DISTINCT i.line)
        FROM import_row i LEFT JOIN product r ON r.store_id = $2 AND r.sku = i.sku WHERE \(ownRows)
        """
    // Pruning ($1 only). A file names the shelves of its rows, and the products without a shelf if a row has no shelf.

    private static let inFile: SQL = "i.import_id = $1::text::uuid"
    private static let namedShelves: SQL = """
        (SELECT DISTINCT i.store_id, h.shelf_id FROM import_row i JOIN shelf h ON h.store_id = i.store_id AND h.key = i.shelf_key
            WHERE \(inFile))
        """
    /// The placements on the file's shelves that the file does not list.
    static let stalePlacements: PostgresStatement = """
        SELECT p.store_id, p.shelf_id, p.sku FROM placement p
        JOIN \(namedShelves) n ON n.store_id = p.store_id AND n.shelf_id = p.shelf_id
        WHERE NOT EXISTS (SELECT FROM import_row i JOIN shelf h ON h.store_id = i.store_id AND h.key = i.shelf_key
            WHERE \(inFile) AND i.store_id = p.store_id AND h.shelf_id = p.shelf_id AND i.sku = p.sku)
        """
    /// The products that the file does not list, and that are only on its shelves.
    static let staleProducts: PostgresStatement = """
        SELECT DISTINCT p.store_id, p.sku FROM placement p
        JOIN \(namedShelves) n ON n.store_id = p.store_id AND n.shelf_id = p.shelf_id
        WHERE NOT EXISTS (SELECT FROM import_row i WHERE \(inFile) AND i.store_id = p.store_id AND i.sku = p.sku)
            AND NOT EXISTS (SELECT FROM placement o
                LEFT JOIN \(namedShelves) m ON m.store_id = o.store_id AND m.shelf_id = o.shelf_id
                WHERE o.store_id = p.store_id AND o.sku = p.sku AND m.shelf_id IS NULL)
        """
    /// The products on no shelf of the stores for which the file has rows without a shelf: each that the file does not list, and
    /// the number of the others.
    static let unplacedProducts: PostgresStatement = """
        SELECT r.store_id, CASE WHEN f.sku IS NULL THEN r.sku END, count(*)
        FROM product r JOIN (SELECT DISTINCT i.store_id FROM import_row i WHERE \(inFile) AND i.shelf_key IS NULL) n
            ON n.store_id = r.store_id
        LEFT JOIN (SELECT DISTINCT i.store_id, i.sku FROM import_row i WHERE \(inFile)) f
            ON f.store_id = r.store_id AND f.sku = r.sku
        WHERE NOT EXISTS (SELECT FROM placement p WHERE p.store_id = r.store_id AND p.sku = r.sku)
        GROUP BY 1, 2
        """
    /// The keys of the file's shelves and the number of their products.
    static let shelvesOfFile: PostgresStatement = """
        SELECT DISTINCT h.store_id, h.shelf_id, h.key, h.product_count
        FROM import_row i JOIN shelf h ON h.store_id = i.store_id AND h.key = i.shelf_key WHERE \(inFile)
        """

    // MARK: - Applying

    /// Restores shelves that were deleted after the file was read.
    static let restoreShelves: PostgresStatement = """
        UPDATE shelf h SET deleted_at = NULL, settled_dimension = 0, modified_at = \(SQL.nextTime(after: "h.modified_at")), version = \(SQL.nextVersion(after: "h.version"))
        WHERE h.store_id = $2 AND h.deleted_at IS NOT NULL
            AND h.key IN (SELECT i.shelf_key FROM import_row i WHERE \(ownRows))
        RETURNING h.key
        """
    private static let ownRows: SQL = "i.import_id = $1::text::uuid AND i.store_id = $2"
    /// The position's fraction, exact to 40 decimals.
    private static let rank: SQL = "i.position_numerator * 1e40 / i.position_denominator"

    /// The shelves in the file and those on which its products are placed.
    static let touchedShelves: PostgresStatement = """
        SELECT h.shelf_id FROM shelf h WHERE h.store_id = $2 AND h.deleted_at IS NULL
            AND h.key IN (SELECT i.shelf_key FROM import_row i WHERE \(ownRows))
        UNION
        SELECT p.shelf_id FROM placement p WHERE p.store_id = $2 AND p.sku IN (SELECT i.sku FROM import_row i WHERE \(ownRows))
        """

    private static let today: SQL = "(now() AT TIME ZONE 'UTC')::date"

    /// `$3`: the time of the last change of the products' shelves; `$4` to `$6`: the rule of the store's last popularity count: its
    /// metric, half-life and boost of newcomers.
    static func upsertProducts(_ columns: WrittenColumns, hasRepeats: Bool) -> PostgresStatement {
        let source: SQL =
            hasRepeats
            ? "(SELECT DISTINCT ON (i.sku) * FROM import_row i WHERE \(ownRows) ORDER BY i.sku, i.line DESC)"
            : "(SELECT * FROM import_row i WHERE \(ownRows))"
        // Rows of files without attributes have none.
        let inserted = ProductColumn.staged.filter { $0 != .attributes || columns.hasAttributes }
        let values = inserted.map { column -> SQL in
            column == .attributes ? "coalesce(i.attributes, '{}')" : "i.\(column.name)"
        }
        let (metric, halfLife, boost): (SQL, SQL, SQL) = ("$4::text", "$5::integer", "$6::double precision")
        // Citus evaluates the logarithm of a parameter even where a CASE avoids that of 0.
        let positiveBoost: SQL = "nullif(\(boost), 0)"
        var assignments = columns.written.map { "\($0) = excluded.\($0)" as SQL }
        if columns.hasPopularity {
            // An unchanged seed keeps its day, so that importing the same file changes no row.
            let isNew: SQL = "product.popularity_seed <> excluded.popularity_seed"
            assignments.append(
                """
                popularity_seed_day =
                    CASE WHEN \(isNew) THEN excluded.popularity_seed_day ELSE product.popularity_seed_day END
                """
            )
            // Sliding windows are counted by the next re-sort.
            assignments.append(
                """
                popularity_log2 = CASE WHEN \(isNew) AND \(metric) = 'decay' THEN popularity_sum(product.purchases_log2,
                    popularity_on(excluded.popularity_seed, excluded.popularity_seed_day, \(halfLife)),
                    popularity_on(\(positiveBoost), (product.created_at AT TIME ZONE 'UTC')::date, \(halfLife)))
                    ELSE product.popularity_log2 END
                """
            )
            assignments.append("popularity_seed = excluded.popularity_seed")
        }
        let score: SQL = """
            CASE WHEN i.popularity_seed = 0 AND \(boost) = 0 THEN '-Infinity'
            WHEN \(metric) = 'decay' THEN popularity_sum('-Infinity',
                popularity_on(i.popularity_seed, \(today), \(halfLife)), popularity_on(\(positiveBoost), \(today), \(halfLife)))
            WHEN i.popularity_seed + \(boost) > 0 THEN popularity_sum('-Infinity', '-Infinity',
                ln(i.popularity_seed + \(boost)) / ln(2::double precision)) ELSE '-Infinity' END
            """
        return """
            INSERT INTO product (store_id, sku, \(inserted.names), \(SortKeys.columns), popularity_seed,
                popularity_seed_day, popularity_log2, created_at, modified_at)
            SELECT i.store_id, i.sku, \(values.joined()), i.name_key, i.brand_key, i.popularity_seed,
                \(today), \(score), now(), now()
            FROM \(source) i
            ON CONFLICT (store_id, sku) DO UPDATE SET \(assignments.joined()),
                modified_at = \(SQL.nextTime(after: "product.modified_at", and: "$3", now: "excluded.modified_at"))
            WHERE \(columns.row("product")) IS DISTINCT FROM \(columns.row("excluded"))
            """
    }

    /// Queues re-created products that have earlier purchases for counting.
    static let queueRecreatedProducts: PostgresStatement = .init(
        DueProductStatements.queueing(
            """
            SELECT r.store_id, r.sku FROM product r
            WHERE r.store_id = $2 AND r.created_at = now() AND r.sku IN (SELECT i.sku FROM import_row i WHERE \(ownRows))
                AND EXISTS (SELECT FROM purchase_count d WHERE d.store_id = $2 AND d.sku = r.sku)
            """
        )
    )

    /// Copies the scores of products to their placements.
    static let copyScores: PostgresStatement = """
        UPDATE placement p SET popularity_log2 = r.popularity_log2 FROM product r
        WHERE p.store_id = $2 AND p.sku IN (SELECT i.sku FROM import_row i WHERE \(ownRows))
            AND r.store_id = $2 AND r.sku = p.sku AND r.popularity_log2 <> p.popularity_log2
        """
    static let insertPlacements: PostgresStatement = PlacementStatements.inserting(
        """
        SELECT r.store_id, h.shelf_id, r.sku, r.popularity_log2 FROM import_row i, shelf h, product r
        WHERE \(ownRows) AND h.store_id = $2 AND h.key = i.shelf_key AND r.store_id = $2 AND r.sku = i.sku
        ORDER BY h.shelf_id, i.line, i.part
        """
    )
    /// `$1` store, `$2` shelves: restores the position of products that are placed again.
    static let restorePositions: PostgresStatement = """
        UPDATE placement_position o SET removed_at = NULL FROM placement p
        WHERE o.store_id = $1 AND o.shelf_id IN (SELECT unnest($2)) AND o.is_removed
            AND \(PlacementStatements.key("p", store: "$1", shelf: "o.shelf_id", sku: "o.sku")) RETURNING o.shelf_id
        """
    /// Declares a cursor of the products without a position, in the order in which they are appended to their shelves. All of them
    /// would take too much memory.
    static let findUnpositioned: PostgresStatement = """
        DECLARE unpositioned NO SCROLL CURSOR FOR SELECT h.shelf_id, i.sku FROM import_row i JOIN shelf h ON h.store_id = $2 AND h.key = i.shelf_key
        LEFT JOIN placement_position o ON \(PlacementStatements.key("o", store: "$2", shelf: "h.shelf_id", sku: "i.sku"))
        WHERE \(ownRows) AND o.sku IS NULL
        ORDER BY h.shelf_id, \(rank) NULLS LAST, CASE WHEN i.position_numerator IS NOT NULL THEN i.sku END, i.line
        """
    static let nextUnpositioned: PostgresStatement = "FETCH 20000 FROM unpositioned"
    static let closeUnpositioned: PostgresStatement = "CLOSE unpositioned"
    /// `$1` store, `$2` shelves.
    static let lastPositions: PostgresStatement = """
        SELECT h.shelf_id, greatest(
            (SELECT o.key FROM placement_position o WHERE o.store_id = $1 AND o.shelf_id = h.shelf_id AND NOT o.is_removed
                ORDER BY o.key DESC LIMIT 1),
            (SELECT o.key FROM placement_position o WHERE o.store_id = $1 AND o.shelf_id = h.shelf_id AND o.is_removed
                ORDER BY o.key DESC LIMIT 1)) FROM shelf h WHERE h.store_id = $1 AND h.shelf_id IN (SELECT unnest($2))
        """
    /// `$1` store, `$2` shelves and `$3` skus, in pairs.
    static let removePlacements: PostgresStatement = """
        DELETE FROM placement p USING unnest($2, $3) AS gone (shelf_id, sku)
        WHERE \(PlacementStatements.key("p", store: "$1", shelf: "gone.shelf_id", sku: "gone.sku")) RETURNING p.shelf_id
        """
    static let removePositions: PostgresStatement = """
        UPDATE placement_position o SET removed_at = now() FROM unnest($2, $3) AS gone (shelf_id, sku)
        WHERE \(PlacementStatements.key("o", store: "$1", shelf: "gone.shelf_id", sku: "gone.sku"))
        """
    // Sets are passed as arrays and joined: `= ANY` would compare each row with each element.

    /// `$1` store, `$2` changed shelves, `$3` whether the manual order of each changed: updates counts, dimensions, versions.
    static let bumpShelves: PostgresStatement = """
        UPDATE shelf h SET version = \(SQL.nextVersion(after: "h.version")), modified_at = \(SQL.nextTime(after: "h.modified_at")),
            order_version = \(SQL.nextVersion(after: "h.order_version", if: "touched.is_reordered")),
            product_count = coalesce(c.products, 0), settled_dimension = coalesce(c.dimension, h.settled_dimension)
        FROM unnest($2::bigint[], $3::boolean[]) AS touched (shelf_id, is_reordered)
        CROSS JOIN LATERAL (
            SELECT sum(g.products)::integer AS products,
                (array_agg(g.unit_dimension ORDER BY g.products DESC, g.unit_dimension)
                    FILTER (WHERE g.unit_dimension IS NOT NULL))[1] AS dimension
            FROM (SELECT r.unit_dimension, count(*) AS products FROM placement p
                CROSS JOIN LATERAL (\(PlacementStatements.unitDimension)) r
                WHERE p.store_id = $1 AND p.shelf_id = touched.shelf_id GROUP BY r.unit_dimension) g) c
        WHERE h.store_id = $1 AND h.shelf_id = touched.shelf_id
        """

    /// The shelves of a store, `$1`.
    static let shelfTitles: PostgresStatement = """
        SELECT shelf_id, key, title FROM shelf WHERE store_id = $1 AND deleted_at IS NULL
        """
    /// Copies the rows of a store, `$2`, to another id, `$3`.
    static let copyRows: PostgresStatement = """
        INSERT INTO import_row (store_id, \(WrittenColumns.copied)) SELECT $3, \(WrittenColumns.copied) FROM import_row i WHERE \(ownRows)
        """
    static let deleteRowsOfStore: PostgresStatement = "DELETE FROM import_row i WHERE \(ownRows)"
    /// Creates or restores shelves of a store, `$1`; `$2` to `$6` are ids, keys, titles, positions and sort keys of titles. A restored shelf
    /// keeps its id.
    static let createShelves: PostgresStatement = """
        INSERT INTO shelf (store_id, shelf_id, key, title, position, title_key, modified_at, version)
        SELECT t.store_id, made.id, made.key, made.title, made.position, made.title_key, now(), \(SQL.microseconds)
        FROM store_state t
        CROSS JOIN unnest($2::bigint[], $3::text[], $4::text[], $5::bytea[], $6::bytea[]) AS made (id, key, title, position, title_key)
        WHERE t.store_id = $1
        ON CONFLICT (store_id, key) DO UPDATE SET deleted_at = NULL, title = excluded.title, title_key = excluded.title_key,
            parent_id = NULL, default_sort = NULL, dimension = NULL, sold_out = NULL, position_source = NULL,
            includes_descendants = false, collapses_groups = false, settled_dimension = 0, modified_at = \(SQL.nextTime(after: "shelf.modified_at", now: "excluded.modified_at")),
            version = greatest(shelf.version + 1, excluded.version) WHERE shelf.deleted_at IS NOT NULL
        """
    /// Places new shelves of a store, `$1`, under others: the keys of both, `$2` and `$3`, in pairs.
    static let setParents: PostgresStatement = """
        UPDATE shelf h SET parent_id = p.shelf_id FROM unnest($2::text[], $3::text[]) AS made (key, parent), shelf p
        WHERE h.store_id = $1 AND h.key = made.key AND h.parent_id IS NULL
            AND p.store_id = $1 AND p.key = made.parent AND p.deleted_at IS NULL AND p.shelf_id <> h.shelf_id
        """
    /// Deletes the products among `$2` that are on no shelf.
    static let deleteProducts: PostgresStatement = """
        DELETE FROM product r WHERE r.store_id = $1 AND r.sku IN (SELECT unnest($2))
            AND NOT EXISTS (SELECT FROM placement p WHERE p.store_id = $1 AND p.sku = r.sku)
        """
    /// Locks an import's row, so that it is not swept.
    static let lockRun: PostgresStatement = """
        SELECT 1 FROM import_run WHERE import_id = $1::text::uuid FOR KEY SHARE
        """
    static let stagedStores: PostgresStatement = """
        SELECT DISTINCT store_id FROM import_row WHERE import_id = $1::text::uuid
        """
    static let deleteRows: PostgresStatement = "DELETE FROM import_row WHERE import_id = $1::text::uuid"
    static let deleteRun: PostgresStatement = "DELETE FROM import_run WHERE import_id = $1::text::uuid"
    static let stores: PostgresStatement = """
        SELECT s.key, s.currency, s.store_id, s.unit_pricing, s.locale, t.deletions, \(ShelfRow.language(ofStore: "s.store_id"))
        FROM store s JOIN store_state t ON t.store_id = s.store_id WHERE s.deleted_at IS NULL
        """
    /// The shelves of all stores. The dimension is null if it may be the initial one, mass.
    static let allShelfTitles: PostgresStatement = """
        SELECT s.key, h.key, h.title, coalesce(h.dimension, nullif(h.settled_dimension, 0)), p.key
        FROM shelf h JOIN store s USING (store_id) LEFT JOIN shelf p ON p.store_id = h.store_id AND p.shelf_id = h.parent_id
        WHERE h.deleted_at IS NULL AND s.deleted_at IS NULL
        """
}
