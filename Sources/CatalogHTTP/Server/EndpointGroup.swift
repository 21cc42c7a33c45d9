/// The endpoints of one feature.
protocol EndpointGroup: Sendable {
    var endpoints: [Endpoint] { get }
}
