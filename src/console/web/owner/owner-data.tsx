import { useEffect, useRef, useState } from "preact/hooks";
import { type Page, type Pages, type PagesOptions, usePages } from "../data/pages.ts";
import { type Query, type QueryOptions, useQuery } from "../data/query.ts";
import { RequestFailure, type RequestOptions } from "../data/request.ts";
import { LoadMore } from "../parts/list-region.tsx";
import { Region, type RegionProps } from "../parts/region.tsx";
import * as msg from "../text/en/manage/owner.ts";
import type { SignedCall } from "./operation.ts";
import { owner } from "./owner.ts";
import { sessionRequest } from "./session-request.ts";

/** A request of the owner, which costs a wallet prompt without a session. */
interface Prompted {
  readonly call: SignedCall | undefined;
  /** Whether nothing was requested yet, because the wallet would have to sign it. */
  readonly costsPrompt: boolean;
  /** Prompts the wallet, then requests it from the node. */
  ask(): void;
}

export type OwnerQuery<T> = Query<T> & Prompted;
/** A list that grows by "Load more". `data` are its items. */
export type OwnerPages<T> = Pages<T> & Prompted & { readonly data: readonly T[] | undefined };

/** A placeholder for data that needs a wallet signature. */
export function SignToShow({ query }: { query: Prompted }) {
  return (
    <div class="empty row wrap">
      <span class="grow">{msg.withoutASessionEachRequestRequires}</span>
      <button type="button" class="btn" onClick={() => query.ask()}>
        {msg.signAndShow}
      </button>
    </div>
  );
}

/** A region with the owner's data; a list ends with "Load more". Without a session it has a button that costs a wallet prompt. */
export function OwnerRegion<T>({
  query,
  size,
  children,
  ...props
}: Omit<RegionProps<T>, "query" | "call"> & {
  readonly query: (OwnerQuery<T> | OwnerPages<unknown>) & { readonly data: T | undefined };
  /** The number of rows that "Load more" adds. */
  readonly size?: number;
}) {
  if (query.costsPrompt)
    return (
      <section class="card region">
        <header>
          <h2 class="grow">{props.title}</h2>
        </header>
        <SignToShow query={query} />
      </section>
    );
  const { data, isStale, loadedAtMs, call } = query;
  const pages = "loadMore" in query ? query : undefined;
  // The error of a further page is shown by "Load more".
  const error = pages && data !== undefined ? undefined : query.error;
  // Without a session, "Try again" opens a prompt, which the owner requests by the click.
  const refresh = () => (owner.peek()?.session ? query.refresh() : query.ask());
  return (
    <Region {...props} call={call} query={{ data, error, isStale, loadedAtMs, refresh }}>
      {(shown) => (
        <>
          {children(shown)}
          {pages && <LoadMore pages={pages} {...(size !== undefined && { size })} />}
        </>
      )}
    </Region>
  );
}

/** Calls that the owner has agreed to sign, each once. Only a click of the owner opens a wallet. */
const agreed = new Set<string>();

async function send<T>(call: SignedCall<T> | object, options?: RequestOptions): Promise<T> {
  const signedCall = call as SignedCall<T>;
  if (!owner.peek()?.session && !agreed.delete(signedCall.path))
    throw new RequestFailure({ status: 401, message: msg.startASessionOrSignFor });
  return sessionRequest<T>(signedCall, options);
}

/**
 * Returns whether the page may make the request, and how: with a session it does so by itself. Data that was shown stays when the session
 * ends.
 */
function useAsking(call: SignedCall | undefined) {
  const [isAsked, setAsked] = useState(false);
  const session = owner.value?.session?.id;
  const hadSession = useRef(false);
  if (session !== undefined) hadSession.current = true;
  const isAsking = owner.value !== undefined && (hadSession.current || isAsked);
  const before = useRef(session);
  return {
    call,
    isAsking,
    // Data shown to one fid must never be shown to another.
    options: { send, scope: `fid ${owner.value?.fid}` },
    everyMs: (ms: number | undefined) => (session === undefined ? undefined : ms),
    /** Adapts a list or query: without a session, its `refresh` does nothing. */
    prompted(refreshAll: () => void) {
      const refresh = () => {
        if (owner.peek()?.session) refreshAll();
      };
      // Repeats the request after a session was started.
      useEffect(() => {
        const isNew = session !== undefined && before.current !== session;
        before.current = session;
        if (isNew) refresh();
      }, [session]);
      const ask = () => {
        if (call) agreed.add(call.path);
        setAsked(true);
        if (isAsked) refreshAll();
      };
      return { call, costsPrompt: !isAsking, ask, refresh };
    },
  };
}

/**
 * Returns the response to a signed read of the owner, signed with the session's key. Without a session, the request is made only by
 * `ask`, at the cost of a prompt, and `refresh` does nothing.
 */
export function useOwnerQuery<T>(
  call: SignedCall<T> | undefined,
  options: Pick<QueryOptions, "everyMs"> = {},
): OwnerQuery<T> {
  const asking = useAsking(call);
  const everyMs = asking.everyMs(options.everyMs);
  const query = useQuery<T>(asking.isAsking ? call : undefined, { ...asking.options, everyMs });
  const { data, error, isStale, loading, loadedAtMs } = query;
  return { data, error, isStale, loading, loadedAtMs, ...asking.prompted(() => query.refresh()) };
}

/** The same, repeated every `DUE_MS` while something is due. */
export const DUE_MS = 3_000;

export function useWhileDue<T>(
  call: SignedCall<T> | undefined,
  isDue: (data: T) => boolean,
  { dueMs = DUE_MS, idleMs }: { readonly dueMs?: number; readonly idleMs?: number } = {},
): OwnerQuery<T> {
  const [isFast, setFast] = useState(false);
  const query = useOwnerQuery<T>(call, { everyMs: isFast ? dueMs : idleMs });
  const isNow = query.data !== undefined && isDue(query.data);
  useEffect(() => setFast(isNow), [isNow]);
  return query;
}

/** The same for a list that grows by "Load more". */
export function useOwnerPages<Body, T>(
  call: SignedCall<Body> | undefined,
  read: (body: Body) => Page<T>,
  options: Pick<PagesOptions, "everyMs"> = {},
): OwnerPages<T> {
  const asking = useAsking(call);
  const everyMs = asking.everyMs(options.everyMs);
  const pages = usePages(asking.isAsking ? call : undefined, read, { ...asking.options, everyMs });
  const { items, error, isStale, loading, loadedAtMs, hasMore } = pages;
  const loadMore = () => pages.loadMore();
  const shown = { data: items, items, error, isStale, loading, loadedAtMs, hasMore, loadMore };
  return { ...shown, ...asking.prompted(() => pages.refresh()) };
}
