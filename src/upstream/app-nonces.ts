import type { IndexDatabase } from "../db/index/database.ts";
import { MAX_REQUESTERS_PER_CALL, type UpstreamClient } from "./client.ts";
import type { OpBatcher } from "./op-batcher.ts";
import { registeredFidsAfter } from "./stored.ts";
import { Backoff, type Timings } from "./timings.ts";

/** What reading the nonces of apps works with. */
export interface AppNonceContext {
  readonly client: UpstreamClient;
  readonly db: IndexDatabase;
  readonly batcher: OpBatcher;
  /** Calls in flight. */
  readonly concurrency: number;
  readonly pace: Timings;
  readonly signal: AbortSignal;
  /** Told of a fault that is recovered from. */
  readonly onFault: (what: string, cause: unknown) => void;
}

const TRIES_OF_A_CALL = 3;

/**
 * Reads the nonce that each registered fid has as an app, behind a pass that read the keys of every fid. A key that removed
 * itself before its fid was read is in no list, and its removal, which is applied later, names no app; so what the pass
 * itself learnt of an app's nonce may be too low. Resolves when everything is written.
 *
 * @throws what the last of several tries of a call threw.
 */
export async function readAppNonces(context: AppNonceContext): Promise<void> {
  const { db, batcher, concurrency, signal } = context;
  const pages = pagesOfFids(db);
  const work = async () => {
    for (let page = pages.next(); !page.done && !signal.aborted; page = pages.next())
      await readPage(context, page.value);
  };
  // All of them end before anything else does, also when one of them fails.
  for (const result of await Promise.allSettled(Array.from({ length: concurrency }, work)))
    if (result.status === "rejected") throw result.reason;
  await batcher.drained();
}

async function readPage(
  { client, batcher, pace, signal, onFault }: AppNonceContext,
  fids: readonly number[],
): Promise<void> {
  const [first = 0] = fids;
  const backoff = new Backoff(pace);
  for (let tries = 1; !signal.aborted; tries++) {
    try {
      const { nonces } = await client.signers(first, undefined, fids);
      if (nonces.apps.length > 0) await batcher.add([{ kind: "keyNonces", nonces, happenedAt: 0 }], []);
      return;
    } catch (cause) {
      batcher.assertSound();
      if (tries === TRIES_OF_A_CALL) throw cause;
      if (!signal.aborted) onFault(`the nonces of apps from fid ${first} on could not be read`, cause);
      await backoff.wait(signal);
    }
  }
}

function* pagesOfFids(db: IndexDatabase): Generator<readonly number[]> {
  for (let page = registeredFidsAfter(db, 0, MAX_REQUESTERS_PER_CALL); page.length > 0; ) {
    yield page;
    page = registeredFidsAfter(db, page.at(-1) ?? 0, MAX_REQUESTERS_PER_CALL);
  }
}
