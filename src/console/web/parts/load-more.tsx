import type { Pages } from "../data/pages.ts";
import { FailureBox } from "./failure-box.tsx";

/** The end of a list: a button for the next page, and what went wrong with the last one. */
export function LoadMore({ pages, size = 25 }: { pages: Pages<unknown>; size?: number }) {
  if (pages.items !== undefined && pages.error)
    return <FailureBox failure={pages.error} retry={() => pages.loadMore()} />;
  if (!pages.hasMore) return null;
  return (
    <div class="more">
      <button type="button" class="btn" aria-disabled={pages.loading} onClick={() => pages.loadMore()}>
        {pages.loading ? "Loading" : `Load ${size} more`}
      </button>
    </div>
  );
}

/** A list as a region sees it: its first page is what it waits for. */
export const pagesAsQuery = <T,>(pages: Pages<T>) => ({
  data: pages.items,
  error: pages.items === undefined ? pages.error : undefined,
  isStale: pages.isStale,
  loadedAtMs: pages.loadedAtMs,
  refresh: () => pages.refresh(),
});
