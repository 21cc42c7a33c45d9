/// A page without scripts, such as the explanation of a problem.
package enum StaticPage {
    /// Returns the HTML of a page.
    ///
    /// - Parameters:
    ///   - aside: the HTML of its navigation.
    ///   - content: the HTML below its heading.
    package static func html(_ title: String, aside: String, _ content: String) -> [UInt8] {
        let html = """
            <!doctype html>
            <html lang="en">
            <head>
            <meta charset="utf-8">
            <meta name="viewport" content="width=device-width, initial-scale=1">
            <meta name="color-scheme" content="light dark">
            <title>\(title) · Aisle</title>
            <link rel="icon" href="/icon.svg" type="image/svg+xml">
            <link rel="stylesheet" href="/style.css">
            </head>
            <body>
            <header class="bar"><a class="brand" href="/">Aisle</a><nav class="pages" aria-label="Pages"><a href="/docs">API</a></nav></header>
            <div class="\(aside.isEmpty ? "single" : "columns")">
            \(aside)
            <main class="docs">
            <h1>\(title)</h1>
            \(content)
            </main>
            </div>
            </body>
            </html>

            """
        return Array(html.utf8)
    }

    /// Returns the page for an address that has none.
    package static func missing(_ path: String) -> [UInt8] {
        html(
            "Page not found",
            aside: "",
            """
            <p>This server has no page at <code>\(escaped(path.prefix(256)))</code>. Check the address, or continue with one of these:</p>
            <ul><li><a href="/">Shop</a></li><li><a href="/lists">Lists</a></li><li><a href="/merchandise">Merchandising</a></li><li><a href="/docs">API documentation</a></li></ul>
            """
        )
    }

    /// Returns a text for HTML.
    private static func escaped(_ text: some StringProtocol) -> String {
        text.reduce(into: "") { escaped, character in
            switch character {
            case "&": escaped += "&amp;"
            case "<": escaped += "&lt;"
            case ">": escaped += "&gt;"
            case "\"": escaped += "&quot;"
            default: escaped.append(character)
            }
        }
    }
}
