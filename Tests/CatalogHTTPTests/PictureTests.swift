import Site
import Testing

struct PictureTests {
    @Test("A picture has the color of its name", arguments: Picture.Shape.allCases)
    func pictureHasItsColor(shape: Picture.Shape) throws {
        let picture = try #require(Picture("\(shape.rawValue)-2f6fb0.svg"))
        let svg = String(decoding: picture.svg, as: UTF8.self)
        #expect(svg.hasPrefix("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 200 160\""))
        #expect(svg.contains("color=\"#2f6fb0\"") && !svg.contains("#888888") && svg.contains("currentColor"))
        #expect(svg.hasSuffix("</svg>\n"))
    }

    @Test(
        "An invalid picture name is rejected",
        arguments: [
            "", "carton", "carton.svg", "carton-2f6fb0", "carton-2F6FB0.svg", "carton-2f6fb.svg", "carton-2f6fb00.svg",
            "carton-2f6fb0.svg.svg", "carton-\">onload.svg", "boat-2f6fb0.svg", "a-carton-2f6fb0.svg",
        ]
    )
    func otherNamesAreRejected(name: String) { #expect(Picture(name) == nil) }

    @Test(
        "An origin is a scheme, a host and an optional port",
        arguments: ["https://images.example", "http://localhost:8081", "https://10.0.0.1", "HTTPS://Images.Example"]
    )
    func originsAreParsed(text: String) { #expect(WebOrigin(text)?.text == text.lowercased()) }

    @Test(
        "An invalid origin is rejected",
        arguments: [
            "", "https://", "images.example", "https://images.example/", "https://images.example/a",
            "ftp://images.example",
            "https://*.example", "https://a b", "https://a;script-src *", "https://a:", "https://a:70000",
            "https://a:1:2",
            "https://user@a", "'unsafe-inline'", "https://a\"",
        ]
    )
    func otherTextsAreRejected(text: String) { #expect(WebOrigin(text) == nil) }
}
