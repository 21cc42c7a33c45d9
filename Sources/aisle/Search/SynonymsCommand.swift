internal import ArgumentParser
internal import Catalog
internal import CatalogJSON
internal import CatalogPostgres

struct SynonymsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "synonyms",
        abstract: "Show, set and delete the synonyms of searches.",
        discussion: """
            Without --store, the synonyms are those of the deployment, which all stores have. With --store, they are those of the store \
            alone, which add to them.
            """,
        subcommands: [Show.self, Set.self, Remove.self]
    )

    struct Show: AisleCommand {
        static let configuration = CommandConfiguration(
            abstract: "Show the synonyms, as JSON that can be changed and set again."
        )
        @Option(help: "The store's key; the deployment by default.") var store: StoreName?
        @OptionGroup var database: DatabaseOptions
        func execute() async throws {
            try await database.withCatalog { catalog in
                let owner = try await SynonymsCommand.owner(store, catalog)
                guard let found = try await catalog.synonyms.synonyms(of: owner) else {
                    throw CatalogError.noSynonyms(of: owner)
                }
                Console.line(String(decoding: found.json, as: UTF8.self))
            }
        }
    }

    struct Set: AisleCommand {
        static let configuration = CommandConfiguration(
            abstract: "Set the synonyms, or replace them.",
            discussion: """
                The file has lists of texts that find each other, and texts that find others: \
                {"synonyms":[["pop","soda"]],"one_way":[{"from":"bio","to":["organic"]}]}
                """
        )
        @Argument(help: "The synonyms as a JSON file, or - for standard input.") var file: String
        @Option(help: "The store's key; the deployment by default.") var store: StoreName?
        @OptionGroup var database: DatabaseOptions
        func execute() async throws {
            let synonyms = try SynonymsCommand.read(file)
            try await database.withCatalog { catalog in
                let owner = try await SynonymsCommand.owner(store, catalog)
                let isNew = try await catalog.synonyms.set(synonyms, for: owner)
                Console.note("\(isNew ? "set" : "replaced") the synonyms")
            }
        }
    }

    struct Remove: AisleCommand {
        static let configuration = CommandConfiguration(commandName: "rm", abstract: "Delete the synonyms.")
        @Option(help: "The store's key; the deployment by default.") var store: StoreName?
        @OptionGroup var database: DatabaseOptions
        func execute() async throws {
            try await database.withCatalog { catalog in
                try await catalog.synonyms.remove(synonymsOf: SynonymsCommand.owner(store, catalog))
                Console.note("deleted the synonyms")
            }
        }
    }

    private static func owner(_ store: StoreName?, _ catalog: PostgresCatalog) async throws -> DeclarationOwner {
        guard let store else { return .deployment }
        return .store(try await store.resolve(catalog))
    }

    /// The maximum length of a file in bytes. It leaves room for white space.
    private static let fileLimit = 4 * Synonyms.documentLimit

    /// Reads synonyms from a file.
    private static func read(_ path: String) throws -> Synonyms {
        let text = try InputFile.contents(path, of: "a list of synonyms", upTo: fileLimit)
        do { return try Synonyms(text: text) } catch {
            throw CommandFailure("\(path): \(CommandFailure(error).message)", CommandFailure.badData)
        }
    }
}
