import { useState } from "preact/hooks";
import { nowMs } from "../data/now.ts";
import { RequestFailure, request } from "../data/request.ts";
import { Icon } from "../icons.tsx";
import { pageConfig } from "../page-config.ts";

const SECONDS = 15;
const PER_SECOND = 3;

/**
 * Has the people of the demo network cast, like and follow for a while; the network rests otherwise. Absent on a node without a demo
 * network.
 */
export function MakeSomethingHappen() {
  const [endsAt, setEndsAt] = useState(0);
  const [failure, setFailure] = useState<string>();
  if (!pageConfig.demo) return null;
  const left = Math.ceil(endsAt - nowMs.value / 1000);
  async function start() {
    if (left > 0) return;
    setFailure(undefined);
    try {
      const body = { seconds: SECONDS, per_second: PER_SECOND };
      const call = { method: "POST", path: "/console/demo/pulse", body } as const;
      setEndsAt((await request<{ ends_at: number }>(call)).ends_at);
    } catch (cause) {
      if (!(cause instanceof RequestFailure)) throw cause;
      setFailure(cause.message);
    }
  }
  return (
    <span class="row wrap">
      <button type="button" class="btn" aria-disabled={left > 0} onClick={start}>
        <Icon name="play" size={14} /> Make something happen
      </button>
      <output class="s dim">
        {failure ?? (left > 0 ? `People cast, like and follow for ${left} more seconds.` : "")}
      </output>
    </span>
  );
}
