import ArgumentParser
import Catalog
import CatalogHTTP
import Foundation
import LibPQ
import Platform
import Telemetry
import Testing

@testable import CatalogPostgres
@testable import aisle

/// The defaults and the limits of settings, and the selection of databases.
@Suite struct ServerDefaultTests {
    private static func settings(_ environment: [String: String] = [:], _ options: [String: String] = [:]) throws
        -> ServerSettings
    {
        try ServerSettings(options, environment: environment)
    }

    private static func shown(_ environment: [String: String] = [:]) throws -> [String: String] {
        Dictionary(uniqueKeysWithValues: try settings(environment).listed.map { ($0.name, $0.value) })
    }

    private static func message(_ environment: [String: String]) -> String? {
        do {
            _ = try settings(environment)
            return nil
        } catch {
            return CommandFailure(error).code == 78 ? CommandFailure(error).message : "another code"
        }
    }

    @Test("The defaults are the documented ones")
    func defaults() throws {
        let shown = try Self.shown()
        let expected = [
            "host": "127.0.0.1", "port": "8080", "cors.origins": "", "image.origins": "", "pool.size": "8",
            "page.connections": "2", "read.lag.seconds": "10",
            "read.workers": "true", "rate.limit": "6000/600", "trusted.proxies": "", "page.cache.mb": "32",
            "shelf.memory": "\(max(16, (MemoryLimit.bytes() / 4) >> 20))", "log.level": "notice", "access.log": "false",
            "slow.request.ms": "1000", "admin.host": "127.0.0.1", "admin.port": "none",
            "cursor.key": "the deployment's", "streams": "10000", "connections": "20000", "body.memory.mb": "256",
            "listen": "true", "drain.seconds": "0", "audit.days": "400", "jwt.secret.file": "none",
            "jwt.accepted.secrets": "none", "jwks": "none", "jwks.allow.http": "false", "jwt.issuer": "any",
            "jwt.audience": "any", "otel.exporter.otlp.traces.endpoint": "none", "otel.exporter.otlp.headers": "none",
            "otel.traces.sampler": "none", "otel.service.name": "none",
        ]
        for (name, value) in expected { #expect(shown[name] == value, "\(name)") }
        #expect(try Self.settings().slowRequest == .seconds(1))
        #expect(try Self.settings().readLag == .seconds(10))
        for (name, range) in [("long.read.connections", 2...8), ("event.loops", 1...8)] {
            #expect(shown[name].flatMap { Int($0) }.map { range.contains($0) } == true, "\(name)")
        }
        let others = ["settings file", "log.format", "jwt.secret", "long.read.connections", "event.loops"]
        #expect(Set(shown.keys) == Set(expected.keys).union(others))
    }

    @Test(
        "A number is accepted from the first to the last value of its range",
        arguments: [
            ("port", 0, 65535), ("pool.size", 1, 1000), ("long.read.connections", 1, 1000), ("event.loops", 1, 256),
            ("page.connections", 1, 100), ("read.lag.seconds", 1, 3600), ("page.cache.mb", 0, 4096),
            ("shelf.memory", 16, 1_048_576), ("slow.request.ms", 0, 3_600_000), ("admin.port", 0, 65535),
            ("streams", 1, 1_000_000), ("connections", 1, 1_000_000), ("body.memory.mb", 160, 65_536),
            ("drain.seconds", 0, 3600),
        ]
    )
    func ranges(_ name: String, _ first: Int, _ last: Int) throws {
        let setting = try #require(ServerSettings.table.first { $0.name == name })
        for value in [first, last] { #expect(try Self.shown([setting.variable: "\(value)"])[name] == "\(value)") }
        for value in [first - 1, last + 1] {
            #expect(
                Self.message([setting.variable: "\(value)"])
                    == "\(name) must be between \(first) and \(last) (got \(value))"
            )
        }
        #expect(
            Self.message([setting.variable: "1.5"])
                == "\(name) (\(setting.variable)) must be a whole number between \(first) and \(last)"
        )
    }

    @Test("A setting changes only what it names")
    func properties() throws {
        let seconds = try Self.settings(["AISLE_READ_LAG_SECONDS": "7", "AISLE_DRAIN_SECONDS": "9"])
        #expect(seconds.readLag == .seconds(7) && seconds.drain == .seconds(9))
        #expect(try Self.settings(["AISLE_SLOW_REQUEST_MS": "250"]).slowRequest == .milliseconds(250))
        #expect(try Self.settings(["AISLE_SLOW_REQUEST_MS": "0"]).slowRequest == nil)
        #expect(try Self.settings(["AISLE_RATE_LIMIT": "off"]).rateLimit == nil)
        #expect(try Self.settings(["AISLE_CURSOR_KEY": "0123456789abcdef"]).cursorKey == "0123456789abcdef")
        #expect(Self.message(["AISLE_CURSOR_KEY": "0123456789abcde"]) == "cursor.key must have at least 16 bytes")
        for (text, flag) in [("yes", true), ("1", true), ("no", false), ("0", false), ("False", false)] {
            #expect(try Self.settings(["AISLE_ACCESS_LOG": text]).logsRequests == flag, "\(text)")
        }
        #expect(try Self.settings([:], ["port": "7"]).hasOwnPort)
        #expect(try !Self.settings(["AISLE_PORT": "7"]).hasOwnPort)
        #expect(
            try Self.settings(["AISLE_CORS_ORIGINS": " https://a , https://b "]).origins == ["https://a", "https://b"]
        )
        #expect(Self.message(["AISLE_RATE_LIMIT": "1/2"])?.hasPrefix("rate.limit must be off, or the maximum") == true)
        #expect(Self.message(["AISLE_IMAGE_ORIGINS": "x"])?.hasPrefix("image.origins must be ") == true)
        #expect(Self.message(["AISLE_CONFIG": "/none.json"]) == "cannot read the settings file /none.json")
    }

    @Test("The address of the admin port is one that this machine reaches")
    func adminAddress() throws {
        for (environment, address) in [
            ([:], "http://127.0.0.1:9464"), (["AISLE_ADMIN_PORT": "7"], "http://127.0.0.1:7"),
            (["AISLE_ADMIN_PORT": "0"], nil), (["AISLE_ADMIN_HOST": "0.0.0.0"], "http://127.0.0.1:9464"),
            (["AISLE_ADMIN_HOST": "::"], "http://127.0.0.1:9464"), (["AISLE_ADMIN_HOST": ""], "http://127.0.0.1:9464"),
            (["AISLE_ADMIN_HOST": "10.0.0.7"], "http://10.0.0.7:9464"),
            (["AISLE_ADMIN_HOST": "fd00::7"], "http://[fd00::7]:9464"),
        ] as [([String: String], String?)] {
            #expect(try Self.settings(environment).adminAddress == address)
        }
    }

    @Test("A server without a way to verify tokens has no verifier; secrets have 32 bytes")
    func tokens() async throws {
        let (short, long) = (String(repeating: "s", count: 31), String(repeating: "s", count: 32))
        let none = try Self.settings().tokens
        #expect(none.isEmpty)
        #expect(try await none.verifier() == nil)
        #expect(none.hint == "Tokens are signed elsewhere, because this server has no secret to sign with")
        let signed = try Self.settings(["AISLE_JWT_SECRET": long]).tokens
        #expect(!signed.isEmpty)
        #expect(signed.secret == Array(long.utf8))
        #expect(signed.hint == "To get a token with write access: aisle token --user you --scope catalog:write")
        #expect(try await signed.verifier() != nil)
        let accepting = try Self.settings(["AISLE_JWT_ACCEPTED_SECRETS": "\(long),\(long)"]).tokens
        #expect(!accepting.isEmpty && accepting.acceptedSecrets.count == 2)
        let keys = try Self.settings(["AISLE_JWKS": "https://keys.example/k.json"]).tokens
        #expect(!keys.isEmpty)
        #expect(keys.hint == "Tokens come from the identity provider whose keys are at https://keys.example/k.json")
        #expect(Self.message(["AISLE_JWT_SECRET": short]) == "jwt.secret must have at least 32 bytes (got 31)")
        #expect(
            Self.message(["AISLE_JWT_ACCEPTED_SECRETS": "\(long),\(short)"])
                == "jwt.accepted.secrets must have at least 32 bytes (got 31)"
        )
        let plain = "http://keys.example/k.json"
        #expect(Self.message(["AISLE_JWKS": plain])?.hasPrefix("jwks must be an https:// URL or a file, ") == true)
        #expect(Self.message(["AISLE_JWKS": "HTTP://x"])?.hasPrefix("jwks must be an https:// URL or a file, ") == true)
        #expect(Self.message(["AISLE_JWKS": plain, "AISLE_JWKS_ALLOW_HTTP": "true"]) == nil)
        let file = try TemporaryFile(long + "\r\n\n")
        #expect(try Self.settings(["AISLE_JWT_SECRET_FILE": file.path]).tokens.secret == Array(long.utf8))
        let other = String(repeating: "o", count: 40)
        let both = ["AISLE_JWT_SECRET": other, "AISLE_JWT_SECRET_FILE": file.path]
        #expect(try Self.settings(both).tokens.secret == Array(other.utf8))
        #expect(
            Self.message(["AISLE_JWT_SECRET_FILE": "/none"]) == "cannot read the file /none of jwt.secret.file"
        )
        let record = TerminalRecord()
        await TaskContext(terminal: record).run {
            let missing = try? await Self.settings(["AISLE_JWKS": "/none/keys.json"]).tokens.verifier()
            #expect(missing == nil)
        }
        #expect(record.notes == "")
    }

    @Test("Traces are listed without secrets")
    func traces() throws {
        let shown = try Self.shown([
            "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "https://c.example/v1/traces?key=secret", "OTEL_SERVICE_NAME": "shop",
            "OTEL_EXPORTER_OTLP_HEADERS": "a=1,b=2", "OTEL_TRACES_SAMPLER": "traceidratio",
            "OTEL_TRACES_SAMPLER_ARG": "0.5",
        ])
        #expect(shown["otel.exporter.otlp.traces.endpoint"] == "https://c.example/v1/traces")
        #expect(shown["otel.exporter.otlp.headers"] == "2 set")
        #expect(shown["otel.traces.sampler"] == "traceidratio 0.5")
        #expect(shown["otel.service.name"] == "shop")
        #expect(Self.message(["OTEL_SDK_DISABLED": "perhaps"])?.hasPrefix("OTEL_SDK_DISABLED must be ") == true)
    }

    // MARK: - Databases

    private static let url = "postgresql://main.example/aisle"

    @Test("The database is that of the option, DATABASE_URL, its file, libpq's variables, or the private one")
    func sources() throws {
        let all = ["DATABASE_URL": Self.url, "AISLE_DATABASE_URL_FILE": "/f", "PGHOST": "h"]
        let given = try DatabaseOptions.parse(["--dsn", "host=x"])
        let options = try DatabaseOptions.parse([])
        #expect(given.source(in: all) == .option("host=x"))
        #expect(options.source(in: all) == .databaseURL(Self.url))
        #expect(options.source(in: all.merging(["DATABASE_URL": ""]) { $1 }) == .databaseURLFile("/f"))
        for variable in ["PGHOST", "PGHOSTADDR", "PGDATABASE", "PGSERVICE", "PGPORT"] {
            #expect(options.source(in: [variable: "x"]) == .libpqVariables, "\(variable)")
            #expect(options.source(in: [variable: ""]) == .privateCluster, "\(variable)")
        }
        #expect(options.source(in: ["PGUSER": "x", "AISLE_DATABASE_URL_FILE": ""]) == .privateCluster)
        #expect(
            [
                DatabaseOptions.Source.option("x"), .databaseURL("x"), .databaseURLFile("/f"), .libpqVariables,
                .privateCluster,
            ].map(\.title) == [
                "--dsn", "DATABASE_URL", "the file /f of AISLE_DATABASE_URL_FILE", "libpq's variables",
                "the private PostgreSQL in .aisle/",
            ]
        )
    }

    @Test("The direct connection and the replicas belong to DATABASE_URL, and not to another database")
    func connections() throws {
        let options = try DatabaseOptions.parse([])
        let given = try DatabaseOptions.parse(["--dsn", "host=x"])
        let variables = [
            "DATABASE_URL": Self.url, "AISLE_DIRECT_DSN": "host=direct",
            "AISLE_READ_DSN": "postgresql://r1/a  postgres://r2/a", "AISLE_PREPARED_STATEMENTS": "unnamed",
        ]
        #expect(try options.configuration(in: variables).dsn == Self.url)
        #expect(try options.configuration(in: variables).statements == .unnamed)
        #expect(try options.configuration(in: ["DATABASE_URL": Self.url]).statements == .named)
        #expect(try options.directConfiguration(in: variables).dsn == "host=direct")
        #expect(try options.directConfiguration(in: ["DATABASE_URL": Self.url]).dsn == Self.url)
        #expect(try given.directConfiguration(in: variables).dsn == "host=x")
        let replicas = try options.replicaConfigurations(in: variables)
        #expect(replicas.map(\.dsn) == ["postgresql://r1/a", "postgres://r2/a"])
        #expect(replicas.allSatisfy { $0.statements == .unnamed })
        #expect(try given.replicaConfigurations(in: variables).isEmpty)
        #expect(try options.replicaConfigurations(in: ["DATABASE_URL": Self.url]).isEmpty)
        let privateOnly = ["AISLE_READ_DSN": "host=r", "AISLE_DIRECT_DSN": "host=direct"]
        #expect(try options.replicaConfigurations(in: privateOnly).isEmpty)
        let file = try TemporaryFile("host=r port=1\n")
        let named = ["DATABASE_URL": Self.url, "AISLE_READ_DSN_FILE": file.path, "AISLE_DIRECT_DSN_FILE": file.path]
        #expect(try options.replicaConfigurations(in: named).map(\.dsn) == ["host=r port=1"])
        #expect(try options.directConfiguration(in: named).dsn == "host=r port=1")
        #expect(try options.configuration(in: ["PGHOST": "x"]).dsn == "")
        #expect(try options.configuration(in: ["AISLE_DATABASE_URL_FILE": file.path]).dsn == "host=r port=1")
    }

    @Test("Connection strings are URLs between spaces, or one text of keywords")
    func connectionStrings() {
        #expect(DatabaseOptions.connectionStrings("") == [])
        #expect(DatabaseOptions.connectionStrings(" \n") == [])
        #expect(DatabaseOptions.connectionStrings("host=a port=1") == ["host=a port=1"])
        #expect(
            DatabaseOptions.connectionStrings(" postgres://a\npostgresql://b ") == ["postgres://a", "postgresql://b"]
        )
    }

    @Test("A connection string that is invalid is an error that names its source, not its text")
    func invalidConnections() throws {
        let options = try DatabaseOptions.parse([])
        func message(_ environment: [String: String]) -> String? {
            do {
                _ = try options.configuration(in: environment)
                _ = try options.directConfiguration(in: environment)
                _ = try options.replicaConfigurations(in: environment)
                return nil
            } catch {
                return CommandFailure(error).message
            }
        }
        let (bad, empty) = (try TemporaryFile("not a dsn"), try TemporaryFile("\n"))
        for (environment, expected) in [
            (["DATABASE_URL": "not a dsn"], "DATABASE_URL is not a PostgreSQL connection string"),
            (
                ["AISLE_DATABASE_URL_FILE": bad.path],
                "the content of the file \(bad.path) of AISLE_DATABASE_URL_FILE is not a PostgreSQL connection string"
            ),
            (
                ["AISLE_DATABASE_URL_FILE": empty.path],
                "the file \(empty.path) of AISLE_DATABASE_URL_FILE is empty"
            ),
            (
                ["DATABASE_URL": Self.url, "AISLE_DIRECT_DSN": "not a dsn"],
                "AISLE_DIRECT_DSN is not a PostgreSQL connection string"
            ),
            (
                ["DATABASE_URL": Self.url, "AISLE_READ_DSN": "not a dsn"],
                "AISLE_READ_DSN must be PostgreSQL connection URLs, separated by spaces, or one string of keywords"
            ),
            (
                ["DATABASE_URL": Self.url, "AISLE_PREPARED_STATEMENTS": "some"],
                "AISLE_PREPARED_STATEMENTS must be named or unnamed (got “some”)"
            ),
        ] { #expect(message(environment) == expected) }
    }

    @Test("A schema of another version is an error that says what to run")
    func schemas() throws {
        for state in [Migrator.SchemaState.current, .compatible(version: 99)] { try DatabaseOptions.require(state) }
        for (state, start) in [
            (.worker, "this server is a worker of a Citus cluster"),
            (.empty, "the database has no aisle schema; run: "),
            (.outdated(version: 3), "the schema has version 3, but this program needs "),
            (.newer(version: 99), "the schema has version 99, but this program supports at most "),
            (.altered(version: 7), "migration 7 in the database differs from this program's; "),
        ] as [(Migrator.SchemaState, String)] {
            let failure = #expect(throws: CommandFailure.self) { try DatabaseOptions.require(state) }
            #expect(failure?.message.hasPrefix(start) == true)
            #expect(failure?.code == CommandFailure.configuration)
        }
    }
}

/// A file with a text, until it is released.
private final class TemporaryFile {
    let path = FileManager.default.temporaryDirectory.appending(path: "aisle-\(UUID().uuidString)").path

    init(_ text: String) throws { try Data(text.utf8).write(to: URL(fileURLWithPath: path)) }

    deinit { try? FileManager.default.removeItem(atPath: path) }
}
