import { useState } from "preact/hooks";
import { type Page, type Pages, usePages } from "../data/pages.ts";
import { type Query, type QueryOptions, useQuery } from "../data/query.ts";
import type { RequestOptions } from "../data/request.ts";
import { owner } from "./owner.ts";
import { type SignedCall, sessionRequest } from "./session-request.ts";

/** A request of the owner that costs a prompt of the wallet while there is no session. */
export interface Prompted {
  /** Whether the wallet has to sign each request: nothing is asked for until somebody wants it. */
  readonly costsPrompt: boolean;
  /** Asks the wallet, then the node. */
  ask(): void;
}

export type OwnerQuery<T> = Query<T> & Prompted;
export type OwnerPages<T> = Pages<T> & Prompted;

const send = <T>(call: SignedCall | object, options?: RequestOptions): Promise<T> =>
  sessionRequest<T>(call as SignedCall, options);

/** Whether the page may ask now: a session signs, or the visitor has agreed to a prompt. */
function useAsking(): { readonly isAsking: boolean; readonly hasSession: boolean; readonly ask: () => void } {
  const [isAsked, setAsked] = useState(false);
  const hasSession = owner.value?.session !== undefined;
  const isAsking = owner.value !== undefined && (hasSession || isAsked);
  return { isAsking, hasSession, ask: () => setAsked(true) };
}

/**
 * The response to a signed read of the owner. The key of the session signs it. Without a session it is asked for by `ask`, at the cost of
 * a prompt, and not again by itself.
 */
export function useOwnerQuery<T>(call: SignedCall | undefined, options: QueryOptions = {}): OwnerQuery<T> {
  const { isAsking, hasSession, ask } = useAsking();
  const everyMs = hasSession ? options.everyMs : undefined;
  const query = useQuery<T>(isAsking ? call : undefined, { send, everyMs });
  const { data, error, loading, loadedAtMs } = query;
  const refresh = () => query.refresh();
  return { data, error, loading, loadedAtMs, refresh, costsPrompt: !isAsking, ask };
}

/** The same for a list that grows by "Load more". */
export function useOwnerPages<T>(
  call: SignedCall | undefined,
  // biome-ignore lint/suspicious/noExplicitAny: a response of the API; its type is the caller's to state
  read: (body: any) => Page<T>,
): OwnerPages<T> {
  const { isAsking, ask } = useAsking();
  const pages = usePages<T>(isAsking ? call : undefined, read, send);
  const { items, error, loading, loadedAtMs, hasMore } = pages;
  const loadMore = () => pages.loadMore();
  const refresh = () => pages.refresh();
  return { items, error, loading, loadedAtMs, hasMore, loadMore, refresh, costsPrompt: !isAsking, ask };
}
