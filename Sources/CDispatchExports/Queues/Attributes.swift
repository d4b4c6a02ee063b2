// dispatch/queue.h: attributes of queues. An attribute is NULL, for serial queues, or the address
// of a slot, whose number encodes it:
//   ((class · 16 + relative priority's magnitude) · 2 + inactive) · 2 + serial
// Slot 0 is therefore DISPATCH_QUEUE_CONCURRENT. Autorelease pools and overcommit have no effect
// and are not encoded.
import CGrandCentralStorage

struct QueueAttribute: Equatable {
  var qos = DispatchQoS.unspecified
  var isInactive = false
  var isSerial = true

  private static let classes: [DispatchQoS.QoSClass] = [
    .unspecified, .background, .utility, .default, .userInitiated, .userInteractive,
  ]

  init() {}

  /// `nil` if the address is not that of an attribute.
  init?(_ handle: Handle?) {
    guard let handle else { return }
    let number = gc_attribute_number(handle)
    guard number >= 0, number >> 6 < Self.classes.count else { return nil }
    isSerial = number & 1 == 1
    isInactive = number >> 1 & 1 == 1
    qos = DispatchQoS(
      qosClass: Self.classes[number >> 6], relativePriority: -(number >> 2 & 15))
  }

  var handle: Handle? {
    if self == QueueAttribute() { return nil }
    let qosClass = Self.classes.firstIndex(of: qos.qosClass) ?? 0
    let place = qosClass * 16 + Int(qos.relativePriority.magnitude)
    return gc_attribute_address((place * 2 + (isInactive ? 1 : 0)) * 2 + (isSerial ? 1 : 0))
  }

  @inline(__always)
  static func read(_ handle: Handle?, _ function: StaticString = #function) -> QueueAttribute {
    handle == nil ? QueueAttribute() : readSlot(handle, function)
  }

  @inline(never)
  private static func readSlot(_ handle: Handle?, _ function: StaticString) -> QueueAttribute {
    guard let attribute = QueueAttribute(handle) else {
      clientFault(
        "\(function) was given something else in the place of an attribute. Pass NULL, DISPATCH_QUEUE_CONCURRENT, or what a dispatch_queue_attr_make_… function returned."
      )
    }
    return attribute
  }
}

/// Returns the attribute for queues that run nothing before dispatch_activate().
@c(dispatch_queue_attr_make_initially_inactive)
public func dispatchQueueAttrMakeInitiallyInactive(_ attribute: Handle?) -> Handle? {
  var made = QueueAttribute.read(attribute)
  made.isInactive = true
  return made.handle
}

/// Returns the same attribute: there are no autorelease pools on Linux.
@c(dispatch_queue_attr_make_with_autorelease_frequency)
public func dispatchQueueAttrMakeWithAutoreleaseFrequency(
  _ attribute: Handle?, _ frequency: UInt
) -> Handle? {
  QueueAttribute.read(attribute).handle
}

/// Returns the same attribute: every queue gets a thread when blocked items occupy the others.
@c(dispatch_queue_attr_make_with_overcommit)
public func dispatchQueueAttrMakeWithOvercommit(
  _ attribute: Handle?, _ overcommits: Bool
) -> Handle? {
  QueueAttribute.read(attribute).handle
}

/// Returns the attribute with a QoS class; the same one if the class is unknown or the relative
/// priority is outside 0 … -15.
@c(dispatch_queue_attr_make_with_qos_class)
public func dispatchQueueAttrMakeWithQoSClass(
  _ attribute: Handle?, _ qosClass: UInt32, _ relativePriority: Int32
) -> Handle? {
  var made = QueueAttribute.read(attribute)
  guard let qos = DispatchQoS(c: qosClass, relativePriority) else { return made.handle }
  made.qos = qos
  return made.handle
}

extension DispatchQoS {
  /// Converts the values of C. `nil`: an unknown class, or a relative priority outside 0 … -15.
  init?(c qosClass: UInt32, _ relativePriority: Int32) {
    guard let known = QoSClass(rawValue: qosClass), -15...0 ~= relativePriority else { return nil }
    // A relative priority without a class has no meaning.
    self.init(
      qosClass: known, relativePriority: known == .unspecified ? 0 : Int(relativePriority))
  }
}
