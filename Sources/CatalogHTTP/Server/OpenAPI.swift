/// The API's own description, OpenAPI 3.1, as it stands in `openapi.json`.
package enum OpenAPI {
    package static let document = PackageResources.openapi_json
}
