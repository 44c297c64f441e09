import type { OwnOrigin } from "../../http/request/own-origin.ts";
import { decodeQuery } from "../../http/request/params.ts";
import { parseQueryString } from "../../http/request/query-string.ts";
import type { RpcClient } from "../../lib/port-rpc.ts";
import { oncePer } from "../../lib/promises.ts";
import type { Clock } from "../../runtime/clock.ts";
import { privateRoutes } from "../routes.ts";
import type { PulseRpc } from "./pulse.ts";
import { createCachedSeries, seriesQuery, stepOf } from "./series-page.ts";

const hidden = { detail: { hide: true } } as const;
const ONE_SECOND_MS = 1000;

/** The routes of the public figures. */
export function pulseRoutes({
  node,
  own,
  clock,
}: {
  readonly node: RpcClient<PulseRpc>;
  readonly own: OwnOrigin;
  readonly clock: Clock;
}) {
  const pulse = oncePer(ONE_SECOND_MS, () => node.pulse());
  const series = createCachedSeries((step, since) => node.publicSeries(step, since), clock);
  return privateRoutes("/console/api", own)
    .get("/pulse", () => pulse(), hidden)
    .get(
      "/series",
      async ({ request }) => {
        const query = decodeQuery(seriesQuery.params, parseQueryString(request.url));
        const [page, now] = await Promise.all([series(stepOf(query), query.since), pulse()]);
        // Sent together with the pulse, so that a page that shows both needs one request.
        return { ...page, pulse: now };
      },
      hidden,
    );
}
