// Room: ModelChecker/Execution, its locations: creation, use and end.

extension Execution {
  func makeLocation(_ value: UInt64, _ site: Site) -> UnsafeMutablePointer<Location> {
    let location: UnsafeMutablePointer<Location>
    if let used = spare.popLast() {
      location = used
    } else {
      location = .allocate(capacity: 1)
      location.initialize(to: Location())
    }
    liveLocations += 1
    location.pointee.initial = value
    location.pointee.isAlive = true
    location.pointee.site = site
    location.pointee.begin(in: number, value: value)
    location.pointee.maker = UInt8(running)
    location.pointee.madeAt = threads[running].memory[running]
    locationNumbers += 1
    location.pointee.number = locationNumbers
    return location
  }

  func endLocation(_ location: UnsafeMutablePointer<Location>) {
    location.pointee.isAlive = false
    if isScheduling && location.pointee.execution == number {
      withSearch { $0.recordEnd(of: location, in: self) }
    }
    liveLocations -= 1
    dead.append(location)
  }

  /// Before each use: resets a location of an earlier execution.
  @inline(__always)
  func check(_ location: UnsafeMutablePointer<Location>, _ site: Site) {
    if location.pointee.execution != number { refresh(location, site) }
    if !location.pointee.isAlive { failUseAfterFree(location, site) }
    if threads[running].memory[Int(location.pointee.maker)] < location.pointee.madeAt {
      failNotPublished(location, site)
    }
  }

  @inline(never)
  private func refresh(_ location: UnsafeMutablePointer<Location>, _ site: Site) {
    if !location.pointee.isAlive { failUseAfterFree(location, site) }
    location.pointee.begin(in: number, value: location.pointee.initial)
    location.pointee.madeAt = 0
    locationNumbers += 1
    location.pointee.number = locationNumbers
  }

  @inline(never)
  private func failNotPublished(_ location: UnsafeMutablePointer<Location>, _ site: Site) -> Never {
    let maker = Report.name(of: Int(location.pointee.maker), self)
    fail(
      """
      Data race: \(Report.name(of: running, self)) uses at \(Report.place(site)) an atomic that \
      was made at \
      \(Report.place(location.pointee.site)) by \(maker), and nothing orders the two.
      """)
  }

  @inline(never)
  private func failUseAfterFree(_ location: UnsafeMutablePointer<Location>, _ site: Site) -> Never {
    fail(
      """
      Use after free: \(Report.place(site)) touches an atomic that was made at \
      \(Report.place(location.pointee.site)) and is gone.
      """)
  }
}
