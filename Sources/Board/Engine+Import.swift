// The engine whose boards are read. The drop-in library is one module with the engine's sources
// beside these: see scripts/dev dropin.
#if !GRANDCENTRAL_DROPIN
  @_exported import GrandCentralCore
#endif
