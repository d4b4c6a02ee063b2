// Where a lane's fields lie.
import Testing

@testable import GrandCentralCore

@Suite("A lane's layout") struct LaneLayoutTests {
  @Test func `has its width and its target where the thread sanitizer's runtime expects them`() {
    let lane = Lane(kind: .serial, qos: .unspecified, target: nil)
    let start = UnsafeRawPointer(lane.address)
    let width = withUnsafePointer(to: lane.width) { UnsafeRawPointer($0) - start }
    let target = withUnsafePointer(to: &lane.targetReference) { UnsafeRawPointer($0) - start }
    #expect(Lane.fieldOffsets == (width: width, target: target))
  }
}
