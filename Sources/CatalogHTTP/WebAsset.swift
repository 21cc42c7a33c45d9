/// A file of the storefront page, embedded in the program.
enum WebAsset: String, CaseIterable {
    case page = ""
    case client = "aisle.js"
    case shop = "shop.js"
    case texts = "texts.js"
    case style = "shop.css"
    case icon = "icon.svg"

    var bytes: [UInt8] {
        switch self {
        case .page: PackageResources.index_html
        case .client: PackageResources.aisle_js
        case .shop: PackageResources.shop_js
        case .texts: PackageResources.texts_js
        case .style: PackageResources.shop_css
        case .icon: PackageResources.icon_svg
        }
    }

    var mediaType: String {
        switch self {
        case .page: "text/html; charset=utf-8"
        case .client, .shop, .texts: "text/javascript; charset=utf-8"
        case .style: "text/css; charset=utf-8"
        case .icon: "image/svg+xml"
        }
    }

    /// What the page may load, and from where: its own files and the API, and nothing else. Source: Content Security Policy 3.
    static let policy =
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
        + "base-uri 'none'; form-action 'none'; frame-ancestors 'self'"
}
