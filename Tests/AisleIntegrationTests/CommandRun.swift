import ArgumentParser
import Foundation
import LibPQ
import Platform
import Testing
import TestSupport

@testable import aisle

/// A command that ran in the process of the tests, which costs less than a process of its own.
struct CommandRun {
    let code: Int32
    let output: String
    let notes: String

    /// Runs a command as `Aisle.main` does, except that signals do not interrupt it.
    static func run(_ arguments: [String], on record: TerminalRecord = TerminalRecord()) async -> CommandRun {
        let exitCode = await TaskContext(terminal: record).run { await code(of: arguments) }
        return CommandRun(code: exitCode, output: record.output, notes: record.notes)
    }

    private static func code(of arguments: [String]) async -> Int32 {
        do {
            let parsed = try await Aisle.asyncParseAsRoot(arguments)
            guard let command = parsed as? any AisleCommand else {
                Issue.record("no command: \(arguments)")
                return -1
            }
            try await command.reportingErrors { try await command.execute() }
            return 0
        } catch let code as ExitCode {
            return code.rawValue
        } catch {
            Console.note(UsageErrors.message(error, arguments))
            return Aisle.exitCode(for: error).rawValue
        }
    }
}

/// A database for commands, and a folder for their files.
struct CommandDatabase {
    let database: TestDatabase
    private let folder: URL

    static func run(_ body: (CommandDatabase) async throws -> Void) async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "aisle-commands-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let database = try await TestDatabase.migrated()
        try await body(CommandDatabase(database: database, folder: folder))
        try await database.drop()
    }

    /// Runs a command on the database.
    func aisle(_ arguments: [String], on record: TerminalRecord = TerminalRecord()) async -> CommandRun {
        await CommandRun.run(arguments + ["--dsn", database.configuration.dsn], on: record)
    }

    /// Checks everything that a command prints, and its exit code.
    func expect(
        _ arguments: [String],
        code: Int32 = 0,
        output: String = "",
        notes: String = "",
        at location: SourceLocation = #_sourceLocation
    ) async {
        let run = await aisle(arguments)
        #expect(run.code == code, "\(arguments): \(run.notes)", sourceLocation: location)
        #expect(run.output == output, "\(arguments)", sourceLocation: location)
        #expect(run.notes == notes, "\(arguments)", sourceLocation: location)
    }

    /// Checks that a command fails with an error of one line, and prints nothing else.
    func expectFailure(
        _ arguments: [String],
        _ code: Int32,
        _ message: String,
        at location: SourceLocation = #_sourceLocation
    ) async {
        await expect(arguments, code: code, notes: "aisle: \(message)\n", at: location)
    }

    func path(_ name: String) -> String { folder.appending(path: name).path }

    /// Writes a file, and returns its path.
    func file(_ name: String, _ text: String) throws -> String {
        try Data(text.utf8).write(to: URL(fileURLWithPath: path(name)))
        return path(name)
    }

    func text(of name: String) throws -> String { try String(contentsOfFile: path(name), encoding: .utf8) }

    /// Runs SQL.
    func sql(_ script: String) async throws {
        let connection = try await PostgresConnection.connect(database.configuration)
        try await connection.perform { try $0.run(script: script) }
        await connection.close()
    }

    /// Returns the first column of the first row, as text.
    func value(_ statement: PostgresStatement) async throws -> String? {
        let connection = try await PostgresConnection.connect(database.configuration)
        let text = try await connection.perform { try $0.query(statement) { try $0.first { try $0.text(0) } } }
        await connection.close()
        return text
    }
}
