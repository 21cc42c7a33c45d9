/// The OpenAPI 3.1 description of the API, from `openapi.json`.
package enum OpenAPI {
    package static let document = PackageResources.openapi_json
    static let file = StaticFile(document, "application/json")
}
