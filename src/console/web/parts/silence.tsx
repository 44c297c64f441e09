import type { ComponentChildren } from "preact";
import { formatSecs } from "../data/format.ts";
import { nowMs } from "../data/now.ts";
import type { RequestFailure } from "../data/request.ts";
import { Pill } from "./pill.tsx";

interface Aged {
  readonly error: RequestFailure | undefined;
  readonly loadedAtMs: number;
}

/** How old the data of a query are that is out of date: the node has not responded since, or refuses. */
export function silenceOf({ error, loadedAtMs }: Aged): string {
  // Its ticks draw this again; the last one may be of a time before the data came.
  const now = Math.max(nowMs.value, Date.now());
  const age = formatSecs((now - loadedAtMs) / 1000);
  if (error !== undefined && error.status !== 0) return `${age} old`;
  return loadedAtMs === 0 ? "No response" : `No response for ${age}`;
}

/** The same beside what is out of date. */
export function SilencePill({ query }: { query: Aged }) {
  return (
    <Pill>
      <span role="status">{silenceOf(query)}</span>
    </Pill>
  );
}

/** Shows what a query brought where no region does: grey, and with the time since then, once it is out of date. */
export function WhileFresh({
  query,
  children,
}: {
  query: Aged & { readonly isStale: boolean };
  children: ComponentChildren;
}) {
  return (
    <>
      {query.isStale && (
        <p>
          <SilencePill query={query} />
        </p>
      )}
      <div class={`stack ${query.isStale ? "old" : ""}`}>{children}</div>
    </>
  );
}
