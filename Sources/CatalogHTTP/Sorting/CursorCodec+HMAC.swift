internal import CatalogJSON
internal import Catalog
internal import Crypto

extension CursorCodec {
    /// A codec whose MAC is HMAC-SHA-256 under a key that all servers of a deployment share.
    package init(key: [UInt8]) {
        let key = SymmetricKey(data: key)
        self.init { bytes in Array(HMAC<SHA256>.authenticationCode(for: bytes, using: key)) }
    }
}
