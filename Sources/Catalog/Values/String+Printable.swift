extension String {
    /// The text without leading and trailing white space.
    package var trimmed: String {
        guard let first = utf8.first, let last = utf8.last else { return self }
        if first > 0x20, last > 0x20, first < 0x80, last < 0x80 { return self }
        var slice = self[...]
        while let first = slice.first, first.isWhitespace { slice.removeFirst() }
        while let last = slice.last, last.isWhitespace { slice.removeLast() }
        return String(slice)
    }

    /// The text with `�` in place of what is not printable, to quote it in a message.
    package var visible: String { isPrintable ? self : String(map { String($0).isPrintable ? $0 : "\u{FFFD}" }) }
}

extension StringProtocol {
    /// Whether the text has no control characters, line or paragraph separators, surrogates or unassigned code points.
    package var isPrintable: Bool {
        // Generic code for the elements would take ten times as long.
        let isPlain = utf8.withContiguousStorageIfAvailable { $0.allSatisfy { (0x20..<0x7F).contains($0) } }
        if isPlain == true { return true }
        return String(self).unicodeScalars.allSatisfy {
            // ASCII, accented Latin and Cyrillic need no lookup.
            switch $0.value {
            case 0x20..<0x7F, 0xA0...0x36F, 0x400...0x52F: return true
            default: break
            }
            return switch $0.properties.generalCategory {
            case .control, .lineSeparator, .paragraphSeparator, .surrogate, .unassigned: false
            default: true
            }
        }
    }
}
