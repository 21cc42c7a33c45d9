import Catalog
import Foundation
import JSON
import Platform
import TestSupport
import Testing

/// The output of the commands about single products, and their errors.
@Suite(.timeLimit(.minutes(15))) struct ProductCommandTests {
    private static let columns = "sku\tname\tbrand\tprice\tunit_price\tsize\tpopularity\tin_stock\tbarcode\n"

    /// Fills a store “shop”, whose products have a rating and allergens.
    private static func fill(_ commands: CommandDatabase) async throws {
        try await CatalogCommandTests.fill(commands)
        for (name, declaration) in [
            ("rating", #"{"type":"number","decimals":1}"#), ("allergens", #"{"type":"set"}"#),
        ] {
            let file = try commands.file("\(name).json", declaration)
            #expect(await commands.aisle(["attribute", "set", name, file]).code == 0)
        }
    }

    private static func shown(_ sku: String, _ commands: CommandDatabase) async throws -> JSONValue {
        let run = await commands.aisle(["product", "show", "shop", sku])
        #expect(run.code == 0 && run.output.hasSuffix("}\n"), "\(run)")
        return try JSONReader.parse(Array(run.output.utf8))
    }

    @Test("Products are listed by SKU, by barcode, up to a limit, and in every format")
    func list() async throws {
        try await CommandDatabase.run { commands in
            try await Self.fill(commands)
            let rows = [
                "b1\tButter\tAlm\t\t\t250 g\t0.0\tyes\t\n", "m1\tMilk\tAlm\t1.19 EUR\t1.19/1 l\t1 l\t0.0\tyes\t\n",
                "m2\tCream\t\t2.00 EUR\t5.00/1 l\t2 × 200 ml\t0.0\tno\t\n",
            ]
            await commands.expect(["product", "list", "shop"], output: Self.columns + rows.joined())
            await commands.expect(
                ["product", "list", "shop", "--limit", "2"],
                output: Self.columns + rows[0] + rows[1]
            )
            let json = await commands.aisle(["product", "list", "shop", "--format", "json"]).output
            let products = try JSONReader.parse(Array(json.utf8)).elements
            #expect(products?.compactMap { $0["sku"] } == ["b1", "m1", "m2"].map { .string($0) })
            let lines = await commands.aisle(["product", "list", "shop", "--format", "ndjson"]).output
            #expect(try lines.split(separator: "\n").map { try JSONReader.parse(Array($0.utf8)) } == products)

            #expect(await commands.aisle(["product", "set", "shop", "m1", "--barcode", "96385074"]).code == 0)
            let found = Self.columns + "m1\tMilk\tAlm\t1.19 EUR\t1.19/1 l\t1 l\t0.0\tyes\t96385074\n"
            await commands.expect(["product", "list", "shop", "--barcode", "00000096385074"], output: found)
            await commands.expect(["product", "list", "shop", "--barcode", "96385075"], output: Self.columns)
            await commands.expectFailure(["product", "list", "shop", "--limit", "0"], 64, "--limit must be 1 or more")
            await commands.expectFailure(
                ["product", "list", "shop", "--barcode", ""],
                64,
                "--barcode must have 1 to 64 bytes (got 0)"
            )
            await commands.expectFailure(
                ["product", "list", "shp"],
                66,
                "store “shp” does not exist; did you mean shop?"
            )
        }
    }

    @Test("A list reads all products of a store in batches")
    func longList() async throws {
        try await CommandDatabase.run { commands in
            let rows = (0..<2005).map { "shop,all,p\(10_000 + $0),Product \($0)\n" }.joined()
            let file = try commands.file("all.csv", "store,shelf,sku,name\n" + rows)
            #expect(await commands.aisle(["import", file, "--create-store"]).code == 0)
            for (arguments, count) in [([], 2005), (["--limit", "1500"], 1500), (["--limit", "1000"], 1000)] {
                let output = await commands.aisle(["product", "list", "shop"] + arguments).output
                let skus = output.split(separator: "\n").dropFirst().map { String($0.prefix { $0 != "\t" }) }
                #expect(skus == (0..<count).map { "p\(10_000 + $0)" }, "\(arguments)")
            }
            // Lines are printed in batches, with the titles once.
            for (format, lines) in [("csv", 2006), ("ndjson", 2005), ("table", 2007)] {
                let output = await commands.aisle(["product", "list", "shop", "--format", format]).output
                #expect(output.split(separator: "\n").count == lines, "\(format)")
                #expect(output.ranges(of: "p12004").count == 1, "\(format)")
            }
            let json = await commands.aisle(["product", "list", "shop", "--format", "json"]).output
            #expect(try JSONReader.parse(Array(json.utf8)).elements?.count == 2005)
        }
    }

    @Test("A product is created, shown, changed, placed, removed from its shelf and deleted")
    func lifecycle() async throws {
        try await CommandDatabase.run { commands in
            try await Self.fill(commands)
            await commands.expect(
                [
                    "product", "set", "shop", "k1", "--name", "Kefir", "--brand", "Alm", "--price", "1.49",
                    "--regular-price", "1.99", "--size", "6 x 330 ml", "--tag", "bio", "--tag", "new", "--no-in-stock",
                    "--barcode", "4006381333931", "--image-url", "/kefir.jpg", "--group", "kefir", "--attribute",
                    "rating=4.5", "--attribute", "allergens=milk|nuts",
                ],
                notes: "created product “k1”\n"
            )
            let created = try await Self.shown("k1", commands)
            #expect(created["name"] == .string("Kefir") && created["brand"] == .string("Alm"))
            #expect(created["price_minor"] == .number("149") && created["regular_price_minor"] == .number("199"))
            #expect(created["size"]?["amount"] == .string("330") && created["size"]?["packs"] == .number("6"))
            #expect(created["tags"] == .array([.string("bio"), .string("new")]))
            #expect(created["in_stock"] == .bool(false) && created["image_url"] == .string("/kefir.jpg"))
            #expect(created["barcode"] == .string("4006381333931") && created["shelves"] == .array([]))
            #expect(created["group"] == .string("kefir") && created["attributes"]?["rating"] == .number("4.5"))
            #expect(created["attributes"]?["allergens"] == .array([.string("milk"), .string("nuts")]))

            await commands.expect(
                [
                    "product", "set", "shop", "k1", "--price", "1.29", "--regular-price", "", "--brand", "",
                    "--tag", "", "--in-stock", "--attribute", "rating=",
                ],
                notes: "changed product “k1”\n"
            )
            let changed = try await Self.shown("k1", commands)
            #expect(changed["price_minor"] == .number("129") && changed["regular_price_minor"] == .null)
            #expect(changed["brand"] == .null && changed["tags"] == .array([]) && changed["in_stock"] == .bool(true))
            #expect(changed["name"] == created["name"] && changed["size"] == created["size"])
            #expect(changed["attributes"]?["rating"] == nil)
            #expect(changed["attributes"]?["allergens"] == created["attributes"]?["allergens"])

            await commands.expect(
                ["product", "place", "shop/dairy", "k1"],
                notes: "product “k1” is now on shelf shop/dairy\n"
            )
            await commands.expect(
                ["product", "place", "dairy", "k1"],
                notes: "product “k1” was already on shelf shop/dairy\n"
            )
            #expect(try await Self.shown("k1", commands)["shelves"] == .array([.string("dairy")]))
            await commands.expect(
                ["product", "remove-from-shelf", "shop/dairy", "k1"],
                notes: "removed product “k1” from shelf shop/dairy\n"
            )
            await commands.expectFailure(
                ["product", "remove-from-shelf", "shop/dairy", "k1"],
                66,
                "product “k1” on shelf “dairy” does not exist"
            )
            for command in ["place", "remove-from-shelf"] {
                await commands.expectFailure(
                    ["product", command, "shop/dary", "k1"],
                    66,
                    "shelf “shop/dary” does not exist; did you mean shop/dairy?"
                )
            }
            await commands.expectFailure(
                ["product", "place", "shop/dairy", "k2"],
                66,
                "product “k2” does not exist"
            )

            await commands.expectFailure(
                ["product", "rm", "shop", "k1"],
                64,
                "nothing was deleted; confirm with --yes"
            )
            let record = TerminalRecord(isTerminal: true, answers: ["y"])
            let deleted = await commands.aisle(["product", "rm", "shop", "k1"], on: record)
            #expect(deleted.code == 0)
            #expect(
                deleted.notes
                    == "delete product “k1”, “Kefir”, which is on no shelf? [y/N] deleted product “k1”\n"
            )
            await commands.expectFailure(["product", "rm", "shop", "k1", "--yes"], 66, "product “k1” does not exist")
            await commands.expectFailure(["product", "show", "shop", "k1"], 66, "product “k1” does not exist")

            let log = await commands.aisle(["audit", "shop", "--format", "ndjson"]).output
            let entries = try log.split(separator: "\n").map { try JSONReader.parse(Array($0.utf8)) }
                .filter { $0["subject"] == .string("k1") }
            #expect(entries.first?["action"] == .string("product.delete"))
            #expect(entries.last?["action"] == .string("product.create"))
            #expect(entries.count == 5)
            #expect(entries.allSatisfy { $0["source"] == .string("cli") })
        }
    }

    @Test("A new price removes a regular price that is not above it, and no price removes both")
    func regularPrice() async throws {
        try await CommandDatabase.run { commands in
            try await Self.fill(commands)
            for (arguments, price, regular) in [
                (["--regular-price", "1.99"], "119", "199"), (["--price", "1.49"], "149", "199"),
                (["--price", "1.99"], "199", nil), (["--price", "1.79", "--regular-price", "2.49"], "179", "249"),
                (["--price", ""], nil, nil),
            ] as [([String], String?, String?)] {
                await commands.expect(["product", "set", "shop", "m1"] + arguments, notes: "changed product “m1”\n")
                let shown = try await Self.shown("m1", commands)
                #expect(shown["price_minor"] == price.map { .number($0) } ?? .null, "\(arguments)")
                #expect(shown["regular_price_minor"] == regular.map { .number($0) } ?? .null, "\(arguments)")
            }
        }
    }

    @Test("Setting the values that a product has changes nothing, and is reported")
    func unchanged() async throws {
        try await CommandDatabase.run { commands in
            try await Self.fill(commands)
            let before = try await Self.shown("m1", commands)
            let log = await commands.aisle(["audit", "shop", "--format", "ndjson"]).output
            await commands.expect(
                ["product", "set", "shop", "m1", "--name", "Milk", "--price", "1.19", "--size", "1 l"],
                notes: "product “m1” is unchanged\n"
            )
            #expect(try await Self.shown("m1", commands) == before)
            #expect(await commands.aisle(["audit", "shop", "--format", "ndjson"]).output == log)
        }
    }

    @Test("A file is a merge patch: null removes a member, a missing one stays, and what is shown can be set again")
    func file() async throws {
        try await CommandDatabase.run { commands in
            try await Self.fill(commands)
            let patch = try commands.file(
                "patch.json",
                #"{"price_minor":99,"brand":null,"attributes":{"rating":3,"undeclared":{"a":1}}}"#
            )
            await commands.expect(
                ["product", "set", "shop", "m1", "--json", patch],
                notes: "changed product “m1”\n"
            )
            let changed = try await Self.shown("m1", commands)
            #expect(changed["price_minor"] == .number("99") && changed["brand"] == .null)
            #expect(changed["name"] == .string("Milk"))
            #expect(changed["attributes"]?["rating"] == .number("3"))
            #expect(changed["attributes"]?["undeclared"]?["a"] == .number("1"))
            let again = try commands.file("again.json", await commands.aisle(["product", "show", "shop", "m1"]).output)
            await commands.expect(
                ["product", "set", "shop", "m1", "--json", again],
                notes: "product “m1” is unchanged\n"
            )
            #expect(try await Self.shown("m1", commands) == changed)
            let missing = try commands.file("missing.json", #"{"name":"Milk","attributes":{}}"#)
            await commands.expect(
                ["product", "set", "shop", "m1", "--json", missing],
                notes: "product “m1” is unchanged\n"
            )
            let removal = try commands.file("removal.json", #"{"size":null,"attributes":{"rating":null}}"#)
            await commands.expect(
                ["product", "set", "shop", "m1", "--json", removal],
                notes: "changed product “m1”\n"
            )
            let removed = try await Self.shown("m1", commands)
            #expect(removed["size"] == .null && removed["attributes"]?["rating"] == nil)
            #expect(removed["attributes"]?["undeclared"] == changed["attributes"]?["undeclared"])
            #expect(removed["price_minor"] == .number("99"))
            let new = try commands.file("new.json", #"{"name":"Quark","price_minor":159}"#)
            await commands.expect(
                ["product", "set", "shop", "q1", "--json", new],
                notes: "created product “q1”\n"
            )
        }
    }

    @Test("Wrong SKUs, fields and files are refused, and change nothing")
    func errors() async throws {
        try await CommandDatabase.run { commands in
            try await Self.fill(commands)
            let before = try await Self.shown("m1", commands)
            let set = ["product", "set", "shop", "m1"]
            await commands.expectFailure(set, 64, "specify a field, such as --price 1.99")
            let empty = try commands.file("empty.json", "{}")
            await commands.expectFailure(
                set + ["--json", empty, "--name", "A"],
                64,
                "leave out the other fields with --json"
            )
            await commands.expectFailure(
                ["product", "show", "shop", "a/b"],
                64,
                "a SKU must be 1 to 64 printable characters without /, without leading or trailing spaces, not . or .. (got “a/b”)"
            )
            await commands.expectFailure(
                ["product", "set", "shop", "x1", "--price", "1"],
                66,
                "product “x1” does not exist in store “shop”; to create it, give it a name"
            )
            await commands.expectFailure(set + ["--name", ""], 64, "--name is required")
            await commands.expectFailure(
                ["product", "set", "shop", "b1", "--regular-price", "1"],
                64,
                "--regular-price requires --price; set --price, too, or omit --regular-price"
            )
            await commands.expectFailure(
                set + ["--image-url", "x"],
                64,
                "--image-url must be \(Product.imageURLRule)"
            )
            await commands.expectFailure(
                set + ["--attribute", "rating=good"],
                64,
                "attribute “rating” must be a number with at most 1 decimal and at most 14 digits before the point (got “good”)"
            )
            #expect(await commands.aisle(set + ["--json", commands.path("none.json")]).code == 66)
            for (name, text) in [
                ("list", "[]"), ("broken", "{"), ("unknown", #"{"colour":"red"}"#), ("type", #"{"name":7}"#),
                ("blank", #"{"name":" "}"#), ("negative", #"{"price_minor":-1}"#),
                ("regular", #"{"price_minor":null,"regular_price_minor":1}"#),
                ("rating", #"{"attributes":{"rating":"x"}}"#),
            ] {
                let file = try commands.file("\(name).json", text)
                let refused = await commands.aisle(set + ["--json", file])
                #expect(refused.code == 65 && refused.notes.hasPrefix("aisle: \(file): "), "\(refused)")
            }
            #expect(try await Self.shown("m1", commands) == before)
        }
    }
}
