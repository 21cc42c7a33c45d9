internal import ArgumentParser
internal import Catalog

struct VersionCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "version", abstract: "Print the program's version.")
    @Option(help: "text or json.") var format: ReportFormat = .text
    func run() async throws {
        guard format == .json else { return Console.line("aisle \(Aisle.version)") }
        Console.line(#"{"version":"\#(Aisle.version)"}"#)
    }
}
