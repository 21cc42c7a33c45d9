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
