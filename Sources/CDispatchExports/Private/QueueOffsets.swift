// dispatch_queue_offsets: where in a queue its width and its target are, for the thread sanitizer's runtime. It walks
// from a source or a queue to its targets until it finds one of width 1, to know whose items follow each other. The
// main queue's storage is no object of ours, so it gets these two fields: a width of 1, and no target.
import CDispatchStorage
@_spi(Reflection) import Swift

enum QueueOffsets {
  static func publish() {
    var width = 0
    var target = 0
    // 1: of a class.
    let options = _EachFieldOptions(rawValue: 1)
    _ = _forEachField(of: _Lane.self, options: options) { name, offset, _, _ in
      switch String(cString: name) {
      case "width": width = offset
      // The property wrapper's storage, which is the reference and nothing else.
      case "_targetReference": target = offset
      default: break
      }
      return true
    }
    guard 0 < width, width + 2 <= 128, 0 < target, target + 8 <= 128 else {
      engineFault("A queue's width and target are not where dispatch_queue_offsets can say.")
    }
    var offsets = gc_queue_offsets()
    offsets.version = 6
    (offsets.width, offsets.width_size) = (UInt16(width), 2)
    (offsets.target, offsets.target_size) = (UInt16(target), 8)
    gc_set_queue_offsets(offsets)
    gc_main_queue_address().storeBytes(of: 1, toByteOffset: width, as: UInt16.self)
  }
}
