// The size of a read's buffer: no larger than the bytes that can be read.
import Glibc
import TestSupport
import Testing

@testable import GrandCentralCore

@Suite("A read of a file") struct IOReadSizeTests {
  private let folder = ScratchFolder()

  @Test func `requests what the file has left, and a little at its end`() {
    let file = folder.file("a")
    defer { close(file) }
    #expect(step(file).readCount == IOBuffers.smallBytes)
    ftruncate(file, 300_000)
    #expect(step(file).readCount == 300_000)
    #expect(step(file, offset: 100_000).readCount == 200_000)
    #expect(step(file, offset: 300_000).readCount == IOBuffers.smallBytes)
    #expect(step(file, offset: 900_000).readCount == IOBuffers.smallBytes)
    lseek(file, 299_999, SEEK_SET)
    #expect(step(file).readCount == 1)
    // A read never asks for more than the client requested.
    #expect(step(file, offset: 0, count: 200_000).readCount == 200_000)
    #expect(step(file, count: 100).readCount == 100)
  }

  @Test func `requests the full length where the size is unknown`() {
    let ends = DescriptorPair.pipe()
    defer { ends.closeBoth() }
    #expect(step(ends.input).readCount == IOLimits.piece)
    #expect(step(-1).readCount == IOLimits.piece)
    let file = folder.file("a")
    defer { close(file) }
    // pread(2) refuses this offset.
    #expect(step(file, offset: -1).readCount == IOLimits.piece)
  }

  @Test(arguments: [0, 100, 20_000, 200_000, 3_000_000])
  func `keeps no memory for a larger file than it is`(size: Int) {
    let file = folder.file("a")
    defer { close(file) }
    ftruncate(file, off_t(size))
    let (ended, queue) = (Latch(), DispatchQueue(label: "sizes"))
    let channel = IOTable.shared.channel(file, isRandom: false, queue: queue) { _ in ended.open() }
    // Repeated, so that each read finds the buffer that the previous one returned.
    for _ in 0..<4 {
      lseek(file, 0, SEEK_SET)
      let (counts, done) = (Log<Int>(), Latch())
      let operation = IOOperation(
        .read, of: channel, offset: nil, length: .max, limits: IOLimits(), queue: queue
      ) { isDone, data, error in
        #expect(error == 0)
        counts.append(data?.count ?? 0)
        if isDone { done.open() }
      }
      channel.file.submit(operation)
      #expect(done.wait())
      #expect(counts.all.reduce(0, +) == size)
      let most = size <= IOBuffers.smallBytes ? 0 : 4 * min(size + 4096, IOLimits.piece)
      #expect(channel.file.buffers.keptBytes <= most)
    }
    channel.file.close(channel, stops: false)
    #expect(ended.wait())
  }

  @Test func `reads a file without a size`() {
    let file = open("/proc/self/status", O_RDONLY)
    defer { close(file) }
    #expect(step(file).readCount == IOBuffers.smallBytes)
    let (text, ended) = (Log<[UInt8]>(), Latch())
    DispatchIO.read(fromFileDescriptor: file, maxLength: .max, runningHandlerOn: .global()) {
      text.append(Array($0))
      #expect($1 == 0)
      ended.open()
    }
    #expect(ended.wait())
    #expect(text.all.first?.starts(with: Array("Name:".utf8)) == true)
  }

  private func step(_ descriptor: Int32, offset: Int64? = nil, count: Int = IOLimits.piece)
    -> IOStep
  {
    IOStep(descriptor: descriptor, kind: .stored, offset: offset, start: 0, count: count)
  }
}
