// Room: Models/Groups. DispatchGroup: members come and go, one waits, one is notified.

extension Catalogue {
  static var groups: [EngineModel] {
    [
      EngineModel("group: two leave, one waits for both") { scene in
        let group = DispatchGroup(spinLimit: 0)
        let first = Plain()
        let second = Plain()
        group.enter()
        group.enter()
        scene.thread("first") {
          first.value = 1
          group.leave()
        }
        scene.thread("second") {
          second.value = 1
          group.leave()
        }
        scene.thread("waiter") {
          group.wait()
          Checker.expect(first.value + second.value == 2, "the wait ended before the members")
        }
      }
    ]
  }

  static var groupMutants: [Mutant] {
    [
      Mutant(
        "a leave hands nothing over", in: "DispatchGroup.swift",
        at: "word.wrappingSubtract(GroupState.oneMember", .dropsRelease,
        foundBy: "group: two leave, one waits for both")
    ]
  }
}
