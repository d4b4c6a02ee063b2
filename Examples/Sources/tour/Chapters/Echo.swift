// Chapter 2: a network server. A read source accepts connections, and a channel serves each of
// them. No thread waits for a client, so a few threads serve any number of clients.

import Glibc
import GrandCentral

/// A server that sends back what it receives.
final class EchoServer: Sendable {
  let port: UInt16
  private let listening: any DispatchSourceRead
  /// Counts the open descriptors.
  private let open = DispatchGroup()

  init() throws(Failure) {
    let descriptor: Int32
    (descriptor, port) = try LoopbackSocket.listening()
    listening = DispatchSource.makeReadSource(fileDescriptor: descriptor)
    open.enter()
    // The handler runs when one connection has arrived, or several. The socket does not block:
    // accept() fails when there is no further connection.
    listening.setEventHandler { [self] in
      while case let client = accept(descriptor, nil, nil), client >= 0 { serve(client) }
    }
    // Now that the source has ended, nothing uses its descriptor.
    listening.setCancelHandler { [open] in
      close(descriptor)
      open.leave()
    }
    listening.activate()
  }

  private func serve(_ client: Int32) {
    open.enter()
    let queue = DispatchQueue(label: "echo.connection")
    let channel = DispatchIO(type: .stream, fileDescriptor: client, queue: queue) { [open] _ in
      close(client)
      open.leave()
    }
    // The handler runs whenever a byte or more has arrived. It is done when the client has left.
    channel.setLimit(lowWater: 1)
    channel.read(offset: 0, length: .max, queue: queue) { isDone, data, _ in
      if let data, !data.isEmpty {
        channel.write(offset: 0, data: data, queue: queue) { _, _, _ in }
      }
      if isDone { channel.close() }
    }
  }

  /// Accepts no more connections, and returns when all clients have left.
  func stop() {
    listening.cancel()
    open.wait()
  }
}

/// A client that sends messages, each one when the answer to the last one has come.
final class EchoClient: Sendable {
  private let number: Int
  private let messages: Int
  private let whenAnswered: @Sendable (_ isRight: Bool) -> Void
  private let queue: DispatchQueue
  private let channel: DispatchIO

  /// - Parameter group: the client is in this group until it has left the server.
  init(
    _ number: Int, port: UInt16, messages: Int, group: DispatchGroup,
    whenAnswered: @escaping @Sendable (_ isRight: Bool) -> Void
  ) throws(Failure) {
    self.number = number
    self.messages = messages
    self.whenAnswered = whenAnswered
    let descriptor = try LoopbackSocket.connected(to: port)
    queue = DispatchQueue(label: "echo.client.\(number)")
    group.enter()
    channel = DispatchIO(type: .stream, fileDescriptor: descriptor, queue: queue) { _ in
      close(descriptor)
      group.leave()
    }
  }

  func start() { send(0) }

  private func send(_ index: Int) {
    if index == messages { return channel.close() }
    let message = DispatchData("client \(number) says \(index)\n")
    var answer = DispatchData.empty
    channel.write(offset: 0, data: message, queue: queue) { _, _, _ in }
    channel.read(offset: 0, length: message.count, queue: queue) { [self] isDone, data, error in
      if let data { answer.append(data) }
      guard isDone else { return }
      whenAnswered(answer.elementsEqual(message))
      if error == 0 { send(index + 1) } else { channel.close() }
    }
  }
}

extension Chapter {
  static let echo = Chapter(
    name: "echo", summary: "an echo server, and clients that ask it as fast as they can"
  ) { tour in
    let server = try EchoServer()
    let (clients, messages) = tour.isShort ? (5, 20) : (50, 400)
    tour.say("\(clients) clients, \(messages) messages each, on port \(server.port)")
    let rightAnswers = Guarded(0, label: "echo.answers")
    let connected = DispatchGroup()
    let time = try timed {
      for number in 0..<clients {
        try EchoClient(number, port: server.port, messages: messages, group: connected) { isRight in
          if isRight { rightAnswers.async { $0 += 1 } }
        }.start()
      }
      connected.wait()
    }
    server.stop()
    let count = rightAnswers.sync { $0 }
    tour.say("\(Int(Double(count) / time.seconds)) answers a second")
    tour.check(
      count == clients * messages, "every message came back as it was sent",
      "\(clients * messages - count) did not")
  }
}
