/// A format of log lines.
enum LogFormat: String, CaseIterable {
    /// One JSON object per line.
    case json
    /// Text for people.
    case text
}
