internal import Catalog
internal import CatalogHTTP
internal import CatalogJSON
internal import FoundationEssentials
internal import Glibc
internal import Platform

/// The secret of a private server, generated once and readable only by its owner.
enum LocalSecret {
    private static let path = DatabaseOptions.privateFolder + "/jwt-secret"

    /// Reads the secret; nil if there is none yet.
    static func read() -> [UInt8]? {
        guard let data = FileManager.default.contents(atPath: path), data.count >= TokenKeys.minimumSecretLength else {
            return nil
        }
        return [UInt8](data)
    }

    /// Reads the secret, or generates it if there is none yet.
    static func make() throws -> [UInt8] {
        if let secret = read() { return secret }
        let secret = Base64URL.encode([UInt8].random(32))
        do {
            try FileManager.default.createDirectory(
                atPath: DatabaseOptions.privateFolder,
                withIntermediateDirectories: true
            )
            // Never readable by others, not even briefly.
            unlink(path)
            let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
            defer { if descriptor >= 0 { close(descriptor) } }
            guard descriptor >= 0, descriptor.writeAll(secret.utf8) else {
                throw CommandFailure("cannot write \(path): \(String(cString: strerror(errno)))", CommandFailure.denied)
            }
        } catch let failure as CommandFailure { throw failure } catch {
            throw CommandFailure("cannot write \(path)", CommandFailure.denied)
        }
        return Array(secret.utf8)
    }
}

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
