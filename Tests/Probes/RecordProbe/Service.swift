// A service as a healthy program has it: requests are parsed on a concurrent queue, a serial queue
// guards the store, another one writes the log, and a timer counts.
import Glibc
import GrandCentral

struct Service {
  private let parser = DispatchQueue(label: "service.parser", attributes: .concurrent)
  private let store = DispatchQueue(label: "service.store", qos: .userInitiated)
  private let log = DispatchQueue(label: "service.log", qos: .utility)
  private let finished = DispatchGroup()

  /// Serves requests in bursts, and returns when all have been answered.
  func serve(bursts: Int) {
    let timer = DispatchSource.makeTimerSource(queue: log)
    timer.schedule(deadline: .now(), repeating: .milliseconds(5))
    timer.setEventHandler { spin(microseconds: 40) }
    timer.resume()
    for burst in 0..<bursts {
      let answered = DispatchGroup()
      for request in 0..<8 { parser.async(group: answered) { self.parse(burst * 8 + request) } }
      answered.wait()
      usleep(1500)
    }
    finished.wait()
    timer.cancel()
  }

  private func parse(_ request: Int) {
    spin(microseconds: 150 + UInt64(request * 7919 % 300))
    let answer = store.sync {
      spin(microseconds: 60)
      return request * 2
    }
    log.async(group: finished) { self.write(answer) }
  }

  private func write(_ answer: Int) { spin(microseconds: 30 + UInt64(answer % 40)) }
}
