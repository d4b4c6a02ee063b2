// Data: values that grow by small pieces; and lookups, slices and copies of bytes in many pieces.

import Metrics

#if GRAND_CENTRAL
  import GrandCentral
#else
  import Dispatch
#endif

let dataWorkloads: [Workload] = dataGrowthWorkloads + dataReadingWorkloads

private let dataGrowthWorkloads: [Workload] = [
  Workload("data/create/64") { count in
    let source = [UInt8](repeating: 1, count: 64)
    let time = elapsed {
      source.withUnsafeBytes { bytes in
        for _ in 0..<count { keep(DispatchData(bytes: bytes).count) }
      }
    }
    return Sample(time, per: count)
  },
  // The figure is per append. The toolchain's time is quadratic in the count, so the size is fixed.
  Workload("data/append-bytes/10k", .fixed(10_000)) { count in
    let source = [UInt8](repeating: 1, count: 16)
    var data = DispatchData.empty
    let time = elapsed {
      source.withUnsafeBytes { bytes in for _ in 0..<count { data.append(bytes) } }
    }
    expect(data.count == 16 * count, "\(data.count)")
    return Sample(time, per: count)
  },
  // Buffers that the client owns, so the engine cannot copy one into another.
  Workload("data/append-data/10k", .fixed(10_000)) { count in
    let piece = clientPiece(16)
    var data = clientPiece(16)
    let time = elapsed { for _ in 0..<count { data.append(piece) } }
    expect(data.count == 16 * count + 16, "\(data.count)")
    return Sample(time, per: count)
  },
  // Ten times as many. The toolchain's engine would take minutes, so it does a tenth, which makes
  // its figure per append smaller than it is.
  Workload("data/append-data/100k", .exact(100_000)) { count in
    #if GRAND_CENTRAL
      let appends = count
    #else
      let appends = count / 10
    #endif
    let piece = clientPiece(16)
    var data = clientPiece(16)
    let time = elapsed { for _ in 0..<appends { data.append(piece) } }
    expect(data.count == 16 * appends + 16, "\(data.count)")
    return Sample(time, per: appends)
  },
  // Concatenates a header and a body repeatedly.
  Workload("data/concat/2") { count in
    let header = clientPiece(100)
    let body = clientPiece(4_000)
    var total = 0
    let time = elapsed {
      for _ in 0..<count {
        var message = header
        message.append(body)
        total &+= message.count
      }
    }
    expect(total == 4_100 * count, "\(total)")
    return Sample(time, per: count)
  },
  // The pieces are the allocator's; releasing a client's buffers would measure queues. The memory
  // after them keeps the allocator from returning theirs to the kernel during the sample. That
  // would be more than half of the time, and would depend on what else lies there.
  Workload("data/drop/10k", .fixed(10_000)) { count in
    let bytes = [UInt8](repeating: 1, count: 600)
    var data = Optional(many(count) { bytes.withUnsafeBytes { DispatchData(bytes: $0) } })
    let behind = UnsafeMutableRawPointer.allocate(byteCount: 65_536, alignment: 16)
    defer { behind.deallocate() }
    let time = elapsed { data = nil }
    expect(data == nil, "still there")
    return Sample(time, per: count)
  },
]

private let dataReadingWorkloads: [Workload] = [
  reading("data/byte/flat", in: clientPiece(20_000)) { data, position in
    Int(data[position])
  },
  reading("data/byte/20k-pieces", in: manyPieces(20_000)) { data, position in
    Int(data[position])
  },
  reading("data/region/20k-pieces", in: manyPieces(20_000)) { data, position in
    data.region(location: position).offset
  },
  reading("data/subdata/flat", in: clientPiece(20_000)) { data, position in
    data.subdata(in: position / 2..<position).count
  },
  reading("data/subdata/10-pieces", in: manyPieces(10)) { data, position in
    data.subdata(in: position / 2..<position).count
  },
  reading("data/subdata/20k-pieces", in: manyPieces(20_000)) { data, position in
    data.subdata(in: position / 2..<position).count
  },
  walking("data/enumerate/1k-pieces", pieces: 1_000) { data in
    var sum = 0
    data.enumerateBytes { bytes, _, _ in sum &+= bytes.count }
    return sum
  },
  walking("data/iterate/1k-pieces", pieces: 1_000) { data in
    var count = 0
    for byte in data { count &+= Int(byte) }
    return count
  },
  walking("data/copy/1k-pieces", pieces: 1_000) { data in
    var bytes = [UInt8](repeating: 0, count: data.count)
    return bytes.withUnsafeMutableBufferPointer { data.copyBytes(to: $0) }
  },
  // The first map of a value, so each operation has a new one.
  Workload("data/map/1k-pieces") { count in
    let data = manyPieces(1_000)
    let more = clientPiece(16)
    var time: UInt64 = 0
    for _ in 0..<count {
      var fresh = data
      fresh.append(more)
      time += elapsed { keep(mapped(fresh)) }
    }
    return Sample(time, per: count)
  },
  walking("data/map-again/1k-pieces", pieces: 1_000) { data in
    keep(mapped(data))
    return data.count
  },
]

/// One operation is one query at a random offset.
private func reading(
  _ name: String, in data: @autoclosure @escaping @Sendable () -> DispatchData,
  _ ask: @escaping @Sendable (DispatchData, Int) -> Int
) -> Workload {
  Workload(name) { count in
    let data = data()
    var state: UInt64 = 1
    var sum = 0
    let time = elapsed {
      for _ in 0..<count {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        sum &+= ask(data, Int(state >> 33) % data.count)
      }
    }
    keep(sum)
    return Sample(time, per: count)
  }
}

/// One operation is one walk over all pieces.
private func walking(
  _ name: String, pieces: Int, _ walk: @escaping @Sendable (DispatchData) -> Int
) -> Workload {
  Workload(name) { count in
    let data = manyPieces(pieces)
    let time = elapsed {
      for _ in 0..<count {
        let result = walk(data)
        expect(result == data.count, "\(result)")
      }
    }
    return Sample(time, per: count)
  }
}

private func mapped(_ data: DispatchData) -> Int {
  data.withUnsafeBytes { (bytes: UnsafePointer<UInt8>) in Int(bytes[0]) }
}

/// Ones in a buffer of the client. Not `.free`: with it the toolchain's Dispatch crashes on Linux.
private func clientPiece(_ count: Int) -> DispatchData {
  let memory = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: count)
  memory.initialize(repeating: 1)
  return DispatchData(
    bytesNoCopy: UnsafeRawBufferPointer(memory), deallocator: .custom(nil, { memory.deallocate() }))
}

private func manyPieces(_ count: Int) -> DispatchData { many(count) { clientPiece(16) } }

/// Joins `count` pieces by halves, which is fast in both engines.
private func many(_ count: Int, _ make: () -> DispatchData) -> DispatchData {
  if count == 1 { return make() }
  var data = many(count / 2, make)
  data.append(many(count - count / 2, make))
  return data
}
