extension StringProtocol {
    /// Whether all scalars are below U+0300, the first combining mark. They are composed. From there on, UTF-8 begins with 0xCC.
    package var isBelowMarks: Bool {
        utf8.withContiguousStorageIfAvailable { $0.allSatisfy { $0 < 0xCC } } == true
    }

    /// Whether the text has at most 30 combining marks in a row, as all natural text does.
    ///
    /// Longer runs make comparing, hashing and normalizing quadratic, so external texts are checked
    /// first. Source: UAX #15, section 13, "Stream-Safe Text Format".
    ///
    /// - Complexity: O(n).
    package var isStreamSafe: Bool {
        if isBelowMarks { return true }
        var run = 0
        for scalar in String(self).unicodeScalars {
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
        // Latin, Greek and Cyrillic letters need no lookup.
        case 0..<0x300, 0x370..<0x483: false
        // These have class 0 but decompose into marks.
        case 0xF73, 0xF75, 0xF81: true
        default: properties.canonicalCombiningClass != .notReordered
        }
    }
}
