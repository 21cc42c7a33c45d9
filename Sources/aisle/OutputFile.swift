internal import Foundation

/// A file that a command writes, from its beginning. Errors say which file, and why.
final class OutputFile: Sendable {
    let path: String
    private let handle: FileHandle

    /// - Parameter input: a file that is read at the same time, which must be another.
    init(_ path: String, option: String, besides input: String? = nil) throws {
        if let input, let own = Self.identity(path), own == Self.identity(input) {
            throw CommandFailure("\(option) names the file that is read; name another", CommandFailure.usage)
        }
        let descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o666)
        guard descriptor >= 0 else {
            throw CommandFailure(
                "\(path) cannot be written: \(String(cString: strerror(errno)))",
                CommandFailure.cannotCreate
            )
        }
        self.path = path
        handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
    }

    /// Device and number of a file.
    private static func identity(_ path: String) -> [UInt64]? {
        var found = stat()
        guard stat(path, &found) == 0 else { return nil }
        return [UInt64(found.st_dev), UInt64(found.st_ino)]
    }

    func write(_ text: String) throws {
        try reported { try handle.write(contentsOf: Data(text.utf8)) }
    }

    func close() throws { try reported { try handle.close() } }

    private func reported(_ work: () throws -> Void) throws {
        do { try work() } catch {
            let reason = ((error as NSError).userInfo[NSUnderlyingErrorKey] as? NSError ?? error as NSError)
            throw CommandFailure("\(path) cannot be written: \(reason.localizedDescription)", CommandFailure.failed)
        }
    }
}
