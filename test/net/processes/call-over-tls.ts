import { privateKeyToAccount } from "viem/accounts";
import { createManagementClient } from "../../../src/cli/client/client.ts";
import { probe } from "../../../src/cli/client/healthcheck.ts";
import { serviceNames } from "../../../src/config/names.ts";
import { createOutboundClient } from "../../../src/net/client.ts";
import { createUrlGuard } from "../../../src/net/guard.ts";
import { createOperatorFetch } from "../../../src/net/operator-fetch.ts";
import { systemClock } from "../../../src/runtime/clock.ts";
import { createUpstreamClient } from "../../../src/upstream/calls/client.ts";
import { connectUpstream } from "../../../src/upstream/calls/connection.ts";

/** Calls a server with every outbound client of the program and prints whether each got a response. */
const [httpsUrl = "", grpcUrl = ""] = process.argv.slice(2);

const connection = connectUpstream(grpcUrl);
const upstream = createUpstreamClient(
  connection,
  { callTimeoutMs: 60_000, stallMs: 60_000 },
  new AbortController().signal,
);
const outbound = createOutboundClient({
  guard: createUrlGuard({ allowCidrs: ["127.0.0.0/8"], allowHttp: false }),
});
const management = createManagementClient({
  baseUrl: new URL(httpsUrl),
  names: serviceNames("svc"),
  account: privateKeyToAccount(`0x${"11".repeat(32)}`),
  fid: 1,
  clock: systemClock,
});

const calls: Readonly<Record<string, () => Promise<unknown>>> = {
  receiver: async () => {
    const response = await outbound.request({ url: httpsUrl, method: "GET", timeoutMs: 5000 });
    if (!response.ok) throw new Error(response.error.kind);
  },
  endpoint: () => createOperatorFetch(httpsUrl)(httpsUrl),
  probe: () => probe(new URL(httpsUrl), 5000),
  management: () => management.call("listApps"),
  upstream: () => upstream.info(),
};

const outcomes: Record<string, string> = {};
for (const [name, call] of Object.entries(calls)) {
  outcomes[name] = await call().then(
    () => "response",
    () => "refused",
  );
}
process.stdout.write(JSON.stringify(outcomes));
connection.close();
