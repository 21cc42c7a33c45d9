import JSON
import TestSupport
import Testing

/// The output of the commands about synonyms and suggestions, and their errors.
@Suite(.timeLimit(.minutes(15))) struct SynonymsCommandTests {
    private static let text = #"{"synonyms":[["pop","soda"]],"one_way":[{"from":"bio","to":["eko"]}]}"#

    @Test("Synonyms are set, replaced, shown and deleted, for the deployment and for a store")
    func lifecycle() async throws {
        try await CommandDatabase.run { commands in
            let products = try commands.file("p.ndjson", #"{"sku":"a","name":"A"}"# + "\n")
            let run = await commands.aisle(["import", products, "--store", "shop", "--create-store"])
            #expect(run.code == 0, "\(run)")
            let file = try commands.file("synonyms.json", Self.text)
            for owner in [[], ["--store", "shop"]] {
                await commands.expect(["synonyms", "set", file] + owner, notes: "set the synonyms\n")
                await commands.expect(["synonyms", "set", file] + owner, notes: "replaced the synonyms\n")
                await commands.expect(["synonyms", "show"] + owner, output: Self.text + "\n")
                await commands.expect(["synonyms", "rm"] + owner, notes: "deleted the synonyms\n")
            }
        }
    }

    @Test("Suggestions are printed with their kinds and keys")
    func suggestions() async throws {
        try await CommandDatabase.run { commands in
            let products = try commands.file(
                "p.csv",
                "store,shelf,sku,name,brand,price\nshop,Milk products,a,Oat milk,Milka,1\nshop,Milk products,b,Milk,,1\n"
            )
            let run = await commands.aisle(["import", products, "--create-store"])
            #expect(run.code == 0, "\(run)")
            await commands.expect(
                ["suggest", "mil"],
                output: """
                    kind\tkey\ttext
                    word\t\tmilk
                    word\t\tmilka
                    shelf\tmilk-products\tMilk products
                    brand\t\tMilka
                    product\tb\tMilk
                    product\ta\tOat milk

                    """
            )
            await commands.expect(["suggest", "mil", "--limit", "1"], output: "kind\tkey\ttext\nproduct\tb\tMilk\n")
            await commands.expect(["suggest", "x"], output: "kind\tkey\ttext\n")
            await commands.expectFailure(["suggest", "mil", "--limit", "21"], 64, "--limit must be between 1 and 20")
            let long = await commands.aisle(["suggest", String(repeating: "a", count: 101)])
            #expect(long.code == 64 && long.notes.contains("q must have at most 100 characters"), "\(long)")
        }
    }

    @Test("Missing synonyms, wrong files and unknown stores are refused")
    func errors() async throws {
        try await CommandDatabase.run { commands in
            let invalid = try commands.file("invalid.json", #"{"synonyms":[["a"]]}"#)
            let broken = try commands.file("broken.json", "{")
            let huge = try commands.file("huge.json", String(repeating: " ", count: 1 << 20) + "{}")
            await commands.expectFailure(
                ["synonyms", "set", invalid],
                65,
                "\(invalid): synonyms[0] must have 2 to 20 texts (got 1)"
            )
            for file in [broken, huge] {
                let refused = await commands.aisle(["synonyms", "set", file])
                #expect(refused.code == 65 && refused.notes.hasPrefix("aisle: \(file): "), "\(refused)")
            }
            #expect(await commands.aisle(["synonyms", "set", commands.path("none.json")]).code == 66)
            for command in ["show", "rm"] {
                await commands.expectFailure(
                    ["synonyms", command],
                    66,
                    "the list of synonyms of the deployment does not exist"
                )
                await commands.expectFailure(
                    ["synonyms", command, "--store", "none"],
                    66,
                    "store “none” does not exist; list them with: aisle store list"
                )
            }
        }
    }
}
