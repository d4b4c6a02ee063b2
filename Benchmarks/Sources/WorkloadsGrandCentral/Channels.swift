// Channels: whole files, copies, pipes, lines of a log, many small files, and random reads. Each
// round also measures the job of a whole-file row by plain system calls or by a program; "of-…"
// rows are ratios to that.

import Glibc
import Metrics
import Synchronization

#if GRAND_CENTRAL
  import GrandCentral
#else
  import Dispatch
#endif

let channelWorkloads: [Workload] = [
  sequentialRead, peakOfSequentialRead, copyOfFile, pipeThroughput, linesToPipe, linesToFile,
  smallFileReads, randomReads, coldReads, randomWrites,
]

private let mebibyte = 1 << 20

/// Written by handlers of one queue, and read when all have ended.
private final class Sum: @unchecked Sendable {
  @exclusivity(unchecked) var value: UInt64 = 0
  @exclusivity(unchecked) var bytes = 0
}

/// Reads a file from its start through a channel. Returns its checksum.
private func channelChecksum(_ file: ScratchFile, bytes: Int) -> UInt64 {
  lseek(file.descriptor, 0, SEEK_SET)
  let queue = DispatchQueue(label: "bench.read")
  let (sum, ended) = (Sum(), Signal())
  let channel = DispatchIO(type: .stream, fileDescriptor: file.descriptor, queue: queue) { error in
    expect(error == 0, "\(error)")
    ended.post()
  }
  channel.setLimit(highWater: mebibyte)
  channel.read(offset: 0, length: bytes, queue: queue) { done, data, error in
    expect(error == 0, "\(error)")
    data?.enumerateBytes { bytes, _, _ in
      sum.value &+= checksum(UnsafeRawBufferPointer(bytes))
      sum.bytes += bytes.count
    }
    if done { channel.close() }
  }
  ended.wait()
  expect(sum.bytes == bytes, "\(sum.bytes) bytes")
  return sum.value
}

private let sequentialRead = Workload(
  "io/read/1GiB",
  rows: [
    Workload.Row("io/read/1GiB", unit: "ns/MiB"),
    Workload.Row("io/read/1GiB/of-loop", unit: "ratio"),
    Workload.Row("io/read/1GiB/of-cat", unit: "ratio"),
  ], .fixed(1_024), .shared
) { count in
  let file = sharedFile(mebibytes: count)
  let bytes = count * mebibyte
  var sums: [UInt64] = []
  let time = elapsed { sums.append(channelChecksum(file, bytes: bytes)) }
  let loop = elapsed { sums.append(plainChecksum(file, bytes: bytes)) }
  expect(sums[0] == sums[1], "\(sums)")
  let cat = program(["cat", file.path])
  return Sample(
    time,
    figures: [
      Double(time) / Double(count), Double(time) / Double(loop), Double(time) / Double(cat),
    ])
}

/// Runs in a process of its own.
private let peakOfSequentialRead = Workload(
  "io/read/1GiB/peak", rows: [Workload.Row("io/read/1GiB/peak", unit: "MiB")], .exact(1_024), .child
) { count in
  let file = ScratchFile("peak", bytes: count * mebibyte, isSparse: true)
  // The first read excludes the memory of the engine, its threads and its code from the figure.
  _ = channelChecksum(file, bytes: 1)
  let before = peakResidentBytes()
  let time = elapsed { expect(channelChecksum(file, bytes: file.bytes) == 0, "not zeros") }
  return Sample(time, figures: [Double(peakResidentBytes() - before) / Double(mebibyte)])
}

private let copyOfFile = Workload(
  "io/copy/256MiB",
  rows: [
    Workload.Row("io/copy/256MiB", unit: "ns/MiB"),
    Workload.Row("io/copy/256MiB/of-cp", unit: "ratio"),
  ], .fixed(256), .shared
) { count in
  let source = sharedFile(mebibytes: count)
  let target = scratchPath("copy")
  defer { unlink(target) }
  // Both copies create the file.
  unlink(target)
  let time = elapsed { copy(source, to: target) }
  expect(sizeOf(target) == source.bytes, "\(sizeOf(target)) bytes")
  unlink(target)
  let cp = program(["cp", source.path, target])
  return Sample(
    time, figures: [Double(time) / Double(count), Double(time) / Double(cp)])
}

/// Copies through channels. Each piece is written while the next ones are read.
private func copy(_ source: ScratchFile, to path: String) {
  let queue = DispatchQueue(label: "bench.copy")
  let ended = Countdown(2)
  lseek(source.descriptor, 0, SEEK_SET)
  let reader = DispatchIO(type: .stream, fileDescriptor: source.descriptor, queue: queue) { _ in
    ended.arrive()
  }
  let writer = DispatchIO(
    type: .stream, path: path, oflag: O_WRONLY | O_CREAT | O_TRUNC, mode: 0o600, queue: queue
  ) { error in
    expect(error == 0, "\(error)")
    ended.arrive()
  }
  guard let writer else { fail("no channel to \(path)") }
  reader.setLimit(highWater: mebibyte)
  // Bounds the pieces that are read and not written yet, equally for both engines.
  let room = DispatchSemaphore(value: 4)
  reader.read(offset: 0, length: .max, queue: queue) { done, data, error in
    expect(error == 0, "\(error)")
    if let data, !data.isEmpty {
      room.wait()
      writer.write(offset: 0, data: data, queue: copyWrites) { done, _, error in
        expect(error == 0, "\(error)")
        if done { room.signal() }
      }
    }
    if done {
      reader.close()
      writer.close()
    }
  }
  ended.wait()
}

private let copyWrites = DispatchQueue(label: "bench.copy.writes")

private let pipeThroughput = Workload(
  "io/pipe",
  rows: [
    Workload.Row("io/pipe", unit: "ns/MiB"),
    Workload.Row("io/pipe/of-loop", unit: "ratio"),
  ], .fixed(128), .shared
) { count in
  var ends: [Int32] = [0, 0]
  if pipe(&ends) != 0 { fail("pipe: \(errno)") }
  let (input, output) = (ends[0], ends[1])
  let queue = DispatchQueue(label: "bench.pipe")
  let (sum, ended) = (Sum(), Countdown(2))
  let piece = [UInt8](repeating: 1, count: mebibyte).withUnsafeBytes { DispatchData(bytes: $0) }
  let time = elapsed {
    let writer = DispatchIO(type: .stream, fileDescriptor: output, queue: queue) { _ in
      close(output)
      ended.arrive()
    }
    let reader = DispatchIO(type: .stream, fileDescriptor: input, queue: queue) { _ in
      close(input)
      ended.arrive()
    }
    reader.setLimit(lowWater: 1)
    reader.read(offset: 0, length: .max, queue: queue) { done, data, error in
      expect(error == 0, "\(error)")
      sum.bytes += data?.count ?? 0
      if done { reader.close() }
    }
    for _ in 0..<count {
      writer.write(offset: 0, data: piece, queue: copyWrites) { _, _, error in
        expect(error == 0, "\(error)")
      }
    }
    writer.close()
    ended.wait()
  }
  expect(sum.bytes == count * mebibyte, "\(sum.bytes) bytes")
  let loop = plainPipe(bytes: count * mebibyte)
  return Sample(time, figures: [Double(time) / Double(count), Double(time) / Double(loop)])
}

/// Writes lines of 80 bytes to a descriptor, as a log does. Returns when all have been written.
private func writeLines(_ count: Int, to descriptor: Int32) {
  let line = [UInt8](repeating: 1, count: 80).withUnsafeBytes { DispatchData(bytes: $0) }
  let (written, ended) = (Countdown(count), Countdown(1))
  let channel = DispatchIO(type: .stream, fileDescriptor: descriptor, queue: copyWrites) { _ in
    ended.arrive()
  }
  for _ in 0..<count {
    channel.write(offset: 0, data: line, queue: copyWrites) { done, _, error in
      expect(error == 0, "\(error)")
      if done { written.arrive() }
    }
  }
  written.wait()
  channel.close()
  ended.wait()
}

private let linesToPipe = Workload("io/lines/pipe", .fixed(50_000)) { count in
  var ends: [Int32] = [0, 0]
  if pipe(&ends) != 0 { fail("pipe: \(errno)") }
  let (input, output) = (ends[0], ends[1])
  let time = together(2) { thread in
    if thread == 0 { return writeLines(count, to: output) }
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 65_536, alignment: 4096)
    defer { buffer.deallocate() }
    var left = count * 80
    while left > 0 {
      let count = read(input, buffer.baseAddress, buffer.count)
      if count <= 0 { fail("read: \(errno)") }
      left -= count
    }
  }
  close(input)
  close(output)
  return Sample(time, per: count)
}

private let linesToFile = Workload("io/lines/file", .fixed(50_000)) { count in
  let file = ScratchFile("lines", bytes: 0)
  return Sample(elapsed { writeLines(count, to: file.descriptor) }, per: count)
}

/// One channel per file, opened by path; 64 at a time.
private let smallFileReads = Workload("io/small-files/10k", .fixed(10_000)) { count in
  let paths = smallFiles
  let queue = DispatchQueue(label: "bench.small")
  let (sum, ended) = (Sum(), Countdown(count))
  let room = DispatchSemaphore(value: 64)
  let time = elapsed {
    for path in paths.prefix(count) {
      room.wait()
      let channel = DispatchIO(
        type: .stream, path: path, oflag: O_RDONLY, mode: 0, queue: queue
      ) { error in
        expect(error == 0, "\(path): \(error)")
        room.signal()
        ended.arrive()
      }
      channel?.read(offset: 0, length: .max, queue: queue) { _, data, error in
        expect(error == 0, "\(path): \(error)")
        sum.bytes += data?.count ?? 0
      }
      channel?.close()
    }
    ended.wait()
  }
  expect(sum.bytes == count * smallFileBytes, "\(sum.bytes) bytes")
  return Sample(time, per: count)
}

/// Reads of 4 KiB at random offsets of a file, 32 at a time.
private let randomReads = Workload(
  "io/random/4KiB/32",
  rows: [
    Workload.Row("io/random/4KiB/32"), Workload.Row("io/random/4KiB/32/of-pread", unit: "ratio"),
  ], .fixed(20_000), .shared
) { count in
  let file = sharedFile(mebibytes: 1_024)
  let places = randomPlaces(count, in: file)
  let (time, sum) = readAtRandom(file, places)
  var buffer = [UInt8](repeating: 0, count: 4_096)
  var plain: UInt64 = 0
  let pread = elapsed {
    for place in places {
      _ = buffer.withUnsafeMutableBytes {
        Glibc.pread(file.descriptor, $0.baseAddress, 4_096, off_t(place))
      }
      plain &+= buffer.withUnsafeBytes { checksum($0) }
    }
  }
  expect(plain == sum, "another sum")
  return Sample(time, figures: [Double(time) / Double(count), Double(time) / Double(pread)])
}

/// Random reads from the disk instead of the page cache, and the processor time that they use.
private let coldReads = Workload(
  "io/random-cold/4KiB/32",
  rows: [
    Workload.Row("io/random-cold/4KiB/32"), Workload.Row("io/random-cold/4KiB/32/cpu"),
  ], .fixed(4_000), .shared
) { count in
  let file = sharedFile(mebibytes: 256)
  fsync(file.descriptor)
  posix_fadvise(file.descriptor, 0, 0, POSIX_FADV_DONTNEED)
  // No read-ahead: it could read what a later operation asks for.
  posix_fadvise(file.descriptor, 0, 0, POSIX_FADV_RANDOM)
  let before = processorTime()
  let (time, _) = readAtRandom(file, randomPlaces(count, in: file))
  let used = processorTime() - before
  posix_fadvise(file.descriptor, 0, 0, POSIX_FADV_NORMAL)
  return Sample(time, figures: [Double(time) / Double(count), Double(used) / Double(count)])
}

/// Returns the duration in nanoseconds and the checksum of all pieces.
private func readAtRandom(_ file: ScratchFile, _ places: [Int]) -> (UInt64, sum: UInt64) {
  let queue = DispatchQueue(label: "bench.random")
  let (sum, ended) = (Sum(), Signal())
  lseek(file.descriptor, 0, SEEK_SET)
  let time = elapsed {
    let channel = DispatchIO(type: .random, fileDescriptor: file.descriptor, queue: queue) { _ in
      ended.post()
    }
    let reads = RandomTransfers(channel, places, queue, sum)
    queue.async { for _ in 0..<32 { reads.next() } }
    ended.wait()
  }
  expect(sum.bytes == places.count * 4_096, "\(sum.bytes) bytes")
  return (time, sum.value)
}

/// Random writes of 4 KiB, 32 at a time.
private let randomWrites = Workload("io/random-write/4KiB/32", .fixed(5_000)) { count in
  let file = sharedFile(mebibytes: 256)
  let places = randomPlaces(count, in: file)
  let queue = DispatchQueue(label: "bench.random")
  let piece = [UInt8](repeating: 1, count: 4_096).withUnsafeBytes { DispatchData(bytes: $0) }
  let (sum, ended) = (Sum(), Signal())
  lseek(file.descriptor, 0, SEEK_SET)
  let time = elapsed {
    let channel = DispatchIO(type: .random, fileDescriptor: file.descriptor, queue: queue) { _ in
      ended.post()
    }
    let writes = RandomTransfers(channel, places, queue, sum, writing: piece)
    queue.async { for _ in 0..<32 { writes.next() } }
    ended.wait()
  }
  expect(sum.bytes == count * 4_096, "\(sum.bytes) bytes")
  return Sample(time, per: count)
}

private func randomPlaces(_ count: Int, in file: ScratchFile) -> [Int] {
  var random = Random(seed: 4)
  return (0..<count).map { _ in Int.random(in: 0..<file.bytes / 4_096, using: &random) * 4_096 }
}

/// Transfers of which each starts the next one when it ends. Used on `queue` alone.
private final class RandomTransfers: @unchecked Sendable {
  private let channel: DispatchIO
  private let places: [Int]
  private let queue: DispatchQueue
  private let sum: Sum
  /// The bytes to write; `nil` for reads.
  private let piece: DispatchData?
  @exclusivity(unchecked) private var begun = 0
  @exclusivity(unchecked) private var ended = 0

  init(
    _ channel: DispatchIO, _ places: [Int], _ queue: DispatchQueue, _ sum: Sum,
    writing piece: DispatchData? = nil
  ) {
    (self.channel, self.places, self.queue, self.sum) = (channel, places, queue, sum)
    self.piece = piece
  }

  func next() {
    guard begun < places.count else { return }
    begun += 1
    let place = off_t(places[begun - 1])
    guard let piece else {
      return channel.read(offset: place, length: 4_096, queue: queue, ioHandler: moved)
    }
    channel.write(offset: place, data: piece, queue: queue, ioHandler: moved)
  }

  private func moved(_ done: Bool, _ data: DispatchData?, _ error: Int32) {
    expect(error == 0, "\(error)")
    if piece == nil {
      data?.enumerateBytes { bytes, _, _ in
        sum.value &+= checksum(UnsafeRawBufferPointer(bytes))
        sum.bytes += bytes.count
      }
    } else if done {
      sum.bytes += 4_096
    }
    guard done else { return }
    ended += 1
    if ended == places.count { channel.close() }
    next()
  }
}

private func sizeOf(_ path: String) -> Int {
  var status = stat()
  return stat(path, &status) == 0 ? status.st_size : -1
}
