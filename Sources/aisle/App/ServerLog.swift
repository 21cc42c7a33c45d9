internal import Catalog
internal import Glibc
internal import Logging
internal import Platform
internal import Telemetry

/// The log of a server, on stderr.
final class ServerLog: Sendable {
    let format: LogFormat
    let level: Logger.Level
    private let output: LogOutput

    /// - Parameter descriptor: stays open; stderr, except in tests.
    /// - Throws: `OSThreadError` if the system is out of threads.
    init(_ format: LogFormat, level: Logger.Level, descriptor: Int32 = STDERR_FILENO) throws(OSThreadError) {
        self.format = format
        self.level = level
        output = try LogOutput(descriptor) { count in
            LogLine(
                level: .warning,
                message: "log lines were dropped, because the log's reader is too slow",
                fields: [("lines", .integer(count))]
            ).bytes(format)
        }
    }

    /// The number of lines that were dropped, because the log's reader was too slow.
    var droppedLines: Int { output.droppedLines }

    /// - Parameter always: whether to write the line even if the log's level is above its own.
    func write(_ line: LogLine, always: Bool = false) {
        guard always || line.level >= level else { return }
        output.write(line.bytes(format), isUrgent: line.level >= .warning)
    }

    /// Waits until all lines are written, for at most a second.
    func flush() { output.flush() }

    /// A logger for libraries.
    var logger: Logger {
        var logger = Logger(label: "aisle", factory: { _ in Handler(log: self) })
        logger.logLevel = level
        return logger
    }

    /// The backend of a logger.
    private struct Handler: LogHandler {
        let log: ServerLog
        var metadata: Logger.Metadata = [:]
        var metadataProvider: Logger.MetadataProvider?
        var logLevel: Logger.Level

        init(log: ServerLog) {
            self.log = log
            logLevel = log.level
        }

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            let all = (metadataProvider?.get() ?? [:]).merging(metadata) { $1 }.merging(event.metadata ?? [:]) { $1 }
            var fields = all.sorted { $0.key < $1.key }.map { (name: $0.key, value: LogLine.Value.text("\($0.value)")) }
            if let error = event.error { fields.append(("error", .text("\(error)"))) }
            log.write(LogLine(level: event.level, message: event.message.description, fields: fields))
        }
    }
}
