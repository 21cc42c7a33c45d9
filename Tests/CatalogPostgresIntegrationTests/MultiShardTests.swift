import Foundation
import LibPQ
import Testing

@testable import CatalogPostgres

/// The statements that a Citus cluster has executed on several shards, according to its log.
///
/// `AISLE_TEST_CITUS_LOG` names the log that earlier tests have left. On Citus, a statement on several shards costs a connection and a
/// task for each, so only those of `reasons` may do so.
@Suite struct MultiShardTests {
    private static let log: String? = ProcessInfo.processInfo.environment["AISLE_TEST_CITUS_LOG"].flatMap {
        $0.isEmpty ? nil : $0
    }

    /// The statements of `StatementRegistry` that go to several shards, and why. None is a part of a page, a move, a setting, a list, a
    /// purchase or a price. `docs/operations/scaling.md` lists them, too.
    static let reasons: [String: String] = [
        // Requests about everything.
        "ShelfLookup.allStores": "the list of all stores",
        "PostgresUserStore.orderChanges": "export of a user, who may have changed orders of any store",
        "UserStatements.clearSubject": "erasure of a user, who may have changed orders of any store",
        "UserStatements.deleteTokens": "erasure of a user; tokens are on the shards of their digests",
        "PurchaseStatements.ofCustomer": "export of a customer, who may have bought in any store",
        // Once a second for all clients of a server.
        "PostgresSettingsStore.revisions": "one query for all users with open streams",
        "PostgresVersionStore.shelfVersions": "one query for all shelves with open streams",
        "PostgresVersionStore.shelfVersionsOfStores": "one query for all shelves of a worker with open streams",
        // Changes of an attribute of the deployment.
        "PostgresAttributeStore.ofStores": "comparison with the attributes of each store, and an import into any store",
        "PostgresAttributeStore.declaringStores": "the stores that declare an attribute, before it is deleted",
        "PostgresAttributeStore.rememberedValues": "the settings of all users, before an attribute is deleted",
        "PostgresAttributeStore.shelfSorts": "the shelves of all stores, before an attribute is deleted",
        "PostgresAttributeStore.deleteTitles": "the titles that stores give to the attribute",
        // Folds and anonymization, in the background.
        "PurchaseStatements.storesWithStrays": "fold of all stores",
        "PurchaseStatements.hasOpenEvents": "fold of all stores",
        "PurchaseStatements.sealedCount": "fold of all stores",
        "PurchaseStatements.eventCounts": "fold of all stores",
        "PurchaseStatements.deleteRows": "fold of all stores",
        "DueProductStatements.storesToMerge": "fold of all stores",
        "PurchaseStatements.requestedErasures": "anonymization in all stores",
        "PurchaseStatements.anonymizeCustomers": "anonymization in all stores",
        "PurchaseStatements.anonymizeStrays": "anonymization in all stores",
        "PurchaseStatements.endErasures": "anonymization in all stores",
        "ManualOrderStatements.shelvesWithLongKeys": "compaction of all stores",
        // The doctor.
        "DoctorStatements.shelvesInUse": "the memory for the shelves of all stores",
        "DoctorStatements.oldestChange": "the changes of the shelves of all stores",
        // When a server starts.
        "ShelfImageStatements.lastUsed": "one query for the shelves of all stores that were used last",
        // Every ten minutes.
        "ShelfChangeStatements.trim": "sweep",
        "ShelfImageStatements.deleteUnused": "sweep",
        // Sweeps, once a minute.
        "IdempotencyRecords.sweep": "sweep",
        "PostgresUserStore.usersWithOldTombstones": "sweep",
        "PostgresUserStore.sweepTickets": "sweep",
        "UserStatements.sweepTokens": "sweep",
        "ListStatements.expiredLists": "sweep",
        "ListStatements.expiredEvents": "sweep",
        "ListStatements.sweepItems": "sweep",
        "ListStatements.expiredPlaces": "sweep",
        "ListStatements.sweepMembers": "sweep",
        "ListStatements.sweepShares": "sweep",
        // Guests' lists, when they register.
        "ListStatements.transferOwnership": "a list moves from one user's shard to another's",
        // Imports, which may concern any number of stores.
        "ImportStatements.allShelfTitles": "import into any store",
        "ImportStatements.stagedRuns": "import into any store",
        "ImportStatements.sweepRows": "import into any store",
        "ImportStatements.findRepeats": "import into any store",
        "ImportStatements.applyLastRows": "import into any store",
        "ImportStatements.mergeAttributes": "import into any store",
        "ImportStatements.mergeAttributesOfPartialRows": "import into any store",
        "ImportStatements.keepAttributes": "import into any store",
        "ImportStatements.keepStock": "import into any store",
        "ImportStatements.dropUnreadableStock": "import into any store",
        "ImportStatements.dropLongAttributes": "import into any store",
        "ImportStatements.dropRepeated": "import into any store",
        "ImportStatements.stores": "import into any store",
        "ImportStatements.countRows": "import into any store",
        "ImportStatements.countChanged": "import into any store",
        "ImportStatements.stalePlacements": "import into any store",
        "ImportStatements.staleProducts": "import into any store",
        "ImportStatements.unplacedProducts": "import into any store",
        "ImportStatements.shelvesOfFile": "import into any store",
        "ImportStatements.stagedStores": "import into any store",
        "ImportStatements.deleteRows": "import into any store",
        "ImportStatements.copyRows": "a store was created meanwhile: its rows move to another shard",
        "GeneratorStatements.anyPlacement": "check that a catalog is empty",
        // Commands, and partitions of the audit log.
        "AuditStatements.createPartitions": "tables of all shards",
        "AuditStatements.dropPartitions": "tables of all shards",
        "PurchaseStatements.foldShelvesOfStore": "dry run of a re-sort",
        "DatabaseEpoch.forgetAll": "a command after a restore",
    ]

    /// The beginnings of statements that are generated, and of those of the tests themselves.
    private static let others = [
        // `ImportStatements.dropUnchanged` for the columns of a file.
        "DELETE FROM import_row i USING product r WHERE i.import_id = $1::text::uuid AND r.store_id = i.store_id",
        "DELETE FROM import_row i USING product r, placement p WHERE i.import_id = $1::text::uuid AND r.store_id = i.store_id",
        // `ImportStatements.countConflicts` and `conflicts`.
        "SELECT count(*) FROM import_row i JOIN (SELECT DISTINCT ON",
        "SELECT l.store_id, l.sku, l.name, i.line, l.line",
        // The migrations and the distribution.
        "DO $$", "-- ", "SELECT audit_", "TRUNCATE", "ANALYZE",
        // Tests and oracles set values directly.
        "UPDATE placement SET popularity_log2 = $2",
        "UPDATE placement_position SET key = $1 WHERE sku = $2",
        "UPDATE product SET popularity_log2 = $2", "UPDATE user_setting SET value = '\"rating,price\"'",
    ]

    @Test(
        "Only the listed statements were executed on several shards",
        .enabled(if: log != nil, "needs the log of tests on Citus: make test-citus")
    )
    func executedOnSeveralShards() throws {
        let registered = StatementRegistry.statements + IdempotencyRecords.Statements.registered
        let names = Dictionary(
            registered.flatMap { name, statements in statements.map { (Self.normalized($0.sql), name) } },
            uniquingKeysWith: { first, _ in first }
        )
        let log = try String(contentsOfFile: try #require(Self.log), encoding: .utf8)
        let executed = Set(Self.statements(log))
        #expect(executed.count > 10, "the log has few statements; is citus.multi_task_query_log_level set?")
        var unexplained: Set<String> = []
        for text in executed {
            if let name = names[text] {
                if Self.reasons[name] == nil { unexplained.insert(name) }
            } else if !Self.others.contains(where: text.hasPrefix), !Self.isOfTests(text) {
                unexplained.insert(text)
            }
        }
        #expect(unexplained.sorted() == [])
        #expect(Set(Self.reasons.keys).subtracting(registered.map(\.name)).sorted() == [], "these do not exist")
    }

    /// Whether a statement is one of the tests' own, which no file of the program contains.
    private static func isOfTests(_ text: String) -> Bool {
        // Statements of the program have parameters, or are in the registry.
        !text.contains("$1")
    }

    /// Returns the texts of the statements on several shards in a log.
    private static func statements(_ log: String) -> [String] {
        var found: [String] = []
        var text: String?
        var isWanted = false
        for line in log.split(separator: "\n", omittingEmptySubsequences: false) {
            // A line that begins with a tab continues the last one.
            if line.hasPrefix("\t") {
                text?.append(" \(line)")
                continue
            }
            if let ended = text { found.append(normalized(ended)) }
            text = nil
            if line.contains("LOG:  multi-task query about to be executed") {
                isWanted = true
            } else if isWanted, let range = line.range(of: "STATEMENT:  ") {
                (text, isWanted) = (String(line[range.upperBound...]), false)
            }
        }
        if let text { found.append(normalized(text)) }
        return found
    }

    private static func normalized(_ text: String) -> String {
        text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
    }
}
