internal import Glibc
internal import UnixSignals

/// Runs a command until it ends or is interrupted.
///
/// Ctrl-C or `kill` cancels it, so that it takes back what is half done, which it has a moment for; a second one ends the
/// program at once, with the exit code of an interruption.
func untilInterrupted(_ body: @escaping @Sendable () async throws -> Void) async throws {
    let signals = await UnixSignalsSequence(trapping: .sigint, .sigterm)
    let work = Task { try await body() }
    let watch = Task {
        var isStopping = false
        for await _ in signals {
            if isStopping { exit(interrupted) }
            isStopping = true
            Console.endProgress()
            work.cancel()
            // What hangs, on a pipe that says nothing for one, is left alone.
            Task {
                try? await Task.sleep(for: moment)
                Console.note("aisle: interrupted")
                exit(interrupted)
            }
        }
    }
    defer { watch.cancel() }
    try await work.value
}

private let interrupted: Int32 = 130

private let moment: Duration = .seconds(3)
