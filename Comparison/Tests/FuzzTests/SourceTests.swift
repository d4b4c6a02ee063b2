import FuzzKit
import Glibc
import TestSupport
import Testing

@Suite("A printed program") struct SourceTests {
  /// A program with every kind of step, on every kind of queue.
  private var everything: Program {
    Program(
      queues: [
        QueueSpec(.serial, target: 2, isInactive: true, qos: 2, specifics: 3),
        QueueSpec(.concurrent, target: 2, isInactive: true), QueueSpec(.main),
        QueueSpec(.global, level: 1, qos: 4), QueueSpec(.serial, level: 1),
      ],
      groups: [GroupSpec(level: 1)], semaphores: [SemaphoreSpec(value: 1, level: 1)],
      drivers: [
        [
          .activate(id: 0, queue: 0, target: nil), .activate(id: 1, queue: 1, target: 2),
          .suspendUntil(id: 2, queue: 1, Submission(Item(3), queue: 3)),
          .suspended(id: 4, queue: 0, body: [async(5, .readSpecific(id: 6, key: 1))]),
          .handshake(
            id: 7, semaphore: 0, Submission(Item(8, [.spin(id: 9, amount: 3)]), queue: 4)),
        ],
        [
          handle(10, on: 4), .waitItem(id: 11, item: 10),
          handle(12, .cancel(id: 13, item: 10)), .cancel(id: 14, item: 12),
          .notifyItem(of: 10, queue: 2, Item(15)), handle(16, way: .perform),
          handle(17, on: 4, way: .after(20)), handle(18, way: .sync),
          .iterate(id: 19, [Item(20), Item(21, [async(22, barrier: true)])]),
        ],
        [
          .submit(
            Submission(
              Item(23), queue: 3, isBarrier: true, membership: .init(0), qos: 5)),
          .submit(Submission(Item(24), queue: 4, membership: .init(0, isByHand: true))),
          .submit(
            Submission(Item(25), queue: 4, hasHandle: true, membership: .init(0))),
          .submit(Submission(Item(26), queue: 4, way: .after(7))),
          .notify(group: 0, queue: 0, Item(27)), .waitGroup(id: 28, group: 0, patience: nil),
          .waitGroup(id: 29, group: 0, patience: 4), sync(30, on: 1, barrier: true),
          .permit(id: 31, semaphore: 0, patience: 9, body: [async(32, on: 4)]),
          .permit(id: 33, semaphore: 0, patience: nil, body: []), sync(34),
        ],
        [
          async(35), .busyWait(id: 36, item: 35, until: .begun, by: Polling(.spin)),
          .busyWait(id: 37, item: 35, until: .ended, by: Polling(.compute, amount: 9)),
          .busyWait(id: 38, item: 35, until: .ended, by: Polling(.yield)),
          meeting(40, on: 3, 3, 4, by: Polling(.nap, amount: 70)),
        ],
      ])
  }

  /// Tasks on each kind of queue, which the toolchain's library does not run.
  private var tasks: Program {
    Program(
      queues: [QueueSpec(.serial), QueueSpec(.concurrent), QueueSpec(.global), QueueSpec(.main)],
      groups: [GroupSpec()], semaphores: [SemaphoreSpec(value: 1, level: 1)],
      drivers: [
        [
          task(0), task(1, on: 1), task(2, on: 2), task(3, on: 3),
          task(4, way: .actor(hops: 2), .readSpecific(id: 5, key: 1)),
          task(6, on: 3, way: .actor(hops: 0)),
          .submit(
            Submission(
              Item(7, [.permit(id: 8, semaphore: 0, patience: nil, body: [])]), queue: 0,
              way: .actor(hops: 0), membership: .init(0, isByHand: true), qos: 1)),
        ]
      ])
  }

  /// Returns the compiler's errors.
  private func complaints(
    _ program: Program, module: String = "Dispatch", flags: [String] = []
  ) -> String {
    var name = Array("/tmp/printed-XXXXXX.swift".utf8CString)
    let descriptor = mkstemps(&name, 6)
    defer { unlink(name) }
    let text = SwiftSource.text(of: program, module: module)
    _ = text.withCString { write(descriptor, $0, strlen($0)) }
    close(descriptor)
    let path = String(decoding: name.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    let result = runChild(["swiftc", "-typecheck", "-swift-version", "6", path] + flags)
    return result.status == 0 ? "" : result.errors + result.output + text
  }

  @Test func `compiles, whatever it uses`() throws {
    try everything.check()
    #expect(complaints(everything) == "")
  }

  @Test func `compiles with tasks and actors, for our module`() throws {
    try tasks.check()
    let package = #filePath.split(separator: "/").dropLast(4)
    let headers = "/" + package.joined(separator: "/") + "/Sources/CLinux/include"
    let flags = ["-I", "\(buildFolder)/Modules", "-I", headers]
    #expect(complaints(tasks, module: "GrandCentral", flags: flags) == "")
  }

  @Test func `says what was used`() {
    let text = SwiftSource.text(of: everything, module: "GrandCentral")
    #expect(text.hasPrefix("import GrandCentral\n"))
    for part in [
      "queue0.setTarget(queue: nil)", "asyncAfter(deadline:", "group0.notify(queue: queue0) {",
      "handle10.wait()", "semaphore0.signal()", "queue1.sync(flags: .barrier) {",
      "dispatchMain()", "ended35.wait { compute(9) }", "begun35.raise()",
      "meeting40.wait(for: 3) { usleep(70) }",
    ] {
      #expect(text.contains(part), "\(part)")
    }
  }
}
