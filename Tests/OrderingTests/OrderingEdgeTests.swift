import Testing

@testable import Ordering

/// Keys and diffs at the limits of their ranges.
@Suite(.timeLimit(.minutes(15))) struct OrderingEdgeTests {
    private func error(_ body: () throws -> Void) -> PathKeyError? {
        do {
            try body()
            return nil
        } catch { return error as? PathKeyError }
    }

    // MARK: - Keys

    @Test("A key is long from 65 bytes on")
    func longKeys() {
        #expect(PathKey([Int64](repeating: 0, count: 64)).length == 64)
        #expect(!PathKey([Int64](repeating: 0, count: 64)).isLong)
        #expect(PathKey([Int64](repeating: 0, count: 65)).isLong)
        #expect(PathKey.maximumLength == 1024)
    }

    @Test("Keys of both signs have the documented lengths")
    func lengths() {
        for (value, length) in [
            (0, 1), (63, 1), (64, 2), (4159, 2), (4160, 3), (1_052_735, 3), (1_052_736, 4), (269_488_191, 4),
            (269_488_192, 8), (PathKey.range.upperBound, 8),
        ] as [(Int64, Int)] {
            #expect(PathKey([value]).length == length, "\(value)")
            #expect(PathKey([-1 - value]).length == length, "\(-1 - value)")
        }
        #expect(PathKey.range.upperBound == 269_488_192 + (1 << 59) - 1)
        #expect(PathKey.range.lowerBound == -1 - PathKey.range.upperBound)
    }

    @Test("Bytes that are not a key are rejected with the reason")
    func invalidBytes() {
        for (bytes, expected) in [
            ([], .empty), ([0x80], nil), ([0xC0], .truncated), ([0xD0, 0], .truncated), ([0xE0, 0, 0], .truncated),
            ([0xF0, 0, 0, 0, 0, 0, 0], .truncated), ([0x3F], .truncated), ([0x80, 0xC0], .truncated),
            ([0xF8], .reservedHead(0xF8)), ([0xFF], .reservedHead(0xFF)), ([0x07], .reservedHead(0x07)),
            ([0x80, 0x00], .reservedHead(0x00)), ([0xF7, 255, 255, 255, 255, 255, 255, 255], nil),
            ([0x08, 0, 0, 0, 0, 0, 0, 0], nil),
        ] as [([UInt8], PathKeyError?)] {
            #expect(error { _ = try PathKey(bytes: bytes) } == expected, "\(bytes)")
        }
    }

    @Test("Appended keys continue after the first part of the last key, or below it near the greatest part")
    func appending() {
        #expect(PathKey.appending(0, after: nil) == [])
        #expect(PathKey.appending(1, after: PathKey([-16])).map(\.parts) == [[0]])
        let greatest = PathKey.range.upperBound
        // The last of three keys would be 48 above, and one more step must fit.
        let last = PathKey([greatest - 64, 5])
        #expect(PathKey.appending(3, after: last).map(\.parts) == [[greatest - 48], [greatest - 32], [greatest - 16]])
        let next = PathKey([greatest - 63, 5])
        #expect(PathKey.appending(3, after: next).map(\.parts) == [0, 16, 32].map { [greatest - 63, 5, $0] })
        for key in PathKey.appending(3, after: next) { #expect(next < key) }
    }

    @Test(
        "A key between two others is in the middle, or on the next level",
        arguments: [
            ([0], [2], [1]), ([0], [3], [1]), ([0], [1], [0, 0]), ([0, 5], [1], [0, 21]), ([0], [1, 5], [1]),
            ([0, 1], [0, 2, 7], [0, 2]), ([0, 1], [0, 3, 7], [0, 2]), ([0], [0, 5], [0, -11]),
            ([0], [0, 5, 1], [0, 5]),
            ([-3], [0], [-2]), ([0, 3], [0, 4], [0, 3, 0]), ([0, 3, 9], [0, 4], [0, 3, 25]),
        ] as [([Int64], [Int64], [Int64])]
    )
    func between(_ a: [Int64], _ b: [Int64], _ expected: [Int64]) throws {
        let key = try PathKey.between(PathKey(a), PathKey(b))
        #expect(key.parts == expected)
        #expect(PathKey(a) < key && key < PathKey(b))
        #expect(try PathKey.between(PathKey(a), PathKey(b), count: 1) == [key])
        #expect(try PathKey.between(PathKey(a), PathKey(b), count: 0) == [])
        #expect(try PathKey.between(PathKey(a), PathKey(b), count: -1) == [])
    }

    @Test("Before the first key there is room at its first part")
    func ends() throws {
        #expect(try PathKey.between(nil, nil) == PathKey([0]))
        #expect(try PathKey.between(nil, PathKey([5])) == PathKey([-11]))
        #expect(try PathKey.between(nil, PathKey([5, -9])) == PathKey([5]))
        #expect(try PathKey.between(PathKey([5, 9]), nil) == PathKey([21]))
        #expect(try PathKey.between(nil, PathKey([5, 9]), count: 2).map(\.parts) == [[-27], [-11]])
        #expect(try PathKey.between(PathKey([5, 9]), nil, count: 2).map(\.parts) == [[21], [37]])
        #expect(try PathKey.between(nil, nil, count: 2).map(\.parts) == [[0], [16]])
    }

    @Test("Several keys are spaced evenly if the gap is larger than their number, and otherwise on the next level")
    func several() throws {
        func keys(_ a: [Int64], _ b: [Int64], _ count: Int) throws -> [[Int64]] {
            try PathKey.between(PathKey(a), PathKey(b), count: count).map(\.parts)
        }
        #expect(try keys([0], [4], 3) == [[1], [2], [3]])
        #expect(try keys([0], [3], 3) == [[0, 0], [0, 16], [0, 32]])
        #expect(try keys([0, 5], [3], 3) == [[0, 21], [0, 37], [0, 53]])
        #expect(try keys([0], [16], 3) == [[4], [8], [12]])
        #expect(try keys([1, 0], [1, 100], 4) == [[1, 20], [1, 40], [1, 60], [1, 80]])
        #expect(try keys([0], [0, 5], 2) == [[0, -27], [0, -11]])
        #expect(try keys([0], [1, 5], 2) == [[0, 0], [0, 16]])
    }

    @Test("A key beyond the range is an error, and the last key of the range is not")
    func outOfRange() throws {
        let (least, greatest) = (PathKey.range.lowerBound, PathKey.range.upperBound)
        #expect(try PathKey.between(PathKey([greatest - 16]), nil) == PathKey([greatest]))
        #expect(error { _ = try PathKey.between(PathKey([greatest - 15]), nil) } == .outOfRange)
        #expect(try PathKey.between(nil, PathKey([least + 16])) == PathKey([least]))
        #expect(error { _ = try PathKey.between(nil, PathKey([least + 15])) } == .outOfRange)
        #expect(error { _ = try PathKey.between(PathKey([0]), PathKey([0, least + 15])) } == .outOfRange)
        #expect(error { _ = try PathKey.between(PathKey([0, greatest - 15]), PathKey([1])) } == .outOfRange)
        #expect(error { _ = try PathKey.between(nil, PathKey([least + 31]), count: 2) } == .outOfRange)
        #expect(try PathKey.between(nil, PathKey([least + 32]), count: 2).first == PathKey([least]))
        #expect(error { _ = try PathKey.between(PathKey([greatest - 31]), nil, count: 2) } == .outOfRange)
    }

    // MARK: - Diffs

    @Test("A neighbor diff applies to another list, too")
    func neighbours() {
        typealias Diff = NeighbourDiff<String>
        #expect(Diff().isEmpty && Diff().apply(to: ["a"]) == ["a"])
        #expect(!Diff(deletes: ["a"]).isEmpty && !Diff(placements: [.init(id: "a", after: nil)]).isEmpty)
        #expect(Diff(deletes: ["b", "z"]).apply(to: ["a", "b", "c"]) == ["a", "c"])
        #expect(Diff(placements: [.init(id: "c", after: nil)]).apply(to: ["a", "b", "c"]) == ["c", "a", "b"])
        #expect(Diff(placements: [.init(id: "x", after: "gone")]).apply(to: ["a"]) == ["x", "a"])
        #expect(Diff(placements: [.init(id: "x", after: "a")]).apply(to: ["a", "b"]) == ["a", "x", "b"])
        // An element placed later is nearer to its neighbor, and an element can follow a placed one.
        #expect(
            Diff(placements: [.init(id: "x", after: "a"), .init(id: "y", after: "a"), .init(id: "z", after: "x")])
                .apply(to: ["a", "b"]) == ["a", "y", "x", "z", "b"]
        )
        // Of several placements of an element the last one counts; a neighbor that is deleted is missing.
        #expect(
            Diff(placements: [.init(id: "x", after: "b"), .init(id: "x", after: "a")]).apply(to: ["a", "b"])
                == ["a", "x", "b"]
        )
        #expect(
            Diff(deletes: ["b"], placements: [.init(id: "x", after: "b")]).apply(to: ["a", "b"]) == ["x", "a"]
        )
        let placement = Diff.Placement(id: "x", after: nil)
        #expect(!placement.isInsert)
        let made = Diff(
            MoveDiff(from: ["a", "b", "c"], to: ["c", "a", "d"]),
            from: ["a", "b", "c"],
            to: ["c", "a", "d"]
        )
        #expect(made.deletes == ["b"])
        #expect(
            made.placements == [.init(id: "c", after: nil), .init(id: "d", after: "a", isInsert: true)]
        )
    }

    @Test("Inserts and moves are listed by their new place, and each new element has its source")
    func placements() {
        let diff = MoveDiff(from: ["a", "b", "c", "d"], to: ["x", "d", "a", "y", "c", "z"])
        #expect(diff.placements.map(\.to) == [0, 1, 3, 5])
        #expect(diff.placements.map(\.from) == [nil, 3, nil, nil])
        #expect(diff.sources() == [-1, 3, 0, -1, 2, -1])
        #expect(diff.deletes == [1])
        #expect(diff.commonCount == 3)
        #expect(!diff.isEmpty && MoveDiff(from: [1], to: [1]).isEmpty)
        #expect(!MoveDiff(from: [1], to: [1]).marking(changed: [0]).isEmpty)
        #expect(!MoveDiff(from: [1], to: []).isEmpty && !MoveDiff(from: [], to: [1]).isEmpty)
        #expect(!MoveDiff(from: [1, 2], to: [2, 1]).isEmpty)
        #expect(MoveDiff(from: [1, 2, 3], to: [4, 1, 5, 3, 6]).marking(changed: [0, 1, 2, 3, 4]).changed == [1, 3])
    }

    @Test("A long sort can be cancelled after each 65,536 elements", arguments: [65_536, 65_537])
    func checks(_ count: Int) {
        let values = (0..<Int32(count)).map { Int32(count) - $0 }
        var checks = 0
        var (ranks, tops) = ([Int32](repeating: 0, count: count), [Int32](repeating: 0, count: count + 1))
        let piles = PatiencePiles.sort(values, count, ranks: &ranks, tops: &tops) { () throws(Never) in checks += 1 }
        #expect(piles == 1)
        #expect(checks == (count - 1) / 65_536)
        #expect(ranks.allSatisfy { $0 == 0 })
    }

    @Test("An element is on the leftmost pile whose top is above it, and a negative number on none")
    func piles() {
        let values: [Int32] = [3, 1, -1, 4, 2, 5, -1, 0, 6]
        var (ranks, tops) = ([Int32](repeating: 9, count: 9), [Int32](repeating: 0, count: 9))
        let piles = PatiencePiles.sort(values, 9, ranks: &ranks, tops: &tops) { () throws(Never) in }
        #expect(piles == 4)
        let none = PatiencePiles.absent
        #expect(ranks == [0, 0, none, 1, 1, 2, none, 0, 3])
        #expect(Array(tops.prefix(4)) == [0, 2, 5, 6])
    }

    @Test("An index returns each place of an element once, in order")
    func indexes() {
        let elements = [0, 7, 3, 7, 7, 3]
        var numbers = IntegerIndex(elements[1...])
        var hashed = HashedIndex(elements[1...])
        for (element, expected) in [(7, [0, 2, 3, -1, -1]), (3, [1, 4, -1]), (0, [-1]), (9, [-1, -1])]
            as [(Int, [Int32])]
        {
            for place in expected {
                let (number, other) = (numbers.take(element), hashed.take(element))
                #expect(number == place && other == place, "\(element)")
            }
        }
    }

    /// Source: the outputs of the reference implementation for these seeds.
    @Test("The random numbers of a seed are those of SplitMix64")
    func randomNumbers() {
        var generator = SeededGenerator(seed: 1_234_567)
        #expect(
            (0..<3).map { _ in generator.next() } == [
                6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423,
            ]
        )
    }
}
