import Foundation
import LibPQ
import TestSupport
import Testing

@testable import aisle

/// Commands in a shell: on a terminal, and completing names.
@Suite(.timeLimit(.minutes(15))) struct TerminalTests {
    /// Runs a command on a terminal of its own, with input; returns everything that it shows.
    private static func onTerminal(_ arguments: [String], input: String = "") throws -> String {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/timeout")
        process.arguments =
            [
                "--signal=KILL", "60", "python3", "-c", "import pty, sys; pty.spawn(sys.argv[1:])",
                TestProcess.executable,
            ] + arguments
        let (keyboard, screen) = (Pipe(), Pipe())
        (process.standardInput, process.standardOutput) = (keyboard, screen)
        try process.run()
        keyboard.fileHandleForWriting.write(Data(input.utf8))
        // The terminal stays open until the command ends.
        let text = try Self.text(of: screen.fileHandleForReading.fileDescriptor)
        try keyboard.fileHandleForWriting.close()
        process.waitUntilExit()
        return text.replacing("\r\n", with: "\n")
    }

    /// Reads until the end, and waits for each part for at most a minute and a half.
    private static func text(of descriptor: Int32) throws -> String {
        var (bytes, buffer) = ([UInt8](), [UInt8](repeating: 0, count: 1 << 16))
        while true {
            var wanted = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            let isReadable = poll(&wanted, 1, 90_000) > 0
            try #require(isReadable, "the command did not end")
            let count = read(descriptor, &buffer, buffer.count)
            guard count > 0 else { return String(decoding: bytes, as: UTF8.self) }
            bytes += buffer[..<count]
        }
    }

    @Test("On a terminal, a listing is a table, and a deletion asks")
    func terminal() async throws {
        try await CommandDatabase.run { commands in
            #expect(await commands.aisle(["store", "create", "shop", "--currency", "EUR"]).code == 0)
            let dsn = ["--dsn", commands.database.configuration.dsn]
            let table = try Self.onTerminal(["store", "list"] + dsn)
            #expect(
                table.contains("key   title  currency  unit_pricing  sold_out  default_sort\n────  ─────  "),
                "\(table)"
            )
            let kept = try Self.onTerminal(["store", "rm", "shop"] + dsn, input: "n\n")
            #expect(kept.contains("purchases? [y/N] ") && kept.contains("nothing was deleted"), "\(kept)")
            let deleted = try Self.onTerminal(["store", "rm", "shop"] + dsn, input: "y\n")
            #expect(deleted.contains("deleted store shop; products: 0"), "\(deleted)")
        }
    }

    @Test("A shell completes stores, and the shelves of those that match")
    func completion() async throws {
        try await CommandDatabase.run { commands in
            for store in ["shop", "kiosk"] {
                #expect(await commands.aisle(["store", "create", store, "--currency", "EUR"]).code == 0)
                for shelf in ["dairy", "sweets"] {
                    #expect(await commands.aisle(["shelf", "create", "\(store)/\(shelf)"]).code == 0)
                }
            }
            func completed(_ command: [String], _ word: String) async throws -> Set<String> {
                let place = ["--", "positional@0", "\(command.count + 1)", "\(word.utf8.count)", "aisle"]
                let process = try TestProcess(
                    ["---completion"] + command + place + command + [word],
                    environment: ["SAP_SHELL": "bash", "DATABASE_URL": commands.database.configuration.dsn]
                )
                #expect(await process.wait() == 0, "\(process.standardError)")
                return Set(process.standardOutput.split(separator: "\n").map(String.init))
            }
            for (command, word, words) in [
                (["store", "show"], "", ["shop", "kiosk"]), (["store", "show"], "k", ["kiosk"]),
                (["sort"], "", ["shop/dairy", "shop/sweets", "kiosk/dairy", "kiosk/sweets"]),
                (["sort"], "sh", ["shop/dairy", "shop/sweets"]), (["sort"], "kiosk/d", ["kiosk/dairy"]),
                (["sort"], "dai", []),
            ] as [([String], String, Set<String>)] {
                let found = try await completed(command, word)
                #expect(found == words, "\(command) \(word)")
            }
        }
    }
}
