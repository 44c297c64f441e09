import { signal } from "@preact/signals";
import { useEffect, useMemo } from "preact/hooks";
import type { Call } from "./call.ts";
import type { Page, Pages } from "./pages.ts";
import { request } from "./request.ts";
import { whileVisible } from "./visibility.ts";

const EVERY_MS = 60_000;

/** What has come to a list since it was loaded. The rows stay where they are until the visitor asks for it. */
export interface Newer {
  readonly count: number;
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
  useEffect(() => {
    if (!call) return;
    const abort = new AbortController();
    const check = async () => {
      if (!pages.items || pages.loading) return;
      try {
        const { items } = read(await request(call, { signal: abort.signal }));
        if (!abort.signal.aborted) count.value = countNewer(pages.items ?? [], items, keyOf);
      } catch {
        // The next minute asks again; the list itself has a button for a failure.
      }
    };
    // A list of an earlier visit is shown as it was.
    if (pages.items && Date.now() - pages.loadedAtMs > EVERY_MS) void check();
    const stop = whileVisible(EVERY_MS, () => void check());
    return () => {
      stop();
      abort.abort();
    };
  }, [pages, call?.path]);
  return {
    get count() {
      return count.value;
    },
    show() {
      count.value = 0;
      pages.refresh();
    },
  };
}
