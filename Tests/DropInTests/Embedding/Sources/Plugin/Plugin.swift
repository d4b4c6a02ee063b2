// A plug-in that contains the engine, and with it the functions of libdispatch.
import GrandCentralDropIn

/// Makes the plug-in depend on the product.
public let isInterposed = isDispatchInterposed
