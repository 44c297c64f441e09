import { settleChannelsActive } from "../db/index/channels/follows.ts";
import { StoreCounts } from "../db/index/counts/store-counts.ts";
import { TotalsDelta } from "../db/index/counts/totals.ts";
import type { IndexDatabase } from "../db/index/database.ts";
import { continueRepoints } from "../db/index/project/cast-references/repoints.ts";
import { StorageError } from "../db/sqlite/storage-error.ts";
import { isChannelMessage } from "../protocol/channels/slots.ts";
import type { SignedMessage } from "../protocol/message/signed-message.ts";
import {
  CHANNELS_VERSION,
  type EngineSchedule,
  engineSchedule,
} from "../protocol/network/engine-versions.ts";
import { type Rejection, rejection } from "../protocol/rejection.ts";
import { toUnixSecs } from "../protocol/time.ts";
import type { FarcasterNetwork } from "../protocol/wire/generated/message.ts";
import { type Clock, nowSecs } from "../runtime/clock.ts";
import { type EventCause, isHistory, writeEvents } from "./events.ts";
import { OperationEvents } from "./hub-log/operation-events.ts";
import type { OwnHubLog } from "./hub-log/own-hub-log.ts";
import { admit, admitByMessages } from "./merge/admit.ts";
import { ChangeTracker } from "./merge/change-tracker.ts";
import { claimByMerge, mergeChannelMessage } from "./merge/channels.ts";
import { applyKeyMessage, renewGaslessSigner } from "./merge/keys/gasless-keys.ts";
import { SignerCache } from "./merge/keys/signer-cache.ts";
import { type MergeContext, mergeMessage } from "./merge/merge.ts";
import { MessageStore } from "./merge/message-store.ts";
import { mergeFnameProof, mergeOnChainEvent } from "./merge/registry.ts";
import { StorageLimitCache } from "./merge/storage-limits.ts";
import type { IngestRecord, MergeOutcome } from "./record.ts";
import { KeyChanges } from "./trie/key-changes.ts";
import type { RootKeeper } from "./trie/root-keeper.ts";

/** How a record is admitted. */
export interface Admission {
  /**
   * Whether the network accepted the records earlier, as with an import. A message is then admitted as of the time when it
   * was signed, so that a gasless key or a Pro tier that has since expired still counts.
   */
  readonly isHistory?: boolean;
  /** Whether the registry has already admitted the messages. */
  readonly isAdmitted?: boolean;
}

export interface IndexWriterDeps {
  readonly db: IndexDatabase;
  readonly network: FarcasterNetwork;
  readonly clock: Clock;
  /** Default: the network's schedule, without dates from the settings. */
  readonly schedule?: EngineSchedule;
  /** Called for faults that the input did not cause. */
  readonly onFault: (cause: unknown) => void;
  /** Called after each commit that wrote events. */
  readonly onEvents?: () => void;
  /** Called after each commit that logged hub events. */
  readonly onHubEvents?: () => void;
  /** Maintains the roots of the followed network's tries, if the settings say so (`trust.level`). */
  readonly roots?: RootKeeper | undefined;
}

/** The transactions of the index writer and what they share: caches, counts and the events of a commit. */
export interface IndexWriter {
  readonly counts: StoreCounts;
  readonly totals: TotalsDelta;
  readonly changes: ChangeTracker;
  /** Maintains the roots of the followed network's tries; undefined if they are not maintained. */
  readonly roots: RootKeeper | undefined;

  /**
   * Runs `work` in one transaction, which also moves rows of earlier repoints and writes the counts. Signals new events
   * after the commit.
   *
   * @param log the log for the hub events of the operations, if they are logged.
   */
  write<T>(work: (context: MergeContext) => T, log?: OwnHubLog): T;

  /** Signals hub events after the commit of the current transaction, which logged them itself. */
  signalHubEvents(): void;

  /**
   * Returns the context of operations in a transaction that the caller runs. The caller calls `flush` at the end, or
   * `discard` if it fails.
   */
  newContext(): MergeContext;
  flush(): void;

  /** Discards the changes of a transaction that was rolled back. */
  discard(): void;

  /** Discards cached data, because rows were written in another way. */
  forget(): void;

  /** Runs one operation on the network's state and writes the events of its changes. */
  withEvents<T>(context: MergeContext, cause: EventCause, operation: () => T): T;

  /** Admits and merges a record. */
  applyOne(context: MergeContext, record: IngestRecord, admission: Admission): MergeOutcome;

  /** Reports a fault and returns the outcome of the records that were not stored because of it. */
  unstored(cause: unknown): Rejection;
}

const UNSTORED = rejection("unavailable", "the node could not store the record; try again");
const DAMAGED = rejection(
  "unavailable",
  "the node stores nothing more, because its index is damaged; its operator must see to it",
);

export function createIndexWriter(deps: IndexWriterDeps): IndexWriter {
  const { db, network, clock, schedule, onFault, onEvents, onHubEvents, roots } = deps;
  const totals = new TotalsDelta(db);
  const counts = new StoreCounts(db);
  const limits = new StorageLimitCache(db);
  const changes = new ChangeTracker();
  const signers = new SignerCache();
  let dataVersion = db.dataVersion();
  const hubEvents = new OperationEvents();
  const keys = new KeyChanges(db);
  const store = new MessageStore({ db, network, totals, counts, limits, changes, hubEvents, keys });
  let hasWrittenEvents = false;
  let hasLoggedHubEvents = false;

  let isSettled = false;

  /** Runs once per process, because another program may know other dates. */
  function settleDates(): void {
    if (isSettled) return;
    const scheduledAt = (schedule ?? engineSchedule(network)).activeAt(CHANNELS_VERSION);
    settleChannelsActive(db, { scheduledAt });
  }

  function newContext(): MergeContext {
    return { db, store, limits, changes, hubEvents, signers, keys, nowSecs: nowSecs(clock) };
  }

  function write<T>(work: (context: MergeContext) => T, log?: OwnHubLog): T {
    const context = newContext();
    hasWrittenEvents = false;
    hasLoggedHubEvents = false;
    hubEvents.startTransaction(log !== undefined);
    try {
      const result = db.transaction(() => {
        forgetIfOthersWrote();
        settleDates();
        continueRepoints(db);
        const done = work(context);
        if (log) logHubEvents(log, context.nowSecs);
        flush();
        return done;
      });
      isSettled = true;
      log?.committed();
      if (hasWrittenEvents) onEvents?.();
      if (hasLoggedHubEvents) onHubEvents?.();
      return result;
    } catch (cause) {
      log?.rolledBack();
      discard();
      throw cause;
    }
  }

  function logHubEvents(log: OwnHubLog, nowSecs: number): void {
    const events = hubEvents.take();
    if (events.length === 0) return;
    log.append(events, nowSecs);
    hasLoggedHubEvents = true;
  }

  function flush(): void {
    counts.flush();
    totals.flush(db);
  }

  function discard(): void {
    keys.clear();
    store.clear();
    roots?.discard();
    totals.clear();
    forget();
  }

  /**
   * Discards cached data if another connection has written. In a running node this is the only writer, but a build of the
   * index or a tool may have written in between.
   */
  function forgetIfOthersWrote(): void {
    const current = db.dataVersion();
    if (current === dataVersion) return;
    dataVersion = current;
    db.forget();
    forget();
  }

  function forget(): void {
    counts.clear();
    limits.clear();
    signers.clear();
  }

  function withEvents<T>({ nowSecs }: MergeContext, cause: EventCause, operation: () => T): T {
    changes.start(isHistory(cause, nowSecs));
    const result = operation();
    hubEvents.endOperation();
    if (writeEvents(db, changes, cause, nowSecs) > 0) hasWrittenEvents = true;
    return result;
  }

  function applyOne(context: MergeContext, record: IngestRecord, how: Admission): MergeOutcome {
    switch (record.kind) {
      case "onChainEvent":
        return mergeOnChainEvent(context, totals, record.event);
      case "usernameProof":
        return mergeFnameProof(context, record.proof);
      case "message": {
        const { message } = record;
        const signedAtSecs = toUnixSecs(message.data.timestamp);
        const admittedAtSecs = how.isHistory ? Math.min(signedAtSecs, context.nowSecs) : context.nowSecs;
        const admission = { db, network, nowSecs: admittedAtSecs, signers };
        const refusal = (how.isAdmitted ? admitByMessages : admit)(admission, message);
        if (refusal) return refusal;
        if (applyKeyMessage(context, message)) return undefined;
        if (isChannelMessage(message.data)) return mergeChannelMessage(context, message);
        const outcome = mergeMessage(context, message);
        if (outcome) return outcome;
        if (isVerification(message)) claimByMerge(context, message);
        renewGaslessSigner(context, message);
        return undefined;
      }
    }
  }

  function unstored(cause: unknown): Rejection {
    onFault(cause);
    return cause instanceof StorageError && cause.isDamage ? DAMAGED : UNSTORED;
  }

  return {
    counts,
    totals,
    changes,
    roots,
    write,
    signalHubEvents() {
      hasLoggedHubEvents = true;
    },
    newContext,
    flush,
    discard,
    forget,
    withEvents,
    applyOne,
    unstored,
  };
}

function isVerification({ data: { body } }: SignedMessage): boolean {
  return body?.$case === "verificationAddBody" || body?.$case === "verificationRemoveBody";
}
