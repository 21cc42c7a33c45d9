/// The OpenAPI 3.1 description of the API, from `openapi.json`: its paths follow from the endpoint table, the rest is written by hand.
package enum OpenAPI {
    /// The recorded document.
    package static let document = PackageResources.openapi_json
    static let file = StaticFile(document, "application/json")
}
