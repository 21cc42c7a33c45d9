import Foundation
import Platform
import Testing

@Suite(.timeLimit(.minutes(15))) struct ChildProcessTests {
    @Test("A child process inherits only its standard streams")
    func inheritsStandardStreamsOnly() throws {
        let output = FileManager.default.temporaryDirectory.appending(path: "aisle-test-\(UUID().uuidString)").path
        defer { unlink(output) }
        // A descriptor that stays open across exec; its number is far from those of other tests.
        let inheritable = fcntl(STDOUT_FILENO, F_DUPFD, 700)
        #expect(inheritable >= 700)
        defer { close(inheritable) }

        let child = try ChildProcess.start(["ls", "/proc/self/fd"], output: .file(output))
        var status: Int32 = 0
        #expect(waitpid(child, &status, 0) == child)
        #expect(status == 0)
        // The fourth descriptor is the folder that `ls` reads.
        #expect(try String(contentsOfFile: output, encoding: .utf8) == "0\n1\n2\n3\n")
    }

    @Test("A program that does not exist is reported by name")
    func reportsMissingPrograms() {
        let error = #expect(throws: ChildProcessError.self) { _ = try ChildProcess.start(["/nowhere/program"]) }
        #expect(error?.description == "cannot start /nowhere/program: No such file or directory")
    }
}
