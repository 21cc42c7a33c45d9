internal import Catalog

/// A file of the storefront's pages, embedded in the executable.
///
/// The raw value is its path without the leading slash.
package enum WebAsset: String, CaseIterable, Sendable {
    case shopPage = ""
    case devicesPage = "devices"
    case merchandisePage = "merchandise"
    case listsPage = "lists"
    case docsPage = "docs"
    case client = "aisle.js"
    case alerts = "alerts.js"
    case cards = "cards.js"
    case dom = "dom.js"
    case drag = "drag.js"
    case facets = "facets.js"
    case filters = "filters.js"
    case format = "format.js"
    case guides = "guides.js"
    case header = "header.js"
    case language = "language.js"
    case markdown = "markdown.js"
    case matches = "matches.js"
    case navigation = "navigation.js"
    case rail = "rail.js"
    case search = "search.js"
    case session = "session.js"
    case shelves = "shelves.js"
    case storage = "storage.js"
    case sortable = "sortable.js"
    case texts = "texts.js"
    case wire = "wire.js"
    case shop = "shop.js"
    case devices = "devices.js"
    case merchandise = "merchandise.js"
    case lists = "lists.js"
    case docs = "docs.js"
    case style = "style.css"
    case icon = "icon.svg"

    package var bytes: [UInt8] {
        switch self {
        case .shopPage: PackageResources.index_html
        case .devicesPage: PackageResources.devices_html
        case .merchandisePage: PackageResources.merchandise_html
        case .listsPage: PackageResources.lists_html
        case .docsPage: PackageResources.docs_html
        case .client: PackageResources.aisle_js
        case .alerts: PackageResources.alerts_js
        case .cards: PackageResources.cards_js
        case .dom: PackageResources.dom_js
        case .drag: PackageResources.drag_js
        case .facets: PackageResources.facets_js
        case .filters: Self.filtersModule
        case .format: PackageResources.format_js
        case .guides: Guide.module
        case .header: PackageResources.header_js
        case .language: PackageResources.language_js
        case .markdown: PackageResources.markdown_js
        case .matches: PackageResources.matches_js
        case .navigation: PackageResources.navigation_js
        case .rail: PackageResources.rail_js
        case .search: PackageResources.search_js
        case .session: PackageResources.session_js
        case .shelves: PackageResources.shelves_js
        case .storage: PackageResources.storage_js
        case .sortable: PackageResources.sortable_js
        case .texts: PackageResources.texts_js
        case .wire: PackageResources.wire_js
        case .shop: PackageResources.shop_js
        case .devices: PackageResources.devices_js
        case .merchandise: PackageResources.merchandise_js
        case .lists: PackageResources.lists_js
        case .docs: PackageResources.docs_js
        case .style: PackageResources.style_css
        case .icon: PackageResources.icon_svg
        }
    }

    package var mediaType: String {
        switch self {
        case .shopPage, .devicesPage, .merchandisePage, .listsPage, .docsPage: "text/html; charset=utf-8"
        case .style: "text/css; charset=utf-8"
        case .icon: "image/svg+xml"
        case .client, .alerts, .cards, .dom, .drag, .facets, .filters, .format, .guides, .header, .language, .markdown,
            .matches, .navigation, .rail, .search, .session, .shelves, .storage, .sortable, .texts, .wire, .shop,
            .devices, .merchandise, .lists, .docs:
            "text/javascript; charset=utf-8"
        }
    }

    /// A module with the names of the filters. The shop's page reads all these filters from its address.
    private static let filtersModule =
        module("The names of the filters.", "filters", FilterKey.allCases.map(\.name))

    /// Returns a module with the origins of photos, so that the pages request no others.
    package static func imagesModule(_ origins: [WebOrigin]) -> [UInt8] {
        module(
            "The origins, in addition to the pages' own, from which the content security policy allows photos.",
            "imageOrigins",
            origins.map(\.text)
        )
    }

    /// Returns a module that exports a list of texts without quotes.
    private static func module(_ comment: String, _ name: String, _ texts: [String]) -> [UInt8] {
        let list = texts.map { "\"\($0)\"" }.joined(separator: ", ")
        return Array("/** \(comment) */\nexport const \(name) = [\(list)];\n".utf8)
    }
}

/// An origin from which the pages may load photos, such as `https://images.example`.
package struct WebOrigin: Hashable, Sendable {
    package let text: String

    package static let rule = "http:// or https://, a host, and an optional port, such as https://images.example"

    /// - Returns: nil for anything else, such as an address with a path.
    package init?(_ text: String) {
        let lowercased = text.lowercased()
        guard let scheme = ["https://", "http://"].first(where: lowercased.hasPrefix) else { return nil }
        let parts = lowercased.dropFirst(scheme.utf8.count).split(separator: ":", omittingEmptySubsequences: false)
        guard (1...2).contains(parts.count), !parts[0].isEmpty, !parts[0].hasPrefix("."), !parts[0].hasSuffix("."),
            parts[0].allSatisfy({ $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-" || $0 == ".") })
        else { return nil }
        if parts.count == 2 {
            guard parts[1].allSatisfy({ $0.isASCII && $0.isNumber }), UInt16(parts[1]) != nil else { return nil }
        }
        self.text = lowercased
    }
}
