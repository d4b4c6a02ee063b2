// Room: Pool/TaskNames. The names of tasks and actors of Swift Concurrency, for reports.
// The runtime names only the calling thread's task. So a thread notes its task before it sleeps
// in a wait of the engine, and clears the note afterwards. A reader copies the note under the lock.
// A task that has no name and is on no default actor is not noted: that costs a sleep two calls.
// Sleeps that do not announce themselves (Pool/Pool+Blocked) have no note.
import CGrandCentralLinux

enum TaskNames {
  /// The calling thread's task in words; `nil` if it has no name and is on no default actor.
  static func current() -> String? {
    var task = gc_task()
    guard gc_task_current(&task) else { return nil }
    // SAFETY: the name belongs to the task, which runs this function.
    let name = task.name.map { "task '\(String(cString: $0))'" }
    guard let actor = task.actor.bytes else { return name }
    // SAFETY: the runtime keeps the name.
    let type = String(
      decoding: UnsafeRawBufferPointer(start: actor, count: task.actor.count), as: UTF8.self)
    return "\(name ?? "a task") on actor '\(type)'"
  }

  /// Notes the task of the calling thread, which is about to sleep. Returns whether there is one.
  @inline(__always)
  static func noteSleep(of thread: ThreadContext) -> Bool {
    guard let task = current() else { return false }
    let shared = thread.shared
    return shared.sleepingTaskLock.withLock {
      // A wait inside another one is part of the outer wait.
      if shared.sleepingTask != nil { return false }
      shared.sleepingTask = task
      return true
    }
  }

  /// Clears the note of the calling thread.
  static func clear(_ thread: ThreadContext) {
    let shared = thread.shared
    shared.sleepingTaskLock.withLock { shared.sleepingTask = nil }
  }

  /// The task that sleeps on a thread, in words. Any thread.
  static func sleeping(on thread: ThreadContext) -> String? {
    let shared = thread.shared
    return shared.sleepingTaskLock.withLock { shared.sleepingTask }
  }
}
