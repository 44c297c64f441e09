import { batch, type Signal, signal } from "@preact/signals";
import { useEffect, useMemo } from "preact/hooks";
import type { Pulse } from "../../pulse/pulse.ts";
import { type Call, get, type User } from "./call.ts";
import { startPolling } from "./polling.ts";
import { apiKey, RequestFailure, request } from "./request.ts";
import { isVisible } from "./visibility.ts";

/** The response to a call as seen by a component. Reading it subscribes the component. */
export interface Query<T> {
  /** The last response; it stays while a newer one is loading, and if that fails. */
  readonly data: T | undefined;
  readonly error: RequestFailure | undefined;
  /** Whether `data` is out of date: the last call failed, or the node has not responded for two intervals. */
  readonly isStale: boolean;
  readonly loading: boolean;
  /** When the last response arrived, in ms of `Date.now()`; 0 without one. */
  readonly loadedAtMs: number;
  refresh(): void;
}

export interface QueryOptions {
  /** Repeats the call this many ms after each response while the tab is visible; later after failures. */
  readonly everyMs?: number | undefined;
  /** Whose response it is, if the same call returns different ones. */
  readonly scope?: string | undefined;
  /** How the call is made. Default: a plain request. */
  readonly send?: typeof request;
}

/** How many responses that no component shows stay in memory, for going back. */
const MAX_KEPT = 60;
/** The longest delay of a query that fails repeatedly, but never shorter than its normal interval. */
const MAX_FAILED_MS = 10_000;

class Entry<T> implements Query<T> {
  readonly #call: Call<T>;
  readonly #send: typeof request;
  readonly #data: Signal<T | undefined> = signal(undefined);
  readonly #error = signal<RequestFailure | undefined>(undefined);
  readonly #loading = signal(false);
  readonly #late = signal(false);
  #abort: AbortController | undefined;
  #asking: Promise<void> = Promise.resolve();
  #users = 0;
  loadedAtMs = 0;

  constructor(call: Call<T>, send: typeof request) {
    this.#call = call;
    this.#send = send;
  }

  get data() {
    return this.#data.value;
  }
  get error() {
    return this.#error.value;
  }
  get loading() {
    return this.#loading.value;
  }
  get isStale() {
    return this.#late.value || this.#error.value !== undefined;
  }

  setLate(isLate: boolean): void {
    this.#late.value = isLate;
  }

  refresh(): void {
    // Failures are in `error`.
    this.ask().catch(() => undefined);
  }

  /** Makes the call, or waits for the one in progress. Throws `RequestFailure`. */
  ask(): Promise<void> {
    if (!this.#abort) this.#asking = this.#ask();
    return this.#asking;
  }

  async #ask(): Promise<void> {
    const abort = new AbortController();
    this.#abort = abort;
    this.#loading.value = true;
    try {
      const data = await this.#send(this.#call, { signal: abort.signal });
      this.#settle(abort, data, undefined);
    } catch (cause) {
      if (abort.signal.aborted) return;
      const failure = toFailure(cause);
      this.#settle(abort, undefined, failure);
      throw failure;
    } finally {
      if (this.#abort === abort) {
        this.#abort = undefined;
        this.#loading.value = false;
      }
    }
  }

  #settle(abort: AbortController, data: T | undefined, error: RequestFailure | undefined): void {
    if (this.#abort !== abort) return;
    batch(() => {
      this.#error.value = error;
      if (error) return;
      this.#data.value = data;
      this.#late.value = false;
      this.loadedAtMs = Date.now();
    });
  }

  acquire(): void {
    this.#users++;
    shown.add(this);
  }

  /** The last component that stops using it aborts the request. */
  release(): void {
    this.#users--;
    if (this.#users > 0) return;
    shown.delete(this);
    this.#abort?.abort();
    this.#abort = undefined;
    this.#loading.value = false;
  }

  get isAsking() {
    return this.#abort !== undefined;
  }

  get isShown() {
    return this.#users > 0;
  }
}

function toFailure(cause: unknown): RequestFailure {
  if (cause instanceof RequestFailure) return cause;
  return new RequestFailure({ status: 0, message: cause instanceof Error ? cause.message : String(cause) });
}

const shown = new Set<{ refresh(): void }>();
const entries = new Map<string, Entry<unknown>>();

function entryOf<T>(key: string, call: Call<T>, send: typeof request): Entry<T> {
  const known = entries.get(key);
  const entry = known ?? new Entry<unknown>(call, send);
  // The map is in order of use, oldest first.
  entries.delete(key);
  entries.set(key, entry);
  for (const [oldKey, old] of entries) {
    if (entries.size <= MAX_KEPT) break;
    if (!old.isShown && old !== entry) entries.delete(oldKey);
  }
  return entry as Entry<T>;
}

/** Drops all responses that are not shown, for instance because the owner has changed, and reloads those that are. */
export function forgetResponses(): void {
  for (const [key, entry] of entries) if (!entry.isShown) entries.delete(key);
  refreshShown();
}

/** Adds something that the page shows without a query, so that it is refreshed with the rest. Returns a function that removes it. */
export function addShown(part: { refresh(): void }): () => void {
  shown.add(part);
  return () => shown.delete(part);
}

/** Reloads everything that the page shows. */
export function refreshShown(): void {
  for (const entry of shown) entry.refresh();
}

const NOTHING: Query<never> = {
  data: undefined,
  error: undefined,
  isStale: false,
  loading: false,
  loadedAtMs: 0,
  refresh: () => undefined,
};

/**
 * Returns the response to `call`, shared by all components that make the same call. It is requested when the first component appears, and
 * aborted when the last one leaves. Without a call, nothing is requested.
 */
export function useQuery<T>(call: Call<T> | undefined, options: QueryOptions = {}): Query<T> {
  const { everyMs, send = request, scope = "" } = options;
  const key =
    call && `${scope} ${call.op ?? ""} ${call.method} ${call.path} ${JSON.stringify(call.body) ?? ""}`;
  const entry = useMemo(() => call && key && entryOf<T>(key, call, send), [key]) || undefined;
  const credential = apiKey.value;
  useEffect(() => {
    if (!entry) return;
    entry.acquire();
    entry.refresh();
    return () => entry.release();
  }, [entry, credential]);
  useEffect(() => {
    if (!entry || everyMs === undefined) return;
    const maxMs = Math.max(everyMs, MAX_FAILED_MS);
    const waitsFirst = !entry.isAsking;
    const onLate = (isLate: boolean) => entry.setLate(isLate);
    return startPolling(() => entry.ask(), { everyMs, maxMs, isVisible, waitsFirst, onLate }).stop;
  }, [entry, everyMs, credential]);
  return entry ?? (NOTHING as Query<T>);
}

/** Maximum number of users in one request. */
const MAX_PEOPLE = 100;

/** Returns the users of some fids, by fid; those that the node does not have are omitted. */
export function usePeople(fids: readonly number[]): ReadonlyMap<number, User> {
  const wanted = [...new Set(fids)].sort((a, b) => a - b).slice(0, MAX_PEOPLE);
  const call = wanted.length === 0 ? undefined : get("/user/bulk", { fids: wanted });
  const users = useQuery(call).data?.users;
  return useMemo(() => new Map(users?.map((user) => [user.fid, user])), [users]);
}

export type { Pulse };

const EVERY_MS = 5000;

/** Returns the state of the node, polled every 5 seconds while the tab is visible. */
export const usePulse = (): Query<Pulse> =>
  useQuery({ method: "GET", path: "/console/api/pulse" }, { everyMs: EVERY_MS });
