// Programs that are slow for one reason each, as a user would have written them.
import Glibc
import GrandCentral

/// A class of an app whose cache is guarded by a queue; one request rebuilds all of it.
final class ThumbnailCache: @unchecked Sendable {
  private let queue = DispatchQueue(label: "thumbnails.cache")
  private var images: [Int: Int] = [:]

  func rebuildEverything() {
    queue.async { [self] in
      spin(microseconds: 500_000)
      for key in images.keys { images[key] = 0 }
    }
  }

  func store(_ image: Int, for key: Int) { queue.async { self.images[key] = image } }

  func pause() { queue.suspend() }

  func proceed() { queue.resume() }

  func finish() { queue.sync {} }
}

func longItem() {
  let cache = ThumbnailCache()
  // All items are submitted before the first one runs.
  cache.pause()
  for key in 0..<50 { cache.store(key, for: key) }
  cache.rebuildEverything()
  for key in 0..<50 { cache.store(key, for: key) }
  cache.proceed()
  cache.finish()
}

/// A crawler that starts an item for each page; each waits for a slot of the network.
func explosion() {
  let pages = DispatchQueue(label: "crawler.pages", attributes: .concurrent)
  let started = DispatchSemaphore(value: 0)
  let slots = DispatchSemaphore(value: 0)
  let done = DispatchGroup()
  for _ in 0..<60 {
    pages.async(group: done) {
      started.signal()
      slots.wait()
      spin(microseconds: 20)
    }
  }
  // All pages have a thread before the first one continues. Without 60 threads the scene still
  // ends.
  let limit = DispatchTime.now() + .seconds(60)
  for _ in 0..<60 { _ = started.wait(timeout: limit) }
  for _ in 0..<60 { slots.signal() }
  done.wait()
}

/// A view asks the database for its rows while a clean-up of low class has it.
func inversion() {
  let database = DispatchQueue(label: "database")
  let begun = DispatchSemaphore(value: 0)
  let atDoor = DispatchSemaphore(value: 0)
  database.async(qos: .background, flags: .enforceQoS) {
    begun.signal()
    atDoor.wait()
    spin(microseconds: 500_000)
  }
  begun.wait()
  let shown = DispatchGroup()
  DispatchQueue.global(qos: .userInitiated).async(group: shown) {
    atDoor.signal()
    database.sync { spin(microseconds: 100) }
  }
  shown.wait()
}

/// What the queue of the exports guards.
final class Exports: @unchecked Sendable {
  var areDone = false
}

/// A heartbeat whose timer shares a queue with exports. It ends with the first beat after them.
func lateTimer() {
  let queue = DispatchQueue(label: "exports")
  let exports = Exports()
  let lastBeat = DispatchSemaphore(value: 0)
  let timer = DispatchSource.makeTimerSource(queue: queue)
  timer.schedule(deadline: .now() + .milliseconds(20), repeating: .milliseconds(20))
  timer.setEventHandler {
    if exports.areDone { lastBeat.signal() }
  }
  timer.resume()
  queue.async {
    spin(microseconds: 500_000)
    exports.areDone = true
  }
  lastBeat.wait()
  timer.cancel()
}

/// A server that reads its connection on the queue on which it also computes.
func starvedSource() {
  let queue = DispatchQueue(label: "connection")
  var ends: [Int32] = [0, 0]
  _ = pipe(&ends)
  let (input, output) = (ends[0], ends[1])
  let handled = DispatchSemaphore(value: 0)
  let source = DispatchSource.makeReadSource(fileDescriptor: input, queue: queue)
  source.setEventHandler {
    var byte: UInt8 = 0
    _ = read(input, &byte, 1)
    handled.signal()
  }
  source.resume()
  queue.async {
    // The event comes while the item computes.
    _ = write(output, "x", 1)
    spin(microseconds: 1_000_000)
  }
  handled.wait()
  source.cancel()
}

/// Transfers between two accounts, each guarded by a queue: the second goes the other way.
func lockOrder() {
  let accounts = [DispatchQueue(label: "account.a"), DispatchQueue(label: "account.b")]
  // A statement keeps the other account for a while, so that the transfer has to wait.
  func transfer(from: DispatchQueue, to: DispatchQueue) {
    let begun = DispatchSemaphore(value: 0)
    let entered = DispatchSemaphore(value: 0)
    let done = DispatchGroup()
    to.async(group: done) {
      begun.signal()
      entered.wait()
      spin(microseconds: 20_000)
    }
    begun.wait()
    from.async(group: done) {
      entered.signal()
      to.sync { spin(microseconds: 10) }
    }
    done.wait()
  }
  for _ in 0..<5 {
    transfer(from: accounts[0], to: accounts[1])
    transfer(from: accounts[1], to: accounts[0])
  }
}

/// More threads than there are chunks of events submit items, so that threads run out of chunks.
func crowd() {
  var threads = [pthread_t](repeating: pthread_t(), count: 560)
  for index in threads.indices {
    let error = pthread_create(
      &threads[index], nil,
      { _ in
        let group = DispatchGroup()
        for _ in 0..<7 {
          for _ in 0..<100 { DispatchQueue.global().async(group: group) {} }
          group.wait()
        }
        return nil
      }, nil)
    if error != 0 { exit(71) }
  }
  for thread in threads { pthread_join(thread, nil) }
}
