import { signal } from "@preact/signals";
import { useEffect, useMemo } from "preact/hooks";
import type { Call } from "./call.ts";
import type { Page, Pages } from "./pages.ts";
import { startPolling } from "./polling.ts";
import { request } from "./request.ts";
import { isVisible } from "./visibility.ts";

const EVERY_MS = 60_000;

/** What has come to a list since it was loaded. The rows stay where they are until the visitor asks for it. */
export interface Newer {
  readonly count: number;
  /** Whether the node has not said for two intervals what is new. */
  readonly isStale: boolean;
  /** Loads the list again. */
  show(): void;
}

/** Returns how many of the items that the first page would have now are not in the list. */
export function countNewer<T>(
  shown: readonly T[],
  first: readonly T[],
  keyOf: (item: T) => string | number,
): number {
  const known = new Set(shown.map(keyOf));
  return first.filter((item) => !known.has(keyOf(item))).length;
}

/** Asks for the first page of a list each minute while the tab is shown, and counts what is new in it. */
export function useNewer<T>(
  call: Call | undefined,
  // biome-ignore lint/suspicious/noExplicitAny: a response of the API; its type is the caller's to state
  read: (body: any) => Page<T>,
  pages: Pick<Pages<T>, "items" | "loading" | "loadedAtMs" | "refresh">,
  keyOf: (item: T) => string | number,
): Newer {
  const count = useMemo(() => signal(0), [pages]);
  const isLate = useMemo(() => signal(false), [pages]);
  useEffect(() => {
    if (!call) return;
    const abort = new AbortController();
    const check = async () => {
      if (!pages.items || pages.loading) return;
      const { items } = read(await request(call, { signal: abort.signal }));
      if (!abort.signal.aborted) count.value = countNewer(pages.items ?? [], items, keyOf);
    };
    const polling = startPolling(check, {
      everyMs: EVERY_MS,
      maxMs: EVERY_MS,
      isVisible,
      // A list of an earlier visit is shown as it was.
      waitsFirst: !pages.items || Date.now() - pages.loadedAtMs <= EVERY_MS,
      onLate(late) {
        isLate.value = late;
      },
    });
    return () => {
      polling.stop();
      abort.abort();
    };
  }, [pages, call?.path]);
  return {
    get count() {
      return count.value;
    },
    get isStale() {
      return isLate.value;
    },
    show() {
      count.value = 0;
      pages.refresh();
    },
  };
}
