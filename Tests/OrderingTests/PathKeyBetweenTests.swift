import Foundation
import Ordering
import Testing
import TestSupport

@Suite(.timeLimit(.minutes(15))) struct PathKeyBetweenTests {
    private struct Cases: Decodable {
        struct Between: Decodable {
            var a, b: [Int64]?
            var key: [Int64]
        }
        struct Many: Decodable {
            var a, b: [Int64]?
            var n: Int
            var keys: [[Int64]]
        }
        var between: [Between]
        var n_between: [Many]
        var chains_from_0_1: [String: String]
    }

    private func cases() throws -> Cases {
        let url = try #require(Bundle.module.url(forResource: "pathkey", withExtension: "json", subdirectory: "Cases"))
        return try JSONDecoder().decode(Cases.self, from: Data(contentsOf: url))
    }

    @Test("Golden keys are reproduced")
    func goldenKeys() throws {
        for golden in try cases().between {
            let key = try PathKey.between(golden.a.map { PathKey($0) }, golden.b.map { PathKey($0) })
            #expect(key.parts == golden.key, "\(golden)")
        }
        for golden in try cases().n_between {
            let keys = try PathKey.between(golden.a.map { PathKey($0) }, golden.b.map { PathKey($0) }, count: golden.n)
            #expect(keys.map(\.parts) == golden.keys, "\(golden)")
        }
    }

    /// Returns the key after a number of insertions at the front, at the back, or alternately into one gap.
    private func chain(_ way: String, _ count: Int) throws -> PathKey {
        var (a, b) = (PathKey([0]), PathKey([1]))
        var last = a
        for round in 0..<count {
            last = try PathKey.between(a, b)
            if way == "front" || (way == "ping" && round % 2 == 0) { b = last } else { a = last }
        }
        return last
    }

    @Test("Golden chains of insertions are reproduced")
    func goldenChains() throws {
        for (name, expected) in try cases().chains_from_0_1 {
            let parts = name.split(separator: "/")
            let key = try chain(String(parts[0]), Int(parts[1])!)
            #expect(key.bytes.map { String(format: "%02x", $0) }.joined() == expected, "\(name)")
        }
    }

    @Test("Ten thousand keys appended at an end stay short")
    func appendedKeysStayShort() throws {
        for way in ["front", "back"] { #expect(try chain(way, 10_000).length <= 6) }
        var (top, bottom) = (PathKey([0]), PathKey([0]))
        for _ in 0..<10_000 {
            top = try PathKey.between(nil, top)
            bottom = try PathKey.between(bottom, nil)
        }
        #expect(top.length <= 6)
        #expect(bottom.length <= 6)
        #expect(try chain("ping", 1000).length <= 1 + 1 + 200)
    }

    /// Keys generated anywhere, one or many at once, are ordered, unique and within the documented length.
    @Test("Keys generated at random positions compare in order", arguments: 0..<20)
    func randomKeysCompareInOrder(_ seed: Int) async throws {
        var random = SeededGenerator(seed: UInt64(seed))
        var keys: [PathKey] = []
        for round in 0..<1500 {
            if round % 64 == 0 { await Task.yield() }
            let place = seed % 2 == 0 ? Int.random(in: 0...keys.count, using: &random) : keys.count / 2
            let a = place > 0 ? keys[place - 1] : nil
            let b = place < keys.count ? keys[place] : nil
            let count = Int.random(in: 0...5, using: &random) == 0 ? Int.random(in: 2...40, using: &random) : 1
            let made = try PathKey.between(a, b, count: count)
            #expect(made.count == count)
            let bytes = made.map(\.bytes)
            let around = [a?.bytes].compactMap { $0 } + bytes + [b?.bytes].compactMap { $0 }
            let areInOrder = zip(around, around.dropFirst()).allSatisfy { $0.lexicographicallyPrecedes($1) }
            let areReadBack = try zip(made, bytes).allSatisfy { try PathKey(bytes: $1) == $0 }
            guard areInOrder, areReadBack else {
                Issue.record("between \(String(describing: a)) and \(String(describing: b)): \(made)")
                return
            }
            keys.insert(contentsOf: made, at: place)
        }
    }

    @Test("Keys in one gap grow at the documented rate")
    func keysGrowAtDocumentedRate() async throws {
        for seed in 0..<50 {
            await Task.yield()
            var random = SeededGenerator(seed: UInt64(seed))
            var (a, b) = (PathKey([0]), PathKey([1]))
            for made in 1...400 {
                let key = try PathKey.between(a, b)
                guard key.length <= 1 + 1 + (made + 4) / 5 else {
                    Issue.record("a key of \(key.length) bytes after \(made)")
                    return
                }
                if Bool.random(using: &random) { a = key } else { b = key }
            }
        }
    }

    @Test("Neighbors in the wrong order are rejected")
    func rejectsReversedLimits() {
        #expect(throws: PathKeyError.notAscending) { try PathKey.between(PathKey([1]), PathKey([1])) }
        #expect(throws: PathKeyError.notAscending) { try PathKey.between(PathKey([1, 0]), PathKey([1])) }
        #expect(throws: PathKeyError.notAscending) { try PathKey.between(PathKey([2]), PathKey([1]), count: 3) }
        let last = PathKey([PathKey.range.upperBound])
        #expect(throws: PathKeyError.outOfRange) { try PathKey.between(last, nil) }
        #expect(throws: PathKeyError.outOfRange) { try PathKey.between(nil, PathKey([PathKey.range.lowerBound])) }
        #expect(throws: PathKeyError.outOfRange) { try PathKey.between(last, nil, count: 2) }
    }
}
