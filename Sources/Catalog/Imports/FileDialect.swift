/// The form of a text file, as options state or as it was found. Properties that options leave nil are detected from the content.
package struct FileDialect: Sendable, Hashable {
    /// The encoding; a byte order mark of UTF-8 or UTF-16 takes precedence.
    package var encoding: TextEncoding?
    /// The separator of the fields of a CSV file.
    package var separator: FieldSeparator?
    /// The mark before the decimals of prices.
    package var decimalMark: DecimalMark?
    /// The line of the header of a CSV file, from 1.
    package var headerLine: Int?
    /// Whether quotes around a field of a CSV file are not part of it.
    package var isQuoted = true

    package init(
        encoding: TextEncoding? = nil,
        separator: FieldSeparator? = nil,
        decimalMark: DecimalMark? = nil,
        headerLine: Int? = nil
    ) {
        self.encoding = encoding
        self.separator = separator
        self.decimalMark = decimalMark
        self.headerLine = headerLine
    }

    /// The lines in which a header may be given or found.
    package static let headerLineRange = 1...1000
}

/// The encoding of a text file, by its name in the IANA registry.
package enum TextEncoding: String, CaseIterable, Sendable {
    case utf8 = "utf-8"
    case utf16LittleEndian = "utf-16le"
    case utf16BigEndian = "utf-16be"
    case windows1250 = "windows-1250"
    case windows1251 = "windows-1251"
    case windows1252 = "windows-1252"
    case latin2 = "iso-8859-2"
}

/// The separator of the fields of a CSV file.
package enum FieldSeparator: String, CaseIterable, Sendable {
    case comma, semicolon, tab, pipe

    /// - Parameter text: a name such as `semicolon`, or the separator.
    package init?(_ text: String) {
        let found = Self.allCases.first { $0.rawValue == text || String(Unicode.Scalar($0.byte)) == text }
        guard let found = found ?? (text == #"\t"# ? .tab : nil) else { return nil }
        self = found
    }

    package var byte: UInt8 {
        switch self {
        case .comma: UInt8(ascii: ",")
        case .semicolon: UInt8(ascii: ";")
        case .tab: UInt8(ascii: "\t")
        case .pipe: UInt8(ascii: "|")
        }
    }
}

/// The mark between the whole units and the decimals of a number.
package enum DecimalMark: String, CaseIterable, Sendable {
    case point, comma

    package var other: DecimalMark { self == .point ? .comma : .point }
}
