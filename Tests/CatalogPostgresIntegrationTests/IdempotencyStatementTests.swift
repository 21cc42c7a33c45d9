import Catalog
import CatalogJSON
import LibPQ
import TestSupport
import Testing

@testable import CatalogPostgres

/// Recorded responses: whose they are, when they are replaced and swept, and what waits for whom.
@Suite(
    .disabled(if: CitusServers.prefix != nil, "rows are inserted as on one server"),
    .timeLimit(.minutes(15))
) struct IdempotencyStatementTests {
    private typealias Probe = StatementProbe

    /// An owner of responses.
    private enum Owner: Sendable, CustomStringConvertible {
        case store(Int32), user(UserID)

        var records: IdempotencyRecords {
            switch self {
            case .store(let id): IdempotencyRecords(storeID: id)
            case .user(let user): IdempotencyRecords(user: user)
            }
        }

        var description: String {
            switch self {
            case .store(let id): "store \(id)"
            case .user(let user): user.text
            }
        }
    }

    /// A table of responses, with the SQL of two owners.
    private struct Table: Sendable {
        let name: String
        let column: String
        let owner: PostgresValue
        let owners: (String, String)
        let statements: IdempotencyRecords.Statements

        static let all = [
            Table(
                name: "idempotency_record",
                column: "store_id",
                owner: .int4(1),
                owners: ("1", "2"),
                statements: .ofStores
            ),
            Table(
                name: "user_idempotency_record",
                column: "user_id",
                owner: .text("ann"),
                owners: ("'ann'", "'bob'"),
                statements: .ofUsers
            ),
        ]
    }

    private static let users = """
        INSERT INTO user_account (user_id, revision, horizon) VALUES ('ann', 0, 0), ('bob', 0, 0);
        """

    @Test("Each statement has the name of its declaration in logs and traces, for both tables")
    func names() {
        for table in Table.all {
            let statements = Mirror(reflecting: table.statements).children.compactMap { child in
                (child.value as? PostgresStatement).map { (child.label ?? "", $0) }
            }
            #expect(statements.count >= 6)
            for (label, statement) in statements {
                #expect(StatementRegistry.names.name(of: statement) == "IdempotencyRecords.\(label)", "\(table.name)")
            }
        }
    }

    private static func perform(
        _ key: String,
        _ fingerprint: UInt8,
        _ response: RecordedResponse,
        of owner: Owner,
        _ probe: Probe
    ) async throws -> RecordedResponse {
        let call = IdempotentCall<RecordedResponse>(key: key, fingerprint: [fingerprint])
        return try await probe.catalog.database.writes.transaction(within: .edit) { connection in
            try owner.records.performOnce(call, connection) { response }
        }
    }

    private static let owners: [Owner] = [
        .store(1), .store(2), .store(0), .user(UserID("ann")!), .user(UserID("bob")!),
    ]

    @Test("Each key of each owner has a response of its own, with its media type and whether it is new")
    func ownResponses() async throws {
        try await Probe.run { probe in
            try await probe.run(Self.users)
            func response(_ owner: Owner, _ key: String) -> RecordedResponse {
                let text = "\(owner) \(key)"
                return RecordedResponse(isNew: key == "new", mediaType: "text/\(key)", body: Array(text.utf8))
            }
            for key in ["new", "old"] {
                for owner in Self.owners {
                    let first = response(owner, key)
                    #expect(try await Self.perform(key, 1, first, of: owner, probe) == first, "\(owner) \(key)")
                }
            }
            let late = RecordedResponse(body: [1])
            for key in ["new", "old"] {
                for owner in Self.owners {
                    let first = response(owner, key)
                    #expect(try await Self.perform(key, 1, late, of: owner, probe) == first, "\(owner) \(key)")
                    await #expect(throws: CatalogError.keyReused, "\(owner) \(key)") {
                        try await Self.perform(key, 2, late, of: owner, probe)
                    }
                }
            }
        }
    }

    @Test(
        "A request that fails leaves its key unused, and a request in progress refuses repeats without waiting for it"
    )
    func unfinishedRequests() async throws {
        try await Probe.run { probe in
            try await probe.run(Self.users)
            let response = RecordedResponse(body: [1])
            for owner in Self.owners {
                let call = IdempotentCall<RecordedResponse>(key: "k", fingerprint: [1])
                await #expect(throws: CatalogError.notFound("x"), "\(owner)") {
                    try await probe.catalog.database.writes.transaction(within: .edit) { connection in
                        try owner.records.performOnce(call, connection) { () throws -> RecordedResponse in
                            throw CatalogError.notFound("x")
                        }
                    }
                }
                let holder = try await PostgresConnection.connect(probe.catalog.database.writes.configuration)
                try await holder.perform { connection in
                    try connection.run(script: Probe.begin)
                    let other = IdempotentCall<RecordedResponse>(key: "k", fingerprint: [2])
                    _ = try owner.records.performOnce(other, connection) { response }
                }
                let error = await #expect(throws: CatalogError.self, "\(owner)") {
                    try await Self.perform("k", 2, response, of: owner, probe)
                }
                guard case .conflict? = error else {
                    Issue.record("\(owner): \(error as Any)")
                    return
                }
                try await holder.perform { try $0.run(script: "ROLLBACK") }
                await holder.close()
                #expect(try await Self.perform("k", 3, response, of: owner, probe) == response, "\(owner)")
            }
        }
    }

    private static func lockTimeout(_ connection: isolated PostgresConnection) throws -> String {
        try connection.query("SELECT current_setting('lock_timeout')") { try $0.first { try $0.text(0) } ?? "" }
    }

    @Test("The short wait for a key ends with its claim: the request itself waits for locks as long as without a key")
    func waitOfRequests() async throws {
        try await Probe.run { probe in
            try await probe.run(Self.users)
            for owner in Self.owners {
                let call = IdempotentCall<RecordedResponse>(key: "k", fingerprint: [1])
                let timeouts = try await probe.catalog.database.writes.transaction(within: .edit) { connection in
                    let before = try Self.lockTimeout(connection)
                    let response = try owner.records.performOnce(call, connection) {
                        RecordedResponse(body: Array(try Self.lockTimeout(connection).utf8))
                    }
                    return [before, String(decoding: response.body, as: UTF8.self), try Self.lockTimeout(connection)]
                }
                #expect(Set(timeouts).count == 1 && !timeouts.contains("20ms"), "\(owner): \(timeouts)")
            }
        }
    }

    // MARK: - Statements

    /// Rows that are a day and an hour old, in a table; each has its name as the media type.
    private static func rows(_ table: Table) -> String {
        Probe.variants(
            table.name,
            named: "content_type",
            [
                table.column: table.owners.0, "key": "'k'", "fingerprint": "'\\x01'", "status": "200",
                "body": "'\\x02'",
                "created_at": "now() - interval '25 hours'",
            ],
            failing: ["other-key": ["key": "'l'"], "other-owner": [table.column: table.owners.1]]
        )
    }

    @Test("A key is completed or renewed alone, and only an expired one is renewed or recorded again")
    func singleRows() async throws {
        try await Probe.run { probe in
            try await probe.run(Self.users)
            for table in Table.all {
                try await probe.run(Self.rows(table))
                let columns =
                    "concat_ws(' ', content_type, fingerprint, status, body, created_at > now() - interval '1 hour')"
                func state() async throws -> [String] {
                    try await probe.rows("SELECT \(columns) FROM \(table.name) ORDER BY 1")
                }
                let others = [#"other-key \x01 200 \x02 f"#, #"other-owner \x01 200 \x02 f"#]
                let key: [PostgresValue] = [table.owner, .text("k")]
                #expect(try await probe.execute(table.statements.claim, key + [.bytea([9])]) == 0)
                #expect(try await state() == [#"meets-all \x01 200 \x02 f"#] + others)
                #expect(try await probe.execute(table.statements.renew, key + [.bytea([3])]) == 1)
                #expect(try await state() == [#"meets-all \x03 200 \x02 t"#] + others)
                // It is not expired any more.
                #expect(try await probe.execute(table.statements.renew, key + [.bytea([4])]) == 0)
                let response: [PostgresValue] = [.int2(201), .text("completed"), .bytea([5])]
                #expect(try await probe.execute(table.statements.recordFirst, key + [.bytea([4])] + response) == 0)
                #expect(try await state() == [#"meets-all \x03 200 \x02 t"#] + others)
                #expect(try await probe.execute(table.statements.complete, key + response) == 1)
                #expect(try await state() == [#"completed \x03 201 \x05 t"#] + others)
                try await probe.run("UPDATE \(table.name) SET created_at = now() - interval '25 hours'")
                let again: [PostgresValue] = [.bytea([6]), .int2(200), .text("recorded"), .bytea([7])]
                #expect(try await probe.execute(table.statements.recordFirst, key + again) == 1)
                #expect(try await state() == others + [#"recorded \x06 200 \x07 t"#])
                let new: [PostgresValue] = [table.owner, .text("n"), .bytea([8])]
                #expect(try await probe.execute(table.statements.claim, new) == 1)
                #expect(try await state().first == #" \x08 0 \x t"#)
            }
        }
    }

    @Test("A sweep deletes the thousand oldest of the expired responses, of all owners, and no other response")
    func sweep() async throws {
        try await Probe.run { probe in
            try await probe.run(Self.users)
            for table in Table.all {
                // The oldest are inserted last, and one is not expired.
                let script = """
                    INSERT INTO \(table.name) (\(table.column), key, fingerprint, status, content_type, body, created_at)
                    SELECT CASE WHEN n % 2 = 0 THEN \(table.owners.0) ELSE \(table.owners.1) END, 'k' || n, '', 200, '', '',
                        now() - interval '24 hours' - n * interval '1 minute' FROM generate_series(-1, 1003) n WHERE n <> 0
                    """
                try await probe.run(script)
                let swept = try await probe.catalog.database.writes.perform { connection in
                    // Without an index, only an order of the statement decides.
                    try connection.run(
                        script: """
                            BEGIN; SET LOCAL enable_seqscan = on; SET LOCAL enable_indexscan = off; SET LOCAL enable_bitmapscan = off;
                            SET LOCAL enable_indexonlyscan = off
                            """
                    )
                    let swept = try connection.execute(table.statements.sweep)
                    try connection.run(script: "COMMIT")
                    return swept
                }
                #expect(swept == 1000, "\(table.name)")
                #expect(
                    try await probe.rows("SELECT key FROM \(table.name) ORDER BY key") == ["k-1", "k1", "k2", "k3"]
                )
                #expect(try await probe.execute(table.statements.sweep) == 3, "\(table.name)")
                #expect(try await probe.execute(table.statements.sweep) == 0, "\(table.name)")
            }
        }
    }
}
