internal import Glibc
internal import Platform

/// The terminal: data goes to stdout, everything else to stderr.
enum Console {
    private static var record: TerminalRecord? { TaskContext.current.terminal }

    static var inputIsTerminal: Bool { isTerminal(STDIN_FILENO) }
    static var outputIsTerminal: Bool { isTerminal(STDOUT_FILENO) }
    static var notesAreTerminal: Bool { isTerminal(STDERR_FILENO) }

    private static func isTerminal(_ descriptor: Int32) -> Bool { record?.isTerminal ?? (isatty(descriptor) == 1) }

    /// The width of the terminal, in letters; nil if the output is not a terminal.
    static var outputWidth: Int? {
        if let record { return record.width }
        var size = winsize()
        guard outputIsTerminal, ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return nil }
        return Int(size.ws_col)
    }

    static func note(_ text: String) { write(note: text + "\n") }

    private static func write(note text: String) {
        if let record { record.add(notes: Array(text.utf8)) } else { _ = STDERR_FILENO.writeAll(text.utf8) }
    }

    /// Asks a question on the terminal; returns nil without a terminal.
    static func ask(_ question: String) -> String? {
        guard inputIsTerminal, notesAreTerminal else { return nil }
        write(note: "\(question) ")
        let answer = if let record { record.answer() } else { readLine() }
        return answer ?? ""
    }

    /// Asks to confirm something; returns whether the answer is yes. Without a terminal, it is no.
    static func confirm(_ question: String) -> Bool {
        ["y", "yes"].contains(ask("\(question) [y/N]")?.lowercased())
    }

    /// Prints a line that the next one overwrites; only on a terminal.
    static func progress(_ text: String) {
        guard notesAreTerminal else { return }
        write(note: "\r\u{1B}[K\(text)")
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
        if let record { return record.add(output: bytes) }
        guard !STDOUT_FILENO.writeAll(bytes) else { return }
        let reason = errno
        if reason != EPIPE { note("aisle: cannot write the output: \(String(cString: strerror(reason)))") }
        exit(reason == EPIPE ? 0 : 1)
    }

    static func data(_ text: String) { data(Array(text.utf8)) }

    /// Writes a line of data.
    static func line(_ text: String) { data(text + "\n") }
}
