// dispatch_queue_offsets: the offsets of a queue's width and target, for the thread sanitizer's
// runtime. It walks from a source or a queue along the targets to a queue of width 1, to find items
// that run one after the other. The main queue's storage is not an engine object, so its two fields
// are set here: width 1, no target.
import CGrandCentralStorage

enum QueueOffsets {
  static func publish() {
    let (width, target) = _Lane.fieldOffsets
    var offsets = gc_queue_offsets()
    offsets.version = 6
    (offsets.width, offsets.width_size) = (UInt16(width), 2)
    (offsets.target, offsets.target_size) = (UInt16(target), 8)
    gc_set_queue_offsets(offsets)
    gc_main_queue_address().storeBytes(of: 1, toByteOffset: width, as: UInt16.self)
  }
}
