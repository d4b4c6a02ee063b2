// Events, the end of the scope, and cancellation, against each other: EventDemand's races.
import GrandCentral
import TestSupport
import Testing

@Suite("Events on demand under stress", .timeLimit(.minutes(30))) struct DemandStressTests {
  @Test func `end once and lose no count while timers fire and tasks are cancelled`() async {
    await withTaskGroup(of: Void.self) { group in
      for index in 0..<stressed(2_000) {
        group.addTask {
          let task = Task {
            await withTimer(deadline: .now(), repeating: .microseconds(20)) { ticks in
              var count = 0
              for await tick in ticks {
                #expect(tick.count >= 1)
                count += 1
                if count == index % 7 { break }
              }
            }
          }
          for _ in 0..<index % 5 { await Task.yield() }
          task.cancel()
          await task.value
        }
      }
    }
  }

  @Test func `report every byte of a pipe, in whatever pieces`() async {
    let pipe = DescriptorPair.pipe()
    let total = stressed(20_000)
    let writer = TestThread { for _ in 0..<total { while writeBytes(pipe.output, 1) != 1 {} } }
    await withReadEvents(of: pipe.input) { events in
      var count = 0
      for await _ in events {
        while case let more = readBytes(pipe.input), more > 0 { count += more }
        if count == total { break }
      }
      #expect(count == total)
    }
    #expect(writer.join())
    pipe.closeBoth()
  }
}
