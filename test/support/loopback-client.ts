import { createOutboundClient } from "../../src/net/client.ts";
import { createUrlGuard } from "../../src/net/guard.ts";

/** The client for receivers on this machine: every name under `.example` resolves to it. */
export function loopbackClient() {
  return createOutboundClient({
    guard: createUrlGuard({
      allowCidrs: ["127.0.0.0/8"],
      allowHttp: true,
      resolve: async (name) => (name.startsWith("private.") ? ["10.0.0.1"] : ["127.0.0.1"]),
    }),
  });
}
