import Foundation
import Ordering
import Testing

@testable import AisleDiff

/// The bounds of the wire format and of JSON diffs.
@Suite(.timeLimit(.minutes(15))) struct WirePartTests {
    private typealias Diff = ShelfDiff<NoProduct>

    @Test(
        "A number below a limit takes the fewest bits that fit",
        arguments: [(0, 0), (1, 0), (2, 1), (3, 2), (4, 2), (5, 3), (256, 8), (257, 9), (1 << 31, 31)]
    )
    func bits(_ limit: Int, _ bits: Int) { #expect(WireWriter.bits(below: limit) == bits) }

    /// Returns moves within the first places, of which no three are a run.
    private static func singles(_ count: Int) -> [MoveDiff.Move] {
        (0..<count).map { MoveDiff.Move(from: Int32($0 % 2 == 0 ? $0 / 2 : count - 1 - $0 / 2), to: Int32($0)) }
    }

    private static func flags(_ moves: [MoveDiff.Move], _ count: Int) throws -> UInt8? {
        let diff = try MoveDiff(oldCount: count, newCount: count, deletes: [], inserts: [], moves: moves)
        return Diff(content: .moves(diff, inserts: [])).wireForm()?[1]
    }

    @Test("An order is written if the moves take more than 16 bytes more than it")
    func threshold() throws {
        // Of 256 elements, an order has 256 bytes, and a single move two.
        #expect(try Self.flags(Self.singles(136), 256) == 8)
        #expect(try Self.flags(Self.singles(137), 256) == 32)
        // A run counts as ten bytes.
        func withRun(_ count: Int) -> [MoveDiff.Move] {
            Self.singles(count) + (0..<3).map { MoveDiff.Move(from: Int32(count + 10 + $0), to: Int32(count + $0)) }
        }
        #expect(try Self.flags(withRun(131), 256) == 24)
        #expect(try Self.flags(withRun(132), 256) == 32)
        // 16 moves of 12 bits take 24 bytes, and 16 elements of 4 bits take 8.
        #expect(try Self.flags(Self.singles(16), 16) == 8)
        #expect(try Self.flags([], 256) == 0)
    }

    @Test("Three moves in a row are a run, also backwards; two are not, and neither is a change of direction")
    func runs() throws {
        func shape(_ moves: [(Int32, Int32)], _ count: Int = 40) throws -> String {
            let diff = try MoveDiff(
                oldCount: count,
                newCount: count,
                deletes: [],
                inserts: [],
                moves: moves.map { MoveDiff.Move(from: $0.0, to: $0.1) }
            )
            let (runs, singles) = diff.runs()
            let first = runs.map { run in "\(run.from)>\(run.to)x\(run.count)\(run.isReversed ? "r" : "")" }
            let rest = singles.map { move in "\(move.from)>\(move.to)" }
            return "\(first.joined(separator: " "))/\(rest.joined(separator: " "))"
        }
        #expect(try shape([]) == "/")
        #expect(try shape([(10, 0), (11, 1)]) == "/10>0 11>1")
        #expect(try shape([(10, 0), (11, 1), (12, 2)]) == "10>0x3/")
        #expect(try shape([(12, 0), (11, 1), (10, 2), (9, 3)]) == "12>0x4r/")
        #expect(try shape([(10, 0), (11, 1), (12, 3)]) == "/10>0 11>1 12>3")
        #expect(try shape([(10, 0), (12, 1), (14, 2)]) == "/10>0 12>1 14>2")
        #expect(try shape([(10, 0), (11, 1), (12, 2), (13, 3), (12 + 8, 4), (19, 5), (18, 6)]) == "10>0x4 20>4x3r/")
        #expect(try shape([(11, 0), (12, 1), (10, 2)]) == "/11>0 12>1 10>2")
    }

    @Test("A list may have up to a million elements, in JSON and by default in bytes")
    func lengths() throws {
        func wire(_ count: Int, limit: Int = 1_000_000) throws -> Int? {
            var writer = WireWriter()
            writer.byte(1)
            writer.varint(0)
            writer.varint(count)
            guard case .moves(let diff, _) = try Diff(wireForm: writer.bytes, limit: limit).content else { return nil }
            return diff.oldCount
        }
        #expect(try Diff(wireForm: [1, 0, 0xC0, 0x84, 0x3D]).content.count == 1_000_000)
        #expect(throws: ShelfDiffError.tooLong(1_000_001)) { try Diff(wireForm: [1, 0, 0xC1, 0x84, 0x3D]) }
        #expect(try wire(Int(Int32.max), limit: .max) == Int(Int32.max))
        #expect(throws: ShelfDiffError.tooLong(1 << 31)) { try wire(1 << 31, limit: .max) }
        func json(_ old: Int, _ new: Int, inserts: String = "") throws -> Diff {
            let text = #"{"old_count":\#(old),"new_count":\#(new),"deletes":[],"inserts":[\#(inserts)],"moves":[]}"#
            return try JSONDecoder().decode(Diff.self, from: Data(text.utf8))
        }
        #expect(try json(1_000_000, 1_000_000).content.count == 1_000_000)
        #expect(throws: DecodingError.self) { try json(1_000_001, 1_000_001) }
        #expect(throws: DecodingError.self) { try json(1, -1) }
        let insert = #"{"id":"x","to":0}"#
        #expect(try json(999_999, 1_000_000, inserts: insert).content.count == 999_999)
        #expect(throws: DecodingError.self) { try json(1_000_000, 1_000_001, inserts: insert) }
    }

    @Test(
        "Versions of any size survive, and 0 means that there is none",
        arguments: [0, 1, -1, 63, 64, .min, .max] as [Int64]
    )
    func versions(_ version: Int64) throws {
        let diff = MoveDiff(from: ["a"], to: ["a"])
        for other in [0, 1, -1, .min, .max, version] as [Int64] {
            let message = Diff(fromVersion: version, toVersion: other, content: .moves(diff, inserts: []))
            let read = try Diff(wireForm: try #require(message.wireForm()))
            #expect(read.fromVersion == (version == 0 ? nil : version) && read.toVersion == other)
        }
        let unknown = Diff(fromVersion: nil, toVersion: version, content: .moves(diff, inserts: []))
        #expect(try Diff(wireForm: try #require(unknown.wireForm())).toVersion == version)
    }

    @Test(
        "Numbers have their shortest form of at most 64 bits",
        arguments: [
            ([0], 0), ([127], 127), ([128, 1], 128), ([255, 127], 16_383), ([128, 128, 1], 16_384),
            ([255, 255, 255, 255, 255, 255, 255, 255, 255, 1], UInt64.max),
            ([255, 255, 255, 255, 255, 255, 255, 255, 255, 2], nil), ([128, 0], nil), ([128], nil),
            ([128, 128, 128, 128, 128, 128, 128, 128, 128, 129], nil),
        ] as [([UInt8], UInt64?)]
    )
    func numbers(_ bytes: [UInt8], _ number: UInt64?) {
        var reader = WireReader(bytes)
        #expect((try? reader.varint()) == number)
        guard let number else { return }
        #expect(reader.isAtEnd)
        var writer = WireWriter()
        writer.varint(number)
        #expect(writer.bytes == bytes)
    }

    @Test("Parts at the end of a list are read, and those beyond it are not")
    func edges() throws {
        func flaw(_ bytes: [UInt8]) -> ShelfDiffError? {
            do throws(ShelfDiffError) { _ = try Diff(wireForm: bytes) } catch { return error }
            return nil
        }
        // All of three elements are deleted and inserted; a range of four is not there.
        #expect(flaw([1, 6, 3, 1, 0, 2, 1, 0, 2, 1, 97, 1, 98, 1, 99]) == nil)
        #expect(flaw([1, 6, 3, 1, 0, 3, 1, 0, 2, 1, 97, 1, 98, 1, 99]) == .malformed)
        // A run of the last three elements to the front, one from the end backwards, and those beyond.
        #expect(flaw([1, 16, 6, 1, 0, 3, 0]) == nil)
        #expect(flaw([1, 16, 6, 1, 0, 5, 1]) == nil)
        #expect(flaw([1, 16, 6, 1, 0, 4, 0]) == .malformed)
        #expect(flaw([1, 16, 6, 1, 0, 1, 1]) == .malformed)
        #expect(flaw([1, 16, 6, 1, 4, 0, 0]) == .malformed)
        #expect(flaw([1, 16, 6, 1, 3, 0, 0]) == nil)
        // A single move to the last place, and one beyond.
        #expect(flaw([1, 8, 4, 1, 3, 0]) == nil)
        #expect(flaw([1, 8, 4, 1, 4, 0]) == .malformed)
        // A change of the last element, of one that is inserted, and one beyond.
        #expect(flaw([1, 0x80, 1, 3, 1, 2, 0]) == nil)
        #expect(flaw([1, 0x80, 1, 3, 1, 3, 0]) == .malformed)
        #expect(flaw([1, 0x85, 1, 0, 1, 1, 0, 0, 1, 97, 1, 0, 0]) == .flaw(.index))
        // Ids of up to 256 bytes; unknown flags.
        let id = [UInt8](repeating: 97, count: 256)
        #expect(flaw([1, 5, 0, 1, 1, 0, 0, 128, 2] + id) == nil)
        #expect(flaw([1, 5, 0, 1, 1, 0, 0, 129, 2] + id + [97]) == .malformed)
        #expect(flaw([1, 0x80, 2, 3]) == .malformed)
        #expect(flaw([1, 0x30, 2, 0, 0]) == .malformed)
        #expect(flaw([1, 0x22, 2, 1, 0, 2]) == .malformed)
    }

    @Test("A message that does not fit a list is not applied")
    func otherLists() throws {
        let diff = MoveDiff(from: ["a"], to: ["a", "b"])
        let message = Diff(content: .moves(diff, inserts: [.init(id: "b")]))
        #expect(try message.apply(to: ["a"]) == ["a", "b"])
        #expect(throws: ShelfDiffError.otherList) { try message.apply(to: []) }
        #expect(throws: ShelfDiffError.otherList) { try Diff(content: .moves(diff, inserts: [])).apply(to: ["a"]) }
        #expect(Diff.mediaType == "application/vnd.aisle.diff")
        #expect(message.fromVersion == nil && message.toVersion == nil)
    }
}

extension ShelfDiff.Content {
    /// The number of elements of the old list.
    fileprivate var count: Int? { if case .moves(let diff, _) = self { diff.oldCount } else { nil } }
}
