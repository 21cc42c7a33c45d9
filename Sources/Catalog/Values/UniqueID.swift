/// A lower-case UUID, which a device can generate without the server.
package struct UniqueID: Hashable, Sendable, Comparable, CustomStringConvertible {
    package let text: String

    /// Parses a UUID in any letter case; nil for anything else.
    package init?(_ given: some StringProtocol) {
        let bytes = Array(given.lowercased().utf8)
        guard bytes.count == 36,
            bytes.indices.allSatisfy({ index in
                [8, 13, 18, 23].contains(index)
                    ? bytes[index] == UInt8(ascii: "-")
                    : (48...57).contains(bytes[index]) || (97...102).contains(bytes[index])
            })
        else { return nil }
        text = String(decoding: bytes, as: UTF8.self)
    }

    private init(bytes: [UInt8]) {
        text = [0..<4, 4..<6, 6..<8, 8..<10, 10..<16].map { Array(bytes[$0]).hexadecimal }.joined(separator: "-")
    }

    /// Returns a random UUID. Source: RFC 9562, version 4.
    package static func random() -> UniqueID {
        var bytes = [UInt8].random(16)
        bytes[6] = bytes[6] & 0x0F | 0x40
        bytes[8] = bytes[8] & 0x3F | 0x80
        return UniqueID(bytes: bytes)
    }

    package var description: String { text }
    package static func < (a: UniqueID, b: UniqueID) -> Bool { a.text < b.text }
}

extension [UInt8] {
    /// The bytes as lower-case hexadecimal digits.
    package var hexadecimal: String { map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined() }

    /// Returns bytes from the system's cryptographic random generator.
    package static func random(_ count: Int) -> [UInt8] {
        var generator = SystemRandomNumberGenerator()
        return (0..<count).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
    }
}
