internal import Glibc
internal import Platform

/// The terminal: data goes to stdout, everything else to stderr.
enum Console {
    static var outputIsTerminal: Bool { isatty(STDOUT_FILENO) == 1 }
    static var notesAreTerminal: Bool { isatty(STDERR_FILENO) == 1 }

    /// The width of the terminal, in letters; nil if the output is not a terminal.
    static var outputWidth: Int? {
        var size = winsize()
        guard outputIsTerminal, ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return nil }
        return Int(size.ws_col)
    }

    static func note(_ text: String) { _ = STDERR_FILENO.writeAll((text + "\n").utf8) }

    /// Asks a question on the terminal; returns nil without a terminal.
    static func ask(_ question: String) -> String? {
        guard isatty(STDIN_FILENO) == 1, notesAreTerminal else { return nil }
        _ = STDERR_FILENO.writeAll("\(question) ".utf8)
        return readLine() ?? ""
    }

    /// Asks to confirm something; returns whether the answer is yes. Without a terminal, it is no.
    static func confirm(_ question: String) -> Bool {
        ["y", "yes"].contains(ask("\(question) [y/N]")?.lowercased())
    }

    /// Prints a line that the next one overwrites; only on a terminal.
    static func progress(_ text: String) {
        guard notesAreTerminal else { return }
        _ = STDERR_FILENO.writeAll("\r\u{1B}[K\(text)".utf8)
    }

    /// Prints progress, with a bar if the completed share, 0 to 1, is known.
    static func progress(_ text: String, share: Double?) {
        guard let share else { return progress(text) }
        let width = 24
        let done = Int(min(max(share, 0), 1) * Double(width))
        let bar = String(repeating: "█", count: done) + String(repeating: "░", count: width - done)
        progress("\(bar) \(Int(min(max(share, 0), 1) * 100)) %  \(text)")
    }

    /// Returns the elapsed seconds, to the millisecond.
    static func seconds(since start: ContinuousClock.Instant) -> Double {
        Double((ContinuousClock.now - start) / .milliseconds(1)).rounded() / 1000
    }

    static func endProgress() { progress("") }

    /// Writes data. If the reader has closed the pipe (`| head`), the program exits silently.
    static func data(_ bytes: [UInt8]) {
        guard !STDOUT_FILENO.writeAll(bytes) else { return }
        let reason = errno
        if reason != EPIPE { note("aisle: cannot write the output: \(String(cString: strerror(reason)))") }
        exit(reason == EPIPE ? 0 : 1)
    }

    static func data(_ text: String) { data(Array(text.utf8)) }
}
