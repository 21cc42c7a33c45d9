/// Parameters in the layout that libpq requires.
struct ParameterBuffers {
    private var bytes: [UInt8] = []
    private var offsets: [Int] = []
    private var lengths: [Int32] = []
    private var formats: [Int32] = []
    private(set) var oids: [UInt32] = []

    /// The maximum size of all parameters, in bytes: PostgreSQL rejects messages of 1 GiB.
    private static let sizeLimit = 1 << 30
    /// Whether PostgreSQL would reject the parameters.
    var isTooLarge: Bool { bytes.count >= Self.sizeLimit }

    init(_ values: [PostgresValue]) {
        offsets.reserveCapacity(values.count)
        lengths.reserveCapacity(values.count)
        formats.reserveCapacity(values.count)
        oids.reserveCapacity(values.count)
        bytes.reserveCapacity(values.count * 16)
        for value in values {
            let start = bytes.count
            let isPresent = value.encode(into: &bytes)
            offsets.append(isPresent ? start : -1)
            lengths.append(Int32(clamping: bytes.count - start))
            formats.append(value.isBinary ? 1 : 0)
            oids.append(value.oid)
        }
        // An empty value needs an address, too; otherwise libpq treats it as NULL.
        bytes.append(0)
    }

    func withPointers<R>(
        _ body: (Int32, UnsafePointer<UnsafePointer<CChar>?>?, UnsafePointer<Int32>?, UnsafePointer<Int32>?) -> R
    ) -> R {
        bytes.withUnsafeBytes { buffer in
            let base = buffer.baseAddress!.assumingMemoryBound(to: CChar.self)
            let pointers: [UnsafePointer<CChar>?] = offsets.map { $0 < 0 ? nil : base + $0 }
            return pointers.withUnsafeBufferPointer { pointers in
                lengths.withUnsafeBufferPointer { lengths in
                    formats.withUnsafeBufferPointer { formats in
                        body(Int32(pointers.count), pointers.baseAddress, lengths.baseAddress, formats.baseAddress)
                    }
                }
            }
        }
    }
}
