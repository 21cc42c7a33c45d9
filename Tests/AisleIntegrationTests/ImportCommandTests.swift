import Catalog
import CatalogPostgres
import Foundation
import JSON
import LibPQ
import Platform
import TestSupport
import Testing

@testable import aisle

/// The output of the commands of imports, profiles, exports and generated catalogs, and their errors.
@Suite(.timeLimit(.minutes(15))) struct ImportCommandTests {
    @Test("A dry run shows the first products as they were read, and changes nothing")
    func dryRun() async throws {
        try await CommandDatabase.run { commands in
            let file = try commands.file("dairy.csv", CatalogCommandTests.dairy)
            let report = commands.path("report.json")
            let run = await commands.aisle(["import", file, "--create-store", "--dry-run", "--report", report])
            #expect(run.code == 0, "\(run)")
            #expect(run.output.hasPrefix("read\t3\ninserted\t3\n"))
            let notes = run.notes.split(separator: "\n").map(String.init)
            #expect(notes.first == "as read: line 2: m1 “Milk”, brand Alm, 1.19 EUR, 1 l, shelf dairy", "\(run)")
            #expect(notes.filter { $0.hasPrefix("as read: ") }.count == 3)
            #expect(notes.last?.hasPrefix("dry run finished in ") == true)
            #expect(try JSONReader.parse(Array(commands.text(of: "report.json").utf8))["dry_run"] == .bool(true))
            #expect(await commands.aisle(["store", "list"]).output.split(separator: "\n").count == 1)

            // A dry run reports why the import would be refused, and the report has the reason, too.
            let bad = try commands.file("bad.csv", "sku,name\na,A\n,B\n")
            let arguments = ["import", bad, "--store", "shop", "--create-store", "--dry-run", "--report", report]
            let refused = await commands.aisle(arguments)
            #expect(refused.code == 65)
            #expect(refused.output.contains("rejected\t1\n"))
            #expect(refused.notes.contains("\naisle: 1 of 2 rows were rejected, more than 5 %; nothing was imported."))
            #expect(!refused.notes.contains("dry run finished"))
            let json = try JSONReader.parse(Array(commands.text(of: "report.json").utf8))
            #expect(json["error"]?.string?.hasPrefix("1 of 2 rows were rejected") == true)
            #expect(json["rejects"]?.elements?.count == 1)

            // An import that fails reports the reason and the rejected rows, too.
            let failed = await commands.aisle(arguments.filter { $0 != "--dry-run" })
            #expect(failed.code == 65)
            let failure = try JSONReader.parse(Array(commands.text(of: "report.json").utf8))
            #expect(failure["error"]?.string?.hasPrefix("1 of 2 rows were rejected") == true)
            #expect(failure["rejects"]?.elements?.count == 1)
            let own = await commands.aisle(["import", file, "--create-store", "--report", file])
            #expect(own.code == 64 && own.notes.hasSuffix("aisle: --report must not be the input file\n"), "\(own)")
            #expect(try commands.text(of: "dairy.csv") == CatalogCommandTests.dairy)
            // On a terminal, the share of the file that was read is shown.
            let shown = await commands.aisle(["import", file, "--create-store"], on: TerminalRecord(isTerminal: true))
            #expect(shown.notes.contains(" 100 %  ") && shown.notes.contains(" rows\r\u{1B}[K"), "\(shown)")
        }
    }

    @Test("Twenty rejected rows are printed, all are saved, and a thousand are in the report")
    func rejections() async throws {
        try await CommandDatabase.run { commands in
            func file(_ count: Int) throws -> String {
                try commands.file("\(count).csv", "sku,name\na,A\n" + (0..<count).map { ",Name \($0)\n" }.joined())
            }
            let options = ["--store", "shop", "--create-store", "--max-rejects", "100"]
            func printed(_ run: CommandRun) -> [String] {
                run.notes.split(separator: "\n").map(String.init).filter { $0.hasPrefix("rejected: ") }
            }
            let twenty = await commands.aisle(["import", try file(20)] + options)
            #expect(twenty.code == 0, "\(twenty)")
            #expect(twenty.output.contains("read\t21\ninserted\t1\n"))
            #expect(printed(twenty).count == 20)
            #expect(printed(twenty).first == "rejected: line 3, sku: is missing")
            let more = await commands.aisle(["import", try file(21)] + options)
            #expect(printed(more).count == 21)
            #expect(printed(more).last == "rejected: and 1 more; use --rejects FILE to save all of them")
            let (rejects, report) = (commands.path("rejects.csv"), commands.path("report.json"))
            let many = await commands.aisle(
                ["import", try file(1001), "--rejects", rejects, "--report", report, "--encoding", "windows-1252"]
                    + options
            )
            #expect(printed(many).last == "rejected: and 981 more; all of them are in \(rejects)")
            let saved = try commands.text(of: "rejects.csv")
            // The file is UTF-8, whatever the encoding of the other file; a mark identifies it.
            #expect(try Data(contentsOf: URL(fileURLWithPath: rejects)).starts(with: [0xEF, 0xBB, 0xBF]))
            #expect(saved.split(separator: "\n").count == 1002)
            #expect(saved.hasSuffix("\n1003,sku,,is missing,,Name 1000\n"))
            let json = try JSONReader.parse(Array(commands.text(of: "report.json").utf8))
            #expect(json["rejects"]?.elements?.count == 1000)
            #expect(json["rejected"] == .number("1001"))

            // The rejected rows of NDJSON have no header.
            let lines = try commands.file("r.ndjson", #"{"sku":"a","name":"A"}"# + "\n" + #"{"name":"B"}"# + "\n")
            let kept = await commands.aisle(["import", lines, "--rejects", rejects] + options)
            #expect(kept.code == 0, "\(kept)")
            #expect(try commands.text(of: "rejects.csv").hasPrefix(#"{"rejected_line":2,"#))
            #expect(try commands.text(of: "rejects.csv").split(separator: "\n").count == 1)
        }
    }

    @Test("Sizes that are not understood are listed, the most frequent first")
    func unknownSizes() async throws {
        try await CommandDatabase.run { commands in
            let file = try commands.file("s.csv", "sku,name,size\na,A,huge\nb,B,tiny\nc,C,huge\nd,D,1 kg\n")
            let run = await commands.aisle(["import", file, "--store", "shop", "--create-store"])
            #expect(run.code == 0, "\(run)")
            #expect(
                run.notes.contains(
                    "unknown sizes: “huge” 2 ×, “tiny” 1 ×; write them as a number and a unit, such as 500 g or "
                        + "6 x 330 ml, or correct what contradicts them\n"
                ),
                "\(run)"
            )
            let known = try commands.file("k.csv", "sku,name,size\nd,D,1 kg\n")
            let quiet = await commands.aisle(["import", known, "--store", "shop"])
            #expect(!quiet.notes.contains("unknown sizes"))
        }
    }

    @Test("Pruning much is asked on a terminal, and shows twenty shelves", arguments: [21, 22])
    func prunes(_ shelves: Int) async throws {
        try await CommandDatabase.run { commands in
            func rows(_ products: Range<Int>) -> String {
                let lines = (0..<shelves).flatMap { shelf in
                    products.map { "s\(10 + shelf),p\(shelf)-\($0),Product\n" }
                }
                return "shelf,sku,name\n" + lines.joined()
            }
            let all = try commands.file("all.csv", rows(0..<3))
            #expect(await commands.aisle(["import", all, "--store", "shop", "--create-store"]).code == 0)
            let few = try commands.file("few.csv", rows(0..<1))
            let command = ["import", few, "--store", "shop", "--prune"]
            let rest = "from \(shelves - 20) more shel\(shelves == 21 ? "f" : "ves")"
            let question =
                "remove "
                + (0..<5).map { "2 of 3 products from the shelf “s\(10 + $0)” of “shop”" }.joined(separator: ", ")
                + ", and products from \(shelves - 5) more shelves, more than a tenth? [y/N] "
            for answer in ["n", "y"] {
                let run = await commands.aisle(command, on: TerminalRecord(isTerminal: true, answers: [answer]))
                #expect(run.code == (answer == "y" ? 0 : 65), "\(run)")
                #expect(run.notes.contains("prune: removes 2 of 3 products from the shelf “s10” of “shop”\n"))
                #expect(run.notes.contains("prune: removes 2 of 3 products from the shelf “s29” of “shop”\n"))
                #expect(!run.notes.contains("prune: removes 2 of 3 products from the shelf “s30” of “shop”\n"))
                #expect(run.notes.contains("prune: and products \(rest)\n"))
                #expect(run.notes.contains(question))
                let left = try await commands.value("SELECT count(*)::text FROM product")
                #expect(left == "\(answer == "y" ? shelves : 3 * shelves)")
            }
        }
    }

    @Test("Profiles are saved, replaced, listed with their titles, shown and deleted")
    func profiles() async throws {
        try await CommandDatabase.run { commands in
            let file = try commands.file(
                "p.json",
                #"{"title":"Our tills","format":"csv","columns":{"name":"Product"}}"#
            )
            await commands.expect(["import-profile", "put", "tills", file], notes: "saved import profile “tills”\n")
            await commands.expect(["import-profile", "put", "tills", file], notes: "replaced import profile “tills”\n")
            let list = await commands.aisle(["import-profile", "list"]).output
            #expect(list.hasPrefix("name\tbuilt_in\ttitle\n"))
            #expect(list.hasSuffix("\ntills\tno\tOur tills\n"))
            #expect(list.contains("\nshopify\tyes\t"))
            let shown = await commands.aisle(["import-profile", "show", "tills"])
            #expect(try JSONReader.parse(Array(shown.output.utf8))["title"] == .string("Our tills"))
            #expect(shown.output.hasSuffix("\n"))
            let rows = try commands.file("rows.csv", "sku,Product\na,A\n")
            let run = await commands.aisle(["import", rows, "--store", "shop", "--create-store", "--profile", file])
            #expect(run.code == 0, "\(run)")
            #expect(try await commands.value("SELECT name FROM product WHERE sku = 'a'") == "A")
            await commands.expectFailure(
                ["import-profile", "rm", "shopify"],
                64,
                "import profile “shopify” is built in"
            )
            for command in [["put", "A", file], ["rm", "A"]] {
                await commands.expectFailure(
                    ["import-profile"] + command,
                    64,
                    "the name of a profile must be 1 to 64 characters of a-z, 0-9 and -, not starting with - (got “A”)"
                )
            }
            let broken = try commands.file("broken.json", #"{"columns":{"foo":"x"}}"#)
            let refused = await commands.aisle(["import-profile", "put", "tills", broken])
            #expect(refused.code == 65 && refused.notes.hasPrefix("aisle: \(broken): "), "\(refused)")
            let huge = try commands.file("huge.json", String(repeating: " ", count: 70_000) + "{}")
            #expect(await commands.aisle(["import-profile", "put", "tills", huge]).code == 65)
            await commands.expect(["import-profile", "rm", "tills"], notes: "deleted import profile “tills”\n")
        }
    }

    @Test("An export has the products of one store, or of all")
    func exports() async throws {
        try await CommandDatabase.run { commands in
            let file = try commands.file("two.csv", "store,shelf,sku,name\nshop,all,a,A\nkiosk,all,b,B\n")
            #expect(await commands.aisle(["import", file, "--create-store"]).code == 0)
            let all = await commands.aisle(["export", "products"])
            #expect(all.output.hasPrefix("store,shelf,sku,name,brand,price,promo_price,currency,"))
            #expect(all.output.contains("\nshop,all,a,A,") && all.output.contains("\nkiosk,all,b,B,"))
            let one = await commands.aisle(["export", "products", "kiosk"])
            #expect(one.output.split(separator: "\n").count == 2 && one.output.contains("\nkiosk,all,b,B,"))
            await commands.expect(["export", "order", "kiosk/all"], output: "b\n")
            #expect(await commands.aisle(["export", "order", "kiosk/all", "--by", "prize"]).code == 64)
        }
    }

    @Test("The sample data is complete, and is added once")
    func seed() async throws {
        try await CommandDatabase.run { commands in
            let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
                .deletingLastPathComponent()
            let data = try String(contentsOf: root.appending(path: "seed-data/products.csv"), encoding: .utf8)
            let rows = data.split(separator: "\n").count - 1
            let first = await commands.aisle(["seed"])
            let lines = first.output.split(separator: "\n").map(String.init)
            #expect(lines.count == 5 && lines.first == "read\t\(rows)" && lines.last == "rejected\t0", "\(first)")
            let again = await commands.aisle(["seed"])
            #expect(again.output.hasPrefix("read\t\(rows)\ninserted\t0\nupdated\t0\n"), "\(again)")
            let stores = await commands.aisle(["store", "list"]).output
            #expect(stores.contains("\ncorner\tCorner Market\tEUR\teu\t"))
            #expect(stores.contains("\nharbour\tHamnboden\tSEK\tse\t"))
            let shown = await commands.aisle(["store", "show", "harbour"]).output
            #expect(shown.contains(#""locale":"sv-SE""#))
            // The days of the sample prices are in order, and those of the last day are the first ones again.
            let storms = try seedStorms()
            #expect(storms.count == 2)
            let prices = try String(contentsOf: root.appending(path: "seed-data/price-changes.csv"), encoding: .utf8)
            let changes = prices.split(separator: "\n").dropFirst().map { $0.split(separator: ",").map(String.init) }
            for (store, days) in storms {
                let own = changes.filter { $0[1] == store.text }
                #expect(days.count == Set(own.map { $0[0] }).count)
                #expect(days.flatMap { $0 }.map(\.sku.text) == own.map { $0[2] })
                let minor: [Int64?] = own.map { Int64((Double($0[3]) ?? 0) * 100 + 0.5) }
                #expect(days.flatMap { $0 }.map(\.priceMinor) == minor)
            }
        }
    }

    /// Of the 200 products of the seed 7, by an implementation in another language.
    private static let digest = "390f6db12ae3ec5a7118df3cc8d5225b"

    @Test("The same seed generates the same catalog, of which only one is stored")
    func generates() async throws {
        try await CommandDatabase.run { commands in
            let message =
                "--shelves must be between 1 and 1000000, and --products between --shelves and 20000000"
            for arguments in [
                ["--shelves", "0"], ["--shelves", "-1"], ["--shelves", "5", "--products", "4"],
                ["--shelves", "1000001", "--products", "20000000"], ["--products", "20000001"], ["--products", "0"],
                ["--shelves", "9223372036854775807"],
            ] {
                await commands.expectFailure(["seed"] + arguments, 64, message)
            }
            let run = await commands.aisle(["seed", "--shelves", "2"], on: TerminalRecord(isTerminal: true))
            #expect(run.code == 0 && run.output == "", "\(run)")
            #expect(run.notes.contains("\r\u{1B}[K200 products\r\u{1B}[K"), "\(run)")
            #expect(run.notes.contains("generated 200 products on 2 shelves in "))
            let counts = try await commands.value(
                "SELECT string_agg(key || '=' || title || '=' || product_count, ',' ORDER BY shelf_id) FROM shelf"
            )
            #expect(counts == "shelf-1=Shelf 1=20,shelf-2=Shelf 2=180")
            let digest = try await commands.value(
                """
                SELECT md5(string_agg(concat_ws('|', sku, name, coalesce(brand, ''), coalesce(price_minor::text, ''),
                    in_stock::text, array_to_string(tags, ','),
                    coalesce(size_amount::text || size_unit || 'x' || size_packs, ''),
                    extract(epoch FROM created_at)::bigint) || chr(10), '' ORDER BY length(sku), sku COLLATE "C"))
                FROM product
                """
            )
            #expect(digest == Self.digest)
            #expect(
                try await commands.value("SELECT count(*)::text FROM product WHERE modified_at = created_at") == "200"
            )
            // The shelves show their products, in the order in which they were made.
            let first = await commands.aisle(["export", "order", "shelf-1"]).output
            #expect(first == (1...20).map { "g\($0)\n" }.joined())
            let last = await commands.aisle(["export", "order", "shelf-2"]).output
            #expect(last == (21...200).map { "g\($0)\n" }.joined())
            #expect(await commands.aisle(["doctor"]).output.contains("\nok    schema: current\n"))
            await commands.expectFailure(
                ["seed", "--shelves", "2"],
                65,
                "store “generated” exists, or existed; start from an empty database"
            )
        }
    }

    @Test("Without a number of shelves, each has a hundred products", arguments: [(50, 1), (300, 3)])
    func generatedShelves(_ products: Int, _ shelves: Int) async throws {
        try await CommandDatabase.run { commands in
            let run = await commands.aisle(["seed", "--products", "\(products)"])
            #expect(run.notes.hasPrefix("generated \(products) products on \(shelves) shelves in "), "\(run)")
        }
    }
}
