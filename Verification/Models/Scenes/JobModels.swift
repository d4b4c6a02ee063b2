// Room: Models/Jobs. The entry of jobs of Swift Concurrency: a job runs once, on its queue, and its
// task may be anywhere as soon as the job has handed it on.

extension Catalogue {
  static var jobs: [EngineModel] {
    [
      EngineModel("job: two tasks call an actor") { scene in
        let actor = ModelActor()
        let tasks = (1...2).map { ModelTask(actor.call($0)) }
        for task in tasks { scene.thread("resumes") { task.resume() } }
        scene.finally { actor.expect(12, 21, tasks: tasks[0], tasks[1]) }
      },
      EngineModel(
        "job: a task calls an actor from its executor", reach: .bounded(preemptions: 3)
      ) { scene in
        let root = SpawningRoot()
        let actor = ModelActor(target: root)
        let executor = DispatchQueue(label: "executor", attributes: .concurrent, target: root)
        let task = ModelTask(executor.stop(), actor.call(1), executor.stop())
        let other = ModelTask(actor.call(2))
        scene.thread("starts") { task.resume() }
        scene.thread("resumes another") { other.resume() }
        scene.keep(executor)
        scene.finally { actor.expect(12, 21, tasks: task, other) }
      },
      EngineModel("job: two actors share a target", reach: .bounded(preemptions: 2)) { scene in
        let target = ModelActor()
        let actors = (0..<2).map { _ in ModelActor(target: target.queue) }
        let state = target.state
        let tasks = actors.enumerated().map { number, actor in
          ModelTask(actor.queue.stop { state.value = state.value * 10 + number + 1 })
        }
        for task in tasks { scene.thread("resumes") { task.resume() } }
        for actor in actors { scene.keep(actor) }
        scene.finally { target.expect(12, 21, tasks: tasks[0], tasks[1]) }
      },
      EngineModel("job: enqueued on a suspended queue") { scene in
        let actor = ModelActor()
        let isResumed = Tally()
        let late = { Checker.expect(isResumed.count == 1, "a job ran on a suspended queue") }
        actor.queue.suspend()
        let first = ModelTask(actor.queue.stop(late))
        let second = ModelTask(actor.queue.stop(late), actor.call(1))
        first.resume()
        scene.thread("resumes the task") { second.resume() }
        scene.thread("resumes the queue") {
          isResumed.one()
          actor.queue.resume()
        }
        scene.finally { actor.expect(1, tasks: first, second) }
      },
      EngineModel("job: an item suspends the queue before the job", reach: .exhaustedStrong) {
        scene in
        let actor = ModelActor()
        let (isSuspended, isResumed) = (DispatchSemaphore(value: 0, spinLimit: 0), Tally())
        let task = ModelTask(
          actor.queue.stop {
            Checker.expect(isResumed.count == 1, "a job ran on a suspended queue")
          })
        scene.thread("pushes") {
          actor.queue.async {
            actor.queue.suspend()
            isSuspended.signal()
          }
          task.resume()
        }
        scene.thread("resumes the queue") {
          isSuspended.wait()
          isResumed.one()
          actor.queue.resume()
        }
        scene.finally { actor.expect(0, tasks: task) }
      },
      EngineModel(
        "job: enqueued while the queue is suspended and resumed", reach: .bounded(preemptions: 3)
      ) { scene in
        let actor = ModelActor()
        let task = ModelTask(actor.call(1), actor.call(2))
        scene.thread("resumes the task") { task.resume() }
        scene.thread("suspends") {
          actor.queue.suspend()
          actor.queue.resume()
        }
        scene.finally { actor.expect(12, tasks: task) }
      },
      EngineModel("job: enqueued while a thread is inside by sync()") { scene in
        let actor = ModelActor()
        let task = ModelTask(actor.call(1))
        scene.thread("enters") {
          actor.queue.sync { actor.state.value = actor.state.value * 10 + 2 }
        }
        scene.thread("resumes") { task.resume() }
        scene.finally { actor.expect(12, 21, tasks: task) }
      },
      EngineModel(
        "job: a thread waits in line between two jobs", reach: .bounded(preemptions: 2)
      ) { scene in
        let actor = ModelActor()
        let task = ModelTask(actor.call(1), actor.call(2))
        scene.thread("resumes") { task.resume() }
        scene.thread("waits") {
          actor.queue.asyncAndWait { actor.state.value = actor.state.value * 10 + 3 }
        }
        scene.finally { actor.expect(123, 132, 312, tasks: task) }
      },
      EngineModel("job: the queue's last reference is released behind two jobs") { scene in
        let root = SpawningRoot()
        let state = Plain()
        let queue = Unmanaged.passRetained(
          DispatchQueue(label: "released", attributes: [], target: root))
        let tasks = (1...2).map { digit in
          ModelTask(
            ModelTask.Stop(queue: queue, priority: 21) { state.value = state.value * 10 + digit })
        }
        _ = queue.retain()
        for task in tasks {
          scene.thread("resumes") {
            task.resume()
            queue.release()
          }
        }
        scene.finally {
          withExtendedLifetime(root) {}
          for task in tasks { task.expectEnd() }
          Checker.expect(state.value == 12 || state.value == 21, "a job was lost")
          ModelThreads.expectAllNodesBack()
        }
      },
      EngineModel("job: an actor ends in its own job", reach: .exhaustedStrong) { scene in
        let root = SpawningRoot()
        let state = Plain()
        let queue = Unmanaged.passRetained(
          DispatchQueue(label: "ends", attributes: [], target: root))
        // The second job is queued already when the first one drops the actor.
        let first = ModelTask(
          ModelTask.Stop(queue: queue, priority: 21) {
            state.value += 1
            queue.release()
          })
        let second = ModelTask(
          ModelTask.Stop(queue: queue, priority: 21) { state.value += 1 })
        scene.thread("resumes") {
          second.resume()
          first.resume()
        }
        scene.finally {
          withExtendedLifetime(root) {}
          first.expectEnd()
          second.expectEnd()
          Checker.expect(state.value == 2, "a job was lost")
          ModelThreads.expectAllNodesBack()
        }
      },
      EngineModel("job: a task calls the main actor") { scene in
        let main = MainQueue()
        let task = ModelTask(main.stop(priority: 9))
        scene.thread("resumes") { task.resume() }
        Mains.addMainThread(scene, number: 2, main)
        scene.finally {
          task.expectEnd()
          ModelThreads.expectAllNodesBack()
        }
      },
      EngineModel(
        "job: a task calls the main actor twice, beside another", reach: .bounded(preemptions: 2)
      ) { scene in
        let (main, actor, onMain) = (MainQueue(), ModelActor(), Plain())
        let count = { onMain.value += 1 }
        let task = ModelTask(main.stop(count), actor.call(1), main.stop(count))
        let other = ModelTask(main.stop(priority: 33, count))
        scene.thread("resumes") { task.resume() }
        scene.thread("resumes another") { other.resume() }
        Mains.addMainThread(scene, number: 3, main)
        scene.finally {
          Checker.expect(onMain.value == 3, "\(onMain.value) calls of the main actor")
          actor.expect(1, tasks: task, other)
        }
      },
      EngineModel("job: an urgent one raises the thread of the one before it") { scene in
        let actor = ModelActor()
        let isEnqueued = DispatchSemaphore(value: 0, spinLimit: 0)
        let expectUrgent = {
          let now = EffectivePriority.of(currentThread())
          Checker.expect(now >= .userInitiated, "works at \(now)")
        }
        let slow = ModelTask(
          actor.queue.stop(priority: 9) {
            isEnqueued.wait()
            expectUrgent()
          })
        let urgent = ModelTask(actor.queue.stop(priority: 25, expectUrgent))
        scene.thread("resumes") {
          slow.resume()
          urgent.resume()
          isEnqueued.signal()
        }
        scene.finally { actor.expect(0, tasks: slow, urgent) }
      },
      EngineModel(
        "job: urgent ones overtake on a workloop", reach: .bounded(preemptions: 2)
      ) { scene in
        let actor = ModelActor(
          DispatchWorkloop(workloop: "loop", isInactive: false, target: SpawningRoot()))
        let others = [
          ModelTask(actor.call(3, priority: 17)), ModelTask(actor.call(4, priority: 9)),
          ModelTask(actor.call(2, priority: 25)),
        ]
        let first = ModelTask(
          actor.queue.stop(priority: 17) {
            actor.state.value = actor.state.value * 10 + 1
            for task in others { task.resume() }
          })
        let urgent = ModelTask(actor.call(5, priority: 25))
        scene.thread("resumes") { first.resume() }
        scene.thread("resumes an urgent task") { urgent.resume() }
        scene.finally {
          actor.expect(
            51234, 15234, 12534, 12354, 12345,
            tasks: first, others[0], others[1], others[2], urgent)
        }
      },
      EngineModel(
        "job: a task is cancelled while a queue starts its work", reach: .bounded(preemptions: 3)
      ) { scene in
        let root = SpawningRoot()
        let actor = ModelActor(target: root)
        let queue = DispatchQueue(label: "runs", attributes: [], target: root)
        let (shot, result) = (OneShot<ResumedTask>(), Plain())
        let task = ModelTask(actor.queue.stop { actor.state.value = result.value })
        scene.thread("runs") {
          queue.async { shot.complete(1) }
          shot.await(ResumedTask(task: task, result: result))
        }
        scene.thread("cancels") { shot.complete(2) }
        scene.keep(queue)
        scene.finally { actor.expect(1, 2, tasks: task) }
      },
    ]
  }

  static var jobMutants: [Mutant] {
    let (push, drain, loop) = (
      "Lane+Push.swift", "Lane+Drain.swift", "let (won, now) = state.weakCompareExchange"
    )
    let (giveUp, inGiveUp) = (
      "let (won, now) = state.weakCompareExchange", "if next.isHeld && inside"
    )
    let two = "job: two tasks call an actor"
    let main = "job: a task calls the main actor"
    return [
      Mutant(
        "a job does not publish its task", in: push, at: loop, .dropsRelease, foundBy: two),
      Mutant(
        "a drainer runs a job without acquiring its task", in: "LaneState.swift",
        at: "self.change(.acquiringAndReleasing", .dropsAcquire, foundBy: two),
      Mutant(
        "a job overwrites another", in: push, at: loop, .isBlind,
        foundBy: "job: a task calls an actor from its executor"),
      Mutant(
        "a queue is released although a job came", in: drain, at: giveUp, after: inGiveUp,
        .isBlind, foundBy: "job: enqueued while the queue is suspended and resumed"),
      Mutant(
        "the jobs of two actors with one target overlap", in: push, at: loop,
        .clears(bits: LaneState.locked), foundBy: "job: two actors share a target"),
      Mutant(
        "a job starts on a suspended queue", in: "Lane+Suspend.swift",
        at: "state.transition(.releasing", after: "func suspendFirst()",
        .clears(bits: LaneState.suspended), foundBy: "job: enqueued on a suspended queue"),
      Mutant(
        "a drainer runs a job behind a suspension", in: "Lane+Suspend.swift",
        at: "changeEpoch.wrappingAdd", .skips,
        foundBy: "job: an item suspends the queue before the job"),
      Mutant(
        "a resume() loses a job", in: "Lane+Suspend.swift", at: giveUp,
        after: "func resumeFirst()", .isBlind, foundBy: "job: enqueued on a suspended queue"),
      Mutant(
        "a sync() that ends loses a job", in: "Lane+Sync.swift",
        at: "let (won, _) = state.compareExchange", after: "func leave(", .isBlind,
        foundBy: "job: enqueued while a thread is inside by sync()"),
      Mutant(
        "a job sees nothing of the sync() before it", in: "Lane+Sync.swift",
        at: "let (won, _) = state.compareExchange", after: "func leave(", .dropsRelease,
        foundBy: "job: enqueued while a thread is inside by sync()", isWeak: true),
      Mutant(
        "a waiter in line loses a job", in: "Lane+Sync.swift",
        at: giveUp, after: "node that may pass could", .isBlind,
        foundBy: "job: a thread waits in line between two jobs"),
      Mutant(
        "a queue with a job does not retain itself", in: push, at: loop,
        .clears(bits: LaneState.held),
        foundBy: "job: the queue's last reference is released behind two jobs"),
      Mutant(
        "a job wakes no main thread", in: "MainQueue.swift", at: "futexWake(signal)",
        after: "wakeBoundThread", .skips, foundBy: main),
      Mutant(
        "the main thread sleeps although a job is queued", in: "MainQueue.swift",
        at: "signal.transition(.relaxed", .splits, foundBy: main),
      Mutant(
        "an urgent job raises no thread", in: "EffectivePriority.swift",
        at: "shared.effectivePriority.store", after: "guard of(thread) < band", .skips,
        foundBy: "job: an urgent one raises the thread of the one before it"),
      Mutant(
        "a cancelled task is resumed twice", in: "OneShot.swift",
        at: "word.bitwiseOr(Self.claimed", .splits,
        foundBy: "job: a task is cancelled while a queue starts its work"),
    ]
  }
}
