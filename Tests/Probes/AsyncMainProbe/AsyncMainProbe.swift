// Takes over Swift Concurrency where it is too late: an async main function has its executor
// already. The process must stop with a message when it would be resumed. For TakeOverTests.
import GrandCentral

@main struct AsyncMainProbe {
  static func main() async {
    takeOverConcurrency()
    await Task.detached {}.value
    print("resumed")
  }
}
