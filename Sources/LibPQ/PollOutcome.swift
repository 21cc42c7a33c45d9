/// The outcome of a wait on descriptors.
struct PollOutcome {
    var timedOut = false
    var events: [Int16]
}
