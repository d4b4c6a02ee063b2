// Room: Platform/Imports. The core's only import of the module below it. The sources use `Atomic`,
// `Cell`, `Lock`, futexes, threads and clocks without naming their module: Primitives here; the
// models (Verification/Models) compile the same sources, without this import, beside the model
// checker's.
#if !GRANDCENTRAL_MODEL && !GRANDCENTRAL_DROPIN
  @_exported public import GrandCentralPrimitives
#endif
