import Foundation
import Platform
import Synchronization
import TestSupport

/// A run of the real `aisle` executable.
///
/// It does not use Foundation's `Process`, which waits for every process with inherited descriptors, for example a database server.
final class TestProcess: Sendable {
    private let child: pid_t
    private let output: String
    private let input: Mutex<Int32>
    private let status = Mutex<Int32?>(nil)

    static let executable: String = {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        return root.path + "/.build/debug/aisle"
    }()

    /// A script that moves its input to descriptor 3, and announces it as systemd does.
    private static let inheritance = #"export LISTEN_PID=$$; exec 3<&0 0</dev/null "$0" "$@""#

    /// - Parameter inherited: a descriptor that is passed to the process as systemd passes a socket, instead of its input.
    init(
        _ arguments: [String],
        environment: [String: String] = [:],
        folder: String = "/tmp",
        inheriting inherited: Int32? = nil
    ) throws {
        output = FileManager.default.temporaryDirectory.appending(path: "aisle-test-\(UUID().uuidString)").path
        var descriptors: [Int32] = [0, 0]
        guard pipe(&descriptors) == 0 else { throw POSIXError(.EMFILE) }
        // A child that does not read must not block a test.
        _ = fcntl(descriptors[1], F_SETFL, O_NONBLOCK)
        for descriptor in descriptors { _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC) }
        var variables = ProcessInfo.processInfo.environment.filter {
            !$0.key.hasPrefix("PG") && $0.key != "DATABASE_URL"
        }
        variables.merge(environment) { $1 }
        defer { close(descriptors[0]) }
        child = try ChildProcess.start(
            ["env", "-C", folder] + (inherited == nil ? [] : ["sh", "-c", Self.inheritance]) + [Self.executable]
                + arguments,
            environment: variables,
            input: .descriptor(inherited ?? descriptors[0]),
            output: .file(output + ".out"),
            error: .file(output + ".err")
        )
        input = Mutex(descriptors[1])
    }

    var standardOutput: String { (try? String(contentsOfFile: output + ".out", encoding: .utf8)) ?? "" }
    var standardError: String { (try? String(contentsOfFile: output + ".err", encoding: .utf8)) ?? "" }

    func send(_ text: String) {
        let descriptor = input.withLock { $0 }
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            let written = rest.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
            if written < 0, errno == EAGAIN {
                var wanted = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                guard poll(&wanted, 1, 60_000) > 0 else { return }
                continue
            }
            guard written > 0 else { return }
            rest = rest.dropFirst(written)
        }
    }

    func endInput() {
        input.withLock {
            if $0 >= 0 { close($0) }
            $0 = -1
        }
    }

    func signal(_ number: Int32) { _ = Foundation.kill(child, number) }

    /// Returns the exit code, or 128 plus the signal that ended the process. Kills the process after two minutes.
    func wait() async -> Int32 {
        endInput()
        _ = await eventually(within: .seconds(120)) { exitCode() != nil }
        return exitCode() ?? kill()
    }

    /// Returns the exit code; nil while the process runs.
    private func exitCode(_ options: Int32 = WNOHANG) -> Int32? {
        status.withLock { known in
            if known != nil { return known }
            var raw: Int32 = 0
            guard waitpid(child, &raw, options) == child else { return nil }
            known = raw & 0x7F == 0 ? (raw >> 8) & 0xFF : 128 + (raw & 0x7F)
            return known
        }
    }

    /// Kills the process.
    @discardableResult
    private func kill() -> Int32 {
        signal(SIGKILL)
        return exitCode(0) ?? 128 + SIGKILL
    }

    /// Waits for a text on stderr; returns false after two minutes.
    func waitForOutput(_ text: String) async -> Bool {
        await eventually(within: .seconds(120)) { standardError.contains(text) }
    }

    /// Waits for the server to listen, and returns its port.
    func port() async -> Int? { await port(after: "Listening on") }

    /// Waits for the server's admin port, and returns it.
    func adminPort() async -> Int? { await port(after: "Admin port:") }

    private func port(after title: String) async -> Int? {
        let start = "\(title) http://127.0.0.1:"
        guard await waitForOutput(start) else { return nil }
        let address = standardError.split(separator: start).last ?? ""
        return Int(address.prefix { $0.isNumber })
    }

    deinit {
        endInput()
        if exitCode() == nil { kill() }
        for ending in [".out", ".err"] { unlink(output + ending) }
    }
}
