// Room: Primitives/ModelKernel. The models' kernel: descriptors, epoll(7) sets, timers.
// Each descriptor is a number that the real process does not use, and refers to a file. A model
// opens and closes descriptors and sets what they are ready for. The rules follow fs/eventpoll.c:
//   - A file is in the set by its number and itself; another file with the same number is not.
//   - add() and change() check at once whether the file is ready.
//   - An event is checked again when it is taken, and dropped if nothing is ready any more.
//   - A watch for one event is silent after it until change(), for hang-ups too.
//   - An event of a watch by level is queued again when it is taken.
//   - An event wakes the waiter that has slept longest. If more events remain, it wakes another.
//   - Setting a timer descriptor clears its earlier expiration.
// Each call is one step, a relaxed operation on one word. So the search tries the calls in every
// order, and they order nothing else, as if no system call did.
import CGrandCentralLinux

public enum ModelKernel {
  struct File {
    fileprivate let number: Int
    fileprivate var readiness: Readiness
    /// False: epoll_ctl(2) fails with EPERM. Such a file is always ready.
    fileprivate var canBePolled = true
    /// The time at which a timer descriptor fires; `.max` if it is not set; `nil` for other files.
    fileprivate var timerFD: UInt64?
  }

  /// A file in a set.
  private struct Place: Equatable {
    let set: Int32
    let descriptor: Int32
    let file: Int
  }

  private struct Watch {
    let place: Place
    var interest: Readiness
    var mode: ReadinessSet.Mode
    var key: UInt64
    var isSilent = false
  }

  static var set: Int32 { 1000 }
  /// Any set but the first.
  static var nextSet: Int32 { 1009 }
  static var wakeDescriptor: Int32 { 1001 }
  static var firstTimerFD: Int32 { 1002 }
  /// The first number that models may use.
  static var first: Int32 { 1010 }

  private static let word = Atomic<UInt32>(0)
  nonisolated(unsafe) private static var files: [Int32: File] = [:]
  nonisolated(unsafe) private static var watches: [Watch] = []
  /// Those with pending events, in the order of arrival.
  nonisolated(unsafe) private static var ready: [Place] = []
  nonisolated(unsafe) private static var setsMade = 0
  nonisolated(unsafe) private static var filesMade = 0
  nonisolated(unsafe) private static var timerFDsMade: Int32 = 0

  /// Removes all files but the wake-up descriptor's. Runs before each execution.
  static func reset() {
    files = [:]
    watches = []
    ready = []
    filesMade = 0
    timerFDsMade = 0
    setsMade = 0
    open(wakeDescriptor)
  }

  private static func step() { word.wrappingAdd(1, ordering: .relaxed) }

  // MARK: For models

  /// Opens a new file as `descriptor`. Runs while the scene is set, or within another step.
  static func open(_ descriptor: Int32, _ readiness: Readiness = [], canBePolled: Bool = true) {
    filesMade += 1
    files[descriptor] = File(
      number: filesMade, readiness: readiness, canBePolled: canBePolled)
  }

  /// Closes `descriptor`. If `readiness` is given, opens another file under the same number.
  static func close(_ descriptor: Int32, andOpen readiness: Readiness?, canBePolled: Bool = true) {
    step()
    let file = files[descriptor]?.number
    files[descriptor] = nil
    if !files.values.contains(where: { $0.number == file }) {
      watches.removeAll { $0.place.file == file }
      ready.removeAll { $0.file == file }
    }
    if let readiness { open(descriptor, readiness, canBePolled: canBePolled) }
  }

  /// Opens the file of `descriptor` under another number too. What it is ready for is noted for
  /// each number, so the model then uses one of them.
  static func duplicate(_ descriptor: Int32, as other: Int32) {
    step()
    files[other] = files[descriptor]
  }

  /// Closes `descriptor`. Its file stays open under another number, and so stays in the set.
  static func putAway(_ descriptor: Int32) -> File? {
    step()
    defer { files[descriptor] = nil }
    return files[descriptor]
  }

  /// Gives the file its number back, as dup2(2) does.
  static func bringBack(_ descriptor: Int32, _ file: File?) {
    step()
    files[descriptor] = file
  }

  /// Adds to what the file is ready for, and reports it to the set.
  static func becomeReady(_ descriptor: Int32, _ readiness: Readiness) {
    step()
    files[descriptor]?.readiness.formUnion(readiness)
    tell(of: descriptor, readiness)
  }

  /// Removes from what the file is ready for, as a read or write does.
  static func take(_ descriptor: Int32, _ readiness: Readiness) {
    step()
    files[descriptor]?.readiness.subtract(readiness)
  }

  /// What the file is ready for. No step: for verdicts.
  static func readiness(_ descriptor: Int32) -> Readiness { files[descriptor]?.readiness ?? [] }
  /// Whether the set has a watch for the descriptor that reports more than one event. A watch for
  /// one does not count; it may remain in the set.
  static func isWatched(_ descriptor: Int32) -> Bool {
    watches.contains { $0.place.descriptor == descriptor && $0.mode != .once }
  }

  // MARK: epoll_create(2)

  static func makeSet() -> Int32 {
    step()
    setsMade += 1
    return setsMade == 1 ? set : nextSet
  }

  // MARK: epoll_ctl(2)

  static func add(
    to set: Int32, _ descriptor: Int32, _ interest: Readiness, _ mode: ReadinessSet.Mode,
    _ key: UInt64
  ) -> Int32 {
    step()
    guard let file = files[descriptor] else { return EBADF }
    if !file.canBePolled { return EPERM }
    let place = Place(set: set, descriptor: descriptor, file: file.number)
    if watches.contains(where: { $0.place == place }) { return EEXIST }
    watches.append(Watch(place: place, interest: interest, mode: mode, key: key))
    tell(of: place, file.readiness)
    return 0
  }

  static func change(
    in set: Int32, _ descriptor: Int32, _ interest: Readiness, _ mode: ReadinessSet.Mode,
    _ key: UInt64
  ) -> Int32 {
    step()
    guard let file = files[descriptor] else { return EBADF }
    // do_epoll_ctl() checks this before it searches the set.
    if !file.canBePolled { return EPERM }
    let place = Place(set: set, descriptor: descriptor, file: file.number)
    guard let index = watches.firstIndex(where: { $0.place == place }) else { return ENOENT }
    watches[index].interest = interest
    watches[index].mode = mode
    watches[index].key = key
    watches[index].isSilent = false
    tell(of: place, file.readiness)
    return 0
  }

  static func remove(from set: Int32, _ descriptor: Int32) -> Int32 {
    step()
    guard let file = files[descriptor] else { return EBADF }
    if !file.canBePolled { return EPERM }
    let place = Place(set: set, descriptor: descriptor, file: file.number)
    guard let index = watches.firstIndex(where: { $0.place == place }) else { return ENOENT }
    watches.remove(at: index)
    ready.removeAll { $0 == place }
    return 0
  }

  private static let unasked: Readiness = [.error, .hangUp]

  /// Queues an event of the descriptor's file wherever a set knows it.
  private static func tell(of descriptor: Int32, _ news: Readiness) {
    let file = files[descriptor]?.number
    for watch in watches where watch.place.file == file { tell(of: watch.place, news) }
  }

  /// Queues an event, if a watch asks for it, and wakes a waiter.
  private static func tell(of place: Place, _ news: Readiness) {
    guard let watch = watches.first(where: { $0.place == place }), !watch.isSilent,
      !news.isDisjoint(with: watch.interest.union(unasked))
    else { return }
    if !ready.contains(place) { ready.append(place) }
    wake()
  }

  /// Wakes a waiter; all of them once there is more than one set.
  private static func wake() { futexWake(word, count: setsMade > 1 ? .max : 1) }

  // MARK: epoll_wait(2)

  static func wait(in set: Int32, milliseconds: Int32?) -> ReadinessSet.Event? {
    let end = milliseconds.map { Checker.nanoseconds + UInt64($0) * 1_000_000 }
    while true {
      // A read-modify-write returns the latest value. It adds 0, to disturb no other sleep.
      let seen = word.wrappingAdd(0, ordering: .relaxed).oldValue
      let timerFD = fireTimerFDs()
      if let event = takeEvent(of: set) {
        if !ready.isEmpty { wake() }
        return event
      }
      let deadline = [end, timerFD].compactMap { $0 }.min().map {
        Deadline.monotonic(nanoseconds: $0)
      }
      if futexWait(word, while: seen, until: deadline) == .timedOut, let end,
        Checker.nanoseconds >= end
      {
        return nil
      }
    }
  }

  private static func takeEvent(of set: Int32) -> ReadinessSet.Event? {
    while let first = ready.firstIndex(where: { $0.set == set }) {
      let place = ready.remove(at: first)
      // Whatever number it is open under.
      guard let current = files.values.first(where: { $0.number == place.file }),
        let index = watches.firstIndex(where: { $0.place == place }), !watches[index].isSilent
      else { continue }
      let left = current.readiness.intersection(watches[index].interest.union(unasked))
      if left.isEmpty { continue }
      switch watches[index].mode {
      case .once: watches[index].isSilent = true
      case .edge: break
      case .level: ready.append(place)
      }
      // The readiness remains: an eventfd(2) that is never read reports each signal as a new edge.
      return ReadinessSet.Event(key: watches[index].key, events: left.rawValue)
    }
    return nil
  }

  /// Returns what the file is ready for, as poll(2) with a timeout of 0 does.
  static func now(_ descriptor: Int32, _ interest: Readiness) -> Readiness {
    step()
    return files[descriptor]?.readiness.intersection(interest.union(unasked)) ?? []
  }

  // MARK: timerfd_create(2)

  static func openTimerFD() -> Int32 {
    step()
    timerFDsMade += 1
    let number = firstTimerFD + timerFDsMade - 1
    open(number)
    files[number]?.timerFD = .max
    return number
  }

  static func setTimerFD(_ number: Int32, at nanoseconds: UInt64) {
    step()
    files[number]?.readiness = []
    files[number]?.timerFD = nanoseconds
    // Each waiter computes its deadline from the timers before it sleeps, so all must do it again.
    if fireTimerFDs() != nil { futexWake(word, count: .max) }
  }

  /// Fires the timer descriptors whose time has come. Returns the time of the next one.
  @discardableResult
  private static func fireTimerFDs() -> UInt64? {
    if timerFDsMade == 0 { return nil }
    // Reading the clock may be a step. Everything below happens after it.
    let now = Checker.nanoseconds
    var next: UInt64?
    for number in firstTimerFD..<firstTimerFD + timerFDsMade {
      guard let time = files[number]?.timerFD, time != .max else { continue }
      if time <= now {
        files[number]?.timerFD = .max
        files[number]?.readiness = .readable
        tell(of: number, .readable)
      } else {
        next = min(next ?? .max, time)
      }
    }
    return next
  }
}
