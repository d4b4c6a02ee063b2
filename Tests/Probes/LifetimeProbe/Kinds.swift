// The kinds of races: see LifetimeProbe.
import Glibc
import GrandCentral
import TestSupport

// MARK: Sources

/// Sets handlers: the event handler cancels, the cancel handler drops the source.
private func endings(
  _ holder: Holder<DispatchSource>, _ ended: @escaping @Sendable () -> Void
) {
  holder.use { source in
    source.setEventHandler { holder.use { $0.cancel() } }
    source.setCancelHandler {
      holder.drop()
      ended()
    }
  }
}

private func timer(_ ended: @escaping @Sendable () -> Void) -> Holder<DispatchSource> {
  let source = DispatchSource.makeTimerSource()._source
  let holder = Holder(source)
  endings(holder, ended)
  return holder
}

let sourceKinds: [(String, Round)] = [
  (
    "a timer is activated",
    { ended in
      let holder = timer(ended)
      holder.use { $0.schedule(deadline: .now()) }
      holder.use { $0.activate() }
    }
  ),
  (
    "a timer is resumed",
    { ended in
      let holder = timer(ended)
      holder.use { $0.schedule(deadline: .now()) }
      holder.use { $0.resume() }
    }
  ),
  (
    "an active timer is scheduled",
    { ended in
      let holder = timer(ended)
      holder.use { $0.activate() }
      holder.use { $0.schedule(deadline: .now()) }
    }
  ),
  (
    "an active timer is cancelled",
    { ended in
      let holder = timer(ended)
      holder.use { $0.activate() }
      holder.use { $0.cancel() }
    }
  ),
  (
    "data is added",
    { ended in
      let holder = Holder(DispatchSource.makeUserDataAddSource()._source)
      endings(holder, ended)
      holder.use { $0.activate() }
      holder.use { $0.add(data: 1) }
    }
  ),
  (
    "an event handler comes late",
    { ended in
      let holder = Holder(DispatchSource.makeUserDataOrSource()._source)
      holder.use {
        $0.setCancelHandler {
          holder.drop()
          ended()
        }
        $0.activate()
        $0.or(data: 1)
      }
      holder.use { $0.setEventHandler { holder.use { $0.cancel() } } }
    }
  ),
  (
    "a registration handler comes late",
    { ended in
      let holder = Holder(DispatchSource.makeUserDataReplaceSource()._source)
      endings(holder, ended)
      holder.use { $0.activate() }
      holder.use { $0.setRegistrationHandler { holder.use { $0.cancel() } } }
    }
  ),
  (
    "a read source is activated",
    { ended in
      let pipe = DescriptorPair.pipe()
      writeBytes(pipe.output, 1)
      let holder = Holder(DispatchSource.makeReadSource(fileDescriptor: pipe.input)._source)
      endings(holder) {
        pipe.closeBoth()
        ended()
      }
      holder.use { $0.activate() }
    }
  ),
]

// MARK: Queues

let queueKinds: [(String, Round)] = [
  (
    "a queue's only item drops it",
    { ended in
      let holder = Holder(DispatchQueue(label: "lifetime"))
      holder.use {
        $0.async {
          holder.drop()
          ended()
        }
      }
    }
  ),
  (
    "a concurrent queue's barrier drops it",
    { ended in
      let holder = Holder(DispatchQueue(label: "lifetime", attributes: .concurrent))
      holder.use {
        $0.async(flags: .barrier) {
          holder.drop()
          ended()
        }
      }
    }
  ),
  (
    "what comes later drops the queue",
    { ended in
      let holder = Holder(DispatchQueue(label: "lifetime"))
      holder.use {
        $0.asyncAfter(deadline: .now()) {
          holder.drop()
          ended()
        }
      }
    }
  ),
  (
    "a resumed queue's item drops it",
    { ended in
      let holder = Holder(DispatchQueue(label: "lifetime"))
      holder.use { $0.suspend() }
      elsewhere {
        holder.use {
          $0.async {
            holder.drop()
            ended()
          }
        }
      }
      holder.use { $0.resume() }
    }
  ),
  (
    "an activated queue's item drops it",
    { ended in
      let holder = Holder(DispatchQueue(label: "lifetime", attributes: .initiallyInactive))
      holder.use {
        $0.async {
          holder.drop()
          ended()
        }
      }
      holder.use { $0.activate() }
    }
  ),
  (
    "a queue is dropped inside of its sync()",
    { ended in
      let holder = Holder(DispatchQueue(label: "lifetime"))
      holder.use { $0.sync { holder.drop() } }
      ended()
    }
  ),
  (
    "a queue is dropped inside of an asyncAndWait()",
    { ended in
      let holder = Holder(DispatchQueue(label: "lifetime"))
      holder.use { $0.async {} }
      holder.use { $0.asyncAndWait { holder.drop() } }
      ended()
    }
  ),
  (
    "a target dies with its queue",
    { ended in
      let holder = Holder(
        DispatchQueue(label: "lifetime", target: DispatchQueue(label: "lifetime.target")))
      holder.use {
        $0.async {
          holder.drop()
          ended()
        }
      }
    }
  ),
]

// MARK: Waits

let waitKinds: [(String, Round)] = [
  (
    "a leave ends a wait",
    { ended in
      let holder = Holder(DispatchGroup())
      holder.use { $0.enter() }
      elsewhere {
        holder.use { $0.wait() }
        holder.drop()
        ended()
      }
      holder.use { $0.leave() }
    }
  ),
  (
    "a leave notifies",
    { ended in
      let holder = Holder(DispatchGroup())
      holder.use { $0.enter() }
      holder.use {
        $0.notify(queue: .global()) {
          holder.drop()
          ended()
        }
      }
      holder.use { $0.leave() }
    }
  ),
  (
    "an empty group notifies",
    { ended in
      let holder = Holder(DispatchGroup())
      holder.use {
        $0.notify(queue: .global()) {
          holder.drop()
          ended()
        }
      }
    }
  ),
  (
    "a signal ends a wait",
    { ended in
      let holder = Holder(DispatchSemaphore(value: 0))
      elsewhere {
        holder.use { $0.wait() }
        holder.drop()
        ended()
      }
      holder.use { $0.signal() }
    }
  ),
  (
    "a work item drops itself",
    { ended in
      let cell = Box<DispatchWorkItem?>(nil)
      let item = DispatchWorkItem { cell.value = nil }
      cell.value = item
      item.notify(queue: .global()) { ended() }
      DispatchQueue.global().async(execute: item)
    }
  ),
]

// MARK: Channels

let channelKinds: [(String, Round)] = [
  (
    "a channel is dropped by its reader",
    { ended in
      let pipe = DescriptorPair.pipe()
      let holder = Holder(
        DispatchIO(type: .stream, fileDescriptor: pipe.input, queue: .global()) { _ in
          pipe.closeBoth()
          ended()
        })
      elsewhere { writeBytes(pipe.output, 3) }
      holder.use {
        $0.read(offset: 0, length: 3, queue: .global()) { done, _, _ in if done { holder.drop() } }
      }
    }
  ),
  (
    "a channel is dropped in a barrier",
    { ended in
      let pipe = DescriptorPair.pipe()
      let holder = Holder(
        DispatchIO(type: .stream, fileDescriptor: pipe.input, queue: .global()) { _ in
          pipe.closeBoth()
          ended()
        })
      holder.use { $0.barrier { holder.drop() } }
    }
  ),
]
