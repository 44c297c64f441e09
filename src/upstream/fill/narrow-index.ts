import { setImmediate } from "node:timers/promises";
import { deleteRankings } from "../../db/index/counts/rankings.ts";
import type { IndexDatabase } from "../../db/index/database.ts";
import {
  type FollowedFids,
  networkOfIndex,
  readFollowedFids,
  writeFollowedFids,
} from "../../db/index/identity.ts";
import { messagesOf } from "../../db/index/messages/live-messages.ts";
import { putPosition } from "../../db/index/positions.ts";
import { dropFromTodo, replaceMentionedFids, todoAfter } from "../../db/index/upstream-work.ts";
import type { IngestEngine } from "../../ingest/engine.ts";
import {
  deleteAppNonce,
  deleteUserNonce,
  requestersWithNonce,
} from "../../ingest/merge/keys/gasless-key-store.ts";
import type { RelayedOp } from "../../ingest/relayed-op.ts";
import { Store } from "../../protocol/message/merge-rules.ts";
import { mentionedFids } from "../../protocol/message/signed-message.ts";
import { scopePosition, UpstreamPositions } from "../positions.ts";
import { Scope } from "../scope.ts";
import { STORES } from "./read-fid.ts";
import {
  EVENT_TYPES,
  gaslessKeyRequesters,
  storedEvents,
  storedFidAfter,
  storedKeys,
  storedMessages,
  storedProofs,
} from "./stored.ts";

export interface NarrowDeps {
  readonly db: IndexDatabase;
  /** The writer of the index, which must be its only connection. */
  readonly engine: Pick<IngestEngine, "applyRelayed">;
  /** The fids to follow. */
  readonly followed: ReadonlySet<number>;
  readonly signal: AbortSignal;
  /** Called with the number of fids examined so far. */
  readonly onProgress?: (fids: number) => void;
}

export interface NarrowReport {
  /** Messages, on-chain events, proofs and keys. */
  readonly removedRecords: number;
  /** Whether following can continue at its positions. If not, the next start reads the followed fids again. */
  readonly isComplete: boolean;
}

/** A fingerprint that no scope has, so that a start reads every fid again. */
const NARROWING = -1;
const RECORDS_PER_BATCH = 1000;
const FIDS_PER_STEP = 1000;
const TODO_PER_STEP = 1000;
/** The stores whose messages mention other fids. */
const MENTIONING: readonly Store[] = [Store.Casts, Store.Reactions, Store.Links];

/**
 * Removes what a fill of these fids would not have stored: everything of other fids except the profiles of those that the
 * followed ones mention. The event logs stay as they are.
 *
 * It can be interrupted at any moment and repeated, with the same fids or others. A node that starts in between reads its
 * fids again, whatever its settings.
 *
 * @throws the reason of `signal` when it aborts; StorageError if the index cannot be written.
 */
export async function narrowIndex(deps: NarrowDeps): Promise<NarrowReport> {
  const { db, followed, signal, onProgress } = deps;
  const positions = new UpstreamPositions(db);
  const mentioned = await mentionedBy(deps);
  const scope = new Scope(followed, mentioned);
  const complete = intersection(
    readFollowedFids(db) ?? (positions.scope === 0 ? "all" : undefined),
    followed,
  );
  const isSameScope = positions.scope === scope.fingerprint;
  db.transaction(() => {
    replaceMentionedFids(db, mentioned);
    if (isSameScope) return;
    writeFollowedFids(db, complete);
    const { key } = scopePosition(NARROWING);
    putPosition(db, key, NARROWING);
  });
  let removedRecords = 0;
  let looked = 0;
  for (let fid = storedFidAfter(db, 0); fid !== undefined; fid = storedFidAfter(db, fid)) {
    signal.throwIfAborted();
    const removed = removeSurplus(deps, scope, fid);
    removedRecords += removed;
    const isStep = ++looked % FIDS_PER_STEP === 0;
    if (isStep) onProgress?.(looked);
    // Removing takes time, so signals of the system get a turn after each fid.
    if (isStep || removed > 0) await setImmediate();
  }
  removeNonces(db, scope);
  const isComplete = isSameScope || complete?.size === followed.size;
  db.transaction(() => {
    removeTodo(db, scope);
    // Rankings name casts that are deleted. The next start computes them first.
    if (removedRecords > 0) deleteRankings(db);
    if (isSameScope || !isComplete) return;
    const { key, position } = scopePosition(scope.fingerprint);
    putPosition(db, key, position);
  });
  return { removedRecords, isComplete };
}

/** Returns the fids that live messages of the followed fids mention. */
async function mentionedBy({ db, followed, signal }: NarrowDeps): Promise<ReadonlySet<number>> {
  const network = networkOfIndex(db);
  const mentioned = new Set<number>();
  for (const fid of followed) {
    signal.throwIfAborted();
    for (const store of MENTIONING)
      for (const message of messagesOf(db, network, fid, store))
        for (const other of mentionedFids(message.decode().data))
          if (other > 0 && !followed.has(other)) mentioned.add(other);
    await setImmediate();
  }
  return mentioned;
}

function intersection(
  known: FollowedFids | undefined,
  followed: ReadonlySet<number>,
): ReadonlySet<number> | undefined {
  if (known === undefined) return undefined;
  return known === "all" ? followed : followed.intersection(known);
}

/** Removes the records of an fid that the scope does not include. Returns how many were removed. */
function removeSurplus({ db, engine }: NarrowDeps, scope: Scope, fid: number): number {
  if (scope.shareOf(fid) === "all") return 0;
  const ops: RelayedOp[] = [];
  const remove = (removals: Iterable<RemovalOp>) => {
    for (const removal of removals) ops.push({ ...removal, happenedAt: 0 });
  };
  for (const type of EVENT_TYPES)
    if (!scope.includesEvent(fid, type))
      remove(
        storedEvents(db, fid, type)
          .values()
          .map((ref) => ({ kind: "removeOnChainEvent", ref })),
      );
  const removeMessages = (store: Store) =>
    remove(
      storedMessages(db, fid, store)
        .values()
        .map((ref) => ({ kind: "remove", ref })),
    );
  for (const [store] of STORES) if (!scope.includesStore(fid, store)) removeMessages(store);
  if (!scope.includesNames(fid)) {
    // A node that followed no upstream stored the messages of proofs and keys.
    for (const store of [Store.UsernameProofs, Store.GaslessKeys]) removeMessages(store);
    remove(
      storedProofs(db, fid)
        .values()
        .map((removed) => ({ kind: "proof", removed })),
    );
  }
  remove(
    storedKeys(db, fid)
      .values()
      .map(({ key }) => ({ kind: "removeKey", fid, key })),
  );
  for (let at = 0; at < ops.length; at += RECORDS_PER_BATCH)
    engine.applyRelayed({ ops: ops.slice(at, at + RECORDS_PER_BATCH), positions: [] });
  return ops.length;
}

/** An operation without its time. */
type RemovalOp = RelayedOp extends infer Op ? (Op extends RelayedOp ? Omit<Op, "happenedAt"> : never) : never;

/** Removes the nonces of users whose keys are deleted, and of apps that no fill would request. */
function removeNonces(db: IndexDatabase, scope: Scope): void {
  const requesters = new Set(gaslessKeyRequesters(db));
  db.transaction(() => {
    for (let fid = storedFidAfter(db, 0); fid !== undefined; fid = storedFidAfter(db, fid))
      if (scope.shareOf(fid) !== "all") deleteUserNonce(db, fid);
    for (const fid of requestersWithNonce(db))
      if (scope.shareOf(fid) === "nothing" && !requesters.has(fid)) deleteAppNonce(db, fid);
  });
}

function removeTodo(db: IndexDatabase, scope: Scope): void {
  for (let page = todoAfter(db, 0, TODO_PER_STEP); page.length > 0; ) {
    for (const fid of page) if (scope.shareOf(fid) === "nothing") dropFromTodo(db, fid);
    page = todoAfter(db, page.at(-1) ?? 0, TODO_PER_STEP);
  }
}
