import Testing

@testable import CatalogPostgres

/// The advice of the doctor about a server's settings.
@Suite(.timeLimit(.minutes(15))) struct DoctorAdviceTests {
    private typealias Setting = DoctorAdvice.Setting

    private static let good: [String: Setting] = [
        "autovacuum": Setting(value: "on"), "checkpoint_timeout": Setting(value: "900"),
        "max_wal_size": Setting(value: "4096"), "wal_compression": Setting(value: "lz4"),
    ]

    @Test("Good settings get no advice")
    func acceptsGoodSettings() { #expect(DoctorAdvice.findings(Self.good).isEmpty) }

    @Test(
        "A setting that costs space or time gets advice, with the SQL that follows it",
        arguments: [
            ("checkpoint_timeout", "300", "checkpoint_timeout = '15min'"),
            ("max_wal_size", "1024", "max_wal_size = '4GB'"),
            ("wal_compression", "off", "wal_compression = on"),
        ]
    )
    func advises(name: String, value: String, remedy: String) throws {
        var settings = Self.good
        settings[name] = Setting(value: value)
        let findings = DoctorAdvice.findings(settings)
        let finding = try #require(findings.first)
        #expect(findings.count == 1)
        #expect(finding.verdict == .advice)
        #expect(finding.isOK)
        #expect(finding.text.contains(name))
        #expect(
            finding.remedy == "psql \"$DATABASE_URL\" -c \"ALTER SYSTEM SET \(remedy)\" -c \"SELECT pg_reload_conf()\""
        )
    }

    @Test("The best compression that the server has is advised")
    func choosesCompression() {
        for (choices, best) in [(["pglz", "lz4", "zstd", "on", "off"], "lz4"), (["pglz", "on", "off"], "pglz")] {
            var settings = Self.good
            settings["wal_compression"] = Setting(value: "off", choices: choices)
            #expect(DoctorAdvice.findings(settings).first?.remedy?.contains("= \(best)\"") == true)
        }
    }

    @Test("A server without autovacuum has a problem")
    func requiresAutovacuum() {
        var settings = Self.good
        settings["autovacuum"] = Setting(value: "off")
        #expect(DoctorAdvice.findings(settings).map(\.verdict) == [.problem])
    }
}
