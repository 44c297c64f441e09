import type { ComponentChildren, RefObject, VNode } from "preact";
import { useRef } from "preact/hooks";
import type { Call } from "../data/call.ts";
import { type Newer, type Page, type Pages, useNewer, usePages } from "../data/pages.ts";
import * as msg from "../text/en/common.ts";
import { formatCount } from "../text/format.ts";
import { FailureBox, Region, Skeleton } from "./region.tsx";

/** The end of a list: a button for the next page, and why the last one failed. */
export function LoadMore({ pages, size = 25 }: { pages: Pages<unknown>; size?: number }) {
  if (pages.items !== undefined && pages.error)
    return <FailureBox failure={pages.error} retry={() => pages.loadMore()} />;
  if (!pages.hasMore) return null;
  return (
    <div class="more">
      <button type="button" class="btn" aria-disabled={pages.loading} onClick={() => pages.loadMore()}>
        {pages.loading ? msg.loading : msg.loadMore(size)}
      </button>
    </div>
  );
}

/** Adapts a list for a region, which waits for its first page. */
export const pagesAsQuery = <T,>(pages: Pages<T>) => ({
  data: pages.items,
  error: pages.items === undefined ? pages.error : undefined,
  isStale: pages.isStale,
  loadedAtMs: pages.loadedAtMs,
  refresh: () => pages.refresh(),
});

/** Offers items that were added to a list while it was shown. A click scrolls to its section, because the rows move. */
export function NewerPill({ newer, list }: { newer: Newer; list: RefObject<HTMLElement | null> }) {
  if (newer.count === 0) return null;
  return (
    <button
      type="button"
      class="btn go newer"
      onClick={() => {
        newer.show();
        list.current?.closest("section")?.scrollIntoView({ block: "start" });
      }}
    >
      {msg.newer(formatCount(newer.count))}
    </button>
  );
}

/** The rows of a card. */
export function Rows<T>(props: {
  items: readonly T[];
  keyOf: (item: T) => string | number;
  row: (item: T) => ComponentChildren;
}) {
  return (
    <ul class="rows">
      {props.items.map((item) => (
        <li key={props.keyOf(item)}>{props.row(item)}</li>
      ))}
    </ul>
  );
}

/** Most lists are longer than the window. */
const SKELETON_ROWS = 8;
const SKELETON_ROW_REM = 6.5;

/** A list of the API in a card: rows, "12 newer" above them, "Load more" below. */
export function ListRegion<Body, T extends object>(props: {
  title: ComponentChildren;
  call: Call<Body>;
  /** Parses a response. */
  read: (body: Body) => Page<T>;
  /** The list of the call, if the page has it already. */
  pages?: Pages<T>;
  keyOf: (item: T) => string | number;
  row: (item: T) => ComponentChildren;
  empty: ComponentChildren;
  aside?: ComponentChildren;
  /** Counts items that arrive while the page is open, and offers them. */
  isLive?: boolean;
  /** Whether to show only the first page. */
  isExcerpt?: boolean;
}) {
  const { title, call, read, keyOf, row, empty, aside, isLive = false, isExcerpt = false } = props;
  const own = usePages(props.pages ? undefined : call, read);
  const pages = props.pages ?? own;
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
              // A row for the same object is not rendered again when the list grows.
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
