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
