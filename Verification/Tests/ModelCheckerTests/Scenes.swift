// Helpers that check a scene, and objects for scenes.
import ModelChecker

func options(_ change: (inout Options) -> Void = { _ in }) -> Options {
  var options = Options()
  change(&options)
  return options
}

/// Returns the failure of a model that must fail, and whether its schedule, as text, reproduces it.
func failure(
  _ options: Options = Options(), _ scene: @escaping @Sendable (Scene) -> Void
) -> (message: String, isReplayed: Bool) {
  let model = Model("fails", scene)
  guard let failure = model.check(options).failure else { return ("", false) }
  guard let schedule = Schedule(failure.schedule.description), schedule == failure.schedule else {
    return (failure.message, false)
  }
  return (failure.message, model.replay(schedule, options)?.message == failure.message)
}

func outcome(
  _ options: Options = Options(), _ scene: @escaping @Sendable (Scene) -> Void
) -> Outcome {
  Model("model", scene).check(options)
}

final class Word: @unchecked Sendable {
  let value = Atomic<Int>(0)
  func sleep(until deadline: UInt64? = nil) -> Bool {
    Checker.futexWait(value.modelWord, mask: .max, while: 0, until: deadline)
  }
  func wake(_ count: Int = .max) { Checker.futexWake(value.modelWord, count: count) }
}

final class PlainValue: @unchecked Sendable {
  @Cell var value = 0
}

/// An atomic that a thread can free.
final class Mortal: @unchecked Sendable {
  var word: Word? = Word()
}

/// Returns a value that the compiler cannot predict.
@_optimize(none) func opaque<Value>(_ value: Value) -> Value { value }

@inline(never) func recurse(_ depth: Int) -> Int {
  depth == 0 ? 0 : opaque(depth) &+ recurse(opaque(depth - 1)) &* 3
}
