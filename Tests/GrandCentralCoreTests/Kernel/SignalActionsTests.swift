// The signal action of the program, which the engine stores while it counts deliveries:
// CLinux/Signals.c. Each test uses a signal of its own.
import CFaults
import Glibc
import TestSupport
import Testing

@testable import GrandCentralCore

@Suite("The program's signal action") struct SignalActionsTests {
  // A sanitizer's own memory would count.
  @Test(.disabled(if: faults_is_sanitized()))
  func `is remembered without memory of its own, however often it changes`() async {
    await #expect(processExitsWith: .success) {
      // The C library fills the rest of a mask from the stack, whose contents differ in each round.
      // The rounds cycle through three actions. A copy of 200 bytes per round would add 4 MB.
      change(58, rounds: 1000)
      let before = residentPages()
      change(58, rounds: 20_000)
      guard residentPages() - before < 256 else { exit(1) }
    }
  }

  @Test func `is restored with every flag and with all that it blocks`() {
    var random = SeededGenerator(for: "masks of signal actions")
    let flags = [0, SA_RESTART, SA_NODEFER, SA_RESTART | SA_NODEFER]
    // SIGKILL and SIGSTOP cannot be blocked; the C library reserves 32 and 33.
    let free = ~(bit(SIGKILL) | bit(SIGSTOP) | bit(32) | bit(33))
    for round in 0..<500 {
      let action = round % 2 == 0 ? FAULTS_COUNTED : FAULTS_COUNTED_WITH_VALUE
      let (chosen, blocked) = (flags[round % 4], random.next() & free)
      #expect(faults_set_blocking_action(59, action, chosen, blocked) == 0)
      faults_fill_stack(Int32(round))
      #expect(SignalActions.install(59) == 0)
      #expect(faults_action_of(59) == FAULTS_OTHER)
      #expect(faults_action_blocks(59) == blocked)
      faults_fill_stack(Int32(round + 1))
      SignalActions.uninstall(59)
      #expect(faults_action_of(59) == action)
      #expect(faults_action_flags(59) == chosen)
      #expect(faults_action_blocks(59) == blocked)
    }
  }

  @Test(.disabled(if: faults_is_thread_sanitized()))
  func `is read whole by a handler that runs while it changes`() {
    // The test alternates between a handler with a value and one without. Each delivery must reach
    // the handler that is set at that moment, with the value if the handler takes one.
    #expect(faults_set_action(60, FAULTS_COUNTED, 0) == 0)
    let deliveries = stressed(20_000)
    let isOver = Box(false)
    let sender = TestThread("sender") {
      unblockSignals()
      for _ in 0..<deliveries {
        while faults_queue(60, 1) == EAGAIN { sched_yield() }
      }
      isOver.value = true
    }
    var round = 0
    while !isOver.value {
      round += 1
      let action = round % 2 == 0 ? FAULTS_COUNTED : FAULTS_COUNTED_WITH_VALUE
      #expect(faults_set_blocking_action(60, action, 0, UInt64(round % 2) << 9) == 0)
      #expect(SignalActions.install(60) == 0)
      SignalActions.uninstall(60)
    }
    #expect(sender.join())
    #expect(eventually { faults_deliveries(60) == deliveries })
    #expect(faults_values(60) <= deliveries)
  }

  @Test func `that runs once is called once, and is the default action after that`() {
    let once = Int32(bitPattern: UInt32(SA_RESETHAND))
    for round in 1...20 {
      #expect(faults_set_action(61, FAULTS_COUNTED, once) == 0)
      #expect(SignalActions.install(61) == 0)
      let receiver = TestThread("receiver") {
        unblockSignals()
        for _ in 0..<3 { raise(61) }
      }
      #expect(receiver.join())
      #expect(SignalActions.take(61) == 3)
      #expect(faults_deliveries(61) == round)
      SignalActions.uninstall(61)
      #expect(faults_action_of(61) == FAULTS_DEFAULT)
    }
  }

  private func bit(_ number: Int32) -> UInt64 { 1 << UInt64(number - 1) }
}

private func change(_ number: Int32, rounds: Int) {
  for round in 0..<rounds {
    let action = [FAULTS_IGNORED, FAULTS_COUNTED, FAULTS_COUNTED_WITH_VALUE][round % 3]
    guard faults_set_action(number, action, 0) == 0 else { exit(2) }
    faults_fill_stack(Int32(2 * round))
    guard SignalActions.install(number) == 0 else { exit(3) }
    faults_fill_stack(Int32(2 * round + 1))
    SignalActions.uninstall(number)
    guard faults_action_of(number) == action else { exit(4) }
  }
}

/// Resident memory in pages: proc(5), the second number of statm.
private func residentPages() -> Int {
  contents(of: "/proc/self/statm")?.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
}
