// The compiler installs the factory before it calls main().
typealias DefaultExecutorFactory = QueueExecutors

@main struct Program {
  static func main() async { await check() }
}
