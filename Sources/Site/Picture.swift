/// A drawing of a product, for catalogs without photos, such as the seed's.
package struct Picture: Sendable {
    /// The thing that a picture shows.
    package enum Shape: String, CaseIterable {
        case avocado, bag, baguette, banana, bar, berries, bottle, box, brick, can, carton, cup, eggs
        case fruit, jar, leaves, loaf, long, melon, paper, rolls, tin, tray, tub, tube, wedge

        /// The drawing, whose main color is `templateColor`.
        fileprivate var template: [UInt8] {
            switch self {
            case .avocado: PackageResources.avocado_svg
            case .bag: PackageResources.bag_svg
            case .baguette: PackageResources.baguette_svg
            case .banana: PackageResources.banana_svg
            case .bar: PackageResources.bar_svg
            case .berries: PackageResources.berries_svg
            case .bottle: PackageResources.bottle_svg
            case .box: PackageResources.box_svg
            case .brick: PackageResources.brick_svg
            case .can: PackageResources.can_svg
            case .carton: PackageResources.carton_svg
            case .cup: PackageResources.cup_svg
            case .eggs: PackageResources.eggs_svg
            case .fruit: PackageResources.fruit_svg
            case .jar: PackageResources.jar_svg
            case .leaves: PackageResources.leaves_svg
            case .loaf: PackageResources.loaf_svg
            case .long: PackageResources.long_svg
            case .melon: PackageResources.melon_svg
            case .paper: PackageResources.paper_svg
            case .rolls: PackageResources.rolls_svg
            case .tin: PackageResources.tin_svg
            case .tray: PackageResources.tray_svg
            case .tub: PackageResources.tub_svg
            case .tube: PackageResources.tube_svg
            case .wedge: PackageResources.wedge_svg
            }
        }
    }

    let shape: Shape
    /// The main color: 6 lowercase hexadecimal digits.
    let color: String

    /// The main color of the drawings.
    private static let templateColor = "#888888"

    /// Parses a file name, such as `carton-2f6fb0.svg`.
    package init?(_ name: String) {
        let parts = name.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 2, let shape = Shape(rawValue: String(parts[0])), parts[1].hasSuffix(".svg") else {
            return nil
        }
        let digits = parts[1].dropLast(4)
        guard digits.utf8.count == 6, digits.allSatisfy({ "0123456789abcdef".contains($0) }) else { return nil }
        self.shape = shape
        color = String(digits)
    }

    package var svg: [UInt8] {
        var bytes = shape.template
        if let range = bytes.firstRange(of: Array(Self.templateColor.utf8)) {
            bytes.replaceSubrange(range, with: "#\(color)".utf8)
        }
        return bytes
    }
}
