import CFaults
import CGrandCentralLinux
import Glibc
import TestSupport
import Testing

@testable import GrandCentralCore

/// The kernel's settings for a thread, except its timer slack.
private struct Treatment: Equatable {
  let policy: Int32
  let sliceNanoseconds: Int64
  let disk: Int32

  init?(of thread: UInt32) {
    var noted = faults_treatment()
    guard faults_treatment_of(Int32(thread), &noted) == 0 else { return nil }
    (policy, sliceNanoseconds, disk) = (noted.policy, noted.slice_nanoseconds, noted.io_priority)
  }
}

@Suite("A thread's effects") struct ThreadEffectsTests {
  private static func treatment(_ thread: UInt32 = 0) -> Treatment? { Treatment(of: thread) }

  @Test func `apply to the pool's threads only`() {
    let isDone = onThreads(1) { _ in
      let thread = currentThread()
      let before = Self.treatment()
      for band in Band.allCases {
        #expect(ThreadEffects.apply(band, on: thread))
        #expect(!ThreadEffects.help(thread, to: .userInteractive))
        #expect(Self.treatment() == before)
      }
      #expect(thread.pointee.effect == 0)
    }
    #expect(isDone)
  }

  @Test func `are applied and undone with the classes, in any order`() {
    let isDone = onThreads(1) { _ in
      let thread = currentThread()
      ThreadEffects.adopt(thread, isReplaceable: false)
      let plain = Self.treatment()
      var found: [Band: Treatment?] = [:]
      for before in Band.allCases {
        for after in Band.allCases {
          ThreadEffects.apply(before, on: thread)
          ThreadEffects.apply(after, on: thread)
          let now = Self.treatment()
          if let known = found[after] { #expect(known == now, "\(after) after \(before)") }
          found[after] = now
        }
      }
      ThreadEffects.apply(.default, on: thread)
      #expect(Self.treatment() == plain && found[.default] == plain && found[.unspecified] == plain)
      ThreadEffects.leave(thread)
    }
    #expect(isDone)
  }

  @Test func `include no long slice where there is a nice value`() {
    let isDone = onThreads(1) { _ in
      let thread = currentThread()
      for isReplaceable in [true, false] {
        ThreadEffects.adopt(thread, isReplaceable: isReplaceable)
        let plain = Self.treatment()
        for band in [Band.background, .utility] {
          ThreadEffects.apply(band, on: thread)
          guard EffectControls.shared.has(.slice) else { continue }
          let isNice = isReplaceable && EffectControls.shared.has(.nice)
          let slice = Int64(ClassEffects.of(band).sliceNanoseconds ?? 0)
          #expect(Self.treatment()?.sliceNanoseconds == (isNice ? plain?.sliceNanoseconds : slice))
        }
        ThreadEffects.apply(.default, on: thread)
        #expect(Self.treatment() == plain)
        ThreadEffects.leave(thread)
      }
    }
    #expect(isDone)
  }

  @Test func `include a short slice while the thread is prompt, in each class from default up`() {
    let isDone = onThreads(1) { _ in
      let thread = currentThread()
      ThreadEffects.setPrompt(true, on: thread)
      #expect(thread.pointee.effect == 0, "only threads of the pool are prompt")
      ThreadEffects.adopt(thread, isReplaceable: false)
      let plain = Self.treatment()
      ThreadEffects.setPrompt(true, on: thread)
      guard EffectControls.shared.has(.slice) else { return ThreadEffects.leave(thread) }
      let short = ClassEffects.of(.userInteractive).sliceNanoseconds.map { Int64($0) }
      for band in Band.allCases {
        ThreadEffects.apply(band, on: thread)
        #expect(ThreadEffects.isInEffect(band == .unspecified ? .default : band, on: thread))
        let isLow = band != .unspecified && band < .default
        #expect((Self.treatment()?.sliceNanoseconds == short) == !isLow, "\(band)")
      }
      // Another thread raises it to a class with a longer slice, which lasts until the boundary.
      ThreadEffects.apply(.default, on: thread)
      #expect(ThreadEffects.help(thread, to: .userInitiated))
      ThreadEffects.apply(.default, on: thread)
      #expect(Self.treatment()?.sliceNanoseconds == short)
      ThreadEffects.setPrompt(false, on: thread)
      #expect(Self.treatment() == plain)
      ThreadEffects.leave(thread)
    }
    #expect(isDone)
  }

  @Test func `leave a thread and a program that a prompt thread starts the plain slice`() {
    let isDone = onThreads(1) { _ in
      let thread = currentThread()
      ThreadEffects.adopt(thread, isReplaceable: false)
      let plain = Self.treatment()
      ThreadEffects.setPrompt(true, on: thread)
      guard EffectControls.shared.has(.slice) else { return ThreadEffects.leave(thread) }
      let prompt = Self.treatment()
      #expect(prompt != plain)
      func look(_ when: String) {
        let made = Box<Treatment?>(nil)
        let child = TestThread("child") { made.value = Self.treatment() }
        #expect(child.join() && made.value == plain, "\(when), of a thread")
        #expect(Self.treatmentOfProgram() == plain, "\(when), of a program")
      }
      look("at once")
      ThreadEffects.withoutEffect(on: thread) {
        #expect(Self.treatment() == prompt, "it needs no calls")
      }
      ThreadEffects.apply(.background, on: thread)
      ThreadEffects.apply(.default, on: thread)
      #expect(Self.treatment() == prompt)
      look("after another class")
      #expect(ThreadEffects.help(thread, to: .userInteractive))
      ThreadEffects.apply(.default, on: thread)
      look("after help")
      ThreadEffects.setPrompt(false, on: thread)
      #expect(Self.treatment() == plain)
      look("when it is no longer prompt")
      ThreadEffects.leave(thread)
    }
    #expect(isDone)
  }

  /// The settings of a program that the calling thread starts.
  private static func treatmentOfProgram() -> Treatment? {
    let arguments = [strdup("sleep"), strdup("1000"), nil]
    defer { for argument in arguments { free(argument) } }
    var child: pid_t = 0
    guard posix_spawnp(&child, "sleep", nil, nil, arguments, [nil]) == 0 else { return nil }
    defer {
      kill(child, SIGKILL)
      while waitpid(child, nil, 0) < 0 && errno == EINTR {}
    }
    return treatment(UInt32(child))
  }

  @Test func `of a prompt thread leave a nice value and a policy that an item chose`() {
    let isDone = onThreads(2) { number in
      let thread = currentThread()
      ThreadEffects.adopt(thread, isReplaceable: false)
      guard case .success(var chosen) = Scheduling.attributes(of: 0) else {
        return ThreadEffects.leave(thread)
      }
      if number == 0 { chosen.nice += 1 } else { chosen.policy = Scheduling.Policy.batch }
      if Scheduling.set(chosen, of: 0) == 0 {
        ThreadEffects.setPrompt(true, on: thread)
        let now = try? Scheduling.attributes(of: 0).get()
        #expect(now?.nice == chosen.nice && now?.policy == chosen.policy)
      }
      ThreadEffects.leave(thread)
    }
    #expect(isDone)
  }

  @Test func `can be raised by another thread, and end at the next boundary`() {
    let number = Box<(ThreadContext, UInt32)?>(nil)
    let isLow = Latch()
    let isHelped = Latch()
    let mayContinue = Latch()
    let isLowAgain = Latch()
    let hasLeft = Latch()
    let mayEnd = Latch()
    let worker = TestThread("helped") {
      let thread = currentThread()
      ThreadEffects.adopt(thread, isReplaceable: false)
      let plain = Self.treatment()
      ThreadEffects.apply(.userInteractive, on: thread)
      let raised = Self.treatment()
      ThreadEffects.apply(.background, on: thread)
      let lowered = Self.treatment()
      number.value = (thread, thread.pointee.tid)
      isLow.open()
      #expect(isHelped.wait())
      #expect(Self.treatment() == raised)
      // The next item of the same class.
      ThreadEffects.apply(.background, on: thread)
      #expect(Self.treatment() == lowered)
      isLowAgain.open()
      #expect(mayContinue.wait())
      // The thread was helped once more, and now raises itself: the help is neither undone twice
      // nor forgotten.
      ThreadEffects.apply(.default, on: thread)
      #expect(Self.treatment() == plain && ThreadEffects.isInEffect(.default, on: thread))
      ThreadEffects.leave(thread)
      // After its end another thread may have its context.
      hasLeft.open()
      #expect(mayEnd.wait())
    }
    #expect(isLow.wait())
    guard let (thread, id) = number.value else { return }
    let before = Self.treatment(id)
    #expect(!ThreadEffects.help(thread, to: .background), "it is there already")
    #expect(ThreadEffects.help(thread, to: .userInitiated))
    #expect(!ThreadEffects.help(thread, to: .utility), "helping never lowers")
    #expect(ThreadEffects.help(thread, to: .userInteractive))
    #expect(EffectControls.shared.has(.disk) == (Self.treatment(id) != before))
    isHelped.open()
    #expect(isLowAgain.wait())
    #expect(ThreadEffects.help(thread, to: .userInitiated))
    mayContinue.open()
    #expect(hasLeft.wait())
    #expect(!ThreadEffects.help(thread, to: .userInteractive), "it has left")
    mayEnd.open()
    #expect(worker.join())
  }

  @Test func `may be changed from outside at any time`() {
    let stop = Box(false)
    let helpersEnded = Latch(2)
    let context = Box<ThreadContext?>(nil)
    let isThere = Latch()
    let worker = TestThread("helped") {
      let thread = currentThread()
      ThreadEffects.adopt(thread, isReplaceable: false)
      let plain = Self.treatment()
      context.value = thread
      isThere.open()
      for round in 0..<stressed(300) {
        let band: Band = [.background, .utility, .default][round % 3]
        ThreadEffects.apply(band, on: thread)
        if round % 3 == 2 { spin { round % 2 == 0 || !ThreadEffects.isInEffect(band, on: thread) } }
      }
      ThreadEffects.leave(thread)
      ThreadEffects.adopt(thread, isReplaceable: false)
      ThreadEffects.apply(.utility, on: thread)
      // A thread that is helped just before it leaves keeps the help until it ends. This one waits
      // for the end of the helpers, to show that everything is restored.
      stop.value = true
      #expect(helpersEnded.wait())
      ThreadEffects.apply(.default, on: thread)
      #expect(Self.treatment() == plain)
      ThreadEffects.leave(thread)
    }
    #expect(isThere.wait())
    let helpers = onThreads(2) { number in
      defer { helpersEnded.open() }
      guard let thread = context.value else { return }
      while !stop.value {
        ThreadEffects.help(thread, to: number == 0 ? .userInteractive : .userInitiated)
      }
    }
    #expect(helpers && worker.join())
  }

  @Test func `are not inherited by threads that are created there`() {
    let isDone = onThreads(1) { _ in
      let thread = currentThread()
      ThreadEffects.adopt(thread, isReplaceable: false)
      let plain = Self.treatment()
      ThreadEffects.apply(.background, on: thread)
      let lowered = Self.treatment()
      ThreadEffects.withoutEffect(on: thread) { #expect(Self.treatment() == plain) }
      #expect(Self.treatment() == lowered)
      let inherited = Box<[Treatment]>([])
      let child = TestThread("child") {
        let inheritor = currentThread()
        let first = Self.treatment()
        ThreadEffects.adopt(inheritor, isReplaceable: false)
        inherited.value = [first, Self.treatment()].compactMap { $0 }
        ThreadEffects.leave(inheritor)
      }
      #expect(child.join())
      #expect(inherited.value.first == lowered && inherited.value.last?.policy == plain?.policy)
      #expect(inherited.value.last?.disk == plain?.disk)
      ThreadEffects.apply(.default, on: thread)
      ThreadEffects.leave(thread)
    }
    #expect(isDone)
  }
}
