import Catalog
import Foundation
import LibPQ
import TestSupport
import Testing

@testable import CatalogPostgres

/// Every statement matches the schema: the server can prepare it.
@Suite(.timeLimit(.minutes(5))) struct StatementTests {
    /// The parameter types that cannot be inferred from the text: those that `PostgresValue` sends.
    static let types: [String: String] = [
        "ImportStatements.bumpShelves": "integer, bigint[], boolean[]",
        "ImportStatements.lastPositions": "integer, bigint[]",
        "ImportStatements.deleteProducts": "integer, text[]",
        "ImportStatements.removePlacements": "integer, bigint[], text[]",
        "ImportStatements.removePositions": "integer, bigint[], text[]",
        "ImportStatements.restorePositions": "integer, bigint[]",
        "ListStatements.movePlaces": "text, text[], bytea[]",
        "ListStatements.ranks": "text[]",
        "MigrationStatements.firstChanged": "text[]",
        "ManualOrderStatements.atPosition": "integer, integer, text[], bigint",
        "ManualOrderStatements.rememberFirstChange":
            "integer, integer, smallint, bigint, text, text, bigint, text, text",
        "ManualOrderStatements.indexes": "integer, integer, text[]",
        "ManualOrderStatements.left": "integer, integer, text[], text",
        "ManualOrderStatements.right": "integer, integer, text[], text",
        "ManualOrderStatements.setKeys": "integer, integer, text[], bytea[]",
        "PopularityStatements.windowAll": "integer, integer, date, boolean",
        "PopularityStatements.windowSome": "integer, integer, date, boolean, text[]",
        "PopularityStatements.windowShelves": "integer, integer, date, boolean, bigint[]",
        "PostgresVersionStore.shelfVersions": "text[], text[]",
        "ResortStatements.targets": "integer, text[], boolean, timestamptz, bigint[], text[]",
        "ShelfStatements.setPositions": "integer, text[], bytea[]",
        "UserStatements.reserveRevisions": "text, bigint, bigint",
    ]

    /// COPY and SET statements, which PREPARE does not accept, and statements about tables of Citus.
    static let unprepared: Set<String> = [
        "DistributionStatements.isDistributed", "DistributionStatements.tableCount",
        "DistributionStatements.isCoordinator", "DistributionStatements.hasWorkers",
        "DistributionStatements.nodes", "DistributionStatements.brokenConnections",
        "DistributionStatements.localTables", "DistributionStatements.unreachableNodes",
        "DistributionStatements.withFewPreparedTransactions", "DistributionStatements.withoutLogicalDecoding",
        "DistributionStatements.withOldTransactions",
        "WorkerStatements.shards", "WorkerStatements.tables", "WorkerStatements.present", "DatabaseEpoch.readWorker",
        "ImportStatements.stage", "ImportStatements.findUnpositioned", "ImportStatements.nextUnpositioned",
        "ImportStatements.closeUnpositioned", "GeneratorStatements.copyShelves", "PlacementStatements.copyPositions",
        "PopularityStatements.allowLongLockWait", "PurchaseStatements.truncate",
        "PurchaseStatements.waitForWriters",
    ]

    private static let recordStatements: [(name: String, statements: [PostgresStatement])] = [
        ("ofStores", IdempotencyRecords.Statements.ofStores), ("ofUsers", IdempotencyRecords.Statements.ofUsers),
    ].map { name, owner in
        (
            "IdempotencyRecords.Statements.\(name)",
            [owner.claim, owner.complete, owner.find, owner.recordFirst, owner.renew, owner.sweep]
        )
    }

    @Test("The server prepares every fixed statement")
    func preparesFixedStatements() async throws {
        let failures = try await Self.failures(StatementRegistry.statements + Self.recordStatements)
        #expect(failures.isEmpty, "\(failures.joined(separator: "\n"))")
    }

    @Test("The server prepares the import statements for every set of columns")
    func preparesImportStatements() async throws {
        var statements: [(name: String, statements: [PostgresStatement])] = []
        for columns in [[], Set(ImportColumn.allCases)] + ImportColumn.allCases.map({ [$0] }) {
            for flag in [true, false] {
                let written = WrittenColumns(columns, readsSizeFromName: flag)
                statements.append(
                    (
                        "an import of \(columns.map(\.columnName))",
                        [
                            ImportStatements.upsertProducts(written, hasRepeats: flag),
                            ImportStatements.countConflicts(written), ImportStatements.conflicts(written),
                        ] + ImportStatements.dropUnchanged(written) + ImportStatements.dropUnchangedAgain(written)
                    )
                )
            }
        }
        let failures = try await Self.failures(statements)
        #expect(failures.isEmpty, "\(failures.joined(separator: "\n"))")
    }

    @Test("Staged rows are compared by joins, which large catalogs need")
    func comparesByJoins() async throws {
        let columns = WrittenColumns(Set(ImportColumn.allCases), readsSizeFromName: false)
        let database = try await TestDatabase.migrated()
        let connection = try await PostgresConnection.connect(database.configuration)
        let plans = try await connection.perform { connection in
            try (ImportStatements.dropUnchanged(columns) + ImportStatements.dropUnchangedAgain(columns)).map {
                try Self.plan(of: $0, connection).joined(separator: "\n")
            }
        }
        await connection.close()
        try await database.drop()
        #expect(plans.count == 4)
        for plan in plans {
            #expect(plan.contains("import_row") && plan.contains("product"), "\(plan)")
            // A sub-plan for each row finds one shelf. A hashed sub-plan would be searched for each row if it exceeds `work_mem`.
            let lines = plan.split(separator: "\n")
            let subPlans = zip(lines, lines.dropFirst()).filter { $0.0.drop { $0 == " " }.hasPrefix("SubPlan") }
            #expect(subPlans.allSatisfy { $0.1.contains("Index Scan using shelf_") }, "\(plan)")
            #expect(!plan.contains("hashed"), "\(plan)")
        }
    }

    @Test("The table of products has exactly the columns of products")
    func productHasTheColumnsOfProducts() async throws {
        // The keys, the counts that popularity starts from, and the sort keys.
        let others: Set = [
            "store_id", "sku", "popularity_seed", "popularity_seed_day", "purchases_log2", "name_key", "brand_key",
        ]
        let database = try await TestDatabase.migrated()
        let connection = try await PostgresConnection.connect(database.configuration)
        let found = try await connection.perform {
            try $0.query(
                "SELECT column_name::text FROM information_schema.columns WHERE table_name = 'product'"
            ) { try $0.map { try $0.text(0) } }
        }
        await connection.close()
        try await database.drop()
        #expect(Set(found).subtracting(others) == Set(ProductColumn.allCases.map(\.name.text)))
    }

    @Test("Every column of an import file feeds a product, or is read by the importer itself")
    func everyImportColumnIsUsed() {
        // The address of a placement, what belongs to other columns, and the seed of the popularity.
        let others: Set<ImportColumn> = [
            .store, .shelf, .sku, .promoPrice, .promoFrom, .promoTo, .currency, .unit, .packCount, .drained,
            .popularity, .position, .regularPrice, .deposit, .unitPrice,
        ]
        let feeding = Set(ProductColumn.allCases.compactMap(\.imported))
        #expect(feeding.union(others) == Set(ImportColumn.allCases))
    }

    @Test("Every column is read, unless it is derived from others")
    func everyColumnIsRead() {
        #expect(ProductColumn.read == ProductColumn.allCases.filter { !$0.isDerived })
    }

    /// Removes columns that are kept for servers of 0.1; no statement may use them.
    private static let dropOldColumns = """
        ALTER TABLE store DROP COLUMN version, DROP COLUMN shelf_order_version, DROP COLUMN counted_metric,
            DROP COLUMN counted_half_life_days, DROP COLUMN counted_newcomer_boost, DROP COLUMN counted_on,
            DROP COLUMN customers_kept_from
        """

    /// Prepares statements in a separate database; returns the errors of those that the server rejected.
    private static func failures(
        _ groups: [(name: String, statements: [PostgresStatement])],
        _ types: [String: String] = types
    ) async throws -> [String] {
        let database = try await TestDatabase.migrated()
        let connection = try await PostgresConnection.connect(database.configuration)
        let failures = try await connection.perform { connection in
            try connection.run(script: dropOldColumns)
            var failures: [String] = []
            for (name, statements) in groups where !unprepared.contains(name) {
                for statement in statements {
                    let types = types[name].map { "(\($0)) " } ?? ""
                    do {
                        try connection.run(script: "PREPARE checked \(types)AS \(statement.sql)")
                        try connection.run(script: "DEALLOCATE checked")
                    } catch {
                        failures.append("\(name): \(error)\n\(statement.sql)")
                    }
                }
            }
            return failures
        }
        await connection.close()
        try await database.drop()
        return failures
    }

    // MARK: - Citus

    /// Fixed statements for tables that are not distributed. With Citus, others take their place.
    private static let notForCitus: Set<String> = [
        "SettingsCombiner.setMany",
        "PurchaseStatements.fold", "PurchaseStatements.foldShelves",
    ]

    /// Fixed statements that work on Citus, although it does not explain them: their rows go through the coordinator.
    private static let unexplainedByCitus: Set<String> = [
        "ListStatements.transferOwnership", "ImportStatements.copyRows",
    ]

    /// The statements whose rows go to the coordinator and from there to the shards, and the reasons. Such a statement locks the metadata
    /// of all shards of a table, so it waits while a shard moves.
    private static let detours: [String: String] = ["StoreLifecycle.insertState": "state of a new store"]

    @Test(
        "Citus plans every fixed statement",
        .enabled(if: CitusServers.prefix != nil, "needs a build of Citus: make test-citus")
    )
    func citusPlansEveryStatement() async throws {
        let database = try await TestDatabase.migrated()
        let connection = try await PostgresConnection.connect(database.configuration)
        let (refused, detours) = try await connection.perform(within: .seconds(120)) { connection in
            try Self.explained(StatementRegistry.statements + Self.recordStatements, connection)
        }
        await connection.close()
        try await database.drop()
        let news = refused.filter {
            !Self.unexplainedByCitus.contains($0.key) && !Self.notForCitus.contains($0.key)
        }
        #expect(news.isEmpty, "\(news.map { "\($0.key): \($0.value)" }.sorted().joined(separator: "\n"))")
        let explained = Self.unexplainedByCitus.union(Self.notForCitus).subtracting(refused.keys)
        #expect(explained.sorted() == [], "Citus plans these: remove them from the lists")
        #expect(detours.subtracting(Self.detours.keys).sorted() == [])
        #expect(Set(Self.detours.keys).subtracting(detours).sorted() == [], "these do not take the detour")
    }

    /// Plans statements with a value for each parameter, and returns the errors of the server. Also returns the names of the statements
    /// whose rows take a detour through the coordinator.
    private static func explained(
        _ groups: [(name: String, statements: [PostgresStatement])],
        _ connection: isolated PostgresConnection
    ) throws -> (refused: [String: String], detours: Set<String>) {
        var refused: [String: String] = [:]
        var detours: Set<String> = []
        for (name, statements) in groups where !unprepared.contains(name) {
            for statement in statements {
                let types = types[name].map { "(\($0)) " } ?? ""
                do {
                    let plan = try plan(of: statement, types: types, connection)
                    if plan.contains(where: { $0.contains("pull to coordinator") || $0.contains("repartition") }) {
                        detours.insert(name)
                    }
                } catch let error as PostgresError { refused[name] = error.message }
            }
        }
        return (refused, detours)
    }

    /// Returns the lines of the plan of a statement with a value for each parameter.
    private static func plan(
        of statement: PostgresStatement,
        types: String = "",
        _ connection: isolated PostgresConnection
    ) throws -> [String] {
        defer { try? connection.run(script: "DEALLOCATE checked") }
        try connection.run(script: "PREPARE checked \(types)AS \(statement.sql)")
        let parameters = try connection.query(
            """
            SELECT t::text FROM pg_prepared_statements, unnest(parameter_types) WITH ORDINALITY AS p (t, place)
            WHERE name = 'checked' ORDER BY place
            """
        ) { try $0.map { try $0.text(0) } }
        let values = parameters.map(literal).joined(separator: ", ")
        let arguments = values.isEmpty ? "" : "(\(values))"
        return try connection.query(PostgresStatement(SQL(unchecked: "EXPLAIN EXECUTE checked\(arguments)"))) {
            try $0.map { try $0.text(0) }
        }
    }

    /// Returns a value of a type; text values are also valid ids.
    private static func literal(_ type: String) -> String {
        let id = "00000000-0000-4000-8000-000000000000"
        return switch type {
        case "text", "character varying", "uuid": "'\(id)'"
        case "boolean": "true"
        case "bytea": "'\\x80'"
        case "json", "jsonb": "'{}'"
        case "date", "timestamp with time zone": "now()"
        case let list where list.hasSuffix("[]"): "ARRAY[\(literal(String(list.dropLast(2))))]::\(list)"
        default: "1"
        }
    }

    // MARK: - Completeness

    private static let sources: [(name: String, text: String)] = {
        let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appending(path: "Sources/CatalogPostgres")
        let files = FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil)
        return (files?.allObjects ?? []).compactMap { $0 as? URL }.filter { $0.pathExtension == "swift" }.map {
            ($0.lastPathComponent, (try? String(contentsOf: $0, encoding: .utf8)) ?? "")
        }
    }()

    @Test("Every fixed statement is a named declaration")
    func fixedStatementsHaveNames() throws {
        let pattern =
            #/(?:execute|query|executeDeferred|copyIn)\(\s*"(?:""\s*)?(?:SELECT|INSERT|UPDATE|DELETE|WITH|COPY)\b([^"]*)/#
        #expect(Self.sources.count > 50)
        for (name, text) in Self.sources {
            for match in text.matches(of: pattern) where !match.1.contains("\\(") {
                Issue.record("\(name): give this statement a name: \(match.0)")
            }
        }
    }
}
