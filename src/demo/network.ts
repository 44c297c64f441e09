import { setImmediate } from "node:timers/promises";
import { settleChannelsActive } from "../db/index/channels/follows.ts";
import { readTotals } from "../db/index/counts/totals.ts";
import type { IndexDatabase } from "../db/index/database.ts";
import { markDemo } from "../db/index/identity.ts";
import { createIngestEngine } from "../ingest/engine.ts";
import { type IngestRecord, validateRecord } from "../ingest/record.ts";
import { ok, type Result } from "../lib/result.ts";
import { buildMessage } from "../protocol/message/build-message.ts";
import { signedMessageFromWire, toWire } from "../protocol/message/signed-message.ts";
import type { Rejection } from "../protocol/rejection.ts";
import { toFarcasterSecs } from "../protocol/time.ts";
import type { ImportRecord } from "../protocol/wire/generated/hub.ts";
import { type FarcasterNetwork, MessageType } from "../protocol/wire/generated/message.ts";
import { type Clock, nowSecs } from "../runtime/clock.ts";
import { onChainEvents } from "./chain.ts";
import {
  CHANNELS_SINCE_SECS,
  channelMessages,
  channelRegistrations,
  channelTransfers,
} from "./channels/records.ts";
import { weekOfCasts } from "./contents/casts.ts";
import { weekOfReactions } from "./contents/reactions.ts";
import { createTexts } from "./contents/texts.ts";
import { socialGraph } from "./graph.ts";
import { createKeyring, type Keyring } from "./keys.ts";
import { demoPeople } from "./people.ts";
import { fnameProofs, profileMessages } from "./profiles.ts";
import { clientFidsOf, EARLIEST_ANCHOR_SECS, type PlannedMessage } from "./roster.ts";

/** One input of a node: an on-chain event, an fname proof, or a signed message. */
export type DemoRecord = NonNullable<ImportRecord["record"]>;

/**
 * Yields the records of a small social network and of its last week, in an order in which a node accepts each of them: on-chain events,
 * fname proofs, then messages by time, all within the 7 days that end at `anchorUnixSecs`. The same options produce the same bytes.
 * Another anchor produces the same users, graph and texts at other times, and identical User objects.
 *
 * @throws RangeError for an anchor before September 2025.
 */
export function* demoNetwork(options: {
  anchorUnixSecs: number;
  network: FarcasterNetwork;
}): Generator<DemoRecord, void, undefined> {
  const { anchorUnixSecs, network } = options;
  if (!Number.isSafeInteger(anchorUnixSecs) || anchorUnixSecs < EARLIEST_ANCHOR_SECS) {
    throw new RangeError(`the demo network needs an anchor of at least ${EARLIEST_ANCHOR_SECS} unix seconds`);
  }
  const keyring = createKeyring();
  const texts = createTexts();
  const people = demoPeople(texts);
  const graph = socialGraph(people);
  const casts = weekOfCasts(people, graph, texts);
  const planned = [
    ...profileMessages(people, keyring, texts),
    ...graph.messages,
    ...casts.messages,
    ...weekOfReactions(people, graph, casts.live),
  ].sort((a, b) => b.secsBeforeAnchor - a.secsBeforeAnchor);

  for (const value of onChainEvents(keyring, anchorUnixSecs, unitsFor(planned))) {
    yield { $case: "onChainEvent", value };
  }
  for (const value of fnameProofs(people, keyring)) yield { $case: "usernameProof", value };
  yield* signedMessages(planned, keyring, anchorUnixSecs, network);
}

/**
 * Yields the registered channels of the demo network, in an order in which a node accepts each record after those of `demoNetwork`:
 * registrations, then messages by time, then the transfers that park channels.
 */
export function* demoChannels(options: {
  anchorUnixSecs: number;
  network: FarcasterNetwork;
}): Generator<DemoRecord, void, undefined> {
  const { anchorUnixSecs, network } = options;
  const keyring = createKeyring();
  for (const value of channelRegistrations(keyring)) yield { $case: "onChainEvent", value };
  yield* signedMessages(channelMessages(), keyring, anchorUnixSecs, network);
  for (const value of channelTransfers(keyring, anchorUnixSecs)) yield { $case: "onChainEvent", value };
}

function* signedMessages(
  planned: readonly PlannedMessage[],
  keyring: Keyring,
  anchorUnixSecs: number,
  network: FarcasterNetwork,
): Generator<DemoRecord, void, undefined> {
  const hashes = new Map<PlannedMessage, Uint8Array>();
  const hashOf = (message: PlannedMessage): Uint8Array => {
    const hash = hashes.get(message);
    if (!hash) throw new Error(`a message of fid ${message.fid} is named before it is signed`);
    return hash;
  };
  for (const message of planned) {
    const unixSecs = anchorUnixSecs - message.secsBeforeAnchor;
    const signed = buildMessage(
      {
        type: message.type,
        fid: message.fid,
        timestamp: toFarcasterSecs(unixSecs),
        network,
        body: message.body({ unixSecs, network, hashOf }),
      },
      keyring.signer(message.fid, clientOf(message)),
    );
    hashes.set(message, signed.hash);
    yield { $case: "message", value: toWire(signed) };
  }
}

/** Users with two client apps use both. */
function clientOf(message: PlannedMessage): number {
  const clients = clientFidsOf(message.fid);
  return clients[message.secsBeforeAnchor % clients.length] ?? message.fid;
}

/** Number of messages per store that one storage unit of the newest and smallest kind holds, by message type. */
const ROOM_PER_UNIT: Partial<Record<MessageType, readonly [store: string, messages: number]>> = {
  [MessageType.MESSAGE_TYPE_CAST_ADD]: ["casts", 100],
  [MessageType.MESSAGE_TYPE_CAST_REMOVE]: ["casts", 100],
  [MessageType.MESSAGE_TYPE_REACTION_ADD]: ["reactions", 200],
  [MessageType.MESSAGE_TYPE_REACTION_REMOVE]: ["reactions", 200],
  [MessageType.MESSAGE_TYPE_LINK_ADD]: ["links", 200],
  [MessageType.MESSAGE_TYPE_LINK_REMOVE]: ["links", 200],
  [MessageType.MESSAGE_TYPE_LINK_COMPACT_STATE]: ["links", 200],
};

/** Returns the number of storage units that each fid rents, enough that nothing of the week is pruned and users can try things out. */
function unitsFor(planned: readonly PlannedMessage[]): (fid: number) => number {
  const needed = new Map<string, number>();
  for (const { fid, type } of planned) {
    const room = ROOM_PER_UNIT[type];
    if (!room) continue;
    const [store, messages] = room;
    const key = `${fid} ${store}`;
    needed.set(key, (needed.get(key) ?? 0) + 1 / messages);
  }
  const stores = ["casts", "reactions", "links"];
  return (fid) => 2 + Math.floor(Math.max(...stores.map((store) => needed.get(`${fid} ${store}`) ?? 0)));
}

const HOUR_SECS = 3600;
/** About 20 ms of signing and validating. */
const RECORDS_PER_TURN = 50;

/** Reports whether an index is empty, so that `fillWithDemo` may fill it. */
export function mayFillWithDemo(db: IndexDatabase): boolean {
  const totals = readTotals(db);
  return totals.messages + totals.on_chain_events === 0;
}

/**
 * Fills an empty index with the demo network, with the same validation and merge as for every input. Its week ends at the
 * last full hour, so that two starts within an hour produce the same bytes. All records are one commit.
 * @param options.signal ends the work before that commit, with its reason.
 * @returns the number of records.
 * @throws Error if the node refuses a record.
 */
export async function fillWithDemo({
  db,
  network,
  clock,
  signal,
}: {
  db: IndexDatabase;
  network: FarcasterNetwork;
  clock: Clock;
  signal: AbortSignal;
}): Promise<number> {
  const nowUnixSecs = nowSecs(clock);
  const anchorUnixSecs = nowUnixSecs - (nowUnixSecs % HOUR_SECS);
  const records: IngestRecord[] = [];
  const options = { anchorUnixSecs, network };
  for (const source of [demoNetwork(options), demoChannels(options)]) {
    for (const record of source) {
      const read = readRecord(record);
      if (!read.ok) throw refused(read.error);
      const refusal = validateRecord(read.value, { network, nowUnixSecs });
      if (refusal) throw refused(refusal);
      records.push(read.value);
      if (records.length % RECORDS_PER_TURN > 0) continue;
      await setImmediate();
      signal.throwIfAborted();
    }
  }
  const raise = (cause: unknown): never => {
    throw cause;
  };
  const engine = createIngestEngine({ db, network, clock, onFault: raise });
  // Written before the records, so that a crash in between leaves an empty index that is marked as a demo, never public keys without the
  // warning.
  beginDemo(db);
  for (const outcome of engine.apply(records)) if (outcome) throw refused(outcome);
  return records.length;
}

/** Marks an index as that of the demo network, in which channels are part of the protocol. */
export function beginDemo(db: IndexDatabase): void {
  markDemo(db);
  db.transaction(() => settleChannelsActive(db, { seenAt: CHANNELS_SINCE_SECS }));
}

function readRecord(record: DemoRecord): Result<IngestRecord, Rejection> {
  if (record.$case === "onChainEvent") return ok({ kind: "onChainEvent", event: record.value });
  if (record.$case === "usernameProof") return ok({ kind: "usernameProof", proof: record.value });
  const message = signedMessageFromWire(record.value);
  return message.ok ? ok({ kind: "message", message: message.value }) : message;
}

function refused({ reason }: Rejection): Error {
  return new Error(`the node refuses a record of the demo network: ${reason}`);
}
