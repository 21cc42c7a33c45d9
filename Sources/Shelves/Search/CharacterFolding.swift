/// The folding of single characters: how each one counts for words, without its case, accents, width and form.
///
/// `FoldingTable.swift` has the characters that change. The others count by their Unicode category.
struct CharacterFolding: Sendable {
    /// How a character counts, with the folded character, in one number.
    struct Role: Sendable {
        fileprivate let bits: UInt32

        enum Kind: UInt32 {
            case separator, letter, digit
            /// A mark that belongs to the character before it and does not count.
            case accent
            /// An invisible character, such as a soft hyphen.
            case invisible
            case apostrophe
            /// A point or a comma.
            case decimalMark
            /// Several characters.
            case text
        }

        fileprivate init(_ kind: Kind, _ payload: UInt32 = 0) { bits = kind.rawValue << 24 | payload }

        fileprivate init(bits: UInt32) { self.bits = bits }

        var kind: Kind { Kind(rawValue: bits >> 24)! }
        /// The folded character of a letter or a digit, or an accent itself.
        var scalar: UInt32 { bits & 0xFF_FFFF }
    }

    /// The number of characters that share a page.
    private static let pageSize = 256
    /// A role that no page has.
    private static let unlisted = UInt16.max

    /// The number of the page with a character's role, or `unlisted`.
    private var pageNumbers: [UInt16]
    private var roles: [UInt32] = []
    /// The folded texts of several characters.
    private var texts: [[UInt32]] = []

    /// The folding of all characters.
    static let shared = CharacterFolding()

    private init() {
        pageNumbers = [UInt16](repeating: Self.unlisted, count: 0x110000 / Self.pageSize)
        addPage(of: 0)
        for run in Self.table.utf8.split(whereSeparator: { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\n") }) {
            add(Array(run))
        }
    }

    /// Returns the role of a character.
    func role(_ scalar: UInt32) -> Role {
        let page = pageNumbers[Int(scalar) / Self.pageSize]
        if page == Self.unlisted { return Self.role(unchanged: scalar) }
        return Role(bits: roles[Int(page) * Self.pageSize + Int(scalar) % Self.pageSize])
    }

    /// Returns the folded characters of a role of the kind `text`.
    func text(_ role: Role) -> [UInt32] { texts[Int(role.scalar)] }

    private mutating func addPage(of scalar: UInt32) {
        let page = Int(scalar) / Self.pageSize
        guard pageNumbers[page] == Self.unlisted else { return }
        pageNumbers[page] = UInt16(roles.count / Self.pageSize)
        for offset in 0..<Self.pageSize {
            roles.append(Self.role(unchanged: UInt32(page * Self.pageSize + offset)).bits)
        }
    }

    /// Adds the roles of a run of the table.
    private mutating func add(_ run: [UInt8]) {
        var (index, numbers) = (0, [UInt32]())
        /// Reads a number, if a mark comes before it.
        func number(after mark: Character) -> UInt32? {
            guard index < run.count, run[index] == mark.asciiValue else { return nil }
            index += 1
            return number()
        }
        func number() -> UInt32 {
            var value: UInt32 = 0
            while index < run.count, let digit = Character(Unicode.Scalar(run[index])).hexDigitValue {
                value = value << 4 | UInt32(digit)
                index += 1
            }
            return value
        }
        let first = number()
        let count = number(after: "*") ?? 1
        let step = number(after: "/") ?? 1
        precondition(index < run.count && run[index] == UInt8(ascii: ":"), "the table is valid")
        if index + 1 < run.count {
            numbers.append(number(after: ":")!)
            while let next = number(after: ",") { numbers.append(next) }
        }
        let change = number(after: "+") ?? 0
        if numbers.count > 1 { texts.append(numbers) }
        for place in 0..<count {
            let scalar = first + place * step
            addPage(of: scalar)
            let role =
                switch numbers.count {
                case 0: Role(Self.isMark(scalar) ? .accent : .invisible, scalar)
                case 1: Self.role(unchanged: numbers[0] + place * change)
                default: Role(.text, UInt32(texts.count - 1))
                }
            roles[Int(pageNumbers[Int(scalar) / Self.pageSize]) * Self.pageSize + Int(scalar) % Self.pageSize] =
                role.bits
        }
    }

    private static func isMark(_ scalar: UInt32) -> Bool {
        switch Unicode.Scalar(scalar)?.properties.generalCategory {
        case .nonspacingMark, .spacingMark, .enclosingMark: true
        default: false
        }
    }

    /// Returns the role of a character without an entry in the table.
    private static func role(unchanged scalar: UInt32) -> Role {
        switch scalar {
        case 0x30...0x39: return Role(.digit, scalar)
        case 0x41...0x5A: return Role(.letter, scalar + 0x20)
        case 0x61...0x7A: return Role(.letter, scalar)
        case 0x27, 0x60: return Role(.apostrophe)
        case 0x2C, 0x2E: return Role(.decimalMark)
        case 0..<0x80: return Role(.separator)
        default: break
        }
        switch Unicode.Scalar(scalar)?.properties.generalCategory {
        case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter, .letterNumber,
            .nonspacingMark, .spacingMark, .enclosingMark:
            return Role(.letter, scalar)
        default: return Role(.separator)
        }
    }
}
