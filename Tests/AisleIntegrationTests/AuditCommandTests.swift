import JSON
import Catalog
import CatalogJSON
import Foundation
import LibPQ
import Testing
import TestSupport

/// The audit log of commands and of servers, by real processes.
@Suite(.timeLimit(.minutes(15))) struct AuditCommandTests {
    private func run(_ arguments: [String], input: String = "", _ environment: [String: String]) async throws
        -> (code: Int32, output: String, errors: String)
    {
        let process = try TestProcess(arguments, environment: environment)
        process.send(input)
        return (await process.wait(), process.standardOutput, process.standardError)
    }

    @Test("Commands are recorded with the operating-system user and the host, and shown in every format")
    func commandsAreRecorded() async throws {
        let database = try await TestDatabase.migrated()
        let url = ["DATABASE_URL": database.configuration.dsn]
        #expect(try await run(["store", "create", "shop", "--currency", "EUR"], url).code == 0)
        let file = "shelf,sku,name,price\nDairy,m1,\"Milk, fresh\",1.19\n"
        #expect(
            try await run(["import", "-", "--format", "csv", "--create-store", "--store", "shop"], input: file, url)
                .code == 0
        )
        #expect(try await run(["pref", "set", "--user", "ann", "theme", "dark"], url).code == 0)
        let lines = try await run(["audit", "shop", "--format", "ndjson"], url).output.split(separator: "\n")
        let entries = try lines.map { try JSONReader.parse(Array($0.utf8)) }
        #expect(entries.map { $0["action"] } == [.string("import.apply"), .string("store.create")])
        for entry in entries {
            #expect(entry["source"] == .string("cli"))
            #expect(entry["actor"] == .string(ProcessInfo.processInfo.userName))
            #expect(entry["address"]?.string?.isEmpty == false)
            #expect(entry["token"] == .null)
        }
        let json = try JSONReader.parse(Array(try await run(["audit", "--format", "json"], url).output.utf8))
        #expect(json.elements == entries)
        let csv = try await run(["audit", "shop", "--action", "store.create", "--format", "csv"], url).output
        #expect(csv.hasPrefix("at,action,subject,actor,source,address,token,request_id,detail\n"))
        #expect(csv.split(separator: "\n").count == 2)
        #expect(csv.contains(#""{""new"":"#))
        #expect(try await run(["audit", "shop", "--limit", "1"], url).output.split(separator: "\n").count == 2)
        #expect(try await run(["audit", "shop", "--until", "1h"], url).output.split(separator: "\n").count == 1)
        #expect(try await run(["audit", "shop", "--since", "1h"], url).output.split(separator: "\n").count == 3)
        let own = try await run(["audit", "--user", "ann"], url).output
        #expect(own.contains("settings.change\ttheme\t") && !own.contains("dark"))
        for arguments in [
            ["shop", "--user", "ann"], ["shop", "--limit", "0"], ["shop", "--since", "yesterday"],
            ["shop", "--action", "settings.change"], ["--user", "ann", "--action", "prices.set"],
            ["shop", "--action", "x"],
        ] {
            #expect(try await run(["audit"] + arguments, url).code == 64, "\(arguments)")
        }
        #expect(try await run(["audit", "none"], url).code == 66)
        try await database.drop()
    }

    @Test("A retention that is too short is rejected")
    func retentionIsChecked() async throws {
        for (value, code) in [("0", 0), ("31", 0), ("400", 0), ("30", 78), ("-1", 78), ("x", 78)] as [(String, Int32)] {
            let result = try await run(["config", "show"], ["AISLE_AUDIT_DAYS": value])
            #expect(result.code == code, "\(value)")
            if code == 0 { #expect(result.output.contains("audit.days\t\(value)\n"), "\(result.output)") }
        }
    }

    @Test("Entries of two servers have the token and the request of their clients")
    func serversRecordTheirClients() async throws {
        try await TestServers.run { servers in
            let token = try await TestServers.token("mia", [.catalogWrite])
            for server in 0..<2 {
                let url = servers.url(server, "/stores/corner/products/audit-\(server)")
                #expect(try await TestServers.send(.PUT, url, #"{"name":"P"}"#, as: token).status == 201)
            }
            let reader = try await TestServers.token("auditor", [.auditRead])
            let log = try await TestServers.send(.GET, servers.url(0, "/stores/corner/audit?actor=mia"), as: reader)
            let entries = try #require(log.json["entries"]?.elements)
            #expect(entries.map { $0["subject"] } == [.string("audit-1"), .string("audit-0")])
            #expect(Set(entries.compactMap { $0["token"]?.string }).count == 1)
            #expect(Set(entries.compactMap { $0["request_id"]?.string }).count == 2)
            #expect(entries.allSatisfy { $0["address"] == .string("127.0.0.1") })
        }
    }
}
