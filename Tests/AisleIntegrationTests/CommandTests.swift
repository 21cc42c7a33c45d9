import CatalogJSON
import Foundation
import LibPQ
import LocalPostgres
import Ordering
import Testing
import TestSupport

/// End-to-end tests of the commands: real processes on a real database.
@Suite(.timeLimit(.minutes(15))) struct CommandTests {
    fileprivate static let file = """
        store,shelf,sku,name,price,currency,size,unit
        shop,Dairy,m1,Milk,1.19,EUR,1,l
        shop,Dairy,m2,Cream,1.19,EUR,200,ml
        shop,Dairy,b1,Butter,,EUR,250,g

        """

    fileprivate func run(_ arguments: [String], input: String = "", environment: [String: String] = [:]) async throws
        -> (Int32, String, String)
    {
        let process = try TestProcess(arguments, environment: environment)
        process.send(input)
        let code = await process.wait()
        return (code, process.standardOutput, process.standardError)
    }

    @Test("Profiles are listed, shown, changed, saved and used, and the rejected rows of XML can be imported again")
    func importProfiles() async throws {
        let database = try await TestDatabase.migrated()
        let url = ["DATABASE_URL": database.configuration.dsn]
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("profiles-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        func path(_ name: String) -> String { folder.appendingPathComponent(name).path }
        func write(_ text: String, _ name: String) throws -> String {
            try text.write(toFile: path(name), atomically: true, encoding: .utf8)
            return path(name)
        }
        let shown = try await run(["import-profile", "show", "google-merchant"], environment: url)
        #expect(shown.0 == 0 && shown.1.contains("unit_pricing_measure"))
        let profile = try write(shown.1.replacing("availability", with: "state"), "mine.json")
        #expect(try await run(["import-profile", "put", "mine", profile], environment: url).0 == 0)
        #expect(try await run(["import-profile", "list"], environment: url).1.contains("mine\tno"))

        let feed = """
            <rss><channel><item><id>a</id><title>Milk 1 l</title><price>1.20 EUR</price><state>out of stock</state>
            <product_type>Dairy &gt; Milk</product_type></item>
            <item><id>b</id><title>Butter 250 g</title><price>cheap</price></item></channel></rss>
            """
        let file = try write(feed, "feed.xml")
        let options = ["--store", "s", "--create-store", "--profile", "mine", "--max-rejects", "50"]
        let dry = try await run(["import", file, "--dry-run"] + options, environment: url)
        #expect(dry.0 == 0)
        #expect(
            dry.2.contains("as read: line 1: a “Milk 1 l”, 1.20 EUR, 1 l, shelf Dairy > Milk, sold out"),
            "\(dry.2)"
        )
        let rejects = path("rejects.xml")
        let first = try await run(["import", file, "--rejects", rejects] + options, environment: url)
        #expect(first.0 == 0 && first.1.contains("inserted\t1"), "\(first)")
        let corrected = try String(contentsOfFile: rejects, encoding: .utf8).replacing(
            "<price>cheap",
            with: "<price>1.99 EUR"
        )
        let again = try write(corrected, "corrected.xml")
        let second = try await run(["import", again] + options, environment: url)
        #expect(second.0 == 0 && second.1.contains("inserted\t1"), "\(second)")

        #expect(try await run(["import", file, "--profile", "nobody"], environment: url).0 == 66)
        #expect(try await run(["import", file, "--profile", path("none.json")], environment: url).0 == 66)
        let invalid = try write(#"{"columns":{"foo":"x"}}"#, "invalid.json")
        #expect(try await run(["import-profile", "put", "mine", invalid], environment: url).0 == 65)
        #expect(try await run(["import-profile", "rm", "shopify"], environment: url).0 == 64)
        #expect(try await run(["import-profile", "rm", "mine"], environment: url).0 == 0)
        #expect(try await run(["import-profile", "rm", "mine"], environment: url).0 == 66)
        try await database.drop()
    }

    @Test("A store is deleted only with --yes, without a terminal")
    func deletesStore() async throws {
        let database = try await TestDatabase.migrated()
        let url = ["DATABASE_URL": database.configuration.dsn]
        #expect(try await run(["store", "create", "s", "--currency", "EUR"], environment: url).0 == 0)
        let asked = try await run(["store", "rm", "s"], environment: url)
        #expect(asked.0 == 64 && asked.2.contains("--yes"), "\(asked)")
        #expect(try await run(["store", "list"], environment: url).1.contains("s\t"))
        let deleted = try await run(["store", "rm", "s", "--yes"], environment: url)
        #expect(deleted.0 == 0 && deleted.2.contains("deleted store s"), "\(deleted)")
        #expect(try await run(["store", "rm", "s", "--yes"], environment: url).0 == 66)
        #expect(try await run(["audit", "s"], environment: url).1.contains("store.delete"))
        #expect(try await run(["store", "create", "s", "--currency", "CZK"], environment: url).0 == 0)
        try await database.drop()
    }

    @Test("A mistyped command gets a suggestion, and errors in arguments start like all others")
    func usageErrorsHelp() async throws {
        for (arguments, message) in [
            (["importt"], "aisle: unknown command “aisle importt”; did you mean aisle import?"),
            (["db", "migrat"], "aisle: unknown command “aisle db migrat”; did you mean aisle db migrate?"),
            (["frobnicate"], "aisle: unknown command “aisle frobnicate”; list the commands with: aisle --help"),
            (["sort"], "aisle: missing expected argument '<shelf>'"),
            (["sort", "x", "--limit", "-1"], "aisle: --limit must be 1 or more"),
        ] {
            let (code, output, error) = try await run(arguments)
            #expect(code == 64, "\(arguments)")
            #expect(output == "")
            #expect(error.hasPrefix(message + "\n") && !error.hasSuffix("\n\n"), "\(error)")
        }
        let help = try await run(["help", "sort"])
        #expect(help.0 == 0 && help.1.contains("USAGE: aisle sort"))
    }

    @Test("Stores and shelves are suggested, and completed in a shell")
    func namesAreSuggested() async throws {
        let database = try await TestDatabase.migrated()
        let url = ["DATABASE_URL": database.configuration.dsn]
        func fails(_ arguments: [String], _ message: String) async throws {
            let (code, _, error) = try await run(arguments, environment: url)
            #expect(code == 66, "\(arguments)")
            #expect(error == "aisle: \(message)\n")
        }
        #expect(
            try await run(["import", "-", "--format", "csv", "--create-store"], input: Self.file, environment: url).0
                == 0
        )
        try await fails(["store", "show", "shpo"], "store “shpo” does not exist; did you mean shop?")
        try await fails(
            ["export", "products", "other"],
            "store “other” does not exist; list them with: aisle store list"
        )
        try await fails(["sort", "shop/diary"], "shelf “shop/diary” does not exist; did you mean shop/dairy?")
        try await fails(
            ["resort", "frozen"],
            "shelf “shop/frozen” does not exist; list them with: aisle shelf list shop"
        )
        func completed(_ command: String, _ word: String, _ environment: [String: String]) async throws -> Set<String> {
            let found = try await run(
                ["---completion", command, "--", "positional@0", "2", "\(word.utf8.count)", "aisle", command, word],
                environment: environment.merging(["SAP_SHELL": "bash"]) { $1 }
            )
            #expect(found.0 == 0, "\(found.2)")
            return Set(found.1.split(separator: "\n").map(String.init))
        }
        #expect(try await completed("sort", "", url) == ["dairy", "shop/dairy"])
        #expect(try await completed("sort", "shop/", url) == ["shop/dairy"])
        // Nothing is printed if there is no database.
        #expect(try await completed("sort", "", ["DATABASE_URL": "host=/nowhere"]) == [])
        try await database.drop()
    }

    @Test("Reports are available as JSON")
    func reportsAreJSON() async throws {
        let database = try await TestDatabase.migrated()
        let url = ["DATABASE_URL": database.configuration.dsn]
        for (arguments, member) in [
            (["version"], "version"), (["doctor"], "finding"), (["config", "show"], "setting"),
        ] {
            let (code, output, error) = try await run(arguments + ["--format", "json"], environment: url)
            // The test database is faster than safe, which the doctor reports.
            #expect(code == 0 || arguments == ["doctor"], "\(error)")
            #expect(try JSONSerialization.jsonObject(with: Data(output.utf8)) is any Collection)
            #expect(output.contains("\"\(member)\":"), "\(output)")
        }
        try await database.drop()
    }

    @Test("Replicas are listed without their passwords, and the doctor reports one that cannot be used")
    func replicasAreChecked() async throws {
        let database = try await TestDatabase.migrated()
        let url = database.configuration.dsn
        let unreachable = "postgresql://aisle:hidden@127.0.0.1:1/aisle postgresql://aisle:hidden@127.0.0.1:2/aisle"
        let variables = ["DATABASE_URL": url, "AISLE_READ_DSN": unreachable]
        let shown = try await run(["config", "show"], environment: variables)
        #expect(shown.0 == 0 && shown.1.contains("replicas\t2 set\n"), "\(shown)")
        let doctor = try await run(["doctor"], environment: variables)
        #expect(doctor.0 == 1)
        for port in 1...2 {
            #expect(doctor.1.contains("BAD   replica 127.0.0.1:\(port): cannot be reached"), "\(doctor)")
        }
        #expect(!(shown.1 + doctor.1 + doctor.2).contains("hidden"))
        // The primary is not a replica of its own.
        let own = try await run(["doctor"], environment: ["DATABASE_URL": url, "AISLE_READ_DSN": url])
        #expect(own.0 == 1 && own.1.contains("is not a standby"), "\(own)")
        let invalid = try await run(
            ["config", "show"],
            environment: ["DATABASE_URL": url, "AISLE_READ_DSN": "postgresql://[x"]
        )
        #expect(invalid.0 == 78 && invalid.2.contains("AISLE_READ_DSN"), "\(invalid)")
        try await database.drop()
    }

    @Test("The program is installed with man pages and completions, and uninstalled")
    func installsManPagesAndCompletions() async throws {
        let root = URL(fileURLWithPath: TestProcess.executable).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let folder = FileManager.default.temporaryDirectory.appending(path: "aisle-install-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        func make(_ target: String) throws -> String {
            let process = Process()
            process.executableURL = URL(fileURLWithPath: "/usr/bin/timeout")
            // The program of the tests, which are not built with the release.
            process.arguments = [
                "120", "make", "-C", root.path, target, "DESTDIR=\(folder.path)", "PREFIX=/usr",
                "AISLE=\(TestProcess.executable)", "RELEASE=true",
            ]
            let output = Pipe()
            (process.standardOutput, process.standardError) = (output, output)
            try process.run()
            let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
            process.waitUntilExit()
            #expect(process.terminationStatus == 0, "\(text)")
            return text
        }
        _ = try make("install")
        let installed = { (path: String) in
            try String(contentsOf: folder.appending(path: "usr/" + path), encoding: .utf8)
        }
        #expect(FileManager.default.isExecutableFile(atPath: folder.path + "/usr/bin/aisle"))
        #expect(try installed("share/man/man1/aisle.1").contains("Xr aisle-sort 1"))
        #expect(try installed("share/man/man1/aisle-order.1").contains(".Ss aisle order undo"))
        for completion in [
            "share/bash-completion/completions/aisle", "share/zsh/site-functions/_aisle",
            "share/fish/vendor_completions.d/aisle.fish",
        ] {
            #expect(try installed(completion).contains("resort"))
        }
        _ = try make("uninstall")
        var left: [String] = []
        for case let path as String in try #require(FileManager.default.enumerator(atPath: folder.path)) {
            var isFolder = ObjCBool(false)
            _ = FileManager.default.fileExists(atPath: folder.path + "/" + path, isDirectory: &isFolder)
            if !isFolder.boolValue { left.append(path) }
        }
        #expect(left == [])
    }

    @Test("The server says why it cannot listen")
    func portInUseIsReported() async throws {
        let database = try await TestDatabase.migrated()
        let url = ["DATABASE_URL": database.configuration.dsn, "AISLE_JWT_SECRET": String(repeating: "x", count: 32)]
        try await withListener { port in
            let taken = try await run(["serve", "--port", "\(port)"], environment: url)
            #expect(taken.0 == 69)
            #expect(taken.2.contains("the port is in use; choose another with --port"))
        }
        let foreign = try await run(["serve", "--host", "192.0.2.1", "--port", "0"], environment: url)
        #expect(foreign.0 == 69)
        #expect(foreign.2.contains("not an address of this machine"))
        try await database.drop()
    }

    /// Runs a body while a socket of this process listens on a port of its own.
    private func withListener(_ body: (UInt16) async throws -> Void) async throws {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(descriptor) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isListening = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, length) == 0 && listen(descriptor, 1) == 0
                    && getsockname(descriptor, $0, &length) == 0
            }
        }
        try #require(isListening)
        try await body(UInt16(bigEndian: address.sin_port))
    }

    @Test("An imported file is sorted and exported by commands")
    func importsSortsAndExports() async throws {
        let database = try await TestDatabase.migrated()
        let url = ["DATABASE_URL": database.configuration.dsn]
        let imported = try await run(
            ["import", "-", "--format", "csv", "--create-store"],
            input: Self.file,
            environment: url
        )
        #expect(imported.0 == 0)
        #expect(imported.1.contains("inserted\t3"))
        let sorted = try await run(["sort", "dairy", "--by", "unit_price"], environment: url)
        #expect(sorted.0 == 0)
        #expect(sorted.1.split(separator: "\n").map { $0.prefix { $0 != "\t" } } == ["sku", "m1", "m2", "b1"])
        let two = try await run(
            ["sort", "shop/dairy", "--by", "-price", "--limit", "2", "--format", "csv"],
            environment: url
        )
        #expect(two.1.split(separator: "\n").count == 3)
        let order = try await run(["export", "order", "dairy"], environment: url)
        #expect(order.1 == "m1\nm2\nb1\n")
        let exported = try await run(["export", "products"], environment: url)
        let again = try await run(
            ["import", "-", "--format", "csv", "--create-store"],
            input: exported.1,
            environment: url
        )
        #expect(again.1.contains("unchanged\t3"))
        #expect(try await run(["doctor"], environment: url).1.contains("sort keys"))
        try await database.drop()
    }

    @Test("Each kind of failure has its exit code")
    func exitCodes() async throws {
        let database = try await TestDatabase.migrated()
        let empty = try await TestDatabase.empty()
        let url = ["DATABASE_URL": database.configuration.dsn]
        let cases: [([String], [String: String], String, Int32)] = [
            (["sort"], url, "", 64), (["frobnicate"], url, "", 64), (["sort", "x", "--by", "Prize"], url, "", 64),
            (["sort", "a/b/c"], url, "", 64),
            (["import", "-", "--format", "yaml"], url, "", 64), (["sort", "none/x"], url, "", 66),
            (["import", "/none.csv"], url, "", 66),
            (["import", "-", "--format", "csv", "--create-store"], url, "sku,name\n", 65),
            (["import", "-", "--format", "csv", "--create-store"], url, "", 65),
            (
                ["import", "-", "--format", "csv", "--create-store", "--on-error", "abort"], url,
                Self.file + "shop,,,,,,,\n", 65
            ),
            (["import", "-", "--format", "csv", "--create-store"], url, Self.file + "shop,,,,,,,\n", 65),
            (["import", "-", "--format", "csv", "--create-store", "--max-rejects", "0.x"], url, "", 64),
            (["import", "-", "--format", "csv", "--create-store", "--store", "other"], url, Self.file, 65),
            (["store", "list"], ["DATABASE_URL": "host=/nowhere dbname=x"], "", 69),
            (["store", "list"], ["DATABASE_URL": empty.configuration.dsn], "", 78),
            (["store", "list"], ["DATABASE_URL": "not a url"], "", 78),
            (["serve"], url.merging(["AISLE_JWT_SECRET": "short"]) { $1 }, "", 78),
            (["serve"], url.merging(["AISLE_RATE_LIMIT": "fast"]) { $1 }, "", 78),
            (["serve"], url.merging(["AISLE_TRUSTED_PROXIES": "10.0.0.0/99"]) { $1 }, "", 78),
            (["serve"], url.merging(["AISLE_JWT_ACCEPTED_SECRETS": "short"]) { $1 }, "", 78),
            (["serve"], url.merging(["AISLE_JWKS": "http://keys.example/jwks.json"]) { $1 }, "", 78),
            (["version"], [:], "", 0), (["--help"], [:], "", 0),
        ]
        for (arguments, environment, input, expected) in cases {
            let (code, _, error) = try await run(arguments, input: input, environment: environment)
            #expect(code == expected, "\(arguments): \(error)")
            guard expected != 0 else { continue }
            #expect(!error.isEmpty, "\(arguments)")
            #expect(!error.contains("Swift."), "\(arguments)")
        }
        #expect(try await run(["store", "list", "--format", "json"], environment: url).1 == "[]\n")
        // The rejected rows are saved although nothing is imported.
        let rejects = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString).path
        let input = Self.file + "shop,,,,,,,\n"
        let command = ["import", "-", "--format", "csv", "--create-store", "--rejects", rejects]
        let refused = try await run(command, input: input, environment: url)
        #expect(refused.0 == 65 && refused.2.contains("1 of 4 rows were rejected, more than 5 %"), "\(refused)")
        #expect(try String(contentsOfFile: rejects, encoding: .utf8).contains("\n5,sku,,"))
        let allowed = try await run(command + ["--max-rejects", "25"], input: input, environment: url)
        #expect(allowed.0 == 0 && allowed.1.contains("rejected\t1"), "\(allowed)")
        try FileManager.default.removeItem(atPath: rejects)
        try await database.drop()
        try await empty.drop()
    }

    @Test("An import creates stores only with --create-store; the error names unknown and closest stores")
    func importsCreateStoresOnlyOnDemand() async throws {
        let database = try await TestDatabase.migrated()
        let url = ["DATABASE_URL": database.configuration.dsn]
        let command = ["import", "-", "--format", "csv"]
        let empty = try await run(command, input: Self.file, environment: url)
        #expect(empty.0 == 66 && empty.2.contains("the catalog has no stores yet"), "\(empty)")
        #expect(empty.2.contains("--create-store"))
        #expect(try await run(command + ["--create-store"], input: Self.file, environment: url).0 == 0)
        let mistyped = try await run(
            command + ["--store", "shpo"],
            input: "sku,name\na,A\n",
            environment: url
        )
        #expect(
            mistyped.0 == 66 && mistyped.2.contains("store “shpo” does not exist; did you mean “shop”?"),
            "\(mistyped)"
        )
        let several = try await run(
            command,
            input: "store,sku,name\nshop,a,A\nshup,b,B\nother,c,C\nshup,d,D\n",
            environment: url
        )
        #expect(several.0 == 66, "\(several)")
        #expect(several.2.contains("stores “other”, “shup” do not exist; did you mean “shop”?"), "\(several)")
        let stores = try await run(["store", "list", "--format", "json"], environment: url).1
        #expect(stores.contains("shop") && !stores.contains("shup") && !stores.contains("other"))
        #expect(!(try await run(["export", "products"], environment: url)).1.contains("shop,,a,"))
        try await database.drop()
    }

    @Test("--prune prints what each shelf loses, and removes more than a tenth only with --yes")
    func pruneNeedsConfirmation() async throws {
        let database = try await TestDatabase.migrated()
        let url = ["DATABASE_URL": database.configuration.dsn]
        func rows(_ range: Range<Int>, _ shelf: String = "dairy") -> String {
            range.map { "shop,\(shelf),p\($0),A\n" }.joined()
        }
        let header = "store,shelf,sku,name\n"
        let command = ["import", "-", "--format", "csv"]
        let file = header + rows(0..<30) + rows(28..<30, "curated")
        #expect(try await run(command + ["--create-store"], input: file, environment: url).0 == 0)
        let before = try await run(["export", "products"], environment: url).1
        let report = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString).path
        let refused = try await run(
            command + ["--prune", "--report", report],
            input: header + rows(0..<26),
            environment: url
        )
        #expect(refused.0 == 65, "\(refused)")
        #expect(refused.2.contains("prune: removes 4 of 30 products from the shelf “dairy” of “shop”\n"))
        #expect(refused.2.contains("more than a tenth; nothing was changed") && refused.2.contains("--yes"))
        let dry = try await run(command + ["--prune", "--dry-run"], input: header + rows(0..<26), environment: url)
        #expect(dry.0 == 0 && dry.2.contains("prune: removes 4 of 30") && dry.1.contains("removed_placements\t4"))
        #expect(try await run(["export", "products"], environment: url).1 == before)
        let done = try await run(
            command + ["--prune", "--yes", "--report", report],
            input: header + rows(0..<26),
            environment: url
        )
        #expect(done.0 == 0 && done.1.contains("removed_placements\t4\nremoved_products\t2\n"), "\(done)")
        let json = try String(contentsOfFile: report, encoding: .utf8)
        #expect(json.contains(#""removed_by_shelf":[{"store":"shop","shelf":"dairy","removed":4,"remaining":26}]"#))
        let small = try await run(command + ["--prune"], input: header + rows(0..<24), environment: url)
        #expect(small.0 == 0, "\(small)")
        #expect(try await run(["export", "products"], environment: url).1.contains("shop,curated,p29,"))
        try FileManager.default.removeItem(atPath: report)
        try await database.drop()
    }

    @Test("A killed import leaves no rows behind")
    func killedImportLeavesNoRows() async throws {
        let database = try await TestDatabase.migrated()
        let url = ["DATABASE_URL": database.configuration.dsn]
        let pool = PostgresPool(database.configuration, options: .init(size: 1))
        let process = try TestProcess(["import", "-", "--format", "csv", "--create-store"], environment: url)
        process.send(Self.file + (0..<20_000).map { "shop,Dairy,x\($0),Name \($0),1.00,EUR,1,kg\n" }.joined())
        let hasBegun = try await eventually {
            try await pool.perform { try $0.query("SELECT 1 FROM import_run") { $0.count } } > 0
        }
        #expect(hasBegun)
        process.signal(SIGKILL)
        #expect(await process.wait() == 128 + SIGKILL)
        #expect(try await pool.perform { try $0.query("SELECT 1 FROM store") { $0.count } } == 0)
        #expect(
            try await run(["import", "-", "--format", "csv", "--create-store"], input: Self.file, environment: url).0
                == 0
        )
        #expect(try await pool.perform { try $0.query("SELECT 1 FROM import_row") { $0.count } } == 0)
        #expect(try await pool.perform { try $0.query("SELECT 1 FROM product") { $0.count } } == 3)
        pool.shutDown()
        try await database.drop()
    }
}

extension CommandTests {
    /// Whether Python's independent jsonpatch module turns the old list into the new one.
    private func jsonPatchMakes(_ old: [String], _ new: [String], _ patch: String) throws -> Bool {
        let process = Process()
        // Debian's Python, for which the Makefile installs the module.
        process.executableURL = URL(fileURLWithPath: "/usr/bin/timeout")
        process.arguments = [
            "60", "/usr/bin/python3", "-c",
            "import json, sys, jsonpatch; old, new = sys.argv[1].split(), sys.argv[2].split(); "
                + "print(jsonpatch.apply_patch(old, json.load(sys.stdin)) == new)",
            old.joined(separator: " "), new.joined(separator: " "),
        ]
        let (input, output) = (Pipe(), Pipe())
        (process.standardInput, process.standardOutput) = (input, output)
        try process.run()
        input.fileHandleForWriting.write(Data(patch.utf8))
        try input.fileHandleForWriting.close()
        return String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self) == "True\n"
    }

    @Test("An independent JSON Patch implementation applies the diff of two files")
    func jsonPatchIsInteroperable()
        async throws
    {
        let folder = FileManager.default.temporaryDirectory.appending(path: "aisle-diff-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        var random = SeededGenerator(seed: 11)
        for round in 0..<8 {
            let old = (0..<(round * 40)).map { "p\($0)" }.shuffled(using: &random)
            var new = old.filter { _ in Int.random(in: 0...9, using: &random) > 0 }
            if round % 2 == 0 { new.shuffle(using: &random) }
            for id in 0..<round { new.insert("new\(id)", at: Int.random(in: 0...new.count, using: &random)) }
            try Data((old.joined(separator: "\n") + "\n").utf8).write(to: folder.appending(path: "old.txt"))
            let (code, patch, _) = try await run(
                ["diff", folder.path + "/old.txt", "-", "--format", "json-patch"],
                input: new.joined(separator: "\r\n")
            )
            #expect(code == 0)
            #expect(try jsonPatchMakes(old, new, patch))
            let order = try await run(
                ["diff", folder.path + "/old.txt", "-", "--format", "order"],
                input: new.joined(separator: "\n")
            )
            #expect(order.1.split(separator: "\n").map(String.init) == new)
        }
        let moves = try await run(["diff", folder.path + "/old.txt", "-"], input: "")
        #expect(moves.1.hasPrefix("change\tid\tname\tfrom\tto\tafter\ndelete\t"))
        #expect(moves.2.contains("280 deleted"))
        #expect(try await run(["diff", "-", "-"]).0 == 64)
        #expect(try await run(["diff", folder.path + "/none", "-"]).0 == 66)
        #expect(try await run(["diff", folder.path + "/old.txt", "-"], input: "a\na\n").0 == 65)
        #expect(try await run(["diff", folder.path + "/old.txt", "-", "--to", "price"]).0 == 64)
    }

    @Test("The diff of a shelf lists the moves between two sorts")
    func diffsShelf() async throws {
        let database = try await TestDatabase.migrated()
        let url = ["DATABASE_URL": database.configuration.dsn]
        #expect(
            try await run(["import", "-", "--format", "csv", "--create-store"], input: Self.file, environment: url).0
                == 0
        )
        let moves = try await run(["diff", "dairy", "--from", "name", "--to", "unit_price"], environment: url)
        #expect(moves.1 == "change\tid\tname\tfrom\tto\tafter\nmove\tm1\tMilk\t2\t0\t\nmove\tm2\tCream\t1\t1\tm1\n")
        #expect(moves.2.contains("2 of 3 moved from name to unit_price"))
        let json = try await run(
            ["diff", "shop/dairy", "--to", "-name", "--limit", "1", "--format", "json"],
            environment: url
        )
        #expect(json.0 == 0)
        #expect(json.1.contains("\"product\":{\"sku\":\"m1\""))
        #expect(try await run(["diff", "dairy", "--to", "prize"], environment: url).0 == 64)
        #expect(try await run(["diff", "shop/none"], environment: url).0 == 66)
        try await database.drop()
    }

    @Test("The order commands move, set, undo and log a manual order")
    func editsManualOrder() async throws {
        let database = try await TestDatabase.migrated()
        let url = ["DATABASE_URL": database.configuration.dsn]
        #expect(
            try await run(["import", "-", "--format", "csv", "--create-store"], input: Self.file, environment: url).0
                == 0
        )
        func order() async throws -> String { try await run(["export", "order", "dairy"], environment: url).1 }
        let dryRun = try await run(["move", "dairy", "b1", "--first", "--dry-run"], environment: url)
        #expect(dryRun.1 == "id\tfrom\tto\tafter\nb1\t2\t0\t\n")
        #expect(dryRun.2.contains("would move 1"))
        #expect(try await order() == "m1\nm2\nb1\n")
        #expect(try await run(["move", "dairy", "b1", "--first"], environment: url).0 == 0)
        #expect(try await order() == "b1\nm1\nm2\n")
        #expect(try await run(["move", "shop/dairy", "m2", "b1", "--after", "m1"], environment: url).0 == 0)
        #expect(try await order() == "m1\nm2\nb1\n")
        #expect(try await run(["move", "dairy", "m1", "--to", "1"], environment: url).0 == 0)
        #expect(try await run(["order", "set", "dairy", "-"], input: "b1\n", environment: url).0 == 0)
        #expect(try await order() == "b1\nm2\nm1\n")
        #expect(try await run(["order", "snapshot", "dairy", "--from", "-name"], environment: url).0 == 0)
        #expect(try await order() == "m1\nm2\nb1\n")
        #expect(try await run(["order", "undo", "dairy"], environment: url).0 == 0)
        #expect(try await order() == "b1\nm2\nm1\n")
        let log = try await run(["order", "log", "dairy"], environment: url).1.split(separator: "\n")
        try #require(log.count == 7)
        #expect(log[1].contains("undo"))
        #expect(log[6].contains("\tmove\t1\tb1\t"))
        #expect(try await run(["move", "dairy", "b1", "--if-version", "1", "--last"], environment: url).0 == 75)
        #expect(try await run(["move", "dairy", "b1"], environment: url).0 == 64)
        #expect(try await run(["move", "dairy", "b1", "--first", "--last"], environment: url).0 == 64)
        #expect(try await run(["move", "dairy", "none", "--first"], environment: url).0 == 65)
        #expect(try await run(["order", "compact", "--all"], environment: url).2.contains("rewrote 0 keys"))
        try await database.drop()
    }

    @Test("An interrupted import reports the interruption and changes nothing")
    func interruptedImportChangesNothing()
        async throws
    {
        let database = try await TestDatabase.migrated()
        let pool = PostgresPool(database.configuration, options: .init(size: 1))
        let process = try TestProcess(
            ["import", "-", "--format", "csv", "--create-store"],
            environment: ["DATABASE_URL": database.configuration.dsn]
        )
        process.send("store,sku,name\n" + (0..<20_000).map { "shop,x\($0),Name \($0)\n" }.joined())
        let hasBegun = try await eventually {
            try await pool.perform { try $0.query("SELECT 1 FROM import_run") { $0.count } } > 0
        }
        #expect(hasBegun)
        process.signal(SIGINT)
        #expect(await process.wait() == 130)
        #expect(process.standardError.contains("interrupted"))
        #expect(try await pool.perform { try $0.query("SELECT 1 FROM store") { $0.count } } == 0)
        pool.shutDown()
        try await database.drop()
    }

    @Test("A comma separates the accepted audiences, and a token of this server is for the first of them")
    func audiencesAreListed() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "aisle-audiences-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = folder.appending(path: "aisle.json")
        for (setting, shown) in [(#""a, b""#, "a,b"), (#""a""#, "a"), (#"["a", "b"]"#, "a,b")] {
            try Data(#"{"jwt": {"audience": \#(setting)}}"#.utf8).write(to: file)
            let config = try TestProcess(["config", "show"], folder: folder.path)
            #expect(await config.wait() == 0, "\(config.standardError)")
            #expect(config.standardOutput.contains("jwt.audience\t\(shown)\n"), "\(config.standardOutput)")
        }
        for wrong in ["a,,b", ",", "a, "] {
            let config = try TestProcess(["config", "show"], environment: ["AISLE_JWT_AUDIENCE": wrong])
            #expect(await config.wait() == 78, "\(wrong)")
            #expect(config.standardError.contains("jwt.audience"))
        }
        let variables = ["AISLE_JWT_AUDIENCE": "aisle, shop", "AISLE_JWT_SECRET": String(repeating: "s", count: 32)]
        let token = try await run(["token", "--user", "ann"], environment: variables)
        let claims = token.1.split(separator: ".").dropFirst().first.map(String.init) ?? ""
        let text = String(decoding: Base64URL.decode(claims) ?? [], as: UTF8.self)
        #expect(text.contains(#""aud":"aisle""#), "\(text)")
    }

    @Test("Flags override the environment, which overrides the configuration file")
    func settingsPrecedence() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "aisle-settings-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = folder.appending(path: "aisle.json")
        try Data(#"{"port": 8081, "pool": {"size": 3}, "log": {"level": "debug"}}"#.utf8).write(to: file)
        let shown = try TestProcess(
            ["config", "show", "--port", "8083"],
            environment: ["AISLE_PORT": "8082", "AISLE_POOL_SIZE": "5"],
            folder: folder.path
        )
        #expect(await shown.wait() == 0, "\(shown.standardError)")
        for line in ["port\t8083", "pool.size\t5", "log.level\tdebug", "page.cache.mb\t32"] {
            #expect(shown.standardOutput.contains(line + "\n"))
        }
        for (variable, value) in [("AISLE_PORT", "no"), ("AISLE_LOG_LEVEL", "loud"), ("AISLE_CONFIG", "/none.json")] {
            let failed = try TestProcess(["config", "show"], environment: [variable: value], folder: folder.path)
            #expect(await failed.wait() == 78)
        }
        for wrong in [
            #"{"port": "x"}"#, #"{"port": [8081]}"#, #"{"cors": {"origins": 7}}"#, #"{"log": {"level": 3}}"#,
            #"{"prot": 1}"#,
        ] {
            try Data(wrong.utf8).write(to: file)
            let failed = try TestProcess(["config", "show"], folder: folder.path)
            #expect(await failed.wait() == 78, "\(wrong)")
        }
        try Data("{".utf8).write(to: file)
        let broken = try TestProcess(["config", "show"], folder: folder.path)
        #expect(await broken.wait() == 78)
        #expect(broken.standardError.contains("aisle.json"))
    }
}

@Suite(.timeLimit(.minutes(15))) struct ServeTests {
    /// Runs a Python client, and returns the words that it prints.
    private func python(_ script: String, _ argument: String) -> [String] {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/timeout")
        process.arguments = ["60", "python3", "-c", script, argument]
        let pipe = Pipe()
        process.standardOutput = pipe
        guard (try? process.run()) != nil else { return [] }
        let output = String(decoding: pipe.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        return output.split(whereSeparator: \.isWhitespace).map(String.init)
    }

    private func status(_ url: String) -> (Int, String?) {
        let words = python(
            """
            import sys, urllib.request, urllib.error
            try:
                r = urllib.request.urlopen(sys.argv[1], timeout=20); print(r.status, r.headers.get("Retry-After"))
            except urllib.error.HTTPError as e: print(e.code, e.headers.get("Retry-After"))
            except Exception as e: print(0, e)
            """,
            url
        )
        return (words.first.flatMap { Int($0) } ?? -1, words.dropFirst().first)
    }

    /// Returns the status of a request with an endless body after the server has closed the connection.
    private func statusOfEndlessBody(_ header: String, _ port: Int) -> Int? {
        let words = python(
            """
            import socket, sys
            s = socket.create_connection(("127.0.0.1", \(port)), timeout=20)
            s.sendall(("PUT /v1/stores/corner/products/x HTTP/1.1\\r\\nHost: a\\r\\n" + sys.argv[1] + "\\r\\n\\r\\n").encode())
            received = b""
            try:
                while True:
                    s.settimeout(20)
                    s.settimeout(20)
                    if "chunked" in sys.argv[1]: s.sendall(b"10000\\r\\n" + b"x" * 65536 + b"\\r\\n")
                    s.settimeout(0.01 if "chunked" in sys.argv[1] else 20)
                    try: piece = s.recv(65536)
                    except TimeoutError: continue
                    if not piece: break
                    received += piece
            except (BrokenPipeError, ConnectionResetError): pass
            print(received.split()[1].decode())
            """,
            header
        )
        return words.first.flatMap { Int($0) }
    }

    @Test("A server survives a database restart and stops on SIGTERM")
    func serverSurvivesDatabaseRestart()
        async throws
    {
        let cluster = try TestServer.separate()
        let admin = try await PostgresConnection.connect(cluster.configuration(database: "postgres"))
        try await admin.perform {
            try $0.run(script: "CREATE DATABASE aisle TEMPLATE template0 ENCODING 'UTF8' LOCALE 'C.UTF-8'")
        }
        await admin.close()
        let url = ["DATABASE_URL": cluster.dsn]
        #expect(try await TestProcess(["db", "migrate"], environment: url).wait() == 0)
        let restored = try TestProcess(["db", "restored"], environment: url)
        #expect(await restored.wait() == 0)
        #expect(restored.standardOutput == "recorded; devices resync when they next ask for changes\n")
        #expect(try await TestProcess(["seed"], environment: url).wait() == 0)
        let tokens = url.merging(["AISLE_JWT_SECRET": String(repeating: "s", count: 32)]) { $1 }
        let server = try TestProcess(["serve", "--port", "0"], environment: tokens)
        let port = try #require(await server.port())
        let signer = try TestProcess(["token", "--user", "m", "--scope", "catalog:write"], environment: tokens)
        #expect(await signer.wait() == 0)
        let token = signer.standardOutput
        let writer =
            "Authorization: Bearer \(token.trimmingCharacters(in: .newlines))\r\nContent-Type: application/json\r\n"
        let base = "http://127.0.0.1:\(port)"
        let page = base + "/v1/stores/corner/shelves/dairy/products?sort=-unit_price"
        #expect(status(page).0 == 200)
        #expect(status(base + "/readyz").0 == 200)
        try cluster.stop(.immediate)
        let unavailable = status(page)
        #expect(unavailable.0 == 503)
        #expect(unavailable.1?.hasPrefix("1") == true)
        #expect(status(base + "/readyz").0 == 503)
        #expect(status(base + "/livez").0 == 200)
        try cluster.start(isDurable: false)
        let isBack = await eventually(within: .seconds(120)) { status(page).0 == 200 }
        #expect(isBack)
        for header in ["Content-Length: 2000000000", "Transfer-Encoding: chunked"] {
            #expect(statusOfEndlessBody(writer + header, port) == 413)
        }
        // Without permission to write, the body is not read.
        #expect(statusOfEndlessBody("Content-Length: 2000000000", port) == 401)
        #expect(statusOfEndlessBody("Host: b\r\nContent-Length: 2000000000", port) == 400)
        server.signal(SIGTERM)
        #expect(await server.wait() == 0)
        #expect(status(page).0 == 0)
        try cluster.remove()
    }

    @Test("`aisle dev` offers its own tokens only if the server accepts them")
    func devOffersUsableTokens() async throws {
        let database = try await TestDatabase.migrated()
        let offer = "aisle token --user"
        for (settings, offers) in [
            (["AISLE_JWKS": "https://127.0.0.1:1/keys.json"], false),
            (["AISLE_JWT_SECRET": String(repeating: "s", count: 32)], true),
        ] {
            let variables = settings.merging(["DATABASE_URL": database.configuration.dsn]) { $1 }
            let dev = try TestProcess(["dev", "--port", "0"], environment: variables)
            #expect(await dev.waitForOutput("Try: curl"), "\(dev.standardError)")
            #expect(dev.standardError.contains(offer) == offers, "\(dev.standardError)")
            #expect(dev.standardError.contains("https://127.0.0.1:1/keys.json") == !offers)
            dev.signal(SIGTERM)
            #expect(await dev.wait() == 0)
        }
        try await database.drop()
    }

    @Test("`aisle dev` starts and stops the database and the server repeatedly")
    func devStartsAndStops()
        async throws
    {
        let folder = FileManager.default.temporaryDirectory.appending(path: "aisle-dev-\(UUID().uuidString.prefix(8))")
            .path
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        for round in 1...2 {
            let dev = try TestProcess(["dev", "--port", "0"], folder: folder)
            #expect(await dev.waitForOutput("Try: curl"), "\(dev.standardError)")
            let port = try #require(await dev.port())
            #expect(dev.standardError.contains("seeded") == (round == 1))
            #expect(
                status("http://127.0.0.1:\(port)/v1/stores/harbour/shelves/cheese/products?sort=brand").0 == 200
            )
            dev.signal(SIGTERM)
            #expect(await dev.wait() == 0)
        }
        let cluster = try PrivateCluster(folder: folder + "/.aisle")
        #expect(cluster.exists)
        #expect(!cluster.isRunning)
        try cluster.remove()
        try FileManager.default.removeItem(atPath: folder)
    }
}
