internal import ArgumentParser
internal import Catalog
internal import CatalogJSON
internal import CatalogPostgres
internal import JSON

struct AttributeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "attribute",
        abstract: "List, show, declare and delete attributes of products.",
        discussion: """
            Without --store, the attributes are those of the deployment, which all stores have. With --store, they are those in effect in \
            the store. A store can declare attributes of its own, and give other titles to those of the deployment.
            """,
        subcommands: [List.self, Show.self, Set.self, Remove.self]
    )

    struct List: AisleCommand {
        static let configuration = CommandConfiguration(abstract: "List the attributes.")
        @Option(help: "The store's key; the deployment by default.") var store: StoreName?
        @OptionGroup var database: DatabaseOptions
        @Option(help: "The output format; table on a terminal, otherwise tsv.") var format: OutputFormat?
        func execute() async throws {
            try await database.withCatalog { catalog in
                let owner = try await AttributeCommand.owner(store, catalog)
                var language = Store.defaultLocale
                if case .store(let key) = owner { language = try await catalog.shelves.store(key).locale }
                var table = Table(columns: [
                    .init(title: "name"), .init(title: "type"), .init(title: "declared_by"), .init(title: "title"),
                ])
                for attribute in try await catalog.attributes.attributes(of: owner).attributes {
                    table.rows.append([
                        attribute.name.text, attribute.definition.form.typeName,
                        attribute.isOfStore ? "store" : "deployment", attribute.definition.title.text(in: language),
                    ])
                }
                table.print(.resolve(format))
            }
        }
    }

    struct Show: AisleCommand {
        static let configuration = CommandConfiguration(
            abstract: "Show an attribute, as JSON that can be changed and declared again."
        )
        @Argument(help: "The name of the attribute.") var name: String
        @Option(help: "The store's key; the deployment by default.") var store: StoreName?
        @OptionGroup var database: DatabaseOptions
        func execute() async throws {
            let name = try AttributeCommand.name(name)
            try await database.withCatalog { catalog in
                let found = try await AttributeCommand.find(name, AttributeCommand.owner(store, catalog), catalog)
                Console.line(String(decoding: found.json, as: UTF8.self))
            }
        }
    }

    struct Set: AisleCommand {
        static let configuration = CommandConfiguration(
            abstract: "Declare an attribute, or replace its declaration.",
            discussion: """
                Products keep their values. Those of another type count as missing, and the command prints their number if the type has \
                changed.
                """
        )
        @Argument(help: "The name of the attribute: a-z, 0-9 and _.") var name: String
        @Argument(help: "The declaration as a JSON file, or - for standard input.") var file: String
        @Option(help: "The store's key; the deployment by default.") var store: StoreName?
        @OptionGroup var database: DatabaseOptions
        @Flag(help: "Change the type without asking, even if the attribute is in use.") var yes = false
        func execute() async throws {
            let name = try AttributeCommand.name(name)
            let declaration = try AttributeCommand.read(file, name)
            try await database.withCatalog { catalog in
                let owner = try await AttributeCommand.owner(store, catalog)
                let declared = try await AttributeCommand.confirmed("change", yes) { isConfirmed in
                    try await catalog.attributes.declare(
                        declaration,
                        for: owner,
                        expecting: nil,
                        isConfirmed: isConfirmed
                    )
                }
                Console.note("\(declared.isNew ? "declared" : "changed") attribute “\(name)”")
                guard declared.changesForm else { return }
                switch await catalog.attributes.unreadableValues(after: declared, of: owner) {
                case nil: Console.note("the values of products were not counted, because that takes too long")
                case 0?: break
                case let count?: Console.note("products whose value has another type, and counts as missing: \(count)")
                }
            }
        }
    }

    struct Remove: AisleCommand {
        static let configuration = CommandConfiguration(
            commandName: "rm",
            abstract: "Delete the declaration of an attribute, or a store's titles for it. Products keep their values."
        )
        @Argument(help: "The name of the attribute.") var name: String
        @Option(help: "The store's key; the deployment by default.") var store: StoreName?
        @OptionGroup var database: DatabaseOptions
        @Flag(help: "Delete the attribute without asking, even if it is in use.") var yes = false
        func execute() async throws {
            let name = try AttributeCommand.name(name)
            try await database.withCatalog { catalog in
                let owner = try await AttributeCommand.owner(store, catalog)
                try await AttributeCommand.confirmed("delete", yes) { isConfirmed in
                    try await catalog.attributes.remove(
                        attribute: name,
                        of: owner,
                        expecting: nil,
                        isConfirmed: isConfirmed
                    )
                }
                Console.note("deleted attribute “\(name)”")
            }
        }
    }

    /// Makes a change, and asks on a terminal if something uses the attribute; otherwise, `--yes` is required.
    ///
    /// - Parameters:
    ///   - verb: the change.
    ///   - change: makes the change, if it is confirmed or nothing uses the attribute.
    private static func confirmed<T>(
        _ verb: String,
        _ yes: Bool,
        _ change: (_ isConfirmed: Bool) async throws -> T
    ) async throws -> T {
        do { return try await change(yes) } catch CatalogError.inUse(let name, let uses) {
            guard Console.confirm("attribute “\(name)” is in use: \(uses.description); \(verb) it?") else {
                throw CatalogError.inUse(name, uses)
            }
            return try await change(true)
        }
    }

    private static func name(_ text: String) throws -> AttributeName {
        guard let name = AttributeName(text) else {
            throw CommandFailure(
                "the name of an attribute must be \(AttributeName.rule) (got “\(text)”)",
                CommandFailure.usage
            )
        }
        return name
    }

    private static func owner(_ store: StoreName?, _ catalog: PostgresCatalog) async throws -> DeclarationOwner {
        guard let store else { return .deployment }
        return .store(try await store.resolve(catalog))
    }

    private static func find(
        _ name: AttributeName,
        _ owner: DeclarationOwner,
        _ catalog: PostgresCatalog
    ) async throws -> EffectiveAttribute {
        let set = try await catalog.attributes.attributes(of: owner)
        guard let found = set[name] else {
            throw CommandFailure.missing(
                "attribute",
                name.text,
                among: set.attributes.map(\.name.text),
                list: "aisle attribute list"
            )
        }
        return found
    }

    /// The maximum length of a file in bytes. It leaves room for white space.
    private static let fileLimit = 4 * AttributeDefinition.documentLimit

    /// Reads a declaration from a file.
    private static func read(_ path: String, _ name: AttributeName) throws -> AttributeDeclaration {
        let text = try InputFile.contents(path, of: "a declaration", upTo: fileLimit)
        do { return try AttributeDeclaration(name: name, text: text) } catch {
            throw CommandFailure("\(path): \(CommandFailure(error).message)", CommandFailure.badData)
        }
    }
}
