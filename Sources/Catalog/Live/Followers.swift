/// Those who wait for something new. To wake one twice before it looks is to wake it once: nothing queues.
struct Followers {
    private var waiting: [Int: AsyncStream<Void>.Continuation] = [:]
    private var next = 0

    var isEmpty: Bool { waiting.isEmpty }

    mutating func add() -> (number: Int, wakes: AsyncStream<Void>) {
        next += 1
        let (stream, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        waiting[next] = continuation
        return (next, stream)
    }

    mutating func remove(_ number: Int) { waiting.removeValue(forKey: number)?.finish() }

    func wake() { for continuation in waiting.values { continuation.yield() } }

    /// Wakes those whose turn it is, so that not all write at once.
    func wake(turn: Int, of turns: Int) {
        for (number, continuation) in waiting where number % turns == turn % turns { continuation.yield() }
    }

    mutating func end() {
        for continuation in waiting.values { continuation.finish() }
        waiting = [:]
    }
}

/// Reads that were asked for while one is under way become one more.
struct Rereading {
    private var isReading = false
    private var isAskedAgain = false

    /// Whether the caller is the one who reads.
    mutating func begin() -> Bool {
        if isReading {
            isAskedAgain = true
            return false
        }
        isReading = true
        return true
    }

    /// Whether to read once more.
    mutating func end() -> Bool {
        if isAskedAgain {
            isAskedAgain = false
            return true
        }
        isReading = false
        return false
    }
}
