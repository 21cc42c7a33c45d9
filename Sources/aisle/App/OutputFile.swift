internal import Glibc
internal import Platform

/// A file that a command overwrites. Errors name the file and the reason.
final class OutputFile: Sendable {
    let path: String
    private let descriptor: Int32

    /// - Parameter input: a file that is read at the same time; it must be a different one.
    init(_ path: String, option: String, input: String? = nil) throws {
        if let input, let own = Self.identity(path), own == Self.identity(input) {
            throw CommandFailure("\(option) must not be the input file", CommandFailure.usage)
        }
        descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o666)
        self.path = path
        guard descriptor >= 0 else { throw failure(CommandFailure.cannotCreate) }
    }

    deinit { if descriptor >= 0 { close(descriptor) } }

    /// Returns the device and inode of a file.
    private static func identity(_ path: String) -> [UInt64]? {
        var found = stat()
        guard stat(path, &found) == 0 else { return nil }
        return [UInt64(found.st_dev), UInt64(found.st_ino)]
    }

    func write(_ text: String) throws {
        guard descriptor.writeAll(text.utf8) else { throw failure(CommandFailure.failed) }
    }

    /// Flushes everything to the file.
    func finish() throws {
        // Some file systems report a full disk only now.
        guard fsync(descriptor) == 0 || errno == EINVAL || errno == EROFS else { throw failure(CommandFailure.failed) }
    }

    private func failure(_ code: Int32) -> CommandFailure {
        CommandFailure("cannot write \(path): \(String(cString: strerror(errno)))", code)
    }
}
