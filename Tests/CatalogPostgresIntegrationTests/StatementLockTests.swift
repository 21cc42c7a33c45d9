import LibPQ
import TestSupport
import Testing

@testable import CatalogPostgres

/// Which rows statements lock, how, and in which order.
@Suite(
    .disabled(if: CitusServers.prefix != nil, "the scripts lock the rows of one server"),
    .timeLimit(.minutes(15))
) struct StatementLockTests {
    private typealias Probe = StatementProbe
    private static let id = "11111111-1111-4111-8111-111111111111"

    /// A statement that locks rows.
    private struct Locking: Sendable {
        let name: String
        let statement: PostgresStatement
        let parameters: [PostgresValue]
        let table: String
        let column: String
        let mode: Probe.LockMode
        /// The locked rows, in the order in which they are locked.
        let rows: [String]
    }

    private static let stagedRows = ["c", "a", "b"].enumerated().map { index, sku -> [String: String] in
        ["import_id": "'\(id)'", "line": "\(index)", "store_id": "1", "sku": "'\(sku)'", "name": "'N'"]
    }

    /// The rows of each table are inserted in an order that differs from that of the locks.
    private static let script = """
        \(Probe.products(["d", "c", "b", "a", "e"]))
        \(Probe.products(["b"], in: 2))
        \(Probe.inserting("import_row", stagedRows))
        \(Probe.shelves(["w", "x", "y", "z"]))
        UPDATE shelf SET title = 'B' WHERE shelf_id = 2; UPDATE shelf SET title = 'A' WHERE shelf_id = 1;
        UPDATE shelf SET deleted_at = now() WHERE shelf_id = 4;
        DELETE FROM purchase_cell;
        INSERT INTO purchase_cell (cell, state) VALUES (7, 'sealed'), (1, 'open'), (0, 'open'), (5, 'folded'), (3, 'sealed'),
            (6, 'empty'), (4, 'folded'), (2, 'sealed');
        INSERT INTO import_run (import_id, started_at) VALUES ('\(id)', now()), ('22222222-2222-4222-8222-222222222222', now());
        """

    private static let lockings: [Locking] = [
        Locking(
            name: "ImportStatements.lockProducts",
            statement: ImportStatements.lockProducts,
            parameters: [.text(id), .int4(1)],
            table: "product WHERE store_id = 1",
            column: "sku",
            mode: .noKeyUpdate,
            rows: ["a", "b", "c"]
        ),
        Locking(
            name: "ImportStatements.lockRun",
            statement: ImportStatements.lockRun,
            parameters: [.text(id)],
            table: "import_run WHERE true",
            column: "import_id",
            mode: .keyShare,
            rows: [id]
        ),
        Locking(
            name: "ResortStatements.lock",
            statement: ResortStatements.lock,
            parameters: [.int4(1), .int8Array([4, 3, 2, 1])],
            table: "shelf WHERE store_id = 1",
            column: "shelf_id",
            mode: .noKeyUpdate,
            rows: ["1", "2", "3"]
        ),
        Locking(
            name: "PopularityStatements.lockSome",
            statement: PopularityStatements.lockSome,
            parameters: [.int4(1), .textArray(["c", "a", "none", "b"])],
            table: "product WHERE store_id = 1",
            column: "sku",
            mode: .noKeyUpdate,
            rows: ["a", "b", "c"]
        ),
        Locking(
            name: "PopularityStatements.lockProducts",
            statement: PopularityStatements.lockProducts,
            parameters: [.int4(1), .text("a"), .int8(3)],
            table: "product WHERE store_id = 1",
            column: "sku",
            mode: .noKeyUpdate,
            rows: ["b", "c", "d"]
        ),
        Locking(
            name: "PurchaseStatements.lockCells",
            statement: PurchaseStatements.lockCells,
            parameters: [],
            table: "purchase_cell WHERE true",
            column: "cell",
            mode: .update,
            rows: ["2", "3", "4", "5", "6", "7", "0", "1"]
        ),
        Locking(
            name: "PurchaseStatements.holdCells",
            statement: PurchaseStatements.holdCells,
            parameters: [],
            table: "purchase_cell WHERE true",
            column: "cell",
            mode: .share,
            rows: ["2", "3", "4", "5", "6", "7", "0", "1"]
        ),
        Locking(
            name: "PurchaseStatements.foldedCells",
            statement: PurchaseStatements.foldedCells,
            parameters: [],
            table: "purchase_cell WHERE true",
            column: "cell",
            mode: .update,
            rows: ["4", "5"]
        ),
    ]

    @Test("Statements lock exactly their rows, in the mode that their comments state")
    func modes() async throws {
        try await Probe.run { probe in
            try await probe.run(Self.script)
            for locking in Self.lockings {
                let locks = try await probe.locks(
                    of: locking.statement,
                    locking.parameters,
                    in: locking.table,
                    named: locking.column
                )
                let expected = locking.rows.map { ($0, locking.mode) }
                #expect(locks == Dictionary(uniqueKeysWithValues: expected), "\(locking.name)")
            }
            // A re-sort does not lock the store of its shelves.
            let store = try await probe.locks(
                of: ResortStatements.lock,
                [.int4(1), .int8Array([1])],
                in: "store_state",
                named: "store_id"
            )
            #expect(store == [:])
        }
    }

    @Test("Statements lock their rows in a fixed order, so that two of them do not wait for each other")
    func order() async throws {
        try await Probe.run { probe in
            try await probe.run(Self.script)
            for locking in Self.lockings where locking.rows.count > 1 {
                // The second row separates the first one from the others.
                let free = try await probe.unlocked(
                    by: locking.statement,
                    locking.parameters,
                    in: locking.table,
                    named: locking.column,
                    waitingFor: locking.rows[1]
                )
                let locked = Set(locking.rows).subtracting(free)
                #expect(locked == Set(locking.rows.prefix(2)), "\(locking.name)")
            }
        }
    }

    @Test("Folds claim the first sealed cells that no other fold has claimed, and never wait for one")
    func claims() async throws {
        try await Probe.run { probe in
            try await probe.run(Self.script)
            let locks = try await probe.locks(
                of: PurchaseStatements.claimCells,
                [.int8(2)],
                in: "purchase_cell",
                named: "cell"
            )
            #expect(locks == ["2": .update, "3": .update])
            let claims = try await probe.catalog.database.writes.withConnection { holder in
                try await holder.perform {
                    try $0.run(script: "\(Probe.begin); SELECT FROM purchase_cell WHERE cell = 2 FOR UPDATE")
                }
                var claims: [[Int16]] = []
                for limit in [1, 2, 9] as [Int64] {
                    claims.append(
                        try await probe.catalog.database.writes.perform {
                            try $0.query(PurchaseStatements.claimCells, [.int8(limit)]) {
                                try $0.map { try $0.int2(0) }
                            }
                        }
                    )
                }
                try await holder.perform { try $0.run(script: "ROLLBACK") }
                return claims
            }
            #expect(claims == [[3], [3, 7], [3, 7]])
        }
    }
}
