internal import Catalog

/// A position in the write-ahead log of a database: a state that includes everything that was committed before it.
struct LogPosition: Sendable, Hashable {
    /// The identifier of the database cluster; 0 for an unknown log position.
    let cluster: Int64
    /// The number of the timeline, which grows with each promotion of a standby.
    let timeline: UInt32
    /// The number of bytes of the log before it.
    let offset: Int64

    /// The log position of a write after which it could not be read. No replica is known to have it.
    static let unknown = LogPosition(cluster: 0, timeline: 0, offset: 0)

    /// Returns the later of two log positions; unknown if the clusters differ.
    func including(_ other: LogPosition) -> LogPosition {
        guard cluster == other.cluster else { return .unknown }
        return isBefore(other) ? other : self
    }

    /// Returns whether it is before another log position of the same cluster. A later timeline includes what remains of earlier ones.
    func isBefore(_ other: LogPosition) -> Bool {
        (timeline, offset) < (other.timeline, other.offset)
    }
}

extension LogPosition {
    /// The version of the form of tokens.
    private static let version: UInt8 = 1
    /// The length of a token's bytes: version, cluster, timeline and offset.
    private static let length = 1 + 8 + 4 + 8

    var token: StateToken {
        func bytes(_ number: some FixedWidthInteger) -> [UInt8] { withUnsafeBytes(of: number.bigEndian) { Array($0) } }
        return StateToken([Self.version] + bytes(cluster) + bytes(timeline) + bytes(offset))
    }

    /// Returns the log position of a token; nil for any other bytes.
    init?(_ token: StateToken) {
        let bytes = token.bytes
        guard bytes.count == Self.length, bytes[0] == Self.version else { return nil }
        func number(_ range: Range<Int>) -> UInt64 { bytes[range].reduce(0) { $0 << 8 | UInt64($1) } }
        let offset = Int64(bitPattern: number(13..<21))
        guard offset >= 0 else { return nil }
        self.init(
            cluster: Int64(bitPattern: number(1..<9)),
            timeline: UInt32(number(9..<13)),
            offset: offset
        )
    }
}
