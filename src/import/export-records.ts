import { channelsActiveAt } from "../db/index/channels/follows.ts";
import { channelKeysAfter, findRegistrationByKey } from "../db/index/channels/registrations.ts";
import { slotsOfChannel } from "../db/index/channels/slots.ts";
import type { IndexDatabase } from "../db/index/database.ts";
import { type LiveMessage, messagesOf } from "../db/index/messages/live-messages.ts";
import { onChainEventBytes } from "../db/index/project/on-chain.ts";
import { fnameProofsOf } from "../db/index/project/profile.ts";
import { statement } from "../db/index/statement.ts";
import { fidWithKeysAfter } from "../db/index/trie/derived-keys.ts";
import type { EncodedRecord } from "../ingest/record.ts";
import { Store } from "../protocol/message/merge-rules.ts";
import { CHANNELS_VERSION, engineSchedule } from "../protocol/network/engine-versions.ts";
import { type FarcasterNetwork, UserNameProof } from "../protocol/wire/generated/message.ts";
import { OnChainEventType } from "../protocol/wire/generated/on-chain.ts";

const supporters = statement<{ fid: number }, [fid: number]>(
  "export.supporters",
  `SELECT fid FROM storage_lends WHERE to_fid = ?1
   UNION SELECT request_fid FROM gasless_keys WHERE fid = ?1`,
);

export interface ExportSource {
  /** A connection inside a read transaction, so that its data does not change. */
  readonly db: IndexDatabase;
  readonly network: FarcasterNetwork;
}

/**
 * Returns the entry of `protocol.engine_versions` that another node needs to accept the channels of an index. Undefined if the node
 * accepts them without one, and for an index without channels.
 */
export function undatedChannels(db: IndexDatabase, network: FarcasterNetwork): string | undefined {
  const activeAt = channelsActiveAt(db);
  const scheduledAt = engineSchedule(network).activeAt(CHANNELS_VERSION);
  if (activeAt === undefined || (scheduledAt !== undefined && scheduledAt <= activeAt)) return undefined;
  return `${CHANNELS_VERSION}=${activeAt}`;
}

const EVENT_TYPES = Object.values(OnChainEventType).filter(
  (type): type is OnChainEventType => typeof type === "number" && type > 0,
);
/**
 * Stores in order of their dependencies: signers, and storage that other accounts borrow; names and addresses before the user data that
 * refers to them; casts before messages that refer to them, which makes the import of the latter cheaper.
 */
const STORES: readonly (readonly Store[])[] = [
  [Store.GaslessKeys, Store.StorageLends],
  [Store.UsernameProofs, Store.Verifications, Store.UserData, Store.Casts],
  [Store.Links, Store.Reactions],
];
/** Channel registrations and released names belong to no account. */
const NO_ACCOUNT = 0;
const CHANNELS_PER_READ = 100;

/**
 * Yields the contents of an index as records of an import file, in an order in which a node accepts them: on-chain events and names of all
 * accounts, then their messages store by store, then the messages of channels. Removed records, and values that no one signed, are left
 * out. Only the messages of one account in one store are in memory.
 *
 * @param fids the accounts to export. Registrations of accounts that lent storage to them or requested their keys are included. Undefined
 *   for all.
 */
export function* exportedRecords(
  { db, network }: ExportSource,
  fids?: readonly number[],
): Generator<EncodedRecord> {
  const named = fids && new Set(fids);
  const others = new Set(fids?.flatMap((fid) => db.all(supporters, fid).map((one) => one.fid)));
  for (const fid of fids ?? []) others.delete(fid);
  const accounts = () => named ?? allFids(db);
  for (const fid of others) yield* eventsOf(db, fid);
  for (const fid of accounts()) {
    yield* eventsOf(db, fid);
    for (const proof of fnameProofsOf(db, fid))
      yield { kind: "usernameProof", bytes: UserNameProof.encode(proof).finish() };
  }
  for (const fid of others) yield* messagesIn(db, network, fid, Store.StorageLends);
  for (const stores of STORES)
    for (const fid of accounts()) for (const store of stores) yield* messagesIn(db, network, fid, store);
  if (!named) yield* channelMessages(db);
}

function* eventsOf(db: IndexDatabase, fid: number): Generator<EncodedRecord> {
  for (const type of EVENT_TYPES)
    for (const bytes of onChainEventBytes(db, type, fid)) yield { kind: "onChainEvent", bytes };
}

function* allFids(db: IndexDatabase): Generator<number> {
  for (let fid: number | undefined = NO_ACCOUNT; fid !== undefined; fid = fidWithKeysAfter(db, fid))
    yield fid;
}

function* messagesIn(
  db: IndexDatabase,
  network: FarcasterNetwork,
  fid: number,
  store: Store,
): Generator<EncodedRecord> {
  const messages = messagesOf(db, network, fid, store);
  // The nonces of an account must rise.
  const ordered =
    store === Store.GaslessKeys ? [...messages].toSorted((a, b) => nonceOf(a) - nonceOf(b)) : messages;
  for (const message of ordered) yield { kind: "message", bytes: message.encode() };
}

function nonceOf(message: LiveMessage): number {
  const { body } = message.decode().data;
  return body?.$case === "keyAddBody" ? body.value.nonce : 0;
}

/**
 * Yields the messages that hold the slots of channels, ordered by time within each channel, because a decision must follow the
 * appointment of its author.
 */
function* channelMessages(db: IndexDatabase): Generator<EncodedRecord> {
  let after: string | undefined;
  for (;;) {
    const keys = channelKeysAfter(db, after, CHANNELS_PER_READ);
    for (const key of keys) {
      const channel = findRegistrationByKey(db, key);
      const slots = channel ? slotsOfChannel(db, channel.channelId) : [];
      for (const { message } of slots.toSorted((a, b) => a.timestamp - b.timestamp))
        if (message) yield { kind: "message", bytes: message };
    }
    after = keys.at(-1);
    if (keys.length < CHANNELS_PER_READ) return;
  }
}
