import type { ComponentChildren } from "preact";
import { useMemo } from "preact/hooks";
import { EventLine } from "../content/event-line.tsx";
import type { Call } from "../data/call.ts";
import { CallPanel } from "../parts/call-panel.tsx";
import * as msg from "../text/en/stream.ts";
import { formatExact } from "../text/format.ts";
import type { StreamRow } from "./event-log.ts";
import { FilterForm, type FormReader } from "./filter-form.tsx";
import { describeFilters, readFilters } from "./filters.ts";

/** The filter is next to the rows; on a phone it is above them and folded. */
const isWide = () => matchMedia("(min-width: 62rem)").matches;

/** The filter, the events and their call. */
export function StreamLayout(props: {
  query: string;
  readForm: FormReader;
  call: Call;
  isLive: boolean;
  header: ComponentChildren;
  children: ComponentChildren;
}) {
  const { query, readForm, call, isLive, header, children } = props;
  const filters = useMemo(() => readFilters(query), [query]);
  return (
    <div class={isLive ? "split stream live" : "split stream"}>
      <details class="card" open={isWide()}>
        <summary class="pad">{msg.filter(<span class="s dim">{describeFilters(filters)}</span>)}</summary>
        <div class="pad s fold">
          <FilterForm filters={filters} reader={readForm} />
        </div>
      </details>
      <section class="card" aria-label={msg.events}>
        <header>{header}</header>
        {children}
      </section>
      <CallPanel call={call} />
    </div>
  );
}

/** Events, newest first. */
export function EventRows({ rows }: { rows: readonly StreamRow[] }) {
  return (
    <ol class="rows events">
      {rows.map((row) =>
        "event" in row ? (
          <EventLine event={row.event} withText key={row.id} />
        ) : (
          <li class="gap s" key={row.id}>
            {msg.eventsAreMissingHereTheNode(formatExact(row.gapAtMs))}
          </li>
        ),
      )}
    </ol>
  );
}
