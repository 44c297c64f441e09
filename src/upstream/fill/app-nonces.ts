import type { IndexDatabase } from "../../db/index/database.ts";
import type { OpBatcher } from "../blocks/op-batcher.ts";
import { MAX_REQUESTERS_PER_CALL, type UpstreamClient } from "../calls/client.ts";
import { Backoff, type Timings } from "../timings.ts";
import { registeredFidsAfter } from "./stored.ts";

/** Dependencies of reading the nonces of apps. */
interface AppNonceDeps {
  readonly client: UpstreamClient;
  readonly db: IndexDatabase;
  readonly batcher: OpBatcher;
  /** Number of concurrent calls. */
  readonly concurrency: number;
  readonly timings: Timings;
  readonly signal: AbortSignal;
  /** Called for a fault that is retried. */
  readonly onFault: (what: string, cause: unknown) => void;
}

const TRIES_OF_A_CALL = 3;

/**
 * Reads the nonce that each registered fid has as an app, after a full sync has read the keys of every fid. A key that
 * removed itself before its fid was read is in no list, and its removal, which is applied later, does not name the app.
 * Therefore the nonce that the full sync read for the app may be too low. Resolves when everything is written.
 *
 * @throws the last error of a call that failed several times.
 */
export async function readAppNonces(deps: AppNonceDeps): Promise<void> {
  const { db, batcher, concurrency, signal } = deps;
  const pages = pagesOfFids(db);
  const work = async () => {
    for (let page = pages.next(); !page.done && !signal.aborted; page = pages.next())
      await readPage(deps, page.value);
  };
  // Waits for all of them, even if one fails.
  for (const result of await Promise.allSettled(Array.from({ length: concurrency }, work)))
    if (result.status === "rejected") throw result.reason;
  await batcher.flush();
}

async function readPage(
  { client, batcher, timings, signal, onFault }: AppNonceDeps,
  fids: readonly number[],
): Promise<void> {
  const [first = 0] = fids;
  const backoff = new Backoff(timings);
  for (let tries = 1; !signal.aborted; tries++) {
    try {
      const { nonces } = await client.signers(first, undefined, fids);
      if (nonces.apps.length > 0) await batcher.add([{ kind: "keyNonces", nonces, happenedAt: 0 }], []);
      return;
    } catch (cause) {
      batcher.throwIfFailed();
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
