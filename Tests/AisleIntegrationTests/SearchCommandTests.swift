import JSON
import Platform
import TestSupport
import Testing

/// The output of searches on the command line, and their errors.
@Suite(.timeLimit(.minutes(15))) struct SearchCommandTests {
    private static let products = """
        store,shelf,sku,name,price,currency,group
        shop,dairy,m1,Milk,1.20,EUR,plain
        shop,dairy,m2,Milk drink,2.40,EUR,plain
        shop,dairy,m3,Fresh milk,1.10,EUR,
        shop,dairy,m4,Milk powder,4.50,EUR,
        shop,dairy,m5,Goat milk,3.30,EUR,
        shop,sweets,c1,Chocolate,1.90,EUR,
        shop,sweets,s1,Milkshake,2.20,EUR,

        """

    private static func run(_ body: (CommandDatabase) async throws -> Void) async throws {
        try await CommandDatabase.run { commands in
            let file = try commands.file("products.csv", products)
            #expect(await commands.aisle(["import", file, "--create-store"]).code == 0)
            try await body(commands)
        }
    }

    private static func skus(_ arguments: [String], _ commands: CommandDatabase) async -> [String] {
        let run = await commands.aisle(["search"] + arguments)
        #expect(run.code == 0, "\(run)")
        return run.output.split(separator: "\n").dropFirst().map { String($0.prefix { $0 != "\t" }) }
    }

    @Test("A search prints products by relevance or another sort, of the store or a shelf, with filters and a limit")
    func products() async throws {
        try await Self.run { commands in
            // Names that begin with the word come first; the beginning of another word is not needed.
            for (arguments, skus) in [
                (["milk"], ["m1", "m2", "m4", "m3", "m5"]), (["milk", "--limit", "2"], ["m1", "m2"]),
                (["milk", "--by", "price"], ["m3", "m1", "m2", "m5", "m4"]),
                (["milk", "--by", "-relevance,price"], ["m1", "m2", "m4", "m3", "m5"]),
                (["milk", "--price-max", "2"], ["m1", "m3"]), (["fresh", "milk"], ["m3"]), (["milk fresh"], ["m3"]),
                (["milk", "--shelf", "sweets"], ["s1"]), (["MILK", "--shelf", "shop/dairy", "--limit", "1"], ["m1"]),
                (["milk", "--store", "shop", "--limit", "1"], ["m1"]),
                (["milk", "--collapse"], ["m1", "m4", "m3", "m5"]),
                (["milk", "--no-collapse", "--limit", "2"], ["m1", "m2"]),
            ] {
                #expect(await Self.skus(arguments, commands) == skus, "\(arguments)")
            }
            let table = await commands.aisle(["search", "goat"])
            #expect(
                table.output == """
                    sku\tname\tbrand\tprice\tunit_price\tsize\tpopularity\tin_stock
                    m5\tGoat milk\t\t3.30 EUR\t\t\t0.0\tyes

                    """
            )
            let json = await commands.aisle(["search", "milk", "--format", "json"])
            let found = try JSONReader.parse(Array(json.output.utf8))
            #expect(found["q"]?["text"] == .string("milk") && found["q"]?["class"] == .string("exact"))
            #expect(found["products"]?.elements?.compactMap { $0["sku"]?.string } == ["m1", "m2", "m4", "m3", "m5"])
            #expect(found["total"] == .number("5"))
            let two = await commands.aisle(["search", "milk", "--limit", "2", "--format", "json"]).output
            let first = try JSONReader.parse(Array(two.utf8))
            #expect(first["total"] == .number("5") && first["products"]?.elements?.count == 2)
            let lines = await commands.aisle(["search", "milk", "--format", "ndjson"]).output
            #expect(
                try lines.split(separator: "\n").map { try JSONReader.parse(Array($0.utf8)) }
                    == found["products"]?.elements
            )
        }
    }

    @Test("A search on a shelf also searches the shelves below it, if it is asked to")
    func descendants() async throws {
        try await Self.run { commands in
            let created = await commands.aisle(["shelf", "create", "shop/drinks", "--parent", "dairy"])
            #expect(created.code == 0, "\(created)")
            for sku in ["k1", "k2"] {
                let name = sku == "k1" ? "Milk kefir" : "Kefir"
                #expect(await commands.aisle(["product", "set", "shop", sku, "--name", name]).code == 0)
                #expect(await commands.aisle(["product", "place", "shop/drinks", sku]).code == 0)
            }
            let kefir = ["kefir", "--shelf", "shop/dairy"]
            #expect(await Self.skus(kefir, commands) == [])
            #expect(await Self.skus(kefir + ["--descendants"], commands) == ["k2", "k1"])
            #expect(await Self.skus(["kefir", "--shelf", "drinks"], commands) == ["k2", "k1"])
        }
    }

    @Test("A terminal shows the number of products and the class, and an empty result says which word finds nothing")
    func notes() async throws {
        try await Self.run { commands in
            func note(_ arguments: [String]) async -> String {
                await commands.aisle(["search"] + arguments, on: TerminalRecord(isTerminal: true)).notes
            }
            #expect(await note(["milk", "--limit", "2"]) == "2 of 5 products for “milk” by -relevance; class exact\n")
            #expect(
                await note(["milk", "--price-max", "2"])
                    == "2 of 2 products for “milk” by -relevance where price_max=2; class exact\n"
            )
            // Without a terminal, too.
            for (words, reason) in [
                ("tofuburger", "no product has “tofuburger”"), ("milk tofuburger", "no product has “tofuburger”"),
                ("goat chocolate", "no product has all words"),
            ] {
                let run = await commands.aisle(["search", words])
                #expect(run.code == 0 && run.notes.hasPrefix(reason), "\(run)")
                #expect(run.output.split(separator: "\n").count == 1, "\(words)")
            }
            let corrected = await commands.aisle(["search", "chokolaet"]).notes
            #expect(corrected == "no product has “chokolaet”; did you mean “chocolate”?\n")
            await commands.expect(
                ["search", "milk", "--price-max", "1"],
                output: "sku\tname\tbrand\tprice\tunit_price\tsize\tpopularity\tin_stock\n",
                notes: "the filter excludes all products that the search finds\n"
            )
        }
    }

    @Test("The rank of a product in a search is printed, or that the search does not find it")
    func ranks() async throws {
        try await Self.run { commands in
            for (sku, row) in [("m4", "m4\tshown\t2\t5\tm2\tm3\t\t"), ("c1", "c1\tnot_found\t\t5\t\t\t\t")] {
                let run = await commands.aisle(["search", "milk", "--why", sku])
                #expect(run.code == 0)
                #expect(
                    run.output.hasPrefix("sku\treason\trank\tof\tbefore\tafter\tfilters\ttuple\n" + row),
                    "\(run.output)"
                )
            }
            let json = await commands.aisle(["search", "milk", "--why", "m4", "--format", "json"])
            let found = try JSONReader.parse(Array(json.output.utf8))
            #expect(found["q"]?["text"] == .string("milk") && json.code == 0)
            let rank = try #require(found["products"]?.elements?.first)
            #expect(rank["sku"] == .string("m4") && rank["rank"] == .number("2"))
        }
    }

    @Test("A query without words, a wrong sort and an unknown shelf are refused")
    func errors() async throws {
        try await Self.run { commands in
            for (arguments, code, message) in [
                (["..."], 64, "the query must have a letter or a digit"),
                ([String(repeating: "a", count: 101)], 64, "the query must have at most 100 characters (got 101)"),
                (["a b c d e f g h i"], 64, "the query must have at most 8 words (got 9)"),
                (["milk", "--limit", "0"], 64, "--limit must be 1 or more"),
                (["milk", "--descendants"], 64, "--descendants requires --shelf"),
                (["milk", "--shelf", "swets"], 66, "shelf “shop/swets” does not exist; did you mean shop/sweets?"),
                (
                    ["milk", "--why", "m1", "--limit", "3"], 64, "--limit is for lists; leave it out with --why"
                ),
                (
                    ["milk", "--store", "shop", "--shelf", "dairy"], 64,
                    "specify the store in --shelf, as STORE/SHELF, not with --store"
                ),
                (["milk", "--store", "shp"], 66, "store “shp” does not exist; did you mean shop?"),
            ] as [([String], Int32, String)] {
                await commands.expectFailure(["search"] + arguments, code, message)
            }
            #expect(await commands.aisle(["store", "create", "other", "--currency", "EUR"]).code == 0)
            await commands.expectFailure(["search", "milk"], 64, "specify the store, one of: other, shop")
            for sort in ["relevance", "price,-relevance", "prize"] {
                #expect(
                    await commands.aisle(["search", "milk", "--store", "shop", "--by", sort]).code == 64,
                    "\(sort)"
                )
            }
        }
    }
}
