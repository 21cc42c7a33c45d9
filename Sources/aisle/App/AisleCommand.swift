internal import ArgumentParser
internal import Catalog
internal import CatalogPostgres
internal import FoundationEssentials
internal import LibPQ

/// A command that reports errors as one line on stderr and an exit code.
protocol AisleCommand: AsyncParsableCommand, Sendable {
    /// Whether the command handles Ctrl-C and `kill` itself.
    static var handlesSignals: Bool { get }
    func execute() async throws
}

extension AisleCommand {
    static var handlesSignals: Bool { false }

    func run() async throws {
        try await reportingErrors {
            if Self.handlesSignals {
                try await execute()
            } else {
                try await untilInterrupted { try await execute() }
            }
        }
    }

    /// Runs a body as the operating-system user. Prints its error, and throws the exit code instead.
    func reportingErrors(_ body: () async throws -> Void) async throws {
        do { try await ChangeOrigin.commandLine.run(body) } catch let code as ExitCode { throw code } catch let error
            as ValidationError
        {
            throw error
        } catch {
            let failure = CommandFailure(error)
            Console.note("aisle: \(failure.message)")
            throw ExitCode(failure.code)
        }
    }
}

extension ChangeOrigin {
    /// The origin of the changes of a command: the operating-system user on this host.
    fileprivate static let commandLine: ChangeOrigin = {
        let process = ProcessInfo.processInfo
        let user = process.userName
        return ChangeOrigin(source: .commandLine, actor: user.isEmpty ? "unknown" : user, address: process.hostName)
    }()
}
