import Catalog
import CatalogJSON
import Foundation
import JSON
import Schema
import Platform
import Testing
import TestSupport

@testable import aisle

/// The output of the commands of users, tokens, settings of servers and the schema, and their errors.
@Suite(.timeLimit(.minutes(15))) struct UserCommandTests {
    @Test(
        "Commands of settings fail without a server",
        arguments: [["get", "theme"], ["list"], ["export"], ["rm", "theme"]]
    )
    func unreachableServer(_ arguments: [String]) async {
        let dsn = "host=/nonexistent/aisle dbname=aisle user=aisle"
        let run = await CommandRun.run(["pref"] + arguments + ["--user", "ann", "--dsn", dsn])
        #expect(run.code == 69 && run.output == "", "\(run)")
    }

    @Test("A setting is set to JSON or text, read, listed in every format, and deleted")
    func settings() async throws {
        try await CommandDatabase.run { commands in
            func pref(_ arguments: [String], user: String = "ann") async -> CommandRun {
                await commands.aisle(["pref"] + arguments + ["--user", user])
            }
            func expectFailure(_ arguments: [String], _ code: Int32, _ message: String) async {
                await commands.expectFailure(["pref"] + arguments + ["--user", "ann"], code, message)
            }
            for (text, value) in [
                ("dark", #""dark""#), ("5", "5"), (#"{"a":[1]}"#, #"{"a":[1]}"#), ("true", "true"), ("-x", #""-x""#),
                (#""quoted""#, #""quoted""#), ("1 2", #""1 2""#),
            ] {
                let set = await pref(["set", "theme", text])
                #expect(set.code == 0 && set.output == "", "\(set)")
                let revision = set.notes.split(separator: " ").last.map { $0.filter { $0 != "\n" } } ?? ""
                #expect(set.notes == "set theme to \(value); revision \(revision)\n")
                await commands.expect(["pref", "get", "theme", "--user", "ann"], output: value + "\n")
            }
            for text in ["{bad", "[1", "\"x"] {
                let refused = await pref(["set", "theme", text])
                #expect(refused.code == 65 && refused.notes.hasPrefix("aisle: invalid JSON at byte "), "\(refused)")
            }
            await expectFailure(
                ["set", "theme", "null"],
                65,
                "the value must not be null; to delete a setting: aisle pref rm"
            )
            await expectFailure(
                ["set", "theme", "a", "b"],
                64,
                "specify exactly one value; quote values with spaces"
            )
            await expectFailure(["get", "other"], 66, "setting “other” does not exist")
            // A sort must be one.
            #expect(await pref(["set", "stores/shop/sort", "prize"]).code != 0)

            #expect(await pref(["set", "zoom", "2"]).code == 0)
            let table = await pref(["list"])
            let rows = table.output.split(separator: "\n").map { $0.split(separator: "\t").map(String.init) }
            #expect(rows.first == ["key", "value", "revision", "modified_at"])
            #expect(rows.dropFirst().map { Array($0[..<2]) } == [["theme", #""1 2""#], ["zoom", "2"]])
            #expect(rows.dropFirst().allSatisfy { Int($0[2]) != nil && Timestamp(rfc3339: $0[3]) != nil })
            #expect(table.notes == "")
            let shown = await commands.aisle(["pref", "list", "--user", "ann"], on: TerminalRecord(isTerminal: true))
            #expect(shown.notes == "2 settings; revision \(rows.last?[2] ?? "")\n")
            let json = try JSONReader.parse(Array(await pref(["list", "--format", "json"]).output.utf8))
            #expect(json["settings"]?.elements?.compactMap { $0["key"] } == [.string("theme"), .string("zoom")])
            #expect(json["revision"] == .number(rows.last?[2] ?? ""))
            let lines = await pref(["list", "--format", "ndjson"]).output.split(separator: "\n")
            #expect(try lines.map { try JSONReader.parse(Array($0.utf8)) } == json["settings"]?.elements)
            let since = try #require(rows.dropFirst().first?[2])
            #expect(await pref(["list", "--since", since]).output.split(separator: "\n").count == 2)

            let removed = await pref(["rm", "theme"])
            #expect(removed.code == 0 && removed.notes.hasPrefix("deleted theme; revision "), "\(removed)")
            await expectFailure(["rm", "theme"], 66, "setting “theme” does not exist")
            #expect(await pref(["list", "--since", since]).output.contains("\ntheme\tdeleted\t"))
            #expect(await !pref(["list"]).output.contains("theme"))

            // An export of one user is an import of another.
            let exported = await pref(["export"])
            let document = try JSONReader.parse(Array(exported.output.utf8))
            #expect(document["user"] == .string("ann"))
            let file = try commands.file("ann.json", exported.output)
            let kept = ", because they changed at the same time or later\n"
            // The export also has the deleted setting, which the other user never had.
            let first = await pref(["import", file], user: "bob").notes
            #expect(["1 settings imported; 1 kept", "2 settings imported; 0 kept"].contains { first == $0 + kept })
            #expect(await pref(["import", file], user: "bob").notes == "0 settings imported; 2 kept" + kept)
            await commands.expect(["pref", "get", "zoom", "--user", "bob"], output: "2\n")
            let other = try commands.file("other.json", "{}")
            await expectFailure(
                ["import", other],
                65,
                "\(other) has no property “settings”; use the output of aisle pref export"
            )
            let broken = try commands.file("broken.json", "{")
            let refused = await pref(["import", broken])
            #expect(refused.code == 65)
            #expect(refused.notes.hasPrefix("aisle: invalid JSON in \(broken) at byte "), "\(refused)")
            let none = commands.path("none.json")
            await expectFailure(["import", none], 66, "cannot read \(none): No such file or directory")
            let folder = URL(fileURLWithPath: none).deletingLastPathComponent().path
            await expectFailure(["import", folder], 66, "\(folder) is a directory, not a file")
        }
    }

    @Test("An export has the purchases of the user's customer")
    func exportsCustomer() async throws {
        try await CommandDatabase.run { commands in
            let products = try commands.file("p.csv", "store,shelf,sku,name\nshop,all,a,A\n")
            #expect(await commands.aisle(["import", products, "--create-store"]).code == 0)
            let purchases = try commands.file(
                "b.csv",
                "store,event_id,sku,quantity,at,customer\n"
                    + "shop,00000000-0000-4000-8000-000000000001,a,3,\(Date.now.ISO8601Format()),card-7\n"
            )
            #expect(await commands.aisle(["purchases", "import", purchases]).code == 0)
            #expect(await commands.aisle(["resort", "--all"]).code == 0)
            func purchased(_ arguments: [String]) async throws -> Int? {
                let run = await commands.aisle(["pref", "export", "--user", "ann"] + arguments)
                return try JSONReader.parse(Array(run.output.utf8))["purchases"]?.elements?.count
            }
            #expect(try await purchased([]) == 0)
            #expect(try await purchased(["--customer", "card-7"]) == 1)
        }
    }

    private static func claims(_ token: String) throws -> JSONValue {
        let parts = token.split(separator: ".")
        try #require(parts.count == 3)
        return try JSONReader.parse(try #require(Base64URL.decode(String(parts[1]))))
    }

    @Test("A token has what the options grant, and nothing else")
    func tokens() async throws {
        try await CommandDatabase.run { commands in
            let secret = String(repeating: "s", count: 32)
            let file = try commands.file("aisle.json", #"{"jwt": {"secret": "\#(secret)", "issuer": "us"}}"#)
            func token(_ arguments: [String]) async throws -> JSONValue {
                let run = await CommandRun.run(["token", "--config", file] + arguments)
                #expect(run.code == 0 && run.notes == "", "\(run)")
                #expect(run.output.hasSuffix("\n"))
                return try Self.claims(String(run.output.dropLast()))
            }
            func seconds(_ claims: JSONValue) -> Int {
                guard case .number(let start)? = claims["iat"], case .number(let end)? = claims["exp"] else { return 0 }
                return (Int(end) ?? 0) - (Int(start) ?? 0)
            }
            let plain = try await token(["--user", "ann"])
            #expect(plain["sub"] == .string("ann"))
            #expect(plain["iss"] == .string("us"))
            #expect(plain["scope"] == nil && plain["stores"] == nil && plain["customer"] == nil)
            #expect((43_199...43_201).contains(seconds(plain)))
            let again = try await token(["--user", "ann"])
            #expect(plain["jti"]?.string != nil && plain["jti"] != again["jti"])
            let full = try await token([
                "--user", "ann", "--scope", "catalog:write", "--scope", "audit:read", "--store", "shop", "--customer",
                "card-7", "--expires", "45s", "--guest",
            ])
            #expect(full["sub"] == .string("guest:ann"))
            #expect(full["scope"] == .string("audit:read catalog:write"))
            #expect(full["stores"] == .array([.string("shop")]))
            #expect(full["customer"] == .string("card-7"))
            #expect((44...46).contains(seconds(full)))
            #expect(try await token(["--user", "guest:ann", "--guest"])["sub"] == .string("guest:ann"))
            let long = String(repeating: "u", count: UserID.limit)
            let refused = await CommandRun.run(["token", "--config", file, "--user", long, "--guest"])
            #expect(refused.code == 64 && refused.notes.hasPrefix("aisle: --user must be "), "\(refused)")
        }
    }

    @Test("A token is signed with the secret of aisle dev in this folder, if it has one")
    func localSecret() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "aisle-secret-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder.appending(path: ".aisle"), withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        for (length, code) in [(nil, 78), (31, 78), (32, 0)] as [(Int?, Int32)] {
            if let length {
                try Data(String(repeating: "s", count: length).utf8).write(
                    to: folder.appending(path: ".aisle/jwt-secret")
                )
            }
            let run = try TestProcess(["token", "--user", "ann"], folder: folder.path)
            #expect(await run.wait() == code, "\(run.standardError)")
            if code == 0 {
                #expect(try Self.claims(run.standardOutput)["sub"] == .string("ann"))
            } else {
                #expect(
                    run.standardError
                        == "aisle: no secret to sign with; set AISLE_JWT_SECRET, or run this in the directory of `aisle dev`\n"
                )
            }
        }
        let shown = try TestProcess(["config", "show"], folder: folder.path)
        #expect(await shown.wait() == 0)
        #expect(shown.standardOutput.contains("jwt.secret\tnone; aisle dev uses the one in .aisle/\n"))
        let secret = ["AISLE_JWT_SECRET": String(repeating: "k", count: 40)]
        let set = try TestProcess(["config", "show"], environment: secret, folder: folder.path)
        #expect(await set.wait() == 0)
        #expect(set.standardOutput.contains("jwt.secret\tset\n"))
        // No database runs there.
        let stores = try TestProcess(["store", "list"], folder: folder.path)
        #expect(await stores.wait() == 69)
        #expect(
            stores.standardError.hasPrefix("aisle: no database: none is configured, and no private PostgreSQL runs in ")
        )
        #expect(stores.standardError.contains("\(folder.lastPathComponent)/.aisle; change to the folder"))
    }

    @Test("The schema is migrated up and down, with the steps and the losses before they happen")
    func migrations() async throws {
        try await CommandDatabase.run { commands in
            let version = Schema.currentVersion
            await commands.expect(["db", "status"], output: "schema: current\n", notes: "database: --dsn\n")
            await commands.expect(["db", "migrate"], notes: "nothing to do: the schema has version \(version)\n")
            for target in [-1, version + 1] {
                await commands.expectFailure(
                    ["db", "migrate", "--to", "\(target)"],
                    64,
                    "--to must be between 0 and \(version)"
                )
            }
            let refused = await commands.aisle(["db", "migrate", "--to", "0"])
            #expect(refused.code == 64 && refused.output == "")
            #expect(refused.notes.hasPrefix("aisle: migrating down to version 0 deletes table "), "\(refused)")
            #expect(refused.notes.contains(", table product") && refused.notes.hasSuffix("; confirm with --yes\n"))
            let dry = await commands.aisle(["db", "migrate", "--to", "0", "--dry-run"])
            #expect(dry.code == 0 && dry.notes == "", "\(dry)")
            let lines = dry.output.split(separator: "\n").map(String.init)
            #expect(lines.filter { $0.hasPrefix("would delete: table ") }.count > 10)
            #expect(lines.filter { $0.hasPrefix("would apply: v") && $0.contains(", reverted") }.count == version)
            #expect(lines.first?.hasPrefix("would delete: ") == true)
            #expect(await commands.aisle(["db", "status"]).output == "schema: current\n")

            let step = "v\(version) \(Schema.migrations[version - 1].name)"
            let down = await commands.aisle(["db", "migrate", "--to", "\(version - 1)", "--yes"])
            #expect(down.code == 0 && down.output == "applied: \(step), reverted\n", "\(down)")
            await commands.expect(
                ["db", "status"],
                output: "schema: outdated(version: \(version - 1))\n",
                notes: "database: --dsn\n"
            )
            let message =
                "the schema has version \(version - 1), but this program needs \(version); run: aisle db migrate"
            await commands.expectFailure(["store", "list"], 78, message)
            await commands.expectFailure(["db", "recollate"], 78, message)
            await commands.expectFailure(["db", "roles"], 78, message)
            let planned = await commands.aisle(["db", "migrate", "--dry-run"])
            #expect(planned.output.hasPrefix("would apply: \(step)"), "\(planned)")
            await commands.expect(["db", "migrate"], output: "applied: \(step)\n")
            let reset = await CommandRun.run(["db", "reset"])
            #expect(reset.code == 64)
            #expect(
                reset.notes == "aisle: this deletes all data of the private PostgreSQL; confirm with --yes\n"
            )
        }
    }

    @Test("Roles have the given names, and keys of names are computed again if they are wrong")
    func rolesAndKeys() async throws {
        try await CommandDatabase.run { commands in
            let roles = await commands.aisle(["db", "roles", "--owner", "o_1", "--server", "s_1", "--reader", "r_1"])
            #expect(roles.code == 0 && roles.notes == "", "\(roles)")
            for name in ["o_1", "s_1", "r_1"] { #expect(roles.output.contains(name), "\(name)") }
            #expect(!roles.output.contains("aisle_server"))
            let usual = await commands.aisle(["db", "roles"]).output
            for name in ["aisle_owner", "aisle_server", "aisle_reader"] {
                #expect(usual.contains(name), "\(name)")
            }
            try await CatalogCommandTests.fill(commands)
            await commands.expect(["db", "recollate"], output: "all sort keys are current\n")
            try await commands.sql(#"UPDATE product SET name_key = '\x01' WHERE sku IN ('m1', 'b1')"#)
            await commands.expect(
                ["db", "recollate"],
                output: "computed the sort keys of 2 products and shelves again\n"
            )
            await commands.expect(["db", "recollate"], output: "all sort keys are current\n")
            await commands.expect(
                ["db", "restored"],
                output: "recorded; devices resync when they next ask for changes\n"
            )
        }
    }

    @Test("The doctor's findings are the same as text and as JSON, and its exit code is that of the worst")
    func doctor() async throws {
        try await CommandDatabase.run { commands in
            await commands.expect(
                ["doctor", "--servers", "0"],
                code: 64,
                notes: "database: --dsn\naisle: --servers must be at least 1\n"
            )
            let text = await commands.aisle(["doctor"])
            let json = await commands.aisle(["doctor", "--format", "json"])
            let findings = try #require(try JSONReader.parse(Array(json.output.utf8)).elements)
            let marks = ["ok": "ok   ", "advice": "note ", "problem": "BAD  "]
            let lines = findings.map {
                (marks[$0["verdict"]?.string ?? ""] ?? "?") + " " + ($0["finding"]?.string ?? "")
            }
            let shown = text.output.split(separator: "\n").map(String.init)
            #expect(shown.count == lines.count && shown.count > 5)
            // Findings may contain numbers that change.
            #expect(zip(shown, lines).allSatisfy { $0.prefix(12) == $1.prefix(12) }, "\(text)")
            let isHealthy = findings.allSatisfy { $0["ok"] == .bool(true) }
            for finding in findings {
                #expect((finding["verdict"] != .string("problem")) == (finding["ok"] == .bool(true)))
            }
            #expect(text.code == (isHealthy ? 0 : 1) && json.code == text.code)
            let remedies = findings.filter { $0["remedy"] != nil }
            let notes = text.notes.split(separator: "\n").dropFirst()
            #expect(text.notes.hasPrefix("database: --dsn\n"))
            #expect(notes.filter { $0.hasPrefix("fix: ") }.count == remedies.count { $0["ok"] == .bool(false) })
            #expect(notes.filter { $0.hasPrefix("advice: ") }.count == remedies.count { $0["ok"] == .bool(true) })
            func bad(_ run: CommandRun) -> Int { run.output.split(separator: "\n").count { $0.hasPrefix("BAD   ") } }
            // More servers need more connections than the test server has.
            let many = await commands.aisle(["doctor", "--servers", "1000"])
            #expect(many.code == 1 && bad(many) > bad(text), "\(many)")
        }
    }

    @Test("The configuration names its database, and a table is the default on a terminal")
    func config() async throws {
        let arguments = ["config", "show", "--dsn", "host=x", "--port", "7", "--host", "h"]
        let tsv = await CommandRun.run(arguments)
        #expect(tsv.code == 0)
        #expect(tsv.output.hasPrefix("setting\tvalue\ndatabase\t--dsn\nreplicas\tnone\nsettings file\t"), "\(tsv)")
        #expect(tsv.output.contains("\nhost\th\nport\t7\n"))
        let csv = await CommandRun.run(arguments + ["--format", "csv"])
        #expect(csv.output.hasPrefix("setting,value\ndatabase,--dsn\n"))
        let table = await CommandRun.run(arguments, on: TerminalRecord(isTerminal: true, width: 40))
        let lines = table.output.split(separator: "\n")
        #expect(lines.allSatisfy { $0.count <= 40 } && lines.contains { $0.contains("…") }, "\(table)")
    }
}
