import Foundation
import JSON
import Testing
import TestSupport

/// The output of the commands about attributes, and their errors.
@Suite(.timeLimit(.minutes(15))) struct AttributeCommandTests {
    @Test("Attributes are declared, changed, listed, shown and deleted, for the deployment and for a store")
    func lifecycle() async throws {
        try await CommandDatabase.run { commands in
            let products = try commands.file(
                "p.ndjson",
                #"{"sku":"a","name":"A","attributes":{"rating":"good"}}"# + "\n"
            )
            let run = await commands.aisle(["import", products, "--store", "shop", "--create-store"])
            #expect(run.code == 0, "\(run)")
            let rating = try commands.file(
                "rating.json",
                #"{"type":"number","decimals":1,"title":{"en":"Rating","hr":"Ocjena"}}"#
            )
            await commands.expect(
                ["attribute", "set", "rating", rating],
                notes: """
                    declared attribute “rating”
                    products whose value has another type, and counts as missing: 1

                    """
            )
            let text = try commands.file("text.json", #"{"type":"text"}"#)
            await commands.expect(
                ["attribute", "set", "origin", text, "--store", "shop"],
                notes: "declared attribute “origin”\n"
            )
            let titles = try commands.file("titles.json", #"{"title":{"en":"Stars"}}"#)
            await commands.expect(
                ["attribute", "set", "rating", titles, "--store", "shop"],
                // The type does not change, so values are not counted.
                notes: "declared attribute “rating”\n"
            )
            await commands.expect(
                ["attribute", "list"],
                output: "name\ttype\tdeclared_by\ttitle\nrating\tnumber\tdeployment\tRating\n"
            )
            await commands.expect(
                ["attribute", "list", "--store", "shop"],
                output: """
                    name\ttype\tdeclared_by\ttitle
                    origin\ttext\tstore\t
                    rating\tnumber\tdeployment\tStars

                    """
            )
            let shown = await commands.aisle(["attribute", "show", "rating", "--store", "shop"])
            let json = try JSONReader.parse(Array(shown.output.utf8))
            #expect(json["title"]?["hr"] == .string("Ocjena") && json["title"]?["en"] == .string("Stars"))
            #expect(shown.code == 0 && shown.output.hasSuffix("}\n"))
            let again = try commands.file("again.json", shown.output)
            let same = await commands.aisle(["attribute", "set", "rating", again, "--store", "shop"])
            #expect(same.code == 0 && same.notes == "changed attribute “rating”\n", "\(same)")
            await commands.expect(["attribute", "rm", "rating"], notes: "deleted attribute “rating”\n")
            await commands.expect(
                ["attribute", "rm", "origin", "--store", "shop"],
                notes: "deleted attribute “origin”\n"
            )
            await commands.expect(["attribute", "list", "--store", "shop"], output: "name\ttype\tdeclared_by\ttitle\n")
        }
    }

    @Test("An attribute that a profile uses is retyped and deleted only with --yes")
    func confirmations() async throws {
        try await CommandDatabase.run { commands in
            let profile = try commands.file("supplier.json", #"{"attributes":{"rating":"Stars"}}"#)
            #expect(await commands.aisle(["import-profile", "put", "supplier", profile]).code == 0)
            let number = try commands.file("number.json", #"{"type":"number"}"#)
            let text = try commands.file("text.json", #"{"type":"text"}"#)
            #expect(await commands.aisle(["attribute", "set", "rating", number]).code == 0)
            for arguments in [["attribute", "set", "rating", text], ["attribute", "rm", "rating"]] {
                await commands.expectFailure(
                    arguments,
                    65,
                    "attribute “rating” is in use: 1 import profile; nothing was changed, confirm with --yes"
                )
            }
            #expect(await commands.aisle(["attribute", "set", "rating", text, "--yes"]).code == 0)
            await commands.expect(["attribute", "rm", "rating", "--yes"], notes: "deleted attribute “rating”\n")
        }
    }

    @Test("Wrong names, files, types and stores are refused, with a suggestion where there is one")
    func errors() async throws {
        try await CommandDatabase.run { commands in
            let text = try commands.file("text.json", #"{"type":"text"}"#)
            let invalid = try commands.file("invalid.json", #"{"type":"colour"}"#)
            let broken = try commands.file("broken.json", "{")
            let huge = try commands.file("huge.json", String(repeating: " ", count: 262_144) + "{}")
            await commands.expectFailure(
                ["attribute", "set", "Rating", text],
                64,
                "the name of an attribute must be 1 to 32 characters of a-z, 0-9 and _, starting with a letter (got “Rating”)"
            )
            #expect(await commands.aisle(["attribute", "set", "price", text]).code == 65)
            for file in [invalid, broken, huge] {
                let refused = await commands.aisle(["attribute", "set", "rating", file])
                #expect(refused.code == 65 && refused.notes.hasPrefix("aisle: \(file): "), "\(refused)")
            }
            #expect(await commands.aisle(["attribute", "set", "rating", commands.path("none.json")]).code == 66)
            #expect(await commands.aisle(["attribute", "set", "rating", text]).code == 0)
            await commands.expectFailure(
                ["attribute", "show", "ratng"],
                66,
                "attribute “ratng” does not exist; did you mean rating?"
            )
            await commands.expectFailure(
                ["attribute", "rm", "origin"],
                66,
                "attribute “origin” of the deployment does not exist"
            )
            await commands.expectFailure(
                ["attribute", "list", "--store", "none"],
                66,
                "store “none” does not exist; list them with: aisle store list"
            )
        }
    }
}
