import ArgumentParser
import Foundation
import Testing

@testable import aisle

@Suite struct CommandListTests {
    /// Returns the names of a command's type and of those below it.
    private func types(_ command: any ParsableCommand.Type) -> Set<String> {
        let name = String(reflecting: command).replacing("aisle.", with: "")
        return command.configuration.subcommands.reduce(into: [name]) { $0.formUnion(types($1)) }
    }

    @Test("Every command is in the list of its parent")
    func everyCommandIsListed() throws {
        let folder = "Sources/aisle"
        let root = RepositoryFile.root.appending(path: folder)
        let files = try #require(FileManager.default.enumerator(atPath: root.path))
        var defined: Set<String> = []
        for case let path as String in files where path.hasSuffix(".swift") {
            var parent = ""
            for line in try RepositoryFile.text("\(folder)/\(path)").split(separator: "\n") {
                if let type = line.prefixMatch(of: /(?:struct|extension|enum) (\w+)/) { parent = String(type.1) }
                if let command = line.prefixMatch(of: /( *)struct (\w+): (?:AisleCommand|(?:Async)?ParsableCommand)\b/)
                {
                    defined.insert(command.1.isEmpty ? parent : "\(parent).\(command.2)")
                }
            }
        }
        #expect(defined.count > 50)
        #expect(defined.subtracting(types(Aisle.self)) == [])
    }

    @Test("No description has an empty line, which a manual page must not have")
    func descriptions() {
        func check(_ command: any ParsableCommand.Type) {
            let texts = [command.configuration.abstract, command.configuration.discussion]
            #expect(!texts.contains { $0.contains("\n\n") }, "\(command)")
            for subcommand in command.configuration.subcommands { check(subcommand) }
        }
        for command in Aisle.configuration.subcommands { check(command) }
    }
}
