internal import CZlib

/// A streaming decompressor of deflated data, raw or in the gzip format.
final class Inflater {
    /// The end of a piece of input.
    enum Step: Equatable {
        /// More input is needed.
        case needsInput
        /// The compressed data ended; the number of bytes of the piece that belong to it.
        case ended(consumed: Int)
        /// The data is damaged.
        case damaged
    }

    // zlib's state points to its stream, which must not move.
    private let stream: UnsafeMutablePointer<z_stream>
    private var output = [UInt8](repeating: 0, count: 64 << 10)

    /// - Parameter isGzip: whether the data has a gzip header and trailer, which are checked.
    /// - Returns: nil if memory is exhausted.
    init?(isGzip: Bool) {
        stream = .allocate(capacity: 1)
        stream.initialize(to: z_stream())
        guard aisle_inflate_init(stream, isGzip ? 15 + 16 : -15) == Z_OK else {
            stream.deallocate()
            return nil
        }
    }

    deinit {
        inflateEnd(stream)
        stream.deallocate()
    }

    /// Prepares for another stream of compressed data.
    func reset() { inflateReset(stream) }

    /// Decompresses a piece, and passes on up to 64 KiB at a time.
    func read(_ piece: ArraySlice<UInt8>, _ emit: (ArraySlice<UInt8>) throws -> Void) rethrows -> Step {
        var input = Array(piece)
        return try input.withUnsafeMutableBufferPointer { input in
            stream.pointee.next_in = input.baseAddress
            stream.pointee.avail_in = UInt32(input.count)
            while true {
                let capacity = output.count
                let status = output.withUnsafeMutableBufferPointer { output in
                    stream.pointee.next_out = output.baseAddress
                    stream.pointee.avail_out = UInt32(capacity)
                    return inflate(stream, Z_NO_FLUSH)
                }
                let count = capacity - Int(stream.pointee.avail_out)
                if count > 0 { try emit(output[..<count]) }
                switch status {
                case Z_STREAM_END: return .ended(consumed: input.count - Int(stream.pointee.avail_in))
                case Z_OK where stream.pointee.avail_in > 0 || stream.pointee.avail_out == 0: continue
                case Z_OK, Z_BUF_ERROR: return .needsInput
                default: return .damaged
                }
            }
        }
    }

    /// Returns the CRC-32 of data that continues data with a checksum.
    static func checksum(_ bytes: ArraySlice<UInt8>, after checksum: UInt32) -> UInt32 {
        bytes.withUnsafeBufferPointer { UInt32(crc32(UInt(checksum), $0.baseAddress, UInt32($0.count))) }
    }
}
