// Queue attributes: every combination makes a queue with the properties that it names.
#include "../Check.h"

CASE(attributes_are_values) {
  dispatch_queue_attr_t once = dispatch_queue_attr_make_with_qos_class(NULL, 0x19, -3);
  dispatch_queue_attr_t again = dispatch_queue_attr_make_with_qos_class(NULL, 0x19, -3);
  CHECK(once && once == again);
  CHECK(once != dispatch_queue_attr_make_with_qos_class(NULL, 0x19, -4));
  CHECK(once != dispatch_queue_attr_make_with_qos_class(DISPATCH_QUEUE_CONCURRENT, 0x19, -3));
  CHECK(DISPATCH_QUEUE_CONCURRENT_INACTIVE != DISPATCH_QUEUE_CONCURRENT);
  CHECK(DISPATCH_QUEUE_SERIAL_INACTIVE != DISPATCH_QUEUE_CONCURRENT_INACTIVE);
}

CASE(attributes_need_no_references) {
  dispatch_queue_attr_t one = dispatch_queue_attr_make_with_qos_class(NULL, 0x19, -3);
  for (int n = 0; n < 100; n++) dispatch_release(one);
  for (int n = 0; n < 100; n++) dispatch_release(DISPATCH_QUEUE_CONCURRENT);
  dispatch_queue_t queue = dispatch_queue_create(NULL, one);
  CHECK_EQUAL(dispatch_queue_get_qos_class(queue, NULL), 0x19);
  dispatch_release(queue);
}

CASE(attribute_of_a_bad_class_or_priority_is_the_old_one) {
  dispatch_queue_attr_t concurrent = DISPATCH_QUEUE_CONCURRENT;
  CHECK(dispatch_queue_attr_make_with_qos_class(concurrent, 0x22, 0) == concurrent);
  CHECK(dispatch_queue_attr_make_with_qos_class(concurrent, 0x15, 1) == concurrent);
  CHECK(dispatch_queue_attr_make_with_qos_class(concurrent, 0x15, -16) == concurrent);
}

CASE(attribute_order_does_not_matter) {
  dispatch_queue_attr_t left = dispatch_queue_attr_make_initially_inactive(
    dispatch_queue_attr_make_with_qos_class(DISPATCH_QUEUE_CONCURRENT, 0x11, -1));
  dispatch_queue_attr_t right = dispatch_queue_attr_make_with_qos_class(
    dispatch_queue_attr_make_initially_inactive(DISPATCH_QUEUE_CONCURRENT), 0x11, -1);
  CHECK(left == right);
}

CASE(every_attribute_makes_a_queue) {
  const dispatch_qos_class_t classes[] = {0, 0x09, 0x11, 0x15, 0x19};
  static counter ran;
  long expected = 0;
  for (int concurrent = 0; concurrent < 2; concurrent++)
    for (int inactive = 0; inactive < 2; inactive++)
      for (unsigned long frequency = 0; frequency < 3; frequency++)
        for (int class = 0; class < 5; class++)
          for (int priority = 0; priority >= -15; priority -= 5) {
            dispatch_queue_attr_t one = concurrent ? DISPATCH_QUEUE_CONCURRENT : NULL;
            one = dispatch_queue_attr_make_with_autorelease_frequency(one, frequency);
            one = dispatch_queue_attr_make_with_qos_class(one, classes[class], priority);
            if (inactive) one = dispatch_queue_attr_make_initially_inactive(one);
            dispatch_queue_t queue = dispatch_queue_create("conformance.attribute", one);
            int seen = 99;
            CHECK_EQUAL(dispatch_queue_get_qos_class(queue, &seen), classes[class]);
            CHECK_EQUAL(seen, classes[class] ? priority : 0);
            if (inactive) dispatch_activate(queue);
            dispatch_sync_f(queue, &ran, count_up);
            expected++;
            dispatch_release(queue);
          }
  CHECK_EQUAL(ran.value, expected);
}

CASE(inactive_queue_starts_nothing_until_activated) {
  static counter ran;
  static latch done = LATCH(1);
  dispatch_queue_t queue = dispatch_queue_create(NULL, DISPATCH_QUEUE_SERIAL_INACTIVE);
  dispatch_queue_t other = serial_queue();
  dispatch_async_f(queue, &ran, count_up);
  dispatch_async_f(queue, &done, open_latch);
  for (int n = 0; n < 100; n++) drain(other);
  CHECK_EQUAL(ran.value, 0);
  dispatch_activate(queue);
  dispatch_activate(queue);
  latch_wait(&done);
  CHECK_EQUAL(ran.value, 1);
  dispatch_release(queue);
  dispatch_release(other);
}

CASE(autorelease_attributes_make_ordinary_queues) {
  static counter ran;
  dispatch_queue_t serial =
    dispatch_queue_create(NULL, DISPATCH_QUEUE_SERIAL_WITH_AUTORELEASE_POOL);
  dispatch_queue_t concurrent =
    dispatch_queue_create(NULL, DISPATCH_QUEUE_CONCURRENT_WITH_AUTORELEASE_POOL);
  dispatch_sync_f(serial, &ran, count_up);
  dispatch_barrier_sync_f(concurrent, &ran, count_up);
  CHECK_EQUAL(ran.value, 2);
  dispatch_release(serial);
  dispatch_release(concurrent);
}

STOPS(releasing_a_queue_never_activated_stops, "activate") {
  dispatch_queue_t queue =
    dispatch_queue_create("conformance.unborn", DISPATCH_QUEUE_SERIAL_INACTIVE);
  dispatch_release(queue);
}
