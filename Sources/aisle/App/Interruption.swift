internal import Glibc
internal import UnixSignals

/// Runs a command until it ends or is interrupted.
///
/// Ctrl-C or `kill` cancels the command and gives it a moment to clean up. A second signal ends the program
/// immediately, with the exit code of an interruption.
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
            // Exit even if the command hangs, for example on a silent pipe.
            Task {
                try? await Task.sleep(for: cleanupTimeout)
                Console.note("aisle: interrupted")
                exit(interrupted)
            }
        }
    }
    defer { watch.cancel() }
    try await work.value
}

private let interrupted: Int32 = 130

private let cleanupTimeout: Duration = .seconds(3)
