internal import ArgumentParser
internal import Catalog

/// The errors in the arguments of the program.
enum UsageErrors {
    /// Returns what is wrong, the usage, and where the help is; it starts with `aisle:`, as the errors of the commands themselves do.
    static func message(_ error: any Error, _ arguments: [String]) -> String {
        if let mistake = unknownCommand(in: arguments) { return "aisle: \(mistake)" }
        let text = Aisle.fullMessage(for: error)
        guard text.hasPrefix(prefix) else { return text }
        let message = text.dropFirst(prefix.count)
        return "aisle: \(message.prefix(1).lowercased())\(message.dropFirst())"
    }

    /// The library's prefix of an error.
    private static let prefix = "Error: "

    /// Returns the error for an unknown command in the arguments, with the closest command; nil if the command exists.
    private static func unknownCommand(in arguments: [String]) -> String? {
        var command = Aisle.configuration
        var path = "aisle"
        for word in arguments {
            guard !word.hasPrefix("-"), !command.subcommands.isEmpty else { return nil }
            if let next = command.subcommands.first(where: { names(of: $0).contains(word) }) {
                (command, path) = (next.configuration, "\(path) \(word)")
                continue
            }
            // The word may be an argument of the default command, or of the library's own help.
            guard command.defaultSubcommand == nil, word != "help" else { return nil }
            let remedy =
                word.closest(among: command.subcommands.flatMap { names(of: $0) }).map { "did you mean \(path) \($0)?" }
                ?? "list the commands with: \(path) --help"
            return "unknown command “\(path) \(word)”; \(remedy)"
        }
        return nil
    }

    private static func names(of command: any ParsableCommand.Type) -> [String] {
        [command._commandName] + command.configuration.aliases
    }
}
