// Effects of classes beyond the threads that run client code. Each test runs in a process of its
// own, without other timers or other work of these classes.
// Shows contract row P6.
import CFaults
import Glibc
import GrandCentral
import TestSupport
import Testing

@Suite("A class reaches") struct ClassReachTests {
  /// The other timer's wake-up also fires this timer, which alone would fire at its own time.
  @Test(arguments: [0, 1, 2])
  func `its timers, which wait for others`(form: Int) async {
    _ = await #expect(processExitsWith: .success) { [form] in
      let start = DispatchTime.now()
      let fired = Latch(2)
      let firedAt = Box(DispatchTime.distantFuture)
      let (due, otherDue) = (start + .seconds(1), start + .milliseconds(1040))
      let note: @Sendable () -> Void = {
        firedAt.value = .now()
        fired.open()
      }
      // A background queue, a background handler, or `asyncAfter` without a timer source.
      let timer = DispatchSource.makeTimerSource(
        queue: form == 0 ? .global(qos: .background) : DispatchQueue(label: "plain"))
      if form < 2 {
        timer.setEventHandler(qos: form == 0 ? .unspecified : .background, handler: note)
        timer.schedule(deadline: due)
        timer.activate()
      } else {
        DispatchQueue.global(qos: .background).asyncAfter(deadline: due, execute: note)
      }
      let other = DispatchSource.makeTimerSource(flags: .strict, queue: .global(qos: .background))
      other.setEventHandler { fired.open() }
      other.schedule(deadline: otherDue)
      other.activate()
      // The class allows a leeway of a tenth of the time that remained when the timer was armed.
      let isSlow = DispatchTime.now() > start + .milliseconds(500)
      guard fired.wait(), isSlow || firedAt.value >= otherDue else { exit(1) }
      other.cancel()
      timer.cancel()
      exit(0)
    }
  }

  /// The handler that has begun occupies the only other thread in the class.
  @Test func `the disk, with files that are read for it`() async {
    _ = await #expect(processExitsWith: .success) {
      let hasPriorities = DispatchQoS.QoSClass.background.effects.contains {
        $0.control == .diskPriority && $0.refusal == nil
      }
      guard hasPriorities else { exit(0) }
      // The kernel writes this file while it is read, for tens of milliseconds: long enough for the
      // reading thread to be found, although the handlers wait and so only some reads begin.
      let file = open("/proc/kallsyms", O_RDONLY)
      guard file >= 0 else { exit(0) }
      let handlers = DispatchQueue(label: "handlers", qos: .background)
      let holder = Box(0)
      let begun = Latch()
      let mayContinue = Latch()
      handlers.async {
        holder.value = threadID()
        begun.open()
        _ = mayContinue.wait()
      }
      guard begun.wait() else { exit(1) }
      let idle: Int32 = 3 << 13
      let channel = DispatchIO(
        type: .random, fileDescriptor: file, queue: handlers, cleanupHandler: { _ in })
      let isSeen = eventually {
        channel.read(offset: 0, length: 1 << 22, queue: handlers) { _, _, _ in }
        return processThreads().contains { thread in
          var noted = faults_treatment()
          return thread.id != holder.value && faults_treatment_of(Int32(thread.id), &noted) == 0
            && noted.io_priority == idle
        }
      }
      mayContinue.open()
      channel.close(flags: .stop)
      exit(isSeen ? 0 : 1)
    }
  }
}
