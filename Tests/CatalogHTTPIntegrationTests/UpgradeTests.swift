import Catalog
import CatalogJSON
import CatalogPostgres
import Foundation
import HTTPTypes
import LibPQ
import NIOCore
import TestSupport
import Testing

/// A database of version 0.1.0 with data, after its migration. `Cases/record.py` recorded it, and what its server answered.
@Suite(.timeLimit(.minutes(5))) struct UpgradeTests {
    /// A response of 0.1.0.
    private struct Answer: Sendable {
        let path: String
        let user: String?
        let status: Int
        /// As JSON.
        let body: Data
        /// Whether it was recorded after another re-sort.
        let isResorted: Bool
    }

    private static func file(_ name: String, _ type: String) throws -> Data {
        try Data(contentsOf: Bundle.module.url(forResource: name, withExtension: type, subdirectory: "Cases")!)
    }

    private static func answers() throws -> [Answer] {
        let rows = try #require(try JSONSerialization.jsonObject(with: file("answers", "json")) as? [[String: Any]])
        return try rows.map {
            Answer(
                path: try #require($0["path"] as? String),
                user: $0["user"] as? String,
                status: try #require($0["status"] as? Int),
                body: try JSONSerialization.data(withJSONObject: try #require($0["body"])),
                isResorted: $0["resorted"] != nil
            )
        }
    }

    /// Fields that depend on the day or on the deployment's key.
    private static let volatile: Set<String> = ["popularity", "as_of", "next_cursor"]

    /// Titles that were changed on purpose.
    private static let renamed = ["New since", "In the range before"]

    /// Returns where a value differs from an older one. A newer version may have more fields.
    private static func differences(_ older: Any, _ newer: Any, at place: String = "") -> [String] {
        switch (older, newer) {
        case (let older as [String: Any], let newer as [String: Any]):
            return older.sorted { $0.key < $1.key }.filter { !volatile.contains($0.key) }.flatMap { key, value in
                newer[key].map { differences(value, $0, at: "\(place).\(key)") } ?? ["\(place).\(key) is missing"]
            }
        case (let older as [Any], let newer as [Any]):
            // A newer version may have more sorts and filters.
            let id = place.hasSuffix("sort_options") ? "sort" : place.hasSuffix("filter_options") ? "filter" : nil
            if let id {
                func values(_ options: [Any]) -> [String: Any] {
                    Dictionary(uniqueKeysWithValues: options.map { (($0 as? [String: Any])?[id] as? String ?? "", $0) })
                }
                return differences(values(older), values(newer), at: place)
            }
            if older.count != newer.count { return ["\(place): \(older.count) elements, now \(newer.count)"] }
            return zip(older, newer).enumerated().flatMap { differences($1.0, $1.1, at: "\(place)[\($0)]") }
        default:
            // The pages of 0.1.0 are recorded as lists of SKUs.
            let newer =
                place.contains(".products[") && older is String ? (newer as? [String: Any])?["sku"] ?? newer : newer
            if let older = older as? String, renamed.contains(older) { return [] }
            return (older as? NSObject) == (newer as? NSObject) ? [] : ["\(place): \(older), now \(newer)"]
        }
    }

    @Test("Every answer of 0.1.0 is the same after the migration, and after a re-sort")
    func answersAreTheSame() async throws {
        let database = try await TestDatabase.empty()
        let script = String(decoding: try Self.file("database", "sql"), as: UTF8.self)
        let pool = PostgresPool(database.configuration, options: .init(size: 2))
        try await pool.perform { try $0.run(script: script) }
        #expect(try await Migrator(pool).migrate().count > 0)
        #expect(try await Migrator.check(pool) == .current)
        pool.shutDown()
        try await database.checkConsistency()
        let catalog = PostgresCatalog(
            try Database(database.configuration, waitLimit: .seconds(60)),
            encodingEvents: \.json
        )
        let answers = try Self.answers()
        try await TestAPI.run(await TestAPI.api(catalog.storage, importer: TestAPI.NoImports())) { client in
            for isResorted in [false, true] {
                if isResorted { #expect(try await Resorter(catalog).run(ResortRequest()).events > 0) }
                for answer in answers where answer.isResorted == isResorted {
                    var headers = [:] as HTTPFields
                    if let user = answer.user { headers[.authorization] = "Bearer \(try await TestAPI.token(user))" }
                    let response = try await client.execute(uri: answer.path, method: .get, headers: headers)
                    #expect(Int(response.status.code) == answer.status, "\(answer.path)")
                    let older = try JSONSerialization.jsonObject(with: answer.body)
                    let newer = try JSONSerialization.jsonObject(with: Data(response.body.readableBytesView))
                    var differences = Self.differences(older, newer)
                    // A re-sort assigns versions by the clock now.
                    if isResorted { differences.removeAll { $0.hasPrefix(".version: ") } }
                    #expect(differences.isEmpty, "\(answer.path): \(differences.joined(separator: "; "))")
                }
            }
        }
        catalog.shutDown()
        try await database.drop()
    }
}
