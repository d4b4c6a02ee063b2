// Targets that change under load: contract row Q15.
import GrandCentral
import TestSupport
import Testing

@Suite("Retargeting under stress", .serialized) struct RetargetStress {
  @Test func `keeps order and exclusion while targets change`() {
    let bases = (0..<3).map { DispatchQueue(label: "retarget.base.\($0)") }
    let queue = DispatchQueue(label: "retarget.serial", target: bases[0])
    let each = stressed(3000)
    let count = Unguarded(0)
    let done = Latch(2 * each)
    var generator = SeededGenerator(for: "retarget")
    let seeds = (0..<4).map { _ in generator.next() }
    #expect(
      onThreads(4) { thread in
        var random = SeededGenerator(seed: seeds[thread])
        for _ in 0..<each {
          switch thread {
          case 0:
            queue.async {
              count.value += 1
              done.open()
            }
          case 1:
            queue.sync { count.value += 1 }
            done.open()
          case 2:
            if random.next() % 16 == 0 {
              queue.setTarget(queue: bases.randomElement(using: &random)!)
            }
          default: bases.randomElement(using: &random)!.async {}
          }
        }
      })
    #expect(done.wait())
    #expect(queue.sync { count.value } == 2 * each)
  }

  @Test func `loses nothing when concurrent queues move between targets`() {
    let serial = DispatchQueue(label: "retarget.to.serial")
    let wide = DispatchQueue(label: "retarget.to.wide", attributes: .concurrent)
    let queue = DispatchQueue(label: "retarget.moving", attributes: .concurrent)
    let each = stressed(2000)
    let done = Latch(3 * each)
    #expect(
      onThreads(4) { thread in
        for round in 0..<each {
          switch thread {
          case 0: queue.async { done.open() }
          case 1: queue.async(flags: .barrier) { done.open() }
          case 2: queue.sync { done.open() }
          default:
            if round % 20 == 0 {
              queue.setTarget(queue: [serial, wide, DispatchQueue.global()][round / 20 % 3])
            }
          }
        }
      })
    #expect(done.wait())
  }
}
