// Room: Primitives/ModelKernel. What the models have for a kernel: descriptors, one epoll(7) set,
// alarms. Descriptors are numbers that no descriptor of the real process has, each with a file
// behind it. A model opens and closes them, and says what they are ready for. After fs/eventpoll.c:
// a file is in the set by its number and itself; one that takes over the number is not adding and
// changing look at once whether it is ready an event is looked at again when it is taken; if
// nothing of it is left there is none what was told once is silent until it is changed, hang-ups
// included an event wakes one of those that wait, the longest asleep, and one that leaves more
// behind wakes the next setting an alarm takes back that it has rung Each call is one step on one
// word, relaxed: so the search tries them in every order, and they order nothing else, as if no
// system call did.
import CLinux

public enum ModelKernel {
  struct File {
    fileprivate let number: Int
    fileprivate var readiness: Readiness
    /// EPERM: always ready.
    fileprivate var canBePolled = true
    /// It is an alarm; when it rings, unless that is `.max`.
    fileprivate var timerFD: UInt64?
  }

  private struct Watch {
    let descriptor: Int32
    let file: Int
    var interest: Readiness
    var mode: ReadinessSet.Mode
    var key: UInt64
    var isSilent = false
  }

  static var set: Int32 { 1000 }
  static var wakeDescriptor: Int32 { 1001 }
  static var firstTimerFD: Int32 { 1002 }
  /// For models.
  static var first: Int32 { 1010 }

  private static let word = Atomic<UInt32>(0)
  nonisolated(unsafe) private static var files: [Int32: File] = [:]
  nonisolated(unsafe) private static var watches: [Watch] = []
  /// Numbers of files and descriptors in the order in which events came.
  nonisolated(unsafe) private static var ready: [(descriptor: Int32, file: Int)] = []
  nonisolated(unsafe) private static var filesMade = 0
  nonisolated(unsafe) private static var timerFDsMade: Int32 = 0

  /// Before each execution.
  static func reset() {
    files = [:]
    watches = []
    ready = []
    filesMade = 0
    timerFDsMade = 0
    open(wakeDescriptor)
  }

  private static func step() { word.wrappingAdd(1, ordering: .relaxed) }

  // MARK: For models

  /// A new file by that number. While the scene is set, or as a step.
  static func open(_ descriptor: Int32, _ readiness: Readiness = [], canBePolled: Bool = true) {
    filesMade += 1
    files[descriptor] = File(
      number: filesMade, readiness: readiness, canBePolled: canBePolled)
  }

  /// Closes the number, and opens another file by it, if that is asked for.
  static func close(_ descriptor: Int32, andOpen readiness: Readiness?, canBePolled: Bool = true) {
    step()
    if let file = files[descriptor]?.number {
      watches.removeAll { $0.descriptor == descriptor && $0.file == file }
      ready.removeAll { $0.descriptor == descriptor && $0.file == file }
    }
    files[descriptor] = nil
    if let readiness { open(descriptor, readiness, canBePolled: canBePolled) }
  }

  /// Closes the number of a file that lives on by another one, so that it stays in the set.
  static func putAway(_ descriptor: Int32) -> File? {
    step()
    defer { files[descriptor] = nil }
    return files[descriptor]
  }

  /// dup2(2).
  static func bringBack(_ descriptor: Int32, _ file: File?) {
    step()
    files[descriptor] = file
  }

  /// Something has come.
  static func becomeReady(_ descriptor: Int32, _ readiness: Readiness) {
    step()
    files[descriptor]?.readiness.formUnion(readiness)
    tell(of: descriptor, readiness)
  }

  /// It has been taken.
  static func take(_ descriptor: Int32, _ readiness: Readiness) {
    step()
    files[descriptor]?.readiness.subtract(readiness)
  }

  /// Without a step, for verdicts.
  static func readiness(_ descriptor: Int32) -> Readiness { files[descriptor]?.readiness ?? [] }
  /// Whether events of the descriptor are reported again and again. A watch for one event may stay
  /// behind.
  static func isWatched(_ descriptor: Int32) -> Bool {
    watches.contains { $0.descriptor == descriptor && $0.mode == .edge }
  }

  // MARK: epoll_ctl(2)

  static func add(
    _ descriptor: Int32, _ interest: Readiness, _ mode: ReadinessSet.Mode, _ key: UInt64
  ) -> Int32 {
    step()
    guard let file = files[descriptor] else { return EBADF }
    if !file.canBePolled { return EPERM }
    if place(of: descriptor) != nil { return EEXIST }
    watches.append(
      Watch(
        descriptor: descriptor, file: file.number, interest: interest, mode: mode, key: key))
    tell(of: descriptor, file.readiness)
    return 0
  }

  static func change(
    _ descriptor: Int32, _ interest: Readiness, _ mode: ReadinessSet.Mode, _ key: UInt64
  ) -> Int32 {
    step()
    guard let file = files[descriptor] else { return EBADF }
    // Before the set is looked at: do_epoll_ctl().
    if !file.canBePolled { return EPERM }
    guard let place = place(of: descriptor) else { return ENOENT }
    watches[place].interest = interest
    watches[place].mode = mode
    watches[place].key = key
    watches[place].isSilent = false
    tell(of: descriptor, file.readiness)
    return 0
  }

  static func remove(_ descriptor: Int32) -> Int32 {
    step()
    guard let file = files[descriptor] else { return EBADF }
    if !file.canBePolled { return EPERM }
    guard let place = place(of: descriptor) else { return ENOENT }
    watches.remove(at: place)
    ready.removeAll { $0.descriptor == descriptor && $0.file == file.number }
    return 0
  }

  private static func place(of descriptor: Int32) -> Int? {
    let file = files[descriptor]?.number
    return watches.firstIndex { $0.descriptor == descriptor && $0.file == file }
  }

  private static let unasked: Readiness = [.error, .hangUp]

  /// News of a file, for whoever waits.
  private static func tell(of descriptor: Int32, _ news: Readiness) {
    guard let place = place(of: descriptor), !watches[place].isSilent,
      !news.isDisjoint(with: watches[place].interest.union(unasked))
    else { return }
    let file = watches[place].file
    if !ready.contains(where: { $0.descriptor == descriptor && $0.file == file }) {
      ready.append((descriptor, file))
    }
    futexWake(word)
  }

  // MARK: epoll_wait(2)

  static func wait(milliseconds: Int32?) -> ReadinessSet.Event? {
    let end = milliseconds.map { Checker.nanoseconds + UInt64($0) * 1_000_000 }
    while true {
      // A read-modify-write sees the latest value; this one leaves it as it is, for others that
      // wait.
      let seen = word.wrappingAdd(0, ordering: .relaxed).oldValue
      let timerFD = fireTimerFDs()
      if let event = takeEvent() {
        if !ready.isEmpty { futexWake(word) }
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

  private static func takeEvent() -> ReadinessSet.Event? {
    while !ready.isEmpty {
      let (descriptor, file) = ready.removeFirst()
      guard let current = files[descriptor], current.number == file,
        let place = place(of: descriptor), !watches[place].isSilent
      else { continue }
      let readiness = current.readiness
      let left = readiness.intersection(watches[place].interest.union(unasked))
      if left.isEmpty { continue }
      if watches[place].mode == .once { watches[place].isSilent = true }
      // A bell is an eventfd(2), which nobody reads: the next ring is an edge all the same.
      return ReadinessSet.Event(key: watches[place].key, events: left.rawValue)
    }
    return nil
  }

  /// poll(2).
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
    // All that wait note until when.
    if fireTimerFDs() != nil { futexWake(word, count: .max) }
  }

  /// Rings those whose time has come. When the next one's will.
  @discardableResult
  private static func fireTimerFDs() -> UInt64? {
    if timerFDsMade == 0 { return nil }
    // May be a step. What is done by it comes after.
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
