import { signal } from "@preact/signals";
import { useEffect, useMemo } from "preact/hooks";
import { atCursor, type Call } from "./call.ts";
import { startPolling } from "./polling.ts";
import { apiKey, RequestFailure, request } from "./request.ts";
import { isVisible } from "./visibility.ts";

/** A list that grows with "Load more", one page of the API at a time. */
export interface Pages<T> {
  readonly items: readonly T[] | undefined;
  readonly error: RequestFailure | undefined;
  /** Whether the items are out of date: the first page could not be reloaded, or the node has not responded for two intervals. */
  readonly isStale: boolean;
  readonly loading: boolean;
  readonly hasMore: boolean;
  /** When the first page arrived, in ms of `Date.now()`. */
  readonly loadedAtMs: number;
  loadMore(): void;
  /** Starts over with the first page; the old items stay until it has arrived. */
  refresh(): void;
}

/** A page of a list. */
export interface Page<T> {
  readonly items: readonly T[];
  /** The cursor of the next page. */
  readonly next: string | null | undefined;
}

/** Returns a reader for list pages whose items are in the member `name` of the response. */
export const listOf =
  <Name extends string>(name: Name) =>
  <T>(
    body: { readonly [N in Name]: readonly T[] } & {
      readonly next?: { readonly cursor: string | null } | undefined;
    },
  ): Page<T> => ({ items: body[name], next: body.next?.cursor });

/** How many lists that no component shows stay in memory, so that going back shows them at their full length. */
const MAX_KEPT = 20;

/** The longest wait for a list that fails repeatedly. */
const MAX_FAILED_MS = 10_000;

/** The lists that components currently show. */
const shown = new Set<PagedList<unknown>>();

/** Reloads the first page of every list on the page. */
export function refreshLists(): void {
  for (const list of shown) list.refresh();
}

class PagedList<T> implements Pages<T> {
  readonly #call: Call<never>;
  readonly #read: (body: never) => Page<T>;
  readonly #send: typeof request;
  readonly #items = signal<readonly T[] | undefined>(undefined);
  readonly #error = signal<RequestFailure | undefined>(undefined);
  readonly #loading = signal(false);
  readonly #stale = signal(false);
  readonly #cursor = signal<string | null | undefined>(undefined);
  #abort: AbortController | undefined;
  loadedAtMs = 0;

  constructor(call: Call<never>, read: (body: never) => Page<T>, send: typeof request) {
    this.#call = call;
    this.#read = read;
    this.#send = send;
  }

  get items() {
    return this.#items.value;
  }
  get error() {
    return this.#error.value;
  }
  get loading() {
    return this.#loading.value;
  }
  get isStale() {
    return this.#stale.value;
  }
  get hasMore() {
    return typeof this.#cursor.value === "string";
  }

  loadMore(): void {
    const cursor = this.#cursor.peek();
    if (typeof cursor === "string" && !this.#loading.peek())
      void this.#load(atCursor(this.#call, cursor), this.#items.peek() ?? []);
  }

  refresh(): void {
    this.leave();
    void this.#load(this.#call, []);
  }

  /** Requests the first page again every `everyMs`, unless a page is loading. Returns a function that stops this. */
  poll(everyMs: number): () => void {
    const ask = async () => {
      if (this.#loading.peek()) return;
      this.leave();
      await this.#load(this.#call, []);
      if (this.#error.peek()) throw this.#error.peek();
    };
    const onLate = (isLate: boolean) => {
      this.#stale.value = isLate;
    };
    // A list from an earlier visit may lack what the visitor has just added.
    const waitsFirst = this.#items.peek() === undefined;
    return startPolling(ask, { everyMs, maxMs: MAX_FAILED_MS, isVisible, waitsFirst, onLate }).stop;
  }

  leave(): void {
    this.#abort?.abort();
    this.#abort = undefined;
    this.#loading.value = false;
  }

  async #load(call: Call<never>, before: readonly T[]): Promise<void> {
    const abort = new AbortController();
    this.#abort = abort;
    this.#loading.value = true;
    try {
      const { items, next } = this.#read(await this.#send(call, { signal: abort.signal }));
      if (this.#abort !== abort) return;
      if (before.length === 0) {
        this.loadedAtMs = Date.now();
        this.#stale.value = false;
      }
      this.#error.value = undefined;
      this.#items.value = [...before, ...items];
      this.#cursor.value = next;
    } catch (cause) {
      if (this.#abort !== abort || abort.signal.aborted) return;
      if (before.length === 0) this.#stale.value = true;
      this.#error.value =
        cause instanceof RequestFailure ? cause : new RequestFailure({ status: 0, message: String(cause) });
    } finally {
      if (this.#abort === abort) {
        this.#abort = undefined;
        this.#loading.value = false;
      }
    }
  }
}

const lists = new Map<string, PagedList<unknown>>();

function sharedList<T>(
  key: string,
  call: Call<never>,
  read: (body: never) => Page<T>,
  send: typeof request,
): PagedList<T> {
  const list = lists.get(key) ?? new PagedList<unknown>(call, read, send);
  lists.delete(key);
  lists.set(key, list);
  const oldest = lists.keys().next().value;
  if (lists.size > MAX_KEPT && oldest !== undefined) lists.delete(oldest);
  return list as PagedList<T>;
}

const NOTHING: Pages<never> = {
  items: undefined,
  error: undefined,
  isStale: false,
  loading: false,
  hasMore: false,
  loadedAtMs: 0,
  loadMore: () => undefined,
  refresh: () => undefined,
};

export interface PagesOptions {
  /** How the call is made. Default: a plain request. */
  readonly send?: typeof request;
  /** Whose list it is, if the same call returns different ones. */
  readonly scope?: string;
  /** The delay in ms between a response and the next request for the first page while the tab is visible; longer after failures. */
  readonly everyMs?: number | undefined;
}

/** Returns the list of `call`, whose pages `read` parses. A list that was loaded before is shown unchanged. */
export function usePages<Body, T>(
  call: Call<Body> | undefined,
  read: (body: Body) => Page<T>,
  { send = request, scope = "", everyMs }: PagesOptions = {},
): Pages<T> {
  const credential = apiKey.value;
  const key = call && `${scope} ${call.op ?? ""} ${call.path}`;
  const list =
    useMemo(() => call && key && sharedList<T>(key, call as Call<never>, read, send), [key]) || undefined;
  useEffect(() => {
    if (!list) return;
    shown.add(list as PagedList<unknown>);
    if (list.items === undefined || list.error) list.refresh();
    return () => {
      shown.delete(list as PagedList<unknown>);
      list.leave();
    };
  }, [list, credential]);
  useEffect(() => (everyMs === undefined ? undefined : list?.poll(everyMs)), [list, everyMs]);
  return list ?? (NOTHING as Pages<T>);
}

const EVERY_MS = 60_000;

/** Items that were added to a list since it was loaded. The rows do not move until the visitor asks for it. */
export interface Newer {
  readonly count: number;
  /** Whether the node has not responded for two intervals. */
  readonly isStale: boolean;
  /** Reloads the list. */
  show(): void;
}

/** Returns how many items of the current first page are not in the list. */
function countNewer<T>(
  shown: readonly T[],
  first: readonly T[],
  keyOf: (item: T) => string | number,
): number {
  const known = new Set(shown.map(keyOf));
  return first.filter((item) => !known.has(keyOf(item))).length;
}

/** Requests the first page of a list each minute while the tab is visible, and counts the new items. */
export function useNewer<Body, T>(
  call: Call<Body> | undefined,
  read: (body: Body) => Page<T>,
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
      // A list from an earlier visit is shown unchanged.
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
