// Purpose: the chapter of the echo server: real files through real clients, a load, a client that
// does not read, and clients that send nothing.

import GrandCentral
import TourKit

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

struct EchoChapter {
  let report: ChapterReport
  let root: Path

  private static let silentClients = 24
  private static let silenceMilliseconds = 250
  private static let slowBytes = 48 << 20

  func run() {
    guard let folder = Leavings.shared.makeFolder() else {
      return report.check(false, "a folder for what comes back", otherwise: "cannot make one")
    }
    sendFiles(folder)
    sendLoad()
    runRedis(folder)
    readSlowly()
    saySilently()
    Leavings.shared.remove(folder)
  }

  // MARK: Real files through real clients

  private func sendFiles(_ folder: Path) {
    guard let client = FileClient.available() else {
      return report.say("Neither nc nor bash here: no files are sent.")
    }
    if client != .netcat { report.say("No OpenBSD netcat here: bash sends the files.") }
    let files = EchoFiles.pick(8, below: root)
    let program = client.rawValue
    let tally = withServer(idleSeconds: 30) { server in
      let copies = files.indices.map { folder.appending("copy-\($0)") }
      let start = Machine.nanoseconds
      let endings = WatchedProgram.run(
        zip(files, copies).map { client.spawn($0, port: server.port, copy: $1) })
      let seconds = Machine.seconds(since: start)
      for (file, ending) in zip(files, endings) {
        let words = (try? ending.get()).map { $0.description } ?? "not started"
        report.tell("\(program): \(file.path), \(Wording.bytes(file.count)), \(words)")
      }
      let isSame = FileClient.areSame(Array(zip(files.map(\.path), copies)))
      let different = zip(files, isSame).filter { !$1 }.map { $0.0.path.description }
      report.check(
        different.isEmpty && !files.isEmpty,
        "\(Wording.count(files.count, "file")) came back byte for byte through as many \(program), "
          + "at the same time, in \(Wording.seconds(seconds))",
        otherwise: "different: \(different.joined(separator: ", ")). Were they changed meanwhile?")
    }
    checkBalance(tally, connections: files.count, bytes: files.reduce(0) { $0 + $1.count })
  }

  // MARK: Load

  /// The number of connections for the load. Each uses a descriptor at either end; some are spare.
  private var loadConnections: Int { max(1, min(200, (Machine.descriptorLimit - 64) / 3)) }

  private func sendLoad() {
    let load = (connections: loadConnections, messages: 60)
    var outcome = LoadClients.Outcome()
    let tally = withServer(idleSeconds: 30) { server in
      let start = Machine.nanoseconds
      outcome = LoadClients(
        port: server.port, connections: load.connections, messagesEach: load.messages
      ).run()
      let seconds = Machine.seconds(since: start)
      let messages = Wording.count(outcome.roundTrips.count, "message")
      let times = Percentiles(nanoseconds: outcome.roundTrips)
      report.tell(
        "\(Wording.count(load.connections, "connection")) at a time, \(messages), "
          + "\(Wording.bytes(outcome.bytes)) each way, in \(Wording.seconds(seconds))")
      report.tell("round trips: \(times.words)")
      report.check(
        outcome.faults.isEmpty && times.count == load.connections * load.messages,
        "every line came back to who sent it, byte for byte",
        otherwise: outcome.faults.prefix(3).joined(separator: "; "))
    }
    checkBalance(tally, connections: load.connections, bytes: outcome.bytes)
    report.check(
      tally?.maxAtOnce == load.connections, "all connections were open at the same time",
      otherwise: "\(tally?.maxAtOnce ?? 0) were")
  }

  private func runRedis(_ folder: Path) {
    guard Spawn.exists(RedisLoad.command) else {
      return report.say(
        "No \(RedisLoad.command) here (Debian's redis-tools): the load was our own.")
    }
    let connections = min(100, loadConnections)
    let tally = withServer(idleSeconds: 30) { server in
      let load = RedisLoad(port: server.port, connections: connections, messages: 40_000)
      let result = load.run(in: folder)
      if case .success(let figures) = result {
        let rate = Wording.count(Int(figures.perSecond))
        let half = Wording.decimal(figures.halfMilliseconds, places: 2)
        let most = Wording.decimal(figures.maxMilliseconds, places: 2)
        report.tell(
          "\(RedisLoad.command), \(Wording.count(connections, "connection")): "
            + "\(rate) a second, round trips: 50 % \(half) ms, 99 % \(most) ms")
      }
      report.check(
        (try? result.get()) != nil,
        "\(RedisLoad.command) had an answer to \(Wording.count(load.messages, "command"))",
        otherwise: "it failed, or hung for a minute")
    }
    checkBalance(tally, connections: nil, bytes: nil)
  }

  // MARK: Clients that do not read, and clients that do not speak

  private func readSlowly() {
    let tally = withServer(idleSeconds: 30) { server in
      let outcome = SlowReader(
        port: server.port, byteCount: Self.slowBytes, pauses: server.pauses
      ).run()
      report.check(
        outcome.wasPaused, "who sends and does not read is no longer read from",
        otherwise: "the server took everything")
      report.check(
        outcome.bytesRead == Self.slowBytes && !outcome.isWrong,
        "then all of \(Wording.bytes(Self.slowBytes)) came back, every byte right",
        otherwise:
          "\(outcome.bytesRead) bytes came, \(outcome.isWrong ? "wrong ones" : "all right")")
    }
    checkBalance(tally, connections: 1, bytes: Self.slowBytes)
    guard let tally else { return }
    let limit = EchoConnection.heldBytesLimit + 64 << 10
    report.check(
      tally.maxBytesHeld <= limit,
      "the server held \(Wording.bytes(tally.maxBytesHeld)) at the most, and stopped reading "
        + Wording.count(tally.pauses, "time"),
      otherwise: "\(Wording.bytes(tally.maxBytesHeld))")
  }

  private func saySilently() {
    let silence = DispatchTimeInterval.milliseconds(Self.silenceMilliseconds)
    let tally = withServer(idle: silence) { server in
      let ends = onBlockingThreads(Self.silentClients) { _ in
        guard case .success(let client) = LoopbackSocket.connect(port: server.port, seconds: 30)
        else { return -1 }
        defer { close(client) }
        var byte: UInt8 = 0
        return recv(client, &byte, 1, 0)
      }
      let closed = ends.filter { $0 == 0 }.count
      report.check(
        closed == Self.silentClients,
        "\(closed) silent clients were shown out after \(Self.silenceMilliseconds) ms",
        otherwise: "\(closed) of \(Self.silentClients) were")
    }
    guard let tally else { return }
    let shortest = tally.shortestSilence
    report.check(
      tally.idleClosed == Self.silentClients
        && shortest >= UInt64(Self.silenceMilliseconds) * 1_000_000,
      "by \(Wording.count(tally.idleClosed, "timer")), none of them early",
      otherwise: "\(tally.idleClosed) timers, the first after \(Wording.milliseconds(shortest))")
  }

  // MARK: The server

  private func withServer(idleSeconds: Int, _ body: (EchoServer) -> Void) -> EchoTally? {
    withServer(idle: .seconds(idleSeconds), body)
  }

  /// Runs a server around `body`.
  /// - Returns: the server's counts; nil if the server did not start or did not end.
  private func withServer(
    idle: DispatchTimeInterval, _ body: (EchoServer) -> Void
  ) -> EchoTally? {
    do throws(FileFault) {
      let server = try EchoServer(idleTimeout: idle)
      server.start()
      body(server)
      guard let tally = server.finish() else {
        report.check(false, "the server's connections end", otherwise: "some are still open")
        return nil
      }
      return tally
    } catch {
      report.check(false, "a listening socket on 127.0.0.1", otherwise: error.reason)
      return nil
    }
  }

  /// Checks that as many bytes went out as came in, and that each connection ended before its idle
  /// timer fired.
  private func checkBalance(_ tally: EchoTally?, connections: Int?, bytes: Int?) {
    guard let tally else { return }
    let isBalanced =
      tally.bytesReceived == tally.bytesSent && tally.bytesReceived == bytes ?? tally.bytesReceived
      && tally.connections == connections ?? tally.connections
      && tally.timersCancelled == tally.connections && tally.faults.isEmpty
    report.check(
      isBalanced,
      "server: \(Wording.count(tally.connections, "connection")), "
        + "\(Wording.bytes(tally.bytesReceived)) in and out, timers armed "
        + "\(Wording.count(tally.timersArmed, "time")), \(Wording.count(tally.timersCancelled)) "
        + "cancelled before they fired",
      otherwise: "\(tally)")
  }
}
