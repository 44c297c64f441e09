import { useState } from "preact/hooks";
import { get } from "../data/call.ts";
import type { Cast } from "../data/objects.ts";
import { RequestFailure, request } from "../data/request.ts";
import { CastRow } from "../parts/cast-row.tsx";
import { FailureBox } from "../parts/failure-box.tsx";
import { castPage } from "../text/client-urls.ts";

/** Casts that one click walks up. */
const STEP = 8;

/**
 * What a reply replies to, folded: opened, it walks up the thread by one request for each cast, some at a time. A cast that is gone
 * ends the walk.
 */
export function Ancestors({ cast }: { cast: Cast }) {
  const [above, setAbove] = useState<readonly Cast[]>([]);
  const [isLoading, setLoading] = useState(false);
  const [failure, setFailure] = useState<RequestFailure>();
  const top = above[0] ?? cast;
  if (top.parent_hash === null && above.length === 0) return null;
  async function walk() {
    if (isLoading) return;
    setLoading(true);
    setFailure(undefined);
    const found: Cast[] = [];
    try {
      let next = top.parent_hash;
      for (let step = 0; step < STEP && next !== null; step++) {
        const { cast: parent } = await request<{ cast: Cast }>(get("/cast", { identifier: next }));
        found.unshift(parent);
        next = parent.parent_hash;
      }
    } catch (cause) {
      if (!(cause instanceof RequestFailure)) throw cause;
      setFailure(cause);
    } finally {
      setAbove([...found, ...above]);
      setLoading(false);
    }
  }
  const isGone = failure?.status === 404;
  return (
    <div class="ancestors">
      {isGone && (
        <p class="empty s">
          The cast that this replies to is not here: removed, pruned or never seen.{" "}
          <a href={castPage(top.parent_hash ?? top.thread_hash)}>Its page</a>
        </p>
      )}
      {failure && !isGone && <FailureBox failure={failure} retry={() => void walk()} />}
      {top.parent_hash !== null && !failure && (
        <p class="row wrap s tight unfold">
          <button type="button" class="btn quiet" aria-disabled={isLoading} onClick={() => void walk()}>
            {isLoading ? "Loading" : above.length === 0 ? "Show what it replies to" : "Show what came before"}
          </button>
          {cast.thread_hash !== cast.hash && <a href={castPage(cast.thread_hash)}>Start of the thread</a>}
        </p>
      )}
      {above.map((one) => (
        <CastRow cast={one} key={one.hash} />
      ))}
    </div>
  );
}
