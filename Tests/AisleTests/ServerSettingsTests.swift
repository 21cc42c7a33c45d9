import Foundation
import Testing

@testable import aisle

@Suite struct ServerSettingsTests {
    /// Returns the lines of `aisle config show` for variables and the text of a settings file.
    private func shown(
        _ environment: [String: String] = [:],
        file text: String = "{}",
        options: [String: String] = [:]
    ) throws -> [String: String] {
        let file = FileManager.default.temporaryDirectory.appending(path: "aisle-\(UUID().uuidString).json")
        try Data(text.utf8).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        let settings = try ServerSettings(options, file: file.path, environment: environment)
        return Dictionary(uniqueKeysWithValues: settings.listed.map { ($0.name, $0.value) })
    }

    @Test("Every property has a row in the table of settings")
    func propertiesHaveRows() throws {
        let source = try RepositoryFile.text("Sources/aisle/App/ServerSettings.swift")
        let keyPaths = source.matches(of: /\\\.(\w+)/).map { String($0.1) }
        let properties = Mirror(reflecting: try ServerSettings(environment: [:])).children.compactMap(\.label)
        #expect(properties.count > 20)
        // These are not settings, or have rows of their own.
        let others = ["traces", "hasOwnPort", "file"]
        #expect(Set(properties).subtracting(keyPaths).subtracting(others) == [])
    }

    @Test("The documentation has the variables of all settings, and no other")
    func documentation() throws {
        let text = try RepositoryFile.text("docs/configuration.md")
        let cells = text.split(separator: "\n").filter { $0.hasPrefix("| `AISLE_") }.map { $0.split(separator: "|")[0] }
        let documented = cells.flatMap { cell in cell.matches(of: /`(AISLE_\w+)`/).map { String($0.1) } }
        // The variables that select the database are not settings of a server.
        let database = [
            "AISLE_DATABASE_URL_FILE", "AISLE_DIRECT_DSN", "AISLE_DIRECT_DSN_FILE", "AISLE_READ_DSN",
            "AISLE_READ_DSN_FILE", "AISLE_PREPARED_STATEMENTS",
        ]
        #expect(documented.sorted() == (ServerSettings.table.map(\.variable) + database).sorted())
    }

    @Test("A setting comes from the option, the variable or the file, in this order")
    func precedence() throws {
        let file = #"{"port": 1, "pool": {"size": 2}, "host": "a", "shelf": {"memory": 64}}"#
        let shown = try shown(["AISLE_PORT": "3", "AISLE_POOL_SIZE": "4"], file: file, options: ["port": "5"])
        let expected = ["port": "5", "pool.size": "4", "host": "a", "shelf.memory": "64", "page.connections": "2"]
        for (name, value) in expected { #expect(shown[name] == value, "\(name)") }
    }

    @Test(
        "A valid value is shown",
        arguments: [
            ("cors.origins", "https://a, https://b", "https://a,https://b"),
            ("image.origins", "https://Images.example", "https://images.example"),
            ("read.lag.seconds", "60", "60"), ("read.workers", "no", "false"), ("listen", "TRUE", "true"),
            ("rate.limit", "off", "off"), ("rate.limit", "20/10", "20/10"),
            ("trusted.proxies", "10.0.0.0/8", "10.0.0.0/8"),
            ("log.level", "trace", "trace"), ("log.format", "text", "text"), ("slow.request.ms", "1500", "1500"),
            ("slow.request.ms", "0", "0"), ("admin.port", "9464", "9464"), ("cursor.key", "0123456789abcdef", "set"),
            ("audit.days", "0", "0"), ("jwt.accepted.secrets", String(repeating: "s", count: 32), "1 set"),
            ("jwt.audience", "a, b", "a,b"),
        ]
    )
    func values(_ name: String, _ value: String, _ text: String) throws {
        let setting = try #require(ServerSettings.table.first { $0.name == name })
        #expect(try shown([setting.variable: value])[name] == text)
    }

    @Test(
        "An error says which setting is wrong, and what it must be",
        arguments: [
            (["AISLE_PORT": "x"], "port (AISLE_PORT) must be a whole number between 0 and 65535"),
            (["AISLE_PORT": "65536"], "port must be between 0 and 65535 (got 65536)"),
            (["AISLE_LISTEN": "maybe"], "the setting listen (AISLE_LISTEN) has the wrong type"),
            (["AISLE_LOG_FORMAT": "xml"], "log.format must be json or text (got “xml”)"),
            (
                ["AISLE_LOG_LEVEL": "loud"],
                "log.level must be one of trace, debug, info, notice, warning, error, critical (got “loud”)"
            ),
            (
                ["AISLE_TRUSTED_PROXIES": "10.0.0.1, x"],
                "trusted.proxies must be addresses or ranges, such as 10.0.0.0/8 (got “x”)"
            ),
            (["AISLE_CURSOR_KEY": "short"], "cursor.key must have at least 16 bytes"),
            (["AISLE_AUDIT_DAYS": "30"], "audit.days must be 0, or between 31 and 36500 (got 30)"),
            (["AISLE_AUDIT_DAYS": "x"], "the setting audit.days (AISLE_AUDIT_DAYS) has the wrong type"),
            (["AISLE_JWT_SECRET": "short"], "jwt.secret must have at least 32 bytes (got 5)"),
            (
                ["AISLE_JWT_AUDIENCE": "a,"],
                "jwt.audience must be a list of audiences, separated by commas, none of them empty (got “a,”)"
            ),
        ]
    )
    func errors(_ environment: [String: String], _ message: String) {
        let failure = #expect(throws: CommandFailure.self) { try shown(environment) }
        #expect(failure?.message == message)
    }

    @Test(
        "A settings file has values of the setting's type",
        arguments: [
            (#"{"listen": true, "streams": 5, "jwt": {"audience": ["a"]}, "cors": {"origins": ["b"]}}"#, true),
            (#"{"jwt": {"audience": "a, b"}}"#, true), (#"{"listen": "true"}"#, false), (#"{"streams": "5"}"#, false),
            (#"{"streams": 5.5}"#, false), (#"{"host": 7}"#, false), (#"{"host": null}"#, false),
            (#"{"jwt": {"audience": [1]}}"#, false), (#"{"no": {"such": 1}}"#, false),
        ]
    )
    func types(_ file: String, _ isValid: Bool) {
        let isRead = (try? shown(file: file)) != nil
        #expect(isRead == isValid)
    }
}
