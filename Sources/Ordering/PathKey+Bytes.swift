extension PathKey {
    /// The length of a part in bytes, the first byte of the smallest value, that value, and the number of values.
    private static let forms: [(length: Int, head: UInt64, least: Int64, count: UInt64)] = [
        (1, 0x80, 0, 64),
        (2, 0xC0, 64, 1 << 12),
        (3, 0xD0, 4160, 1 << 20),
        (4, 0xE0, 1_052_736, 1 << 28),
        (8, 0xF0, 269_488_192, 1 << 59),
    ]

    /// The range of a part.
    package static let range: ClosedRange<Int64> = {
        let last = forms[forms.count - 1]
        let greatest = last.least + Int64(last.count) - 1
        return (-greatest - 1)...greatest
    }()

    /// The stored form of the key, which compares like the key.
    public var bytes: [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(parts.count * 2)
        for part in parts { Self.append(part, to: &bytes) }
        return bytes
    }

    /// Reads a stored key.
    ///
    /// - Throws: `PathKeyError` for bytes that `bytes` never returns.
    public init(bytes: some Collection<UInt8>) throws(PathKeyError) {
        var parts: [Int64] = []
        var rest = bytes[...]
        while let head = rest.first {
            // The bytes of a negative part are the complement of the bytes of −1 − value.
            let isNegative = head < 0x80
            let flip: UInt8 = isNegative ? 0xFF : 0
            guard let form = Self.form(head ^ flip) else { throw .reservedHead(head) }
            guard rest.count >= form.length else { throw .truncated }
            let word = rest.prefix(form.length).reduce(UInt64(0)) { $0 << 8 | UInt64($1 ^ flip) }
            let value = Int64(word - form.head << UInt64(8 * (form.length - 1))) + form.least
            parts.append(isNegative ? -1 - value : value)
            rest = rest.dropFirst(form.length)
        }
        guard !parts.isEmpty else { throw .empty }
        self.parts = parts
    }

    private static func form(_ head: UInt8) -> (length: Int, head: UInt64, least: Int64, count: UInt64)? {
        switch head {
        case 0x80...0xBF: forms[0]
        case 0xC0...0xCF: forms[1]
        case 0xD0...0xDF: forms[2]
        case 0xE0...0xEF: forms[3]
        case 0xF0...0xF7: forms[4]
        default: nil
        }
    }

    private static func append(_ part: Int64, to bytes: inout [UInt8]) {
        let isNegative = part < 0
        let value = isNegative ? -1 - part : part
        let form = forms.last { $0.least <= value }!
        let word = UInt64(value - form.least) + form.head << UInt64(8 * (form.length - 1))
        for shift in stride(from: 8 * (form.length - 1), through: 0, by: -8) {
            let byte = UInt8(truncatingIfNeeded: word >> UInt64(shift))
            bytes.append(isNegative ? ~byte : byte)
        }
    }
}
