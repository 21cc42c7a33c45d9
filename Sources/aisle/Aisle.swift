import ArgumentParser
import Configuration
import Hummingbird
@main struct Aisle: AsyncParsableCommand { func run() async throws { print("hi") } }
