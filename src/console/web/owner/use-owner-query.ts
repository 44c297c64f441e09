import { useEffect, useRef, useState } from "preact/hooks";
import { type Page, type Pages, type PagesOptions, usePages } from "../data/pages.ts";
import { type Query, type QueryOptions, useQuery } from "../data/query.ts";
import { RequestFailure, type RequestOptions } from "../data/request.ts";
import { owner } from "./owner.ts";
import { type SignedCall, sessionRequest } from "./session-request.ts";

/** A request of the owner that costs a prompt of the wallet while there is no session. */
export interface Prompted {
  /** Whether nothing was asked for yet, because the wallet would have to sign it. */
  readonly costsPrompt: boolean;
  /** Asks the wallet, then the node. */
  ask(): void;
}

export type OwnerQuery<T> = Query<T> & Prompted;
export type OwnerPages<T> = Pages<T> & Prompted;

/** Calls that the owner has agreed to sign: each once. Only a click of the owner opens a wallet. */
const agreed = new Set<string>();

async function send<T>(call: SignedCall | object, options?: RequestOptions): Promise<T> {
  const signed = call as SignedCall;
  if (!owner.peek()?.session && !agreed.delete(signed.path))
    throw new RequestFailure({ status: 401, message: "Start a session, or sign for this once." });
  return sessionRequest<T>(signed, options);
}

/** Whether the page may ask, and how: with a session it does by itself; what it showed then stays when the session ends. */
function useAsking(call: SignedCall | undefined) {
  const [isAsked, setAsked] = useState(false);
  const session = owner.value?.session?.id;
  const hadSession = useRef(false);
  if (session !== undefined) hadSession.current = true;
  const isAsking = owner.value !== undefined && (hadSession.current || isAsked);
  const agree = () => {
    if (call) agreed.add(call.path);
    setAsked(true);
  };
  // What one fid was shown is never shown to another one.
  return { isAsking, session, isAsked, agree, scope: `fid ${owner.value?.fid}` };
}

/** Asks again after a session was started. */
function useSessionStart(session: string | undefined, refresh: () => void): void {
  const before = useRef(session);
  useEffect(() => {
    const isNew = session !== undefined && before.current !== session;
    before.current = session;
    if (isNew) refresh();
  }, [session]);
}

/**
 * The response to a signed read of the owner. The key of the session signs it. Without a session it is asked for by `ask`, at the cost of
 * a prompt, and never by itself: `refresh` does nothing then.
 */
export function useOwnerQuery<T>(call: SignedCall | undefined, options: QueryOptions = {}): OwnerQuery<T> {
  const { isAsking, session, isAsked, agree, scope } = useAsking(call);
  const everyMs = session === undefined ? undefined : options.everyMs;
  const query = useQuery<T>(isAsking ? call : undefined, { send, everyMs, scope });
  const { data, error, isStale, loading, loadedAtMs } = query;
  const refresh = () => {
    if (owner.peek()?.session) query.refresh();
  };
  const ask = () => {
    agree();
    if (isAsked) query.refresh();
  };
  useSessionStart(session, refresh);
  return { data, error, isStale, loading, loadedAtMs, refresh, costsPrompt: !isAsking, ask };
}

/** The same for a list that grows by "Load more". */
export function useOwnerPages<T>(
  call: SignedCall | undefined,
  // biome-ignore lint/suspicious/noExplicitAny: a response of the API; its type is the caller's to state
  read: (body: any) => Page<T>,
  options: Pick<PagesOptions, "everyMs"> = {},
): OwnerPages<T> {
  const { isAsking, session, isAsked, agree, scope } = useAsking(call);
  const everyMs = session === undefined ? undefined : options.everyMs;
  const pages = usePages<T>(isAsking ? call : undefined, read, { send, scope, everyMs });
  const { items, error, isStale, loading, loadedAtMs, hasMore } = pages;
  const loadMore = () => pages.loadMore();
  const refresh = () => {
    if (owner.peek()?.session) pages.refresh();
  };
  const ask = () => {
    agree();
    if (isAsked) pages.refresh();
  };
  useSessionStart(session, refresh);
  return {
    items,
    error,
    isStale,
    loading,
    loadedAtMs,
    hasMore,
    loadMore,
    refresh,
    costsPrompt: !isAsking,
    ask,
  };
}
