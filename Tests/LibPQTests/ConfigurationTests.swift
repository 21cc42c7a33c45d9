import Testing

@testable import LibPQ

/// The effect of a configuration on connections and transactions.
@Suite(.timeLimit(.minutes(15))) struct ConfigurationTests {
    private func keywords(_ configuration: PostgresConfiguration) -> [String: String] {
        // Later keywords override earlier ones.
        Dictionary(configuration.connectionKeywords(in: [:]).map { ($0.key, $0.value) }) { $1 }
    }

    @Test("A connection has its name, its timeout, and an end for silent servers")
    func keywords() {
        let configuration = PostgresConfiguration(
            dsn: "host=a",
            applicationName: "name",
            connectTimeout: .milliseconds(9_500)
        )
        #expect(
            keywords(configuration) == [
                "client_encoding": "UTF8", "fallback_application_name": "name", "connect_timeout": "9",
                "tcp_user_timeout": "5000", "keepalives_idle": "10", "keepalives_interval": "5",
                "keepalives_count": "3", "gssencmode": "disable", "dbname": "host=a",
            ]
        )
        #expect(configuration.connectionKeywords().last?.key == "dbname", "the connection string overrides the others")
    }

    @Test("Connections are not encrypted by GSSAPI, unless the environment or a service file may decide")
    func gssEncryption() {
        func isSet(_ dsn: String, _ environment: [String: String]) -> Bool {
            PostgresConfiguration(dsn: dsn).connectionKeywords(in: environment).contains { $0.key == "gssencmode" }
        }
        #expect(isSet("host=a", [:]) && isSet("", [:]))
        #expect(!isSet("host=a", ["PGGSSENCMODE": "prefer"]) && !isSet("", ["PGSERVICE": "shop"]))
        #expect(!isSet("service=shop", [:]) && !isSet("postgresql://a/b?service=shop", [:]))
    }

    @Test("Without a connection string, libpq's defaults apply, and connecting takes at most five seconds")
    func defaults() {
        let configuration = PostgresConfiguration(dsn: "")
        #expect(keywords(configuration)["dbname"] == nil)
        #expect(keywords(configuration)["connect_timeout"] == "5")
        #expect(keywords(configuration)["fallback_application_name"] == "aisle")
        #expect(configuration.settings.isEmpty && configuration.extensionSettings == nil)
    }

    @Test("The connection timeout is at least two seconds")
    func shortTimeouts() {
        for (limit, text) in [(.zero, "2"), (.milliseconds(2_999), "2"), (.seconds(3), "3")] as [(Duration, String)] {
            let configuration = PostgresConfiguration(dsn: "", connectTimeout: limit)
            #expect(keywords(configuration)["connect_timeout"] == text)
        }
    }

    @Test("Without names, no statement is kept, and one transaction is in flight")
    func statements() {
        var configuration = PostgresConfiguration(dsn: "")
        #expect((configuration.statementCapacity, configuration.inFlightLimit) == (256, 2))
        configuration.statementLimit = 7
        #expect(configuration.statementCapacity == 7)
        configuration.statements = .unnamed
        #expect((configuration.statementCapacity, configuration.inFlightLimit) == (0, 1))
    }

    @Test(
        "Milliseconds are rounded up",
        arguments: [
            (.zero, 0), (.milliseconds(1), 1), (.nanoseconds(1), 1), (.microseconds(1_001), 2), (.seconds(3), 3_000),
            (.milliseconds(2_999), 2_999), (Duration(secondsComponent: 0, attosecondsComponent: 1), 1),
        ] as [(Duration, Int64)]
    )
    func milliseconds(_ duration: Duration, _ expected: Int64) { #expect(duration.milliseconds == expected) }

    @Test("The timeout of statements is the rest of the time until the deadline, or the configured one")
    func statementTimeouts() throws {
        let settings = TransactionSettings(["statement_timeout": "7s", "jit": "off"])
        #expect(settings.parameters(until: nil) == [.text("7s")])
        #expect(settings.parameters(until: ContinuousClock.now - .seconds(5)) == [.text("1ms")])
        #expect(TransactionSettings(["jit": "off"]).parameters(until: nil) == [.text("0")])
        guard case .text(let text?)? = settings.parameters(until: ContinuousClock.now + .seconds(600)).first else {
            Issue.record("the timeout is not a text")
            return
        }
        #expect(text.hasSuffix("ms"))
        let milliseconds = try #require(Int(text.dropLast(2)))
        #expect((500_000...600_000).contains(milliseconds))
        #expect(settings["jit"] == "off" && settings["lock_timeout"] == nil)
    }

    @Test("Without settings, there is no statement; those of the connection string are left out")
    func excludedSettings() {
        #expect(TransactionSettings([:]).statement == nil)
        #expect(TransactionSettings([:]).session(ofProcess: 1) == nil)
        let settings = TransactionSettings(
            ["jit": "off", "work_mem": "1MB", "statement_timeout": "7s"],
            ExtensionSettings(marker: "m.x", settings: ["work_mem": "2MB", "lock_timeout": "3s"]),
            excluding: ["work_mem", "statement_timeout"]
        )
        let text = settings.statement?.sql ?? ""
        #expect(text.contains("jit") && text.contains("lock_timeout") && text.contains("m.x"))
        #expect(!text.contains("work_mem") && !text.contains("$1"))
        let script = settings.session(ofProcess: 17) ?? ""
        #expect(script.contains("jit") && !script.contains("work_mem") && script.hasSuffix("= 17"))
        #expect(TransactionSettings(["jit": "off"], excluding: ["jit"]).statement == nil)
    }

    @Test("Another database has the same server and user")
    func otherDatabase() throws {
        let configuration = PostgresConfiguration(dsn: "host=a user=u dbname=first", applicationName: "name")
        let other = try configuration.database("second")
        let parts = try PostgresConfiguration.parse(other.dsn)
        #expect((parts["host"], parts["user"], parts["dbname"]) == ("a", "u", "second"))
        #expect(other.applicationName == "name")
    }

    @Test("Ten attempts are usual, and only some errors lead to another one")
    func attempts() async {
        func attempts(_ error: PostgresError, when isRetried: ((PostgresError) -> Bool)? = nil) async -> Int {
            var count = 0
            func work() throws {
                count += 1
                throw error
            }
            do {
                if let isRetried {
                    try await retrying(when: isRetried) { try work() }
                } else {
                    try await retrying { try work() }
                }
            } catch {}
            return count
        }
        let (conflict, lost) = (PostgresError(.conflict, ""), PostgresError(.connection, ""))
        let usual = [await attempts(conflict), await attempts(lost)]
        #expect(usual == [10, 1])
        let isLoss: (PostgresError) -> Bool = { $0.kind == .connection }
        let chosen = [await attempts(conflict, when: isLoss), await attempts(lost, when: isLoss)]
        #expect(chosen == [1, 10])
    }

    @Test("A pause between attempts ends with the task, and without one nothing waits")
    func pauses() async {
        /// Returns the attempts of a cancelled task, and whether it ended as cancelled.
        func attempts(pausing pause: Duration) async -> (count: Int, isCancelled: Bool) {
            await Task { () -> (count: Int, isCancelled: Bool) in
                withUnsafeCurrentTask { task in task!.cancel() }
                var count = 0
                do {
                    try await retrying(pause: pause) {
                        count += 1
                        throw PostgresError(.conflict, "")
                    }
                } catch { return (count, error is CancellationError) }
                return (count, false)
            }.value
        }
        let (paused, direct) = (await attempts(pausing: .seconds(600)), await attempts(pausing: .zero))
        #expect(paused.count == 1 && paused.isCancelled)
        #expect(direct.count == 10 && !direct.isCancelled)
    }
}
