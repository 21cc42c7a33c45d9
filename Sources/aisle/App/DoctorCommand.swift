internal import ArgumentParser
internal import CatalogPostgres
internal import LibPQ

struct DoctorCommand: AisleCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor",
        abstract: "Check the database for problems."
    )

    @OptionGroup var database: DatabaseOptions

    func execute() async throws {
        Console.note("database: \(database.source)")
        let findings = try await Doctor(try database.pool(size: 1)).examine()
        for finding in findings { print("\(finding.isGood ? "ok  " : "BAD ") \(finding.text)") }
        let bad = findings.filter { !$0.isGood }
        for remedy in bad.compactMap(\.remedy) { Console.note("fix: \(remedy)") }
        if !bad.isEmpty { throw ExitCode(CommandFailure.failed) }
    }
}
