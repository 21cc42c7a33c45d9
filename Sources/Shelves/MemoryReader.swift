/// Reads values from memory, and notices its end.
struct MemoryReader {
    private let bytes: UnsafeRawBufferPointer
    private var offset = 0

    init(_ bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

    var isAtEnd: Bool { offset == bytes.count }

    /// Reads a value; nil if there are not enough bytes.
    mutating func value<Value: BitwiseCopyable>() -> Value? {
        part(UInt32(MemoryLayout<Value>.size))?.loadUnaligned(as: Value.self)
    }

    /// Returns the next bytes; nil if there are fewer.
    mutating func part(_ count: UInt32) -> UnsafeRawBufferPointer? {
        guard Int(count) <= bytes.count - offset else { return nil }
        defer { offset += Int(count) }
        return UnsafeRawBufferPointer(rebasing: bytes[offset..<(offset + Int(count))])
    }

    /// Returns all bytes that are left.
    mutating func rest() -> UnsafeRawBufferPointer {
        defer { offset = bytes.count }
        return UnsafeRawBufferPointer(rebasing: bytes[offset...])
    }

    /// Reads values; false if there are not enough bytes.
    mutating func read<Value: BitwiseCopyable>(_ values: inout [Value], _ count: UInt32) -> Bool {
        let size = Int(count) * MemoryLayout<Value>.stride
        guard size <= bytes.count - offset else { return false }
        let source = UnsafeRawBufferPointer(rebasing: bytes[offset..<(offset + size)])
        values = [Value](unsafeUninitializedCapacity: Int(count)) { buffer, initialized in
            UnsafeMutableRawBufferPointer(buffer).copyMemory(from: source)
            initialized = Int(count)
        }
        offset += size
        return true
    }
}
