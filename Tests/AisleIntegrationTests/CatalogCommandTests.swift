import Catalog
import Foundation
import JSON
import LibPQ
import Platform
import TestSupport
import Testing

@testable import aisle

/// The output of the commands of stores, shelves, orders and diffs, and their errors.
@Suite(.timeLimit(.minutes(15))) struct CatalogCommandTests {
    /// Products with and without a brand and a price, and one that is sold out.
    static let dairy = """
        store,shelf,sku,name,brand,price,currency,size,unit,pack_count,in_stock
        shop,dairy,m1,Milk,Alm,1.19,EUR,1,l,,true
        shop,dairy,m2,Cream,,2.00,EUR,200,ml,2,false
        shop,dairy,b1,Butter,Alm,,EUR,250,g,,true

        """

    /// Fills a store “shop” that exists, or that the import creates.
    static func fill(_ commands: CommandDatabase) async throws {
        let file = try commands.file("dairy.csv", dairy)
        let run = await commands.aisle(["import", file, "--create-store"])
        #expect(run.code == 0, "\(run)")
        // The first five counts are printed even if they are 0.
        #expect(run.output.hasPrefix("read\t3\ninserted\t3\nupdated\t0\nunchanged\t0\nrejected\t0\n"), "\(run)")
        #expect(run.output.hasSuffix("stores_created\t1\nshelves_created\t1\n"), "\(run)")
        #expect(!run.output.contains("repeated"))
        #expect(run.notes.contains("imported in ") && run.notes.hasSuffix(" s\n"), "\(run)")
    }

    private static let storeColumns = "key\ttitle\tcurrency\tunit_pricing\tsold_out\tdefault_sort\n"

    @Test("Stores are created with their options, listed in every format, shown and deleted")
    func stores() async throws {
        try await CommandDatabase.run { commands in
            await commands.expect(["store", "list"], output: Self.storeColumns)
            await commands.expect(["store", "list", "--format", "ndjson"])
            await commands.expectFailure(
                ["sort", "dairy"],
                66,
                "the catalog has no store; create one with: aisle store create"
            )
            await commands.expect(
                [
                    "store", "create", "shop", "--currency", "EUR", "--title", "The Shop", "--locale", "de-AT",
                    "--collation", "root", "--unit-pricing", "se",
                ],
                notes: "created store shop\n"
            )
            await commands.expectFailure(
                ["store", "create", "shop", "--currency", "EUR"],
                65,
                "store “shop” already exists"
            )
            await commands.expectFailure(
                ["store", "create", "x", "--currency", "EURO"],
                64,
                "“EURO” is not an ISO 4217 code"
            )
            await commands.expectFailure(
                ["store", "create", "x", "--currency", "EUR", "--unit-pricing", "fr"],
                64,
                "--unit-pricing must be eu, se, gb, au or us"
            )
            for option in ["--locale", "--collation"] {
                await commands.expectFailure(
                    ["store", "create", "x", "--currency", "EUR", option, "d_e"],
                    64,
                    "“d_e” is not a BCP 47 language tag, such as en-IE"
                )
            }
            await commands.expectFailure(
                ["store", "create", "X", "--currency", "EUR"],
                64,
                "a store key must be 1 to 64 characters of a-z, 0-9 and -, not starting with - (got “X”)"
            )
            await commands.expect(["store", "create", "mini", "--currency", "CZK"], notes: "created store mini\n")
            await commands.expect(
                ["store", "show", "mini"],
                output:
                    #"{"key":"mini","title":"mini","currency":"CZK","locale":"en","collation":null,"unit_pricing":"eu","#
                    + #""sold_out":"last","default_sort":null,"popularity_metric":"decay","#
                    + #""popularity_half_life_days":14,"newcomer_boost":0.0}"# + "\n"
            )
            let shown = try JSONReader.parse(Array(await commands.aisle(["store", "show", "shop"]).output.utf8))
            #expect(shown["locale"] == .string("de-AT"))
            #expect(shown["collation"] == .string("root"))
            let rows = ["mini\tmini\tCZK\teu\tlast\t", "shop\tThe Shop\tEUR\tse\tlast\t"]
            let listed = await commands.aisle(["store", "list"])
            #expect(listed.output.hasPrefix(Self.storeColumns))
            #expect(listed.output.split(separator: "\n").dropFirst().map(String.init).sorted() == rows.sorted())
            // On a terminal, a table is the default.
            let table = await commands.aisle(["store", "list"], on: TerminalRecord(isTerminal: true))
            #expect(
                table.output.contains("\n────  ────────  ────────  ────────────  ────────  ────────────\n"),
                "\(table)"
            )
            #expect(table.output.contains("shop  The Shop  EUR       se            last      –           \n"))

            await commands.expectFailure(
                ["sort", "dairy"],
                64,
                listed.output.contains("\nmini\tmini\tCZK\teu\tlast\t\nshop")
                    ? "specify the store, one of: mini, shop" : "specify the store, one of: shop, mini"
            )
            await commands.expectFailure(
                ["store", "rm", "mini"],
                64,
                "nothing was deleted; confirm with --yes"
            )
            let question =
                "delete store mini, “mini”, with its products, shelves, orders and purchases? [y/N] "
            for (answers, isDeleted) in [([], false), (["n"], false), (["yes please"], false), (["YES"], true)]
                as [([String], Bool)]
            {
                let record = TerminalRecord(isTerminal: true, answers: answers)
                let run = await commands.aisle(["store", "rm", "mini"], on: record)
                #expect(run.code == (isDeleted ? 0 : 64))
                let end =
                    isDeleted
                    ? "deleted store mini; products: 0\n" : "aisle: nothing was deleted; confirm with --yes\n"
                #expect(run.notes == question + end)
            }
            await commands.expectFailure(
                ["store", "rm", "mini", "--yes"],
                66,
                "store “mini” does not exist; list them with: aisle store list"
            )
        }
    }

    @Test("Shelves are created with a parent and a sort, listed for one store or all, shown and deleted")
    func shelves() async throws {
        try await CommandDatabase.run { commands in
            try await Self.fill(commands)
            await commands.expect(
                [
                    "shelf", "create", "shop/fresh", "--title", "Fresh food", "--parent", "dairy", "--default-sort",
                    "-name",
                ],
                notes: "created shelf shop/fresh\n"
            )
            await commands.expect(["shelf", "create", "plain"], notes: "created shelf shop/plain\n")
            await commands.expectFailure(["shelf", "create", "plain"], 65, "shelf “plain” already exists")
            await commands.expectFailure(
                ["shelf", "create", "x", "--parent", "A"],
                64,
                "--parent must be 1 to 64 characters of a-z, 0-9 and -, not starting with -"
            )
            #expect(await commands.aisle(["shelf", "create", "x", "--default-sort", "prize"]).code == 64)
            await commands.expectFailure(["shelf", "create", "a/b/c"], 64, "“a/b/c” is not a shelf; use STORE/SHELF")
            await commands.expectFailure(["shelf", "create", "shop/"], 64, "“shop/” is not a shelf; use STORE/SHELF")

            await commands.expect(["store", "create", "kiosk", "--currency", "EUR"], notes: "created store kiosk\n")
            await commands.expect(["shelf", "create", "kiosk/sweets"], notes: "created shelf kiosk/sweets\n")
            func rows(_ arguments: [String]) async -> [[String]] {
                let lines = await commands.aisle(["shelf", "list"] + arguments).output.split(separator: "\n")
                return lines.map { line in
                    line.split(separator: "\t", omittingEmptySubsequences: false).map(String.init)
                }
            }
            let all = await rows([])
            #expect(all.first == ["shelf", "title", "products", "default_sort", "dimension", "version"])
            let known = Set(all.dropFirst().map { Array($0[..<4]) })
            #expect(
                known == [
                    ["shop/dairy", "dairy", "3", ""], ["shop/fresh", "Fresh food", "0", "-name"],
                    ["shop/plain", "plain", "0", ""], ["kiosk/sweets", "sweets", "0", ""],
                ]
            )
            let version = try await commands.value("SELECT version::text FROM shelf WHERE key = 'dairy'")
            #expect(all.first { $0[0] == "shop/dairy" }?[5] == version)
            #expect(await rows(["kiosk"]).map { $0[0] } == ["shelf", "kiosk/sweets"])
            let json = await commands.aisle(["shelf", "list", "kiosk", "--format", "json"]).output
            let elements = try #require(try JSONReader.parse(Array(json.utf8)).elements)
            #expect(elements.count == 1)
            #expect(elements[0]["products"] == .number("0"))
            #expect(elements[0]["default_sort"] == .null)

            let run = await commands.aisle(["shelf", "show", "shop/fresh"])
            let shown = try JSONReader.parse(Array(run.output.utf8))
            #expect(run.output.hasSuffix("}\n"))
            #expect(shown["title"] == .string("Fresh food"))
            #expect(shown["parent"] == .string("dairy"))
            #expect(shown["default_sort"] == .string("-name"))
            let selected = shown["sort_options"]?.elements?.filter { $0["selected"] == .bool(true) }
            #expect(selected?.compactMap { $0["sort"] } == [.string("-name")])

            await commands.expect(["shelf", "rm", "shop/plain"], notes: "deleted shelf shop/plain\n")
            await commands.expectFailure(
                ["shelf", "rm", "shop/plain"],
                66,
                "shelf “shop/plain” does not exist; list them with: aisle shelf list shop"
            )
        }
    }

    private static let products = [
        "sku\tname\tbrand\tprice\tunit_price\tsize\tpopularity\tin_stock",
        "m1\tMilk\tAlm\t1.19 EUR\t1.19/1 l\t1 l\t0.0\tyes", "b1\tButter\tAlm\t\t\t250 g\t0.0\tyes",
        "m2\tCream\t\t2.00 EUR\t5.00/1 l\t2 × 200 ml\t0.0\tno",
    ]

    @Test("The rank of a product is printed with its neighbours, or the reason why it has none")
    func rank() async throws {
        try await CommandDatabase.run { commands in
            try await Self.fill(commands)
            for (options, row) in [
                (["--why", "b1"], "b1\tshown\t1\t3\tm1\tm2\t\tin_stock=true price=null name="),
                (["--why", "b1", "--price-max", "1.20"], "b1\tfiltered_out\t\t1\t\t\tprice_max\tin_stock=true "),
                (["--why", "x"], "x\tnot_on_shelf\t\t3\t\t\t\t"),
            ] {
                let run = await commands.aisle(["sort", "dairy", "--by", "price"] + options)
                #expect(run.code == 0)
                #expect(
                    run.output.hasPrefix("sku\treason\trank\tof\tbefore\tafter\tfilters\ttuple\n" + row),
                    "\(run.output)"
                )
            }
            for sku in ["m1", "m2"] {
                let set = await commands.aisle(["product", "set", "shop", sku, "--group", "milk"])
                #expect(set.code == 0, "\(set)")
            }
            let grouped = await commands.aisle(["sort", "dairy", "--by", "price", "--collapse", "--why", "m2"])
            #expect(
                grouped.output.hasPrefix(
                    "sku\treason\trank\tof\tid\trepresentative\tbefore\tafter\tfilters\ttuple\n"
                        + "m2\tshown\t0\t2\tgroup/milk\tm1\t\tb1\t\tin_stock=true price=119 "
                ),
                "\(grouped.output)"
            )
            let why = ["sort", "dairy", "--by", "price", "--why", "m1"]
            let run = await commands.aisle(why + ["--format", "json"])
            #expect(run.code == 0 && run.output.hasPrefix(#"{"sort":{"keys":"price","#), "\(run.output)")
            #expect(run.output.contains(#""tuple":[{"key":"in_stock","value":true},{"key":"price","value":119},"#))
            await commands.expectFailure(why + ["--limit", "1"], 64, "--limit is for lists; leave it out with --why")
        }
    }

    @Test("Sorted products are printed completely, by every option, in every format")
    func sort() async throws {
        try await CommandDatabase.run { commands in
            try await Self.fill(commands)
            func lines(_ numbers: Int...) -> String { numbers.map { Self.products[$0] + "\n" }.joined() }
            // Products that are sold out come last.
            await commands.expect(["sort", "dairy", "--by", "price"], output: lines(0, 1, 2, 3))
            await commands.expect(["sort", "shop/dairy", "--by", "name"], output: lines(0, 2, 1, 3))
            await commands.expect(["sort", "dairy", "--limit", "1", "--by", "-name"], output: lines(0, 1))
            await commands.expectFailure(["sort", "dairy", "--limit", "0"], 64, "--limit must be 1 or more")
            for (options, numbers) in [
                (["--brand", "Alm"], [1, 2]), (["--brand", "Alm", "--brand", ""], [1, 2, 3]),
                (["--tag", "organic"], []),
                (["--in-stock"], [1, 2]), (["--no-in-stock"], [3]), (["--price-min", "1.20"], [3]),
                (["--price-max", "1.20"], [1]), (["--unit-price-max", "4/1l"], [1]), (["--dimension", "mass"], [2]),
                (["--created-after", "2001-01-01", "--created-before", "2001-01-02"], []),
                (["--created-after", "2001-01-01"], [1, 2, 3]), (["--created-before", "2001-01-01"], []),
                (["--modified-after", "2001-01-01"], [1, 2, 3]), (["--modified-before", "2001-01-01"], []),
            ] as [([String], [Int])] {
                let expected = ([0] + numbers).map { Self.products[$0] + "\n" }.joined()
                await commands.expect(["sort", "dairy", "--by", "price"] + options, output: expected)
            }
            let json = try JSONReader.parse(
                Array(await commands.aisle(["sort", "dairy", "--by", "price", "--format", "json"]).output.utf8)
            )
            #expect(json.elements?.compactMap { $0["sku"] } == ["m1", "b1", "m2"].map { .string($0) })
            let ndjson = await commands.aisle(["sort", "dairy", "--by", "price", "--format", "ndjson"]).output
            let parsed = try ndjson.split(separator: "\n").map { try JSONReader.parse(Array($0.utf8)) }
            #expect(parsed == json.elements)
            let csv = await commands.aisle(["sort", "dairy", "--by", "price", "--format", "csv"]).output
            #expect(csv.hasPrefix("sku,name,brand,price,unit_price,size,popularity,in_stock\nm1,Milk,Alm,1.19 EUR,"))

            // The remembered sort of a user.
            let setting = "stores/shop/shelves/dairy/sort"
            #expect(await commands.aisle(["pref", "set", setting, "-name", "--user", "ann"]).code == 0)
            await commands.expect(["sort", "dairy", "--user", "ann"], output: lines(0, 1, 2, 3))
            let again = await commands.aisle(["pref", "set", setting, "name", "--user", "ann"])
            #expect(again.notes.hasPrefix("set \(setting) to \"name\"; revision "), "\(again)")
            await commands.expect(["sort", "dairy", "--user", "ann"], output: lines(0, 2, 1, 3))

            // A terminal also shows the sorted shelf.
            func note(_ arguments: [String]) async -> String {
                await commands.aisle(["sort", "dairy"] + arguments, on: TerminalRecord(isTerminal: true)).notes
            }
            #expect(await note(["--by", "price"]) == "3 of 3 products by price (query)\n")
            #expect(await note(["--user", "ann", "--limit", "2"]) == "2 of 3 products by name (user)\n")
            #expect(
                await note(["--by", "name", "--price-max", "2", "--brand", "Alm"])
                    == "1 of 3 products by name (query) where brand=Alm, price_max=2\n"
            )
            let below = try commands.file("below.csv", "store,shelf,sku,name\nshop,fresh,f1,Fig\n")
            #expect(await commands.aisle(["shelf", "create", "shop/fresh", "--parent", "dairy"]).code == 0)
            #expect(await commands.aisle(["import", below]).code == 0)
            #expect(
                await note(["--by", "name", "--descendants"]) == "4 products by name (query)\n",
                "the products of the shelf below"
            )
            #expect(await note(["--by", "name"]) == "3 of 3 products by name (query)\n")
        }
    }

    @Test("A sort without a limit reads all pages, and one with a limit no more than it needs")
    func pages() async throws {
        try await CommandDatabase.run { commands in
            let rows = (0..<205).map { "shop,all,p\(1000 + $0),Product \(1000 + $0)\n" }.joined()
            let file = try commands.file("all.csv", "store,shelf,sku,name\n" + rows)
            #expect(await commands.aisle(["import", file, "--create-store"]).code == 0)
            for (arguments, count) in [
                ([], 205), (["--limit", "204"], 204), (["--limit", "200"], 200), (["--limit", "101"], 101),
                (["--limit", "100"], 100), (["--limit", "1000"], 205),
            ] as [([String], Int)] {
                let output = await commands.aisle(["sort", "all", "--by", "name"] + arguments).output
                let found = output.split(separator: "\n").dropFirst().map { String($0.prefix { $0 != "\t" }) }
                #expect(found == (0..<count).map { "p\(1000 + $0)" }, "\(arguments)")
            }
            // An export of an order is complete, too.
            let order = await commands.aisle(["export", "order", "all", "--by", "-name"])
            #expect(order.output == (0..<205).reversed().map { "p\(1000 + $0)\n" }.joined())
        }
    }

    @Test("A move has exactly one target, and each of them moves the product")
    func moves() async throws {
        try await CommandDatabase.run { commands in
            let rows = ["a", "b", "c", "d"].map { "shop,all,\($0),Product \($0)\n" }.joined()
            let file = try commands.file("all.csv", "store,shelf,sku,name\n" + rows)
            #expect(await commands.aisle(["import", file, "--create-store"]).code == 0)
            func version() async throws -> String {
                try #require(try await commands.value("SELECT order_version::text FROM shelf"))
            }
            func moves(_ arguments: [String], _ rows: String, order: String) async throws {
                let run = await commands.aisle(["move", "all"] + arguments)
                #expect(run.code == 0, "\(run)")
                #expect(run.output == "id\tfrom\tto\tafter\n" + rows, "\(arguments)")
                #expect(run.notes == "moved 1; order version \(try await version())\n", "\(arguments)")
                let ids = order.map { "\($0)\n" }.joined()
                #expect(await commands.aisle(["export", "order", "all"]).output == ids, "\(arguments)")
            }
            try await moves(["a", "--after", "b"], "a\t0\t1\tb\n", order: "bacd")
            try await moves(["d", "--before", "a"], "d\t3\t1\tb\n", order: "bdac")
            try await moves(["c", "--first"], "c\t3\t0\t\n", order: "cbda")
            try await moves(["c", "--last"], "c\t0\t3\ta\n", order: "bdac")
            try await moves(["c", "--to", "1"], "c\t3\t1\tb\n", order: "bcda")
            try await moves(["b", "--to", "99"], "b\t0\t3\ta\n", order: "cdab")
            let message = "specify the target with exactly one of --after, --before, --first, --last and --to"
            for targets in [
                [], ["--first", "--last"], ["--after", "b", "--to", "1"], ["--before", "b", "--after", "c"],
            ] {
                await commands.expectFailure(["move", "all", "a"] + targets, 64, message)
            }
            let before = try await version()
            await commands.expect(
                ["move", "all", "c", "--first"],
                output: "id\tfrom\tto\tafter\n",
                notes: "nothing moved; order version \(before)\n"
            )
            // A dry run reports a version as the change would have it.
            let dryRun = await commands.aisle(["move", "all", "c", "--last", "--dry-run"])
            #expect(dryRun.code == 0 && dryRun.output == "id\tfrom\tto\tafter\nc\t0\t3\tb\n", "\(dryRun)")
            let note = "would move 1; order version "
            #expect(dryRun.notes.hasPrefix(note) && dryRun.notes.hasSuffix("\n"), "\(dryRun)")
            let current = try #require(Int64(before))
            #expect((Int64(dryRun.notes.dropFirst(note.count).dropLast()) ?? 0) > current, "\(dryRun)")
            #expect(try await version() == before)
            let json = await commands.aisle(["move", "all", "c", "--last", "--dry-run", "--format", "json"])
            #expect(json.notes == "" && json.output.hasSuffix("}\n"))
            let planned = try JSONReader.parse(Array(json.output.utf8))["order_version"]?.text ?? ""
            #expect((Int64(planned) ?? 0) > current, "\(planned)")
            #expect(try await version() == before)
            await commands.expectFailure(
                ["move", "all", "c", "--last", "--if-version", "1"],
                75,
                "the order has changed; check it, and repeat with --if-version \(before)"
            )
            #expect(await commands.aisle(["move", "all", "c", "--last", "--if-version", before]).code == 0)

            // The log, the latest change first.
            let log = await commands.aisle(["order", "log", "all", "--format", "ndjson"]).output
            let changes = try log.split(separator: "\n").map { try JSONReader.parse(Array($0.utf8)) }
            #expect(changes.count == 7)
            #expect(changes.first?["ids"] == .string("c"))
            #expect(changes.first?["who"] == .string(ProcessInfo.processInfo.userName))
            #expect(changes.allSatisfy { $0["kind"] == .string("move") && $0["moved"] == .number("1") })
            let last = try #require(changes.last?["change"])
            // The undo of the oldest change that still has an effect.
            #expect(await commands.aisle(["order", "undo", "all"]).code == 0)
            let undone = await commands.aisle(["order", "log", "all", "--format", "ndjson"]).output
            let after = try undone.split(separator: "\n").map { try JSONReader.parse(Array($0.utf8)) }
            #expect(after.count == 8)
            #expect(after[0]["undoes"] == changes[0]["change"])
            #expect(after[1]["undone_by"] == after[0]["change"])
            #expect(after[7]["change"] == last)
            #expect(after[7]["undoes"] == .null && after[7]["undone_by"] == .null)

            // A change of more products than the log shows.
            let many = (0..<9).map { "shop,many,m\($0),Product \($0)\n" }.joined()
            let manyFile = try commands.file("many.csv", "store,shelf,sku,name\n" + many)
            #expect(await commands.aisle(["import", manyFile]).code == 0)
            let order = try commands.file("order.txt", (0..<9).reversed().map { "m\($0)\n" }.joined())
            #expect(await commands.aisle(["order", "set", "many", order]).code == 0)
            let set = try JSONReader.parse(
                Array(await commands.aisle(["order", "log", "many", "--format", "json"]).output.utf8)
            )
            let ids = try #require(set.elements?.first?["ids"]?.string)
            #expect(ids.hasSuffix(" …") && ids.split(separator: " ").count == OrderChange.shownLimit + 1)
            await commands.expectFailure(["order", "compact"], 64, "specify a shelf or --all")
            await commands.expectFailure(["order", "compact", "all", "--all"], 64, "specify a shelf or --all")
            await commands.expect(["order", "compact", "all"], notes: "rewrote 0 keys\n")
        }
    }

    @Test("Diffs of shelves and files are printed completely, and wrong arguments are errors")
    func diffs() async throws {
        try await CommandDatabase.run { commands in
            try await Self.fill(commands)
            // Without sorts, both orders are the manual order.
            let same = await commands.aisle(["diff", "dairy"])
            #expect(same.output == "change\tid\tname\tfrom\tto\tafter\n")
            #expect(same.notes.hasPrefix("0 of 3 moved from ") && same.notes.hasSuffix("; 0 inserted, 0 deleted\n"))
            let moved = await commands.aisle(["diff", "dairy", "--from", "price", "--to", "name"])
            #expect(moved.notes == "1 of 3 moved from price to name; 0 inserted, 0 deleted\n")
            #expect(
                ["move\tb1\tButter\t1\t0\t\n", "move\tm1\tMilk\t0\t1\tb1\n"].contains {
                    moved.output == "change\tid\tname\tfrom\tto\tafter\n" + $0
                },
                "\(moved)"
            )
            // In the first product of both orders, one replaces the other.
            await commands.expect(
                ["diff", "dairy", "--from", "price", "--to", "name", "--limit", "1"],
                output: "change\tid\tname\tfrom\tto\tafter\ndelete\tm1\tMilk\t0\t\t\ninsert\tb1\tButter\t\t0\t\n",
                notes: "0 of 1 moved from price to name; 1 inserted, 1 deleted\n"
            )
            await commands.expect(
                ["diff", "dairy", "--to", "name", "--format", "order"],
                output: "b1\nm1\nm2\n"
            )
            await commands.expectFailure(["diff", "a/b/c"], 64, "“a/b/c” is not a shelf; use STORE/SHELF")
            let old = try commands.file("old.txt", "a\nb\nc\nd\n")
            let new = try commands.file("new.txt", "x\nb\na\nd\n")
            await commands.expectFailure(["diff", old, new, "old.txt"], 64, "specify a shelf, or two files")
            let table = "change\tid\tname\tfrom\tto\tafter\n"
            let run = await commands.aisle(["diff", old, new])
            #expect(
                [
                    table + "delete\tc\t\t2\t\t\ninsert\tx\t\t\t0\t\nmove\tb\t\t1\t1\tx\n",
                    table + "delete\tc\t\t2\t\t\ninsert\tx\t\t\t0\t\nmove\ta\t\t0\t2\tb\n",
                ].contains(run.output),
                "\(run)"
            )
            #expect(run.notes == "1 of 4 moved; 1 inserted, 1 deleted\n")
            await commands.expect(
                ["diff", old, new, "--limit", "1"],
                output: table + "delete\ta\t\t0\t\t\ninsert\tx\t\t\t0\t\n",
                notes: "0 of 1 moved; 1 inserted, 1 deleted\n"
            )
            await commands.expectFailure(["diff", old, new, "--limit", "0"], 64, "--limit must be 1 or more")
            for option in ["--from", "--to"] {
                await commands.expectFailure(
                    ["diff", old, new, option, "price"],
                    64,
                    "--from, --to and --collapse require a shelf, not files"
                )
            }
            await commands.expectFailure(
                ["diff", "-", "-"],
                64,
                "only one of the lists can be standard input"
            )
            let json = await commands.aisle(["diff", old, new, "--format", "json"])
            #expect(json.notes == "" && json.output.hasSuffix("}\n"))
            #expect((try? JSONReader.parse(Array(json.output.utf8))) != nil)
            try Data([0x61, 0xFF, 0x0A]).write(to: URL(fileURLWithPath: commands.path("bad.txt")))
            await commands.expectFailure(
                ["diff", commands.path("bad.txt"), new],
                65,
                "\(commands.path("bad.txt")) is not valid UTF-8"
            )
        }
    }

    @Test("The audit log is filtered by every option, and read in pages up to the limit")
    func audit() async throws {
        try await CommandDatabase.run { commands in
            try await Self.fill(commands)
            for number in 1...3 {
                #expect(
                    await commands.aisle(["move", "dairy", "m1", number % 2 == 0 ? "--first" : "--last"]).code == 0
                )
            }
            func actions(_ arguments: [String]) async throws -> [String] {
                let lines = await commands.aisle(["audit"] + arguments + ["--format", "ndjson"]).output
                return try lines.split(separator: "\n").compactMap {
                    try JSONReader.parse(Array($0.utf8))["action"]?.string
                }
            }
            let all = ["order.move", "order.move", "order.move", "import.apply"]
            let found = try await actions([])
            #expect(Array(found.prefix(4)) == all, "\(found)")
            #expect(try await actions(["shop", "--limit", "2"]) == Array(all.prefix(2)))
            #expect(try await actions(["--action", "order.move"]) == Array(all.prefix(3)))
            let user = ProcessInfo.processInfo.userName
            #expect(try await actions(["--actor", user]) == found)
            #expect(try await actions(["--actor", "nobody"]) == [])
            #expect(try await actions(["--subject", "dairy", "--action", "order.move"]).count == 3)
            #expect(try await actions(["--subject", "other"]) == [])
            #expect(try await actions(["--since", "1h"]) == found)
            #expect(try await actions(["--until", "1h"]) == [])
            await commands.expectFailure(
                ["audit", "shpo"],
                66,
                "store “shpo” does not exist; did you mean shop?"
            )
            for (arguments, message) in [
                (["shop", "--user", "ann"], "specify a store or --user, not both"),
                (["--limit", "0"], "--limit must be between 1 and 1000000"),
                (["--limit", "1000001"], "--limit must be between 1 and 1000000"),
            ] {
                let run = await commands.aisle(["audit"] + arguments)
                #expect(run.code == 64 && run.notes.hasPrefix("aisle: \(message)\n"), "\(run)")
            }
            let wrong = await commands.aisle(["audit", "--user", "ann", "--action", "prices.set"])
            #expect(wrong.code == 64)
            #expect(wrong.notes.hasPrefix("aisle: --action must be one of settings.change, list.create, "), "\(wrong)")
            #expect(await commands.aisle(["audit", "--limit", "1000000"]).code == 0)
            // More entries than one page has.
            try await commands.sql(
                """
                INSERT INTO store_audit (store_id, at, audit_id, action, source, actor, detail)
                SELECT store_id, now() - n * interval '1 second', gen_random_uuid(), 'prices.set', 'cli', 'x', '{}'
                FROM store, generate_series(1, 2100) n
                """
            )
            for (limit, count) in [(nil, 50), (1500, 1500), (2000, 2000), (5000, 2100)] as [(Int?, Int)] {
                let arguments = ["--action", "prices.set"] + (limit.map { ["--limit", "\($0)"] } ?? [])
                #expect(try await actions(arguments).count == count)
            }
        }
    }
}
