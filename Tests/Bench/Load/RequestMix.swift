internal import Foundation
internal import NIOCore
internal import Ordering

/// Requests in random order, where popular ones are more frequent (Zipf).
///
/// The request of rank r has a probability proportional to 1 / r^skew, as `random_zipfian` of pgbench has. Source: Zipf,
/// "Human Behavior and the Principle of Least Effort", 1949.
struct RequestMix {
    private let requests: [ByteBuffer]
    /// The probability of each rank and all ranks before it.
    private let cumulated: [Double]
    private var random: SeededGenerator

    /// - Parameters:
    ///   - paths: from the most to the least popular.
    ///   - headers: lines such as `Authorization: Bearer …`.
    init(paths: [String], headers: [String], skew: Double, seed: UInt64) {
        let lines = (["Host: localhost"] + headers).map { $0 + "\r\n" }.joined()
        requests = paths.map { ByteBuffer(string: "GET \($0) HTTP/1.1\r\n\(lines)\r\n") }
        var sum = 0.0
        var cumulated = paths.indices.map { rank in
            sum += 1 / pow(Double(rank + 1), skew)
            return sum
        }
        for index in cumulated.indices { cumulated[index] /= sum }
        self.cumulated = cumulated
        random = SeededGenerator(seed: seed)
    }

    /// Returns a request. O(log n) time for n paths.
    mutating func next() -> ByteBuffer {
        let value = Double.random(in: 0..<1, using: &random)
        var (low, high) = (0, cumulated.count - 1)
        while low < high {
            let middle = (low + high) / 2
            if cumulated[middle] > value { high = middle } else { low = middle + 1 }
        }
        return requests[low]
    }
}
