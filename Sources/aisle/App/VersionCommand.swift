internal import ArgumentParser
internal import Catalog

struct VersionCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "version", abstract: "Print the program's version.")
    func run() async throws { print("aisle \(Aisle.version)") }
}
