extension ShelfDiff {
    /// The media type of the wire format.
    public static var mediaType: String { "application/vnd.aisle.diff" }

    private static var version: UInt8 { 1 }
    /// The maximum length of an id, in bytes.
    private static var idLimit: Int { 256 }

    /// Returns the diff in the wire format, which <doc:WireForm> specifies.
    ///
    /// Products are not included; a client requests the ones that it needs. A plain order, whose old list is not
    /// known, has no wire format.
    ///
    /// - Parameter asOrder: whether to write the whole order even if the moves are shorter.
    /// - Precondition: every insert has an id of at most 256 bytes.
    /// - Returns: nil for a plain order.
    /// - Complexity: O(n) if the order may be shorter, otherwise O(m) for m deletes, inserts and moves.
    public func wireForm(asOrder: Bool = false) -> [UInt8]? {
        guard case .moves(let diff, let inserts) = content else { return nil }
        precondition(
            inserts.count == diff.inserts.count && inserts.allSatisfy { $0.id.utf8.count <= Self.idLimit },
            "every insert has an id of at most \(Self.idLimit) bytes"
        )
        let (runs, singles) = diff.runs()
        let movesSize = runs.count * 10 + (singles.count * (8 + WireWriter.bits(below: diff.oldCount)) + 7) / 8
        let orderSize = (diff.commonCount * WireWriter.bits(below: diff.commonCount) + 7) / 8
        // Moves are cheaper to read, so the order must be clearly shorter.
        let writesOrder = asOrder || movesSize > orderSize + 16
        var flags: WireFlags = []
        if diff.newCount != diff.oldCount { flags.insert(.newCount) }
        if !diff.deletes.isEmpty { flags.insert(.deletes) }
        if !diff.inserts.isEmpty { flags.insert(.inserts) }
        if writesOrder { flags.insert(.order) }
        if !writesOrder, !singles.isEmpty { flags.insert(.singles) }
        if !writesOrder, !runs.isEmpty { flags.insert(.runs) }
        if !diff.changed.isEmpty { flags.insert(.changed) }
        if toVersion != nil { flags.insert(.versions) }
        var writer = WireWriter()
        writer.byte(Self.version)
        writer.varint(flags.rawValue)
        writer.varint(diff.oldCount)
        if flags.contains(.newCount) { writer.varint(diff.newCount) }
        if let toVersion {
            // Versions start at 1; 0 means a list without a version.
            let from = fromVersion ?? 0
            writer.varint(UInt64(bitPattern: from))
            let growth = toVersion &- from
            writer.varint(UInt64(bitPattern: growth << 1 ^ growth >> 63))
        }
        if flags.contains(.deletes) { writer.ranges(diff.deletes) }
        if flags.contains(.inserts) {
            writer.ranges(diff.inserts)
            for insert in inserts {
                writer.varint(insert.id.utf8.count)
                for byte in insert.id.utf8 { writer.byte(byte) }
            }
        }
        if flags.contains(.singles) { writer.singles(singles, oldCount: diff.oldCount) }
        if flags.contains(.runs) { writer.runs(runs) }
        if writesOrder { writer.packed(diff.keptOrder(), bits: WireWriter.bits(below: diff.commonCount)) }
        if flags.contains(.changed) { writer.ranges(diff.changed) }
        return writer.bytes
    }

    /// Reads the wire format.
    ///
    /// - Parameters:
    ///   - bytes: exactly one message.
    ///   - limit: the maximum list length; it limits the memory that a message can make the reader allocate
    ///     (about 40 bytes per element).
    /// - Throws: `ShelfDiffError` for anything but exactly one message.
    public init(wireForm bytes: [UInt8], limit: Int = 1_000_000) throws(ShelfDiffError) {
        var reader = WireReader(bytes)
        let version = try reader.byte()
        guard version == Self.version else { throw .unknownVersion(version) }
        let flags = WireFlags(rawValue: try reader.varint())
        guard flags.isSubset(of: .all), !flags.contains(.order) || flags.isDisjoint(with: [.singles, .runs])
        else { throw .malformed }
        let oldCount = try Self.count(&reader, limit)
        let newCount = flags.contains(.newCount) ? try Self.count(&reader, limit) : oldCount
        var versions: (Int64, Int64)?
        if flags.contains(.versions) {
            let from = Int64(bitPattern: try reader.varint())
            let growth = try reader.varint()
            versions = (from, from &+ (Int64(bitPattern: growth >> 1) ^ -Int64(bitPattern: growth & 1)))
        }
        let deletes = flags.contains(.deletes) ? try reader.ranges(below: oldCount) : []
        let inserts = flags.contains(.inserts) ? try reader.ranges(below: newCount) : []
        var ids: [Insert] = []
        for _ in inserts { ids.append(Insert(id: try reader.text(bytes: Self.idLimit))) }
        var moves: [MoveDiff.Move] = []
        if flags.contains(.singles) { moves = try reader.singles(oldCount: oldCount, newCount: newCount) }
        if flags.contains(.runs) {
            moves += try reader.runs(oldCount: oldCount, newCount: newCount)
            moves.sort { $0.to < $1.to }
        }
        let diff: MoveDiff
        if flags.contains(.order) {
            let common = oldCount - deletes.count
            guard common >= 0 else { throw .flaw(.counts) }
            diff = try MoveDiff(
                oldCount: oldCount,
                newCount: newCount,
                deletes: deletes,
                inserts: inserts,
                keptOrder: try reader.packed(common, bits: WireWriter.bits(below: common))
            )
        } else {
            diff = try Self.checked(oldCount, newCount, deletes, inserts, moves)
        }
        let changed = flags.contains(.changed) ? try reader.ranges(below: newCount) : []
        guard reader.isAtEnd else { throw .malformed }
        let marked = changed.isEmpty ? diff : diff.marking(changed: changed)
        guard marked.changed.count == changed.count else { throw .flaw(.index) }
        self.init(
            fromVersion: versions.flatMap { $0.0 == 0 ? nil : $0.0 },
            toVersion: versions?.1,
            content: .moves(marked, inserts: ids)
        )
    }

    private static func count(_ reader: inout WireReader, _ limit: Int) throws(ShelfDiffError) -> Int {
        let count = try reader.varint()
        guard count <= UInt64(min(limit, MoveDiff.countLimit)) else { throw .tooLong(Int(clamping: count)) }
        return Int(count)
    }

    private static func checked(
        _ oldCount: Int,
        _ newCount: Int,
        _ deletes: [Int32],
        _ inserts: [Int32],
        _ moves: [MoveDiff.Move]
    ) throws(ShelfDiffError) -> MoveDiff {
        do throws(MoveDiff.Flaw) {
            return try MoveDiff(
                oldCount: oldCount,
                newCount: newCount,
                deletes: deletes,
                inserts: inserts,
                moves: moves
            )
        } catch {
            throw .flaw(error)
        }
    }
}

extension WireWriter {
    /// Writes the count, then each move's distance from the previous one in the NEW list, then all old indexes, packed.
    fileprivate mutating func singles(_ moves: [MoveDiff.Move], oldCount: Int) {
        varint(moves.count)
        var end = 0
        for move in moves {
            varint(Int(move.to) - end)
            end = Int(move.to) + 1
        }
        packed(moves.lazy.map(\.from), bits: Self.bits(below: oldCount))
    }

    /// Writes the count, then three numbers for each run: its distance in the NEW list, its old index, and its length. The
    /// length is written as 2 × (length − 3), plus 1 if the old indexes descend.
    fileprivate mutating func runs(_ runs: [MoveRun]) {
        varint(runs.count)
        var end = 0
        for run in runs {
            varint(run.to - end)
            varint(run.from)
            varint((run.count - MoveDiff.runLimit) << 1 | (run.isReversed ? 1 : 0))
            end = run.to + run.count
        }
    }
}

extension WireReader {
    fileprivate mutating func singles(oldCount: Int, newCount: Int) throws(ShelfDiffError) -> [MoveDiff.Move] {
        let count = try number(upTo: newCount)
        var places: [Int32] = []
        var end = 0
        for _ in 0..<count {
            let to = end + (try number(upTo: newCount))
            guard to < newCount else { throw .malformed }
            places.append(Int32(to))
            end = to + 1
        }
        let sources = try packed(count, bits: WireWriter.bits(below: oldCount))
        return zip(sources, places).map { MoveDiff.Move(from: $0, to: $1) }
    }

    fileprivate mutating func runs(oldCount: Int, newCount: Int) throws(ShelfDiffError) -> [MoveDiff.Move] {
        var moves: [MoveDiff.Move] = []
        var end = 0
        for _ in 0..<(try number(upTo: newCount)) {
            let to = end + (try number(upTo: newCount))
            let from = try number(upTo: oldCount)
            let shape = try number(upTo: newCount * 2)
            let count = shape >> 1 + MoveDiff.runLimit
            end = to + count
            let last = shape & 1 == 1 ? from - count + 1 : from + count - 1
            guard end <= newCount, last >= 0, last < oldCount, from < oldCount else { throw .malformed }
            for offset in 0..<count {
                moves.append(
                    MoveDiff.Move(
                        from: Int32(shape & 1 == 1 ? from - offset : from + offset),
                        to: Int32(to + offset)
                    )
                )
            }
        }
        return moves
    }
}

/// The parts present in a wire format message.
struct WireFlags: OptionSet {
    let rawValue: UInt64
    static let newCount = WireFlags(rawValue: 1)
    static let deletes = WireFlags(rawValue: 2)
    static let inserts = WireFlags(rawValue: 4)
    static let singles = WireFlags(rawValue: 8)
    static let runs = WireFlags(rawValue: 16)
    static let order = WireFlags(rawValue: 32)
    static let versions = WireFlags(rawValue: 64)
    static let changed = WireFlags(rawValue: 128)
    static let all = WireFlags(rawValue: 255)
}
