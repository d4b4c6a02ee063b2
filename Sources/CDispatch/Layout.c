// Checks at compile time that the headers keep the ABI of programs that were never recompiled.
// Defines nothing.
#include "dispatch/dispatch.h"
#include "sys/qos.h"

#define SAME_TYPE(left, right) \
  _Static_assert(__builtin_types_compatible_p(left, right), #left " must be " #right)

SAME_TYPE(dispatch_time_t, uint64_t);
SAME_TYPE(dispatch_once_t, intptr_t);
SAME_TYPE(dispatch_fd_t, int);
SAME_TYPE(dispatch_queue_t, struct dispatch_queue_s *);
SAME_TYPE(dispatch_queue_main_t, struct dispatch_queue_s *);
SAME_TYPE(dispatch_queue_attr_t, struct dispatch_queue_attr_s *);
SAME_TYPE(dispatch_source_t, struct dispatch_source_s *);
SAME_TYPE(dispatch_source_type_t, const struct dispatch_source_type_s *);
SAME_TYPE(dispatch_group_t, struct dispatch_group_s *);
SAME_TYPE(dispatch_semaphore_t, struct dispatch_semaphore_s *);
SAME_TYPE(dispatch_data_t, struct dispatch_data_s *);
SAME_TYPE(dispatch_io_t, struct dispatch_io_s *);

_Static_assert(sizeof(dispatch_object_t) == sizeof(void *), "passed as the pointer inside it");
_Static_assert(sizeof(dispatch_qos_class_t) == 4, "passed in a register's lower half");
_Static_assert(sizeof(qos_class_t) == sizeof(dispatch_qos_class_t), "one is passed as the other");
_Static_assert(sizeof(dispatch_autorelease_frequency_t) == 8, "passed in a whole register");
#ifdef __BLOCKS__
_Static_assert(sizeof(dispatch_block_flags_t) == 8, "passed in a whole register");
#endif
