@_spi(_Unicode) internal import Swift

// The standard library normalizes texts to compare them, but shows its normal forms to Foundation alone.

extension String {
    /// The text in Unicode normalization form C: letters with accents are one character where Unicode has one.
    package var composed: String {
        if utf8.allSatisfy({ $0 < 0x80 }) { return self }
        var scalars = String.UnicodeScalarView()
        scalars.append(contentsOf: _nfc)
        return String(scalars)
    }

    /// The text in Unicode normalization form D: accents are characters of their own.
    package var decomposed: String {
        var scalars = String.UnicodeScalarView()
        scalars.append(contentsOf: _nfd)
        return String(scalars)
    }
}

extension StringProtocol {
    /// Whether at most 30 combining marks follow one another, as in every text that people write.
    ///
    /// Longer runs make comparing, hashing and normalizing quadratic, in Swift as elsewhere: texts from outside are checked
    /// before anything else is done with them. Source: UAX #15, section 13, "Stream-Safe Text Format".
    ///
    /// - Complexity: O(n).
    package var isStreamSafe: Bool {
        if utf8.allSatisfy({ $0 < 0xCC }) { return true }
        var run = 0
        for scalar in unicodeScalars {
            guard scalar.isCombining else {
                run = 0
                continue
            }
            run += 1
            if run > 30 { return false }
        }
        return true
    }
}

extension Unicode.Scalar {
    /// Whether normalization may reorder it.
    fileprivate var isCombining: Bool {
        switch value {
        // Latin, Greek and Cyrillic letters, without looking them up.
        case 0..<0x300, 0x370..<0x483: false
        // Class 0 themselves, they decompose into marks.
        case 0xF73, 0xF75, 0xF81: true
        default: properties.canonicalCombiningClass != .notReordered
        }
    }
}
