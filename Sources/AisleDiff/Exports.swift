// The generator, the service and this library share the same diff type.
@_exported public import Ordering
