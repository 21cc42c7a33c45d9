internal import ArgumentParser
internal import Catalog
internal import CatalogJSON
internal import CatalogPostgres
internal import JSON

struct PrefCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "pref",
        abstract: "Manage a user's settings, which are shared by all their devices.",
        subcommands: [Get.self, Set.self, Remove.self, List.self, Export.self, Import.self]
    )

    struct Get: AisleCommand {
        static let configuration = CommandConfiguration(abstract: "Print a setting's value, as JSON.")
        @Argument(help: "The setting, such as stores/corner/shelves/dairy/sort.") var key: SettingKey
        @OptionGroup var options: PrefOptions
        func execute() async throws {
            try await options.database.withCatalog { catalog in
                Console.data(try await catalog.settings.setting(key, of: options.user).value!.text + "\n")
            }
        }
    }

    struct Set: AisleCommand {
        static let configuration = CommandConfiguration(abstract: "Set a setting; text that is not JSON is a string.")
        @Argument(help: "The setting.") var key: SettingKey
        // An array, because a single value that starts with a dash, such as a sort, would be parsed as an option.
        @Argument(parsing: .allUnrecognized, help: "Its value.") var value: [String]
        @OptionGroup var options: PrefOptions
        func execute() async throws {
            guard value.count == 1 else {
                throw CommandFailure("specify exactly one value; quote values with spaces", CommandFailure.usage)
            }
            let parsed: JSONValue
            do { parsed = try JSONReader.parse(Array(value[0].utf8)) } catch {
                // Text that starts like JSON must be valid JSON.
                if let first = value[0].first, "{[\"".contains(first) {
                    throw CommandFailure(
                        "invalid JSON at byte \(error.offset): \(error.detail)",
                        CommandFailure.badData
                    )
                }
                parsed = .string(value[0])
            }
            if parsed == .null {
                throw CommandFailure(
                    "the value must not be null; to delete a setting: aisle pref rm",
                    CommandFailure.badData
                )
            }
            try Setting.check(parsed, for: key)
            try await options.database.withCatalog { catalog in
                try await catalog.attributes.check(parsed, for: key)
                let result = try await catalog.settings.edit(SettingsEdit([.init(key, parsed)]), of: options.user)[0]
                Console.note("set \(key) to \(parsed.text); revision \(result.setting.revision)")
            }
        }
    }

    struct Remove: AisleCommand {
        static let configuration = CommandConfiguration(commandName: "rm", abstract: "Delete a setting.")
        @Argument(help: "The setting.") var key: SettingKey
        @OptionGroup var options: PrefOptions
        func execute() async throws {
            try await options.database.withCatalog { catalog in
                let result = try await catalog.settings.edit(SettingsEdit([.init(key, nil)]), of: options.user)[0]
                guard result.isApplied else { throw CatalogError.notFound("setting “\(key)”") }
                Console.note("deleted \(key); revision \(result.setting.revision)")
            }
        }
    }

    struct List: AisleCommand {
        static let configuration = CommandConfiguration(abstract: "List a user's settings.")
        @OptionGroup var options: PrefOptions
        @Option(parsing: .unconditional, help: "Only settings changed since this revision, including deleted ones.")
        var since: Int64?
        @Option(help: "The output format; table on a terminal, otherwise tsv.") var format: OutputFormat?
        func execute() async throws {
            try await options.database.withCatalog { catalog in
                let page = try await catalog.settings.settings(of: options.user, since: since, limit: nil)
                let chosen = OutputFormat.resolve(format)
                if chosen == .json { return Console.data(page.json + [0x0A]) }
                if chosen == .ndjson {
                    for setting in page.settings { Console.data(setting.json + [0x0A]) }
                    return
                }
                var table = Table(columns: [
                    .init(title: "key"), .init(title: "value"), .init(title: "revision", isNumber: true),
                    .init(title: "modified_at"),
                ])
                table.rows = page.settings.map {
                    [$0.key.text, $0.value?.text ?? "deleted", "\($0.revision)", $0.modifiedAt.rfc3339]
                }
                table.print(chosen)
                if Console.notesAreTerminal {
                    Console.note("\(page.settings.count) settings; revision \(page.revision)")
                }
            }
        }
    }

    struct Export: AisleCommand {
        static let configuration = CommandConfiguration(abstract: "Print all data stored about a user, as JSON.")
        @OptionGroup var options: PrefOptions
        @Option(help: "The id under which tills report the user's purchases, if it is not the user.")
        var customer: String?
        func execute() async throws {
            try await options.database.withCatalog { catalog in
                let name = customer ?? options.user.text
                Console.data(try await catalog.users.export(options.user, customer: name).json + [0x0A])
            }
        }
    }

    struct Import: AisleCommand {
        static let configuration = CommandConfiguration(
            abstract: "Import settings from `pref export` or the API; the later change of a setting wins."
        )
        @Argument(help: "The JSON file, or - for standard input.") var file: String
        @OptionGroup var options: PrefOptions
        func execute() async throws {
            let bytes = try InputFile.contents(file)
            let body: JSONValue
            do { body = try JSONReader.parse(bytes) } catch {
                throw CommandFailure(
                    "invalid JSON in \(file) at byte \(error.offset): \(error.detail)",
                    CommandFailure.badData
                )
            }
            guard let settings = body["settings"] else {
                throw CommandFailure(
                    "\(file) has no property “settings”; use the output of aisle pref export",
                    CommandFailure.badData
                )
            }
            let edit = try SettingsEdit(body: .object([.init("settings", settings)]))
            try await options.database.withCatalog { catalog in
                let results = try await catalog.settings.edit(edit, of: options.user)
                let applied = results.count(where: \.isApplied)
                Console.note(
                    "\(applied) settings imported; \(results.count - applied) kept, because they changed at the same time or later"
                )
            }
        }
    }
}

/// The common options of commands for a user's settings.
struct PrefOptions: ParsableArguments {
    @OptionGroup var database: DatabaseOptions
    @Option(help: "The user.") var user: UserID
}
