internal import Catalog
internal import CatalogHTTP
internal import Foundation

/// The secret of a private server, made once and kept where only its owner reads it.
enum OwnSecret {
    private static let path = DatabaseOptions.privateFolder + "/jwt-secret"

    /// The secret; nil where none was made yet.
    static func read() -> [UInt8]? {
        guard let data = FileManager.default.contents(atPath: path), data.count >= TokenKeys.leastSecret else {
            return nil
        }
        return [UInt8](data)
    }

    /// The secret, made where there is none yet.
    static func make() throws -> [UInt8] {
        if let secret = read() { return secret }
        let secret = Base64URL.encode([UInt8].random(32))
        do {
            try FileManager.default.createDirectory(
                atPath: DatabaseOptions.privateFolder,
                withIntermediateDirectories: true
            )
            guard
                FileManager.default.createFile(
                    atPath: path,
                    contents: Data(secret.utf8),
                    attributes: [.posixPermissions: 0o600]
                )
            else { throw CocoaError(.fileWriteUnknown) }
        } catch {
            throw CommandFailure("\(path) cannot be written", CommandFailure.denied)
        }
        return Array(secret.utf8)
    }
}
