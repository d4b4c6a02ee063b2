// Room: Models/Data. The flat copy of a value's bytes, which several threads request at once.
// Invariant: all threads that ask get the same memory, with all bytes, and it is freed once.
// Protocol: each thread makes a copy and offers it by one exchange; the losing copy is freed.

extension Catalogue {
  static var data: [EngineModel] {
    [
      EngineModel("data: two threads request the flat copy and share it") { scene in
        let stage = FlatScene()
        for number in 0..<2 { scene.thread("reader \(number)") { stage.look(number) } }
        scene.finally { stage.expectOneCopy() }
      },
      EngineModel("data: one thread requests the flat copy while another appends") { scene in
        let stage = FlatScene()
        scene.thread("reader") { stage.look(0) }
        scene.thread("writer") { stage.look(1, appending: true) }
        scene.finally { stage.expectBytes() }
      },
    ]
  }

  static var dataMutants: [Mutant] {
    let shared = "data: two threads request the flat copy and share it"
    return [
      Mutant(
        "a second flat copy replaces the first", in: "DataNode.swift",
        at: "word.pointee.flat.compareExchange(", .isBlind, foundBy: shared),
      Mutant(
        "a flat copy is published before its bytes", in: "DataNode.swift",
        at: "word.pointee.flat.compareExchange(", .dropsRelease, foundBy: shared),
      Mutant(
        "a flat copy is found without acquiring its bytes", in: "DataNode.swift",
        at: "word.pointee.flat.load(ordering: .acquiring)", .dropsAcquire, foundBy: shared),
      Mutant(
        "the losing thread does not acquire the winner's bytes", in: "DataNode.swift",
        at: "word.pointee.flat.compareExchange(", .dropsAcquire, foundBy: shared),
    ]
  }
}

/// A value of two pieces, and the contiguous bytes that each thread received.
private final class FlatScene: @unchecked Sendable {
  private let bytes: UnsafeMutablePointer<UInt8>
  private let data: DispatchData
  private var seen: [[UInt8]] = [[], []]
  private var flats: [DispatchData] = [.empty, .empty]

  init() {
    bytes = .allocate(capacity: 4)
    for index in 0..<4 { bytes[index] = UInt8(index) }
    // The threads start later, so every read of these bytes comes after the writes.
    let owner = Counted()
    var data = DispatchData(owner: owner, base: bytes, count: 2)
    data.join(DispatchData(owner: owner, base: bytes + 2, count: 2))
    self.data = data
  }

  deinit { bytes.deallocate() }

  func look(_ number: Int, appending: Bool = false) {
    var own = data
    if appending { own.join(DispatchData(owner: Counted(), base: bytes, count: 1)) }
    let flat = own.mapped()
    flats[number] = flat
    seen[number] = Array(flat)
  }

  func expectBytes() {
    for (number, bytes) in seen.enumerated() {
      Checker.expect(
        bytes == [0, 1, 2, 3] || number == 1 && bytes == [0, 1, 2, 3, 0], "\(number) saw \(bytes)")
    }
    flats = []
  }

  func expectOneCopy() {
    Checker.expect(flats[0].base == flats[1].base, "each has a copy of its own")
    expectBytes()
  }
}
