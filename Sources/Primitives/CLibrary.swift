// Room: Primitives/CLibrary. The only import of the C library's overlay, Glibc or Musl.
#if canImport(Glibc)
  @_exported public import Glibc
#elseif canImport(Musl)
  @_exported public import Musl
#endif
