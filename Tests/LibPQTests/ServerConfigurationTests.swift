import Testing

@testable import LibPQ

/// The configuration for another server of the same cluster.
@Suite struct ServerConfigurationTests {
    @Test(
        "Another server has the same database, user and options, and is the only one",
        arguments: [
            "host=db0 port=5433 user=aisle dbname=shop password='it\\'s \\\\ secret' sslmode=verify-full",
            "postgresql://aisle:it's%20%5C%20secret@db0:5433/shop?sslmode=verify-full&target_session_attrs=read-write",
            "host=db0,db9 hostaddr=10.0.0.1,10.0.0.2 port=5433,5434 user=aisle dbname=shop password='it\\'s \\\\ secret' sslmode=verify-full",
        ],
        [("db1.example.com", 5432), ("2001:db8::1", 6432), ("/run/postgresql", 5432)]
    )
    func anotherServer(_ dsn: String, _ server: (host: String, port: Int)) throws {
        let found = try PostgresConfiguration(dsn: dsn).server(host: server.host, port: server.port)
        let parts = try PostgresConfiguration.parse(found.dsn)
        #expect(
            parts == [
                "host": server.host, "hostaddr": "", "port": "\(server.port)", "user": "aisle", "dbname": "shop",
                "password": #"it's \ secret"#, "sslmode": "verify-full", "target_session_attrs": "any",
            ]
        )
    }

    @Test("An invalid connection string is refused without repeating it")
    func invalidStrings() throws {
        let error = #expect(throws: PostgresError.self) {
            try PostgresConfiguration(dsn: "postgresql://[secret").server(host: "a", port: 1)
        }
        #expect(error?.kind == .misuse && error?.message.contains("secret") == false)
    }
}
