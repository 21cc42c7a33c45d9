import Foundation
import Platform
import Testing

@Suite(.timeLimit(.minutes(15))) struct ChildStreamTests {
    private static func path() -> String {
        FileManager.default.temporaryDirectory.appending(path: "aisle-test-\(UUID().uuidString)").path
    }

    /// Runs a program, and returns its status.
    private static func run(_ child: Int32) -> Int32 {
        var status: Int32 = 0
        return waitpid(child, &status, 0) == child ? status : -1
    }

    @Test("A child has the environment and the streams that it is given; others are /dev/null")
    func streams() throws {
        let output = Self.path()
        defer { unlink(output) }
        try "a longer text that the child replaces".write(toFile: output, atomically: true, encoding: .utf8)
        let script = "cat; echo \"$WORD $#\"; echo error >&2; cat /proc/self/environ | tr '\\0' ' '"
        let environment = ["WORD": "x", "PATH": "/usr/bin:/bin"]
        var child = try ChildProcess.start(
            ["sh", "-c", script, "name", "one", "two"],
            environment: environment,
            output: .file(output),
            error: .standardOutput
        )
        #expect(Self.run(child) == 0)
        let text = try String(contentsOfFile: output, encoding: .utf8)
        #expect(text.hasPrefix("x 2\nerror\n"))
        #expect(text.contains("WORD=x") && !text.contains("HOME="))

        // Only the owner may read a file that is created.
        let other = Self.path()
        defer { unlink(other) }
        var descriptors: [Int32] = [0, 0]
        try #require(pipe(&descriptors) == 0)
        #expect(descriptors[1].writeAll("input".utf8))
        close(descriptors[1])
        child = try ChildProcess.start(["cat"], input: .descriptor(descriptors[0]), output: .null, error: .file(other))
        #expect(Self.run(child) == 0)
        close(descriptors[0])
        let attributes = try FileManager.default.attributesOfItem(atPath: other)
        #expect(attributes[.posixPermissions] as? Int == 0o600)
        child = try ChildProcess.start(["sh", "-c", "test -n \"$PATH\" && exit 3"])
        #expect(Self.run(child) == 3 << 8)
    }
}
