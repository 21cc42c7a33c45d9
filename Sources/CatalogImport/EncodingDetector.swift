internal import Catalog

/// Finds the encoding of a text file by its byte order mark and the content of its first bytes.
struct EncodingDetector {
    /// The encoding of a file, and how sure it is.
    struct Finding: Equatable {
        var encoding: TextEncoding
        /// The number of bytes of the byte order mark.
        var markLength = 0
        /// Other encodings in which the sample is as plausible.
        var alternatives: [TextEncoding] = []
        /// Whether letters of the file decided, so that it may be wrong.
        var isGuess = false
        /// Whether the file is valid UTF-8 with letters above ASCII, but another encoding was given.
        var isContradicted = false
    }

    /// Returns the encoding of a file; nil if it is not clear.
    ///
    /// - Parameters:
    ///   - sample: the first bytes.
    ///   - isWhole: whether they are all bytes.
    static func find(_ sample: [UInt8], isWhole: Bool, given: TextEncoding?) -> Finding? {
        for (mark, encoding) in marks where sample.starts(with: mark) {
            return Finding(encoding: encoding, markLength: mark.count)
        }
        if let given {
            var finding = Finding(encoding: given)
            finding.isContradicted = given.upperHalf != nil && isUTF8(sample, isWhole: isWhole)
            return finding
        }
        if let wide = wideEncoding(sample) { return Finding(encoding: wide) }
        let (sequences, faults) = countUTF8(sample, isWhole: isWhole)
        // A UTF-8 file with a few broken rows: text in other encodings hardly ever has valid sequences.
        if sequences >= faults * 4 { return Finding(encoding: .utf8) }
        return narrowEncoding(sample)
    }

    private static let marks: [([UInt8], TextEncoding)] = [
        ([0xEF, 0xBB, 0xBF], .utf8), ([0xFF, 0xFE], .utf16LittleEndian), ([0xFE, 0xFF], .utf16BigEndian),
    ]

    // MARK: - UTF-16 and UTF-8

    /// Whether the bytes above ASCII are valid UTF-8, which hardly ever happens in another encoding.
    private static func isUTF8(_ sample: [UInt8], isWhole: Bool) -> Bool {
        let (sequences, faults) = countUTF8(sample, isWhole: isWhole)
        return sequences > 0 && faults == 0
    }

    /// UTF-16 without a mark: every second byte of ASCII text is 0.
    private static func wideEncoding(_ sample: [UInt8]) -> TextEncoding? {
        var zeros = [0, 0]
        for (index, byte) in sample.enumerated() where byte == 0 { zeros[index % 2] += 1 }
        guard (zeros[0] + zeros[1]) * 10 > sample.count else { return nil }
        if zeros[1] > zeros[0] * 9 { return .utf16LittleEndian }
        return zeros[0] > zeros[1] * 9 ? .utf16BigEndian : nil
    }

    /// Counts the valid sequences of several bytes, and the bytes outside of valid sequences.
    private static func countUTF8(_ sample: [UInt8], isWhole: Bool) -> (sequences: Int, faults: Int) {
        var (sequences, faults, index) = (0, 0, 0)
        while index < sample.count {
            let byte = sample[index]
            index += 1
            if byte < 0x80 { continue }
            let length =
                byte >= 0xF0 && byte < 0xF5 ? 3 : byte >= 0xE0 && byte < 0xF0 ? 2 : byte >= 0xC2 && byte < 0xE0 ? 1 : 0
            let rest = sample[index...].prefix(length).prefix { $0 & 0xC0 == 0x80 }
            if length > 0, rest.count == length {
                sequences += 1
                index += length
            } else if length == 0 || isWhole || index + rest.count < sample.count {
                faults += 1
            } else {
                // The end of the sample cuts the sequence.
                index += rest.count
            }
        }
        return (sequences, faults)
    }

    // MARK: - Single-byte encodings

    private static let narrowEncodings: [TextEncoding] = [.windows1252, .windows1250, .latin2, .windows1251]

    /// The difference in the logarithms of the likelihoods from which an encoding is ruled out: 160,000 to 1.
    private static let clearDifference = 12.0
    /// The minimum mean logarithm of the likelihood of a letter, below which the text is in none of the languages.
    private static let minimumMean = -3.45

    /// The number of characters above ASCII that are examined.
    private static let letterLimit = 20_000

    private static func narrowEncoding(_ sample: [UInt8]) -> Finding? {
        let scores = narrowEncodings.map { (encoding: $0, score: score(sample, $0)) }
        let best = scores.max { $0.score.total < $1.score.total }!
        let likely = scores.filter { $0.score.total > best.score.total - clearDifference }.sorted {
            $0.score.total > $1.score.total
        }
        guard best.score.total >= Double(best.score.letters) * minimumMean else { return nil }
        let alternatives = likely.map(\.encoding).filter { $0 != best.encoding }
        return Finding(encoding: best.encoding, alternatives: alternatives, isGuess: true)
    }

    /// Returns the logarithm of the likelihood of the sample's letters in the language that fits best, and their number.
    private static func score(_ sample: [UInt8], _ encoding: TextEncoding) -> (total: Double, letters: Int) {
        let upper = encoding.upperHalf!.map { $0.map(Character.init) }
        var counts: [Letter: Int] = [:]
        // A word that occurs often proves no more than one that occurs once.
        var seen: Set<[UInt8]> = []
        for index in sample.indices.lazy.filter({ sample[$0] >= 0x80 }).prefix(letterLimit) {
            guard seen.insert(Array(sample[max(0, index - 1)..<min(sample.count, index + 2)])).inserted else {
                continue
            }
            let previous = index > 0 ? character(sample[index - 1], upper) : "\n"
            let next = index + 1 < sample.count ? character(sample[index + 1], upper) : "\n"
            counts[Letter(upper[Int(sample[index]) - 0x80], between: previous, next), default: 0] += 1
        }
        let totals = Language.all.map { language in
            counts.reduce(0) { $0 + Double($1.value) * language.logarithm(of: $1.key) }
        }
        return (totals.max() ?? 0, counts.values.reduce(0, +))
    }

    /// The natural logarithm of a positive number, up to 1.25e-5.
    static func logarithm(_ value: Double) -> Double {
        // By its exponent and the series of the area hyperbolic tangent.
        let ratio = (value.significand - 1) / (value.significand + 1)
        let square = ratio * ratio
        let series = 2 * ratio * (1 + square / 3 + square * square / 5 + square * square * square / 7)
        return Double(value.exponent) * 0.6931471805599453 + series
    }

    private static func character(_ byte: UInt8, _ upper: [Character?]) -> Character {
        byte < 0x80 ? Character(Unicode.Scalar(byte)) : upper[Int(byte) - 0x80] ?? "\u{FFFD}"
    }

    /// A character above ASCII in a text.
    private enum Letter: Hashable {
        case letter(Character)
        /// A symbol that is common in texts of products, such as a quote or a trademark.
        case commonSymbol
        case rareSymbol
        /// A character where no language has it: a symbol inside a word, a capital after a small letter, Cyrillic and
        /// Latin letters side by side, or a byte without a character.
        case implausible

        init(_ character: Character?, between previous: Character, _ next: Character) {
            guard let character else {
                self = .implausible
                return
            }
            guard character.isLetter else {
                let neighbours = [previous, next].count(where: \.isLetter)
                let isCommon = (neighbours == 2 ? Self.joiners : Self.symbols).contains(character)
                self = isCommon ? .commonSymbol : neighbours > 0 ? .implausible : .rareSymbol
                return
            }
            let isCyrillic = Self.isCyrillic(character)
            let isMixed = [previous, next].contains { $0.isLetter && Self.isCyrillic($0) != isCyrillic }
            let isCapitalInside = character.isUppercase && previous.isLowercase && previous.isLetter
            self = isMixed || isCapitalInside ? .implausible : .letter(Character(character.lowercased()))
        }

        /// Symbols that occur between the letters of a word.
        private static let joiners = Set("’´·–…\u{A0}\u{AD}")
        private static let symbols = Set("’‘‚“”„«»‹›´·•–—…®™©°²³½¼¾×€£§%\u{A0}\u{AD}")

        private static func isCyrillic(_ character: Character) -> Bool {
            ("\u{400}"..."\u{52F}").contains(character)
        }
    }

    /// The frequencies of a language's letters above ASCII.
    private struct Language {
        private let frequencies: [Character: Double]

        /// - Parameter text: letters, each with its frequency in any unit.
        init(_ text: String) {
            var frequencies: [Character: Double] = [:]
            for word in text.split(separator: " ") { frequencies[word.first!] = Double(word.dropFirst())! }
            let sum = frequencies.values.reduce(0, +)
            self.frequencies = frequencies.mapValues { $0 / sum }
        }

        func logarithm(of letter: Letter) -> Double {
            // One in 33 letters is of a foreign word, as names of brands are.
            switch letter {
            case .implausible: -11.5
            case .commonSymbol: -3
            case .rareSymbol: -5
            case .letter(let letter):
                EncodingDetector.logarithm((frequencies[letter] ?? 0) + (Self.known.contains(letter) ? 3e-4 : 3e-5))
            }
        }

        /// In tenths of a percent of the letters above ASCII; rounded counts of common texts.
        static let all: [Language] = [
            // Croatian, Slovenian, Serbian
            "č330 š270 ž210 ć150 đ40",
            // Czech
            "í230 á160 ě120 é95 ř90 č80 ž80 ý80 š60 ů40 ú10 ň7 ť3 ď2 ó3",
            // Slovak
            "á220 í120 ý110 ú100 č100 é90 ž90 š80 ť50 ľ40 ň20 ô20 ä10 ď10 ó6 ŕ1 ĺ1",
            // Polish
            "ł260 ę150 ą130 ó120 ż120 ś90 ć60 ń30 ź10",
            // Hungarian
            "á310 é310 ö90 ó90 ő80 í50 ü50 ú30 ű20",
            // Romanian
            "ă420 î220 ş150 ţ150 â100",
            // German
            "ü350 ä340 ö200 ß100 é5",
            // French
            "é600 à140 è110 ê60 ç30 ô20 î15 û15 â15 œ7 ù3 ë3 ï3",
            // Spanish
            "ó300 í240 á200 é120 ñ90 ú50 ü3",
            // Portuguese
            "ã200 ç160 á140 é130 í110 ê90 ó80 õ40 â30 ú30 ô20 à20",
            // Italian
            "à400 è300 ù120 ò120 é60 ì50",
            // Swedish, Finnish
            "ä450 ö300 å250 é3",
            // Danish, Norwegian
            "å400 ø350 æ250 é5",
            // Dutch
            "é400 ë350 ï100 ö50 ü50 è30",
            // Russian, Bulgarian
            """
            о110 а85 е84 и74 н67 т63 с55 р47 в45 л44 к35 м32 д30 п28 у26 я20 ы15 ь17 г17 з16 б16 ч14 й12 х10 ж9 ш7 \
            ю6 ц5 щ4 э3 ф3 ъ4 ё1
            """,
            // Ukrainian
            """
            о94 а72 и61 н68 і57 в54 т55 р48 е46 с41 к35 л36 д33 у31 м29 п29 я21 з21 ь18 б17 г16 ч14 й12 х10 ц8 ї7 \
            ж7 ш6 ю8 є4 ф3 щ3 ґ1
            """,
            // Serbian, Macedonian
            """
            а115 и97 о92 е89 н55 р47 с47 т45 ј43 у42 в37 к37 д36 п28 м33 л33 з16 г17 б15 ч9 ш8 ж6 ц7 х6 љ5 њ5 ћ7 \
            ђ2 ф2 џ1
            """,
        ].map(Language.init)

        private static let known = Set(all.flatMap(\.frequencies.keys))
    }
}
