extension Character {
    package var isASCIIDigit: Bool { ("0"..."9").contains(self) }
}
