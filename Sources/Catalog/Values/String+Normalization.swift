internal import JSON

@_spi(_Unicode) internal import Swift

// The standard library has normalization internally, but exposes it only to Foundation through this SPI.

extension String {
    /// The text in Unicode normalization form C: accented letters are single characters where they exist.
    package var composed: String {
        if isBelowMarks { return self }
        var scalars = String.UnicodeScalarView()
        scalars.append(contentsOf: _nfc)
        return String(scalars)
    }

    /// The text in Unicode normalization form D: accents are separate characters.
    package var decomposed: String {
        var scalars = String.UnicodeScalarView()
        scalars.append(contentsOf: _nfd)
        return String(scalars)
    }
}

// The database compares texts byte by byte; Swift compares letters, which can have different bytes.
extension String {
    /// Whether both texts have the same bytes.
    package func hasSameBytes(as other: String) -> Bool {
        var (a, b) = (self, other)
        return a.withUTF8 { a in b.withUTF8 { a.elementsEqual($0) } }
    }

    /// Hashes the bytes of the text.
    package func hashBytes(into hasher: inout Hasher) {
        var text = self
        text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
    }
}

extension Character {
    package var isASCIIDigit: Bool { ("0"..."9").contains(self) }
}
