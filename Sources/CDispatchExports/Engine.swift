// The engine, of which these exports are a door. The drop-in library is compiled as one module, where its sources
// stand beside these: see scripts/dropin.sh.
#if !GRANDCENTRAL_DROPIN
  @_exported import GrandCentralCore
#endif
