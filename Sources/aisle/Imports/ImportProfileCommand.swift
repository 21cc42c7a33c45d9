internal import ArgumentParser
internal import Catalog
internal import CatalogJSON
internal import CatalogPostgres

struct ImportProfileCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "import-profile",
        abstract: "List, show, save and delete profiles: how the files of one origin are written.",
        subcommands: [List.self, Show.self, Put.self, Remove.self]
    )

    struct List: AisleCommand {
        static let configuration = CommandConfiguration(abstract: "List the profiles.")
        @OptionGroup var database: DatabaseOptions
        @Option(help: "The output format; table on a terminal, otherwise tsv.") var format: OutputFormat?
        func execute() async throws {
            try await database.withCatalog { catalog in
                var table = Table(columns: [.init(title: "name"), .init(title: "built_in"), .init(title: "title")])
                for (name, profile) in ImportProfile.builtIn { table.rows.append([name, "yes", profile.title]) }
                for saved in try await catalog.importProfiles.importProfiles() {
                    let profile = try ImportProfile(document: Array(saved.document.utf8))
                    table.rows.append([saved.name.text, "no", profile.title])
                }
                table.print(.resolve(format))
            }
        }
    }

    struct Show: AisleCommand {
        static let configuration = CommandConfiguration(
            abstract: "Show a profile, as JSON that can be changed and saved under another name."
        )
        @Argument(help: "The name of the profile.") var name: String
        @OptionGroup var database: DatabaseOptions
        func execute() async throws {
            try await database.withCatalog { catalog in
                Console.line(
                    String(decoding: try await catalog.importProfiles.profile(named: name).document, as: UTF8.self)
                )
            }
        }
    }

    struct Put: AisleCommand {
        static let configuration = CommandConfiguration(abstract: "Save a profile.")
        @Argument(help: "The name of the profile: letters, digits, hyphens.") var name: String
        @Argument(help: "The profile as a JSON file, or - for standard input.") var file: String
        @OptionGroup var database: DatabaseOptions
        func execute() async throws {
            let name = try ImportProfileCommand.key(name)
            let profile = try ImportProfileCommand.read(file)
            try await database.withCatalog { catalog in
                let isNew = try await catalog.importProfiles.save(profile, named: name)
                Console.note("\(isNew ? "saved" : "replaced") import profile “\(name)”")
            }
        }
    }

    struct Remove: AisleCommand {
        static let configuration = CommandConfiguration(commandName: "rm", abstract: "Delete a profile.")
        @Argument(help: "The name of the profile.") var name: String
        @OptionGroup var database: DatabaseOptions
        func execute() async throws {
            let name = try ImportProfileCommand.key(name)
            guard ImportProfile.builtIn(name.text) == nil else {
                throw CommandFailure("import profile “\(name)” is built in", CommandFailure.usage)
            }
            try await database.withCatalog { catalog in
                try await catalog.importProfiles.remove(importProfile: name)
                Console.note("deleted import profile “\(name)”")
            }
        }
    }

    private static func key(_ name: String) throws -> CatalogKey {
        guard let key = CatalogKey(name) else {
            throw CommandFailure(
                "the name of a profile must be \(CatalogKey.rule) (got “\(name)”)",
                CommandFailure.usage
            )
        }
        return key
    }

    /// Reads a profile from a file.
    private static func read(_ path: String) throws -> ImportProfile {
        let file = try InputFile(path)
        var document: [UInt8] = []
        while document.count <= ImportProfile.byteLimit {
            let bytes = try file.read(upTo: 1 << 16)
            guard !bytes.isEmpty else { break }
            document += bytes
        }
        do { return try ImportProfile(document: document) } catch {
            throw CommandFailure("\(path): \(CommandFailure(error).message)", CommandFailure.badData)
        }
    }

    /// Returns the profile that an option names, or a file; nil without the option.
    static func profile(_ name: String?, _ catalog: PostgresCatalog) async throws -> ImportProfile? {
        guard let name else { return nil }
        if name.contains("/") || name.hasSuffix(".json") { return try read(name) }
        return try await catalog.importProfiles.profile(named: name)
    }
}
