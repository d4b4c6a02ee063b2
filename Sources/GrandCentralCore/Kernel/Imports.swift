// Room: Kernel/Imports. The core's one door to what lies below it. The engine's sources name `Atomic`, `Cell`, `Lock`,
// futexes, threads and clocks, and do not say whose: this module takes the machine's from Primitives; the
// models (Tests/Models) compile the same sources, but this import, beside the model checker's.
#if !GRANDCENTRAL_MODEL && !GRANDCENTRAL_DROPIN
  @_exported public import Primitives
#endif
