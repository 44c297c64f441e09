import type { ComponentChildren, VNode } from "preact";
import { useRef } from "preact/hooks";
import type { Call } from "../data/call.ts";
import { useNewer } from "../data/newer.ts";
import type { Page, Pages } from "../data/pages.ts";
import { LoadMore, pagesAsQuery } from "./load-more.tsx";
import { NewerPill } from "./newer-pill.tsx";
import { Region } from "./region.tsx";
import { Skeleton } from "./skeleton.tsx";

export interface ListRegionProps<T extends object> {
  readonly title: ComponentChildren;
  readonly call: Call;
  /** Takes a response apart; the same function as that of `pages`. */
  // biome-ignore lint/suspicious/noExplicitAny: a response of the API; its type is the caller's to state
  readonly read: (body: any) => Page<T>;
  readonly pages: Pages<T>;
  readonly keyOf: (item: T) => string | number;
  readonly row: (item: T) => ComponentChildren;
  readonly empty: ComponentChildren;
  readonly aside?: ComponentChildren;
  /** Counts what comes while the page is open, and offers it. */
  readonly isLive?: boolean;
  /** Shows the first page alone. */
  readonly isExcerpt?: boolean;
}

/** Most lists are longer than the window. */
const SKELETON_ROWS = 8;
const SKELETON_ROW_REM = 6.5;

/** A list of the API in a card: rows, "12 newer" above them, "Load more" below. */
export function ListRegion<T extends object>(props: ListRegionProps<T>) {
  const { title, call, read, pages, keyOf, row, empty, aside, isLive = false, isExcerpt = false } = props;
  const newer = useNewer(isLive ? call : undefined, read, pages, keyOf);
  const top = useRef<HTMLDivElement>(null);
  const drawn = useRef(new WeakMap<object, VNode>());
  return (
    <Region
      title={title}
      call={call}
      query={{ ...pagesAsQuery(pages), isStale: pages.isStale || newer.isStale }}
      aside={aside}
      skeleton={<Skeleton rows={SKELETON_ROWS} height={SKELETON_ROW_REM} />}
      isEmpty={(items) => items.length === 0}
      empty={empty}
    >
      {(items) => (
        <div class="list" ref={top}>
          <NewerPill newer={newer} list={top} />
          <ul class="rows">
            {items.map((item) => {
              // A row that is the same object is not drawn again when the list grows.
              const known = drawn.current.get(item);
              if (known) return known;
              const drawnRow = <li key={keyOf(item)}>{row(item)}</li>;
              drawn.current.set(item, drawnRow);
              return drawnRow;
            })}
          </ul>
          {!isExcerpt && <LoadMore pages={pages} />}
        </div>
      )}
    </Region>
  );
}
