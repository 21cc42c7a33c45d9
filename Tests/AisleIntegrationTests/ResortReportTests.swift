import Foundation
import LibPQ
import TestSupport
import Testing

/// The report of the re-sort command, and dry runs, which change nothing.
@Suite(.timeLimit(.minutes(5))) struct ResortReportTests {
    private func run(_ arguments: [String], _ url: [String: String], input: String = "") async throws -> (
        code: Int32, output: String, notes: String
    ) {
        let process = try TestProcess(arguments, environment: url)
        process.send(input)
        let code = await process.wait()
        return (code, process.standardOutput, process.standardError)
    }

    @Test("A dry run reports the changes that the next run makes, as text or as JSON")
    func dryRuns() async throws {
        let database = try await TestDatabase.migrated()
        let url = ["DATABASE_URL": database.configuration.dsn]
        let rows = (0..<6).map { "shop,shelf \($0 % 2),p\($0),Product \($0),1.00\n" }.joined()
        let file = "store,shelf,sku,name,price\n" + rows
        #expect(try await run(["import", "-", "--format", "csv", "--create-store"], url, input: file).code == 0)
        let pool = PostgresPool(database.configuration, options: .init(size: 1))
        try await pool.perform { try $0.run(script: "UPDATE shelf SET position_source = '-popularity'") }
        pool.shutDown()
        let now = Date.now.ISO8601Format()
        let events = (0..<3).map { "shop,00000000-0000-4000-8000-00000000000\($0),p5,1,\(now),customer \($0)\n" }
            .joined()
        let purchases = "store,event_id,sku,quantity,at,customer\n" + events
        #expect(try await run(["purchases", "import", "-", "--format", "csv"], url, input: purchases).code == 0)

        let header = "shelf\tproducts\trescored\tmoved\tms"
        func lines(_ output: String) -> [[String]] {
            output.split(separator: "\n").map { $0.split(separator: "\t").map(String.init) }
        }
        for _ in 0..<2 {
            let dry = try await run(["resort", "--all", "--dry-run"], url)
            #expect(dry.code == 0 && dry.notes.contains("would fold 3 events"), "\(dry)")
            #expect(dry.output.hasPrefix(header + "\n"))
            let changed = try #require(lines(dry.output).first { $0[0] == "shop/shelf-1" }, "\(dry)")
            #expect(changed.count == 5 && changed[1] == "3" && changed[2] == "1", "\(dry)")
        }
        let json = try await run(["resort", "--all", "--dry-run", "--format", "json"], url)
        #expect(json.output.contains(#"{"shelf":"shop/shelf-1","products":3,"rescored":1,"#), "\(json)")
        #expect(json.output.contains(#""dry_run":true"#) && !json.output.contains(header), "\(json)")
        #expect(try await run(["resort", "--all", "--check"], url).code == 3)
        #expect(try await run(["resort", "--resume", "--dry-run"], url).code == 64)

        let done = try await run(["resort", "--all"], url)
        #expect(done.code == 0 && done.notes.contains("folded 3 events"), "\(done)")
        #expect(
            !done.notes.contains("would fold") && done.output.hasPrefix(header + "\n"),
            "\(done)"
        )
        let idle = try await run(["resort", "--all", "--format", "json"], url)
        #expect(
            idle.code == 0 && idle.output.contains(#""events":0"#) && idle.output.contains(#""dry_run":false"#),
            "\(idle)"
        )
        #expect(try await run(["resort", "--all", "--check"], url).code == 0)
        try await database.drop()
    }
}
