// Exports for the system's own libraries. On Linux they have little effect; calls do no harm.
#include "../Check.h"

void _dispatch_log(const char *format, ...);
void _dispatch_iocntl(uint32_t parameter, uint64_t value);
void _dispatch_prohibit_transition_to_multithreaded(bool prohibit);
struct _os_object_s *_os_object_retain_internal(struct _os_object_s *object);
void _os_object_release_internal(struct _os_object_s *object);
struct _os_object_s *_os_object_retain_internal_n(struct _os_object_s *object, uint16_t count);
void _os_object_release_internal_n(struct _os_object_s *object, uint16_t count);
struct _os_object_s *_os_object_retain_with_resurrect(struct _os_object_s *object);
#ifndef __OS_OBJECT__
#error "os/object.h comes with the dispatch headers"
#endif
struct _os_object_s *_os_object_retain(struct _os_object_s *object);
void _os_object_release(struct _os_object_s *object);
void dispatch_set_qos_class(dispatch_object_t object, dispatch_qos_class_t class, int priority);
void dispatch_set_qos_class_floor(
  dispatch_object_t object, dispatch_qos_class_t class, int priority);
void dispatch_set_qos_class_fallback(dispatch_object_t object, dispatch_qos_class_t class);
dispatch_queue_t dispatch_queue_create_with_accounting_override_voucher(
  const char *label, dispatch_queue_attr_t attribute, void *voucher);

CASE(log_takes_a_format) { _dispatch_log("conformance: %d of %s", 1, "one"); }

CASE(io_control_takes_a_chunk_size) { _dispatch_iocntl(1, 256); }

CASE(os_object_functions_count_references) {
  static latch gone = LATCH(1);
  dispatch_queue_t queue = serial_queue();
  struct _os_object_s *object = (struct _os_object_s *)queue;
  dispatch_set_context(queue, &gone);
  dispatch_set_finalizer_f(queue, open_latch);
  CHECK(_os_object_retain(object) == object);
  dispatch_release(queue);
  drain(queue);
  CHECK(!latch_is_open(&gone));
  _os_object_release(object);
  latch_wait(&gone);
}

CASE(references_are_counted_several_at_a_time) {
  static latch gone = LATCH(1);
  dispatch_queue_t queue = serial_queue();
  struct _os_object_s *object = (struct _os_object_s *)queue;
  dispatch_set_context(queue, &gone);
  dispatch_set_finalizer_f(queue, open_latch);
  CHECK(_os_object_retain_internal_n(object, 3) == object);
  _os_object_release_internal_n(object, 3);
  CHECK(_os_object_retain_with_resurrect(object) == object);
  dispatch_release(queue);
  drain(queue);
  CHECK(!latch_is_open(&gone));
  dispatch_release(queue);
  latch_wait(&gone);
}

CASE(internal_references_keep_no_finalizer_from_running) {
  static latch gone = LATCH(1);
  dispatch_queue_t queue = serial_queue();
  struct _os_object_s *object = (struct _os_object_s *)queue;
  dispatch_set_context(queue, &gone);
  dispatch_set_finalizer_f(queue, open_latch);
  CHECK(_os_object_retain_internal(object) == object);
  _os_object_release_internal(object);
  drain(queue);
  CHECK(!latch_is_open(&gone));
  dispatch_release(queue);
  latch_wait(&gone);
}

BEYOND(queue_with_an_accounting_voucher_is_a_queue, "the peer stops: vouchers are Darwin's") {
  static counter ran;
  dispatch_queue_t queue =
    dispatch_queue_create_with_accounting_override_voucher("conformance.voucher", NULL, NULL);
  dispatch_sync_f(queue, &ran, count_up);
  CHECK_EQUAL(ran.value, 1);
  CHECK_TEXT(dispatch_queue_get_label(queue), "conformance.voucher");
  dispatch_release(queue);
}

CASE(classes_can_be_set_on_an_inactive_queue) {
  static counter ran;
  dispatch_queue_t queue = dispatch_queue_create(NULL, DISPATCH_QUEUE_SERIAL_INACTIVE);
  dispatch_set_qos_class_floor(queue, 0x11, -2);
  int place = 0;
  CHECK_EQUAL(dispatch_queue_get_qos_class(queue, &place), 0x11);
  CHECK_EQUAL(place, -2);
  dispatch_activate(queue);
  dispatch_sync_f(queue, &ran, count_up);
  CHECK_EQUAL(ran.value, 1);
  dispatch_release(queue);
}

CASE(class_of_an_inactive_queue_can_be_set) {
  static counter ran;
  dispatch_queue_t queue = dispatch_queue_create(NULL, DISPATCH_QUEUE_SERIAL_INACTIVE);
  dispatch_set_qos_class(queue, 0x11, -2);
  int place = 0;
  CHECK_EQUAL(dispatch_queue_get_qos_class(queue, &place), 0x11);
  CHECK_EQUAL(place, -2);
  dispatch_activate(queue);
  dispatch_sync_f(queue, &ran, count_up);
  CHECK_EQUAL(ran.value, 1);
  dispatch_release(queue);
}

CASE(transition_to_threads_can_be_allowed) {
  static latch done = LATCH(1);
  _dispatch_prohibit_transition_to_multithreaded(false);
  dispatch_async_f(global_queue(), &done, open_latch);
  latch_wait(&done);
}

#ifdef __BLOCKS__
#include <Block.h>
dispatch_block_t dispatch_block_create_with_voucher(
  dispatch_block_flags_t flags, void *voucher, dispatch_block_t block);
dispatch_block_t dispatch_block_create_with_voucher_and_qos_class(
  dispatch_block_flags_t flags, void *voucher, dispatch_qos_class_t class, int priority,
  dispatch_block_t block);

CASE(block_with_a_voucher_is_a_block_object) {
  static counter ran;
  dispatch_block_t one = dispatch_block_create_with_voucher(0, NULL, ^{ count_up(&ran); });
  dispatch_block_t two =
    dispatch_block_create_with_voucher_and_qos_class(0, NULL, 0x11, -1, ^{ count_up(&ran); });
  dispatch_async(global_queue(), one);
  dispatch_async(global_queue(), two);
  CHECK_EQUAL(dispatch_block_wait(one, deadline()), 0);
  CHECK_EQUAL(dispatch_block_wait(two, deadline()), 0);
  CHECK_EQUAL(ran.value, 2);
  Block_release(one);
  Block_release(two);
}
#endif
