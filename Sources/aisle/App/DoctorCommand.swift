internal import JSON
internal import ArgumentParser
internal import CatalogJSON
internal import CatalogPostgres
internal import LibPQ

struct DoctorCommand: AisleCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor",
        abstract: "Check the database for problems."
    )

    @OptionGroup var database: DatabaseOptions
    @Option(parsing: .unconditional, help: "The number of servers that use the database.") var servers = 1
    @Option(help: "text or json.") var format: ReportFormat = .text
    @OptionGroup var file: SettingsFile

    func execute() async throws {
        Console.note("database: \(database.source.title)")
        guard servers > 0 else { throw CommandFailure("--servers must be at least 1", CommandFailure.usage) }
        let settings = try file.settings()
        let replicas = try database.replicaConfigurations()
        let findings = try await database.withPool(size: 1) { pool in
            let findings = try await Doctor(pool).examine(
                servers: servers,
                with: settings.connections,
                shelfMemory: settings.shelfMegabytes << 20
            )
            let doctor = ReplicaDoctor(primary: pool, lagLimit: settings.readLag)
            let workers = settings.readsWorkers ? try await WorkerDoctor(coordinator: pool).examine() : []
            return try await findings
                + doctor.examine(replicas, servers: servers, with: settings.connections) + workers
        }
        switch format {
        case .text:
            for finding in findings { Console.line("\(Self.mark(finding.verdict)) \(finding.text)") }
            for finding in findings {
                guard let remedy = finding.remedy else { continue }
                Console.note("\(finding.isOK ? "advice" : "fix"): \(remedy)")
            }
        case .json:
            var json = JSONWriter()
            json.array(findings) { json, finding in
                json.object { json in
                    json.field("ok", finding.isOK)
                    json.field("verdict", finding.verdict.rawValue)
                    json.field("finding", finding.text)
                    if let remedy = finding.remedy { json.field("remedy", remedy) }
                }
            }
            Console.line(json.text)
        }
        if findings.contains(where: { !$0.isOK }) { throw ExitCode(CommandFailure.failed) }
    }

    /// A word that begins a finding's line.
    private static func mark(_ verdict: Doctor.Finding.Verdict) -> String {
        switch verdict {
        case .ok: "ok   "
        case .advice: "note "
        case .problem: "BAD  "
        }
    }
}
