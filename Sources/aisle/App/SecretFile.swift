internal import FoundationEssentials

/// A secret in a file, such as a credential of systemd, that others cannot read in the environment of the process.
enum SecretFile {
    /// Reads a secret without the line breaks at its end, which editors add.
    ///
    /// - Parameter setting: the setting that names the file, for the error.
    /// - Throws: `CommandFailure` if the file cannot be read.
    static func read(_ path: String, of setting: String) throws -> [UInt8] {
        guard let data = FileManager.default.contents(atPath: path) else {
            throw CommandFailure("cannot read the file \(path) of \(setting)", CommandFailure.configuration)
        }
        var bytes = [UInt8](data)
        while let last = bytes.last, last == 0x0A || last == 0x0D { bytes.removeLast() }
        return bytes
    }
}
