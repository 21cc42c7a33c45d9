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
        Console.note("database: \(database.source.title)")
        let findings = try await database.withPool(size: 1) { try await Doctor($0).examine() }
        for finding in findings { print("\(finding.isOK ? "ok  " : "BAD ") \(finding.text)") }
        let failed = findings.filter { !$0.isOK }
        for remedy in failed.compactMap(\.remedy) { Console.note("fix: \(remedy)") }
        if !failed.isEmpty { throw ExitCode(CommandFailure.failed) }
    }
}
