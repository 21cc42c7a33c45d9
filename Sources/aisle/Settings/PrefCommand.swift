internal import CatalogJSON
internal import ArgumentParser
internal import Catalog
internal import CatalogPostgres

struct PrefCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "pref",
        abstract: "A user's settings: what they remember on all their devices.",
        subcommands: [Get.self, Set.self, Remove.self, List.self, Export.self, Import.self]
    )

    struct Get: AisleCommand {
        static let configuration = CommandConfiguration(abstract: "Print a setting's value, as JSON.")
        @Argument(help: "The setting, such as stores/corner/shelves/dairy/sort.") var key: SettingKeyArgument
        @OptionGroup var options: PrefOptions
        func execute() async throws {
            let catalog = try await options.database.catalog()
            defer { catalog.shutDown() }
            Console.data(try await catalog.setting(key.key, of: options.user.id).value!.text + "\n")
        }
    }

    struct Set: AisleCommand {
        static let configuration = CommandConfiguration(abstract: "Set a setting; text that is no JSON is a string.")
        @Argument(help: "The setting.") var key: SettingKeyArgument
        // Not one alone: what begins with a dash, as a sort may, would be an option.
        @Argument(parsing: .allUnrecognized, help: "Its value.") var value: [String]
        @OptionGroup var options: PrefOptions
        func execute() async throws {
            guard value.count == 1 else {
                throw CommandFailure("give one value; quote one with spaces", CommandFailure.usage)
            }
            let parsed: JSONValue
            do { parsed = try JSONReader.parse(Array(value[0].utf8)) } catch {
                // What begins like JSON is meant to be some.
                if let first = value[0].first, "{[\"".contains(first) {
                    throw CommandFailure(
                        "the value is no JSON: \(error.detail), at byte \(error.offset)",
                        CommandFailure.badData
                    )
                }
                parsed = .string(value[0])
            }
            if parsed == .null { throw CommandFailure("to take a setting away: aisle pref rm", CommandFailure.badData) }
            try Setting.check(parsed, for: key.key)
            let catalog = try await options.database.catalog()
            defer { catalog.shutDown() }
            let result = try await catalog.edit(SettingsEdit([.init(key.key, parsed)]), of: options.user.id)[0]
            Console.note("\(key.key) is \(parsed.text); revision \(result.setting.revision)")
        }
    }

    struct Remove: AisleCommand {
        static let configuration = CommandConfiguration(commandName: "rm", abstract: "Take a setting away.")
        @Argument(help: "The setting.") var key: SettingKeyArgument
        @OptionGroup var options: PrefOptions
        func execute() async throws {
            let catalog = try await options.database.catalog()
            defer { catalog.shutDown() }
            let result = try await catalog.edit(SettingsEdit([.init(key.key, nil)]), of: options.user.id)[0]
            guard result.isApplied else { throw CatalogError.notFound("setting “\(key.key)”") }
            Console.note("\(key.key) is gone; revision \(result.setting.revision)")
        }
    }

    struct List: AisleCommand {
        static let configuration = CommandConfiguration(abstract: "List a user's settings.")
        @OptionGroup var options: PrefOptions
        @Option(help: "Only what changed since this revision, deleted ones too.") var since: Int64?
        @Option(help: "table, tsv, json, ndjson or csv.") var format: OutputFormat?
        func execute() async throws {
            let catalog = try await options.database.catalog()
            defer { catalog.shutDown() }
            let page = try await catalog.settings(of: options.user.id, since: since, limit: nil)
            let chosen = OutputFormat.chosen(format)
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
            if Console.notesAreTerminal { Console.note("\(page.settings.count) settings; revision \(page.revision)") }
        }
    }

    struct Export: AisleCommand {
        static let configuration = CommandConfiguration(abstract: "Print all that is stored of a user, as JSON.")
        @OptionGroup var options: PrefOptions
        func execute() async throws {
            let catalog = try await options.database.catalog()
            defer { catalog.shutDown() }
            Console.data(try await catalog.export(options.user.id).json + [0x0A])
        }
    }

    struct Import: AisleCommand {
        static let configuration = CommandConfiguration(
            abstract: "Read settings that `pref export` or the API wrote; where both have one, the later change wins."
        )
        @Argument(help: "The JSON file, or - for standard input.") var file: String
        @OptionGroup var options: PrefOptions
        func execute() async throws {
            let bytes = try InputFile.contents(file)
            let body: JSONValue
            do { body = try JSONReader.parse(bytes) } catch {
                throw CommandFailure(
                    "\(file) is no JSON: \(error.detail), at byte \(error.offset)",
                    CommandFailure.badData
                )
            }
            guard let settings = body["settings"] else {
                throw CommandFailure("\(file) has no “settings”", CommandFailure.badData)
            }
            let edit = try SettingsEdit.many(body: .object([.init("settings", settings)]))
            let catalog = try await options.database.catalog()
            defer { catalog.shutDown() }
            let results = try await catalog.edit(edit, of: options.user.id)
            let applied = results.count(where: \.isApplied)
            Console.note(
                "\(applied) settings taken; \(results.count - applied) stand as they are, changed as late or later"
            )
        }
    }
}
