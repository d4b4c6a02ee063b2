// takeOverConcurrency() installs the factory.
import Glibc
import GrandCentralCore

@main struct Program {
  static func main() {
    guard takeOverConcurrency() else { exit(1) }
    Task {
      await check()
      exit(0)
    }
    dispatchMain()
  }
}
