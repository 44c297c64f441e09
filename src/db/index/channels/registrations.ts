import {
  type ChainPosition,
  type ChannelRegistration,
  channelIdOfEvent,
  isBefore,
  registrationAfter,
} from "../../../protocol/channels/registrations.ts";
import { ChannelSlotKind } from "../../../protocol/channels/slots.ts";
import { ChannelUpdateBody } from "../../../protocol/wire/generated/message.ts";
import type { OnChainEvent } from "../../../protocol/wire/generated/on-chain.ts";
import type { IndexDatabase } from "../database.ts";
import { statement } from "../statement.ts";
import { findSlot, type StoredSlot } from "./slots.ts";

interface RegistrationRow {
  readonly channelId: Uint8Array;
  readonly id: string;
  readonly key: string;
  readonly ownerAddress: Uint8Array;
  readonly expiry: number;
  readonly posBlock: number;
  readonly posTx: number;
  readonly posLog: number;
  readonly registeredAt: number;
}

const COLUMNS = `channel_id AS channelId, id, key, owner_address AS ownerAddress, expiry, pos_block AS posBlock,
  pos_tx AS posTx, pos_log AS posLog, registered_at AS registeredAt`;

const byChannelId = statement<RegistrationRow, [channelId: Uint8Array]>(
  "channels.by-channel-id",
  `SELECT ${COLUMNS} FROM channels WHERE channel_id = ?`,
);
const byKey = statement<RegistrationRow, [key: string]>(
  "channels.by-key",
  `SELECT ${COLUMNS} FROM channels WHERE key = ?`,
);
const keysFrom = statement<{ key: string }, [after: string, limit: number]>(
  "channels.keys-from",
  "SELECT key FROM channels WHERE key > ? ORDER BY key LIMIT ?",
);
const putChannel = statement<
  unknown,
  [
    channelId: Uint8Array,
    id: string,
    key: string,
    nameKey: string,
    ownerAddress: Uint8Array,
    expiry: number,
    posBlock: number,
    posTx: number,
    posLog: number,
    registeredAt: number,
  ]
>(
  "channels.put",
  `INSERT INTO channels
     (channel_id, id, key, name_key, owner_address, expiry, pos_block, pos_tx, pos_log, registered_at)
   VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)
   ON CONFLICT (channel_id) DO UPDATE SET
     owner_address = ?5, expiry = ?6, pos_block = ?7, pos_tx = ?8, pos_log = ?9, registered_at = ?10`,
);
const setReported = statement<unknown, [channelId: Uint8Array, ownerAddress: Uint8Array, expiry: number]>(
  "channels.set-reported",
  "UPDATE channels SET owner_address = ?2, expiry = ?3 WHERE channel_id = ?1",
);
const setNameKey = statement<unknown, [channelId: Uint8Array, nameKey: string]>(
  "channels.set-name-key",
  "UPDATE channels SET name_key = ?2 WHERE channel_id = ?1",
);
const ownedByKey = statement<{ channelId: Uint8Array; id: string }, [address: Uint8Array, limit: number]>(
  "channels.owned-by-key",
  "SELECT channel_id AS channelId, id FROM channels WHERE owner_address = ? ORDER BY key LIMIT ?",
);
const ownedIds = statement<{ id: string }, [address: Uint8Array, limit: number]>(
  "channels.owned-ids",
  "SELECT id FROM channels WHERE owner_address = ? LIMIT ?",
);

/** A registered channel with its public id in the API. */
export interface StoredRegistration extends ChannelRegistration {
  readonly id: string;
}

export function findRegistration(db: IndexDatabase, channelId: Uint8Array): StoredRegistration | undefined {
  const row = db.get(byChannelId, channelId);
  return row && registrationOf(row);
}

export function findRegistrationByKey(db: IndexDatabase, key: string): StoredRegistration | undefined {
  const row = db.get(byKey, key);
  return row && registrationOf(row);
}

/** Returns the first channels of an address, in the order of their keys. */
export function channelsOfOwner(
  db: IndexDatabase,
  address: Uint8Array,
  limit: number,
): { readonly channelId: Uint8Array; readonly id: string }[] {
  return db.all(ownedByKey, address, limit);
}

/**
 * Returns the next keys after `key`, in the order of their bytes.
 *
 * @param key undefined for the first ones.
 */
export function channelKeysAfter(db: IndexDatabase, key: string | undefined, limit: number): string[] {
  return db.all(keysFrom, key ?? "", limit).map((row) => row.key);
}

function registrationOf({ posBlock, posTx, posLog, ...rest }: RegistrationRow): StoredRegistration {
  return { ...rest, position: { block: posBlock, tx: posTx, log: posLog } };
}

/** Applies an event of the registry to its channel. Returns whether it changed anything. */
export function applyRegistration(db: IndexDatabase, event: OnChainEvent): boolean {
  const channelId = channelIdOfEvent(event);
  if (!channelId) return false;
  const current = findRegistration(db, channelId);
  const next = registrationAfter(current, event);
  if (next) putRegistration(db, next);
  return next !== undefined;
}

function putRegistration(db: IndexDatabase, registration: ChannelRegistration): void {
  const { channelId, key, ownerAddress, expiry, position, registeredAt } = registration;
  const id = publicIdOf(key, channelId);
  const { block, tx, log } = position;
  const nameKey = nameKeyOf(key, settingsOf(db, channelId));
  db.run(putChannel, channelId, id, key, nameKey, ownerAddress, expiry, block, tx, log, registeredAt);
  db.invalidations.channel(id);
}

/**
 * Applies events of the registry again, in the order in which shard 0 decided them. A channel that also has events the
 * upstream only listed starts from the reported registration, which only these events change.
 *
 * @param seqnumOf returns the number of the decision about an event; undefined if it is not known.
 */
export function reapplyRegistrations(
  db: IndexDatabase,
  events: readonly OnChainEvent[],
  seqnumOf: (event: OnChainEvent) => number | undefined,
): void {
  for (const ofChannel of Map.groupBy(events, (event) => channelIdOfEvent(event)?.toHex()).values()) {
    const [channelId] = ofChannel.flatMap((event) => channelIdOfEvent(event) ?? []);
    const decided = ofChannel.flatMap((event) => {
      const seqnum = seqnumOf(event);
      return seqnum === undefined ? [] : [{ event, seqnum }];
    });
    if (!channelId || decided.length === 0) continue;
    let next: ChannelRegistration | undefined =
      decided.length < ofChannel.length ? findRegistration(db, channelId) : undefined;
    for (const { event } of decided.sort((a, b) => a.seqnum - b.seqnum))
      next = registrationAfter(next, event) ?? next;
    if (next) putRegistration(db, next);
  }
}

/** A registration as the upstream reports it. */
export interface ReportedRegistration extends Pick<ChannelRegistration, "channelId" | "expiry"> {
  /** Position of the last event that the upstream lists for it. */
  readonly listed: ChainPosition;
}

/**
 * Stores the owner and expiry of a channel as the upstream reports them, because the network ignores late events and a list
 * does not say which ones were late. An event applied after the listed ones is newer than the report.
 */
export function putReportedRegistration(
  db: IndexDatabase,
  ownerAddress: Uint8Array,
  { channelId, expiry, listed }: ReportedRegistration,
): void {
  const current = findRegistration(db, channelId);
  if (!current || isBefore(listed, current.position)) return;
  db.run(setReported, channelId, ownerAddress, expiry);
  db.invalidations.channel(current.id);
}

/** Updates a channel's derived names after its settings changed. */
export function renameChannel(db: IndexDatabase, channelId: Uint8Array): void {
  const channel = findRegistration(db, channelId);
  if (channel) db.run(setNameKey, channelId, nameKeyOf(channel.key, settingsOf(db, channelId)));
}

/** Returns the settings of a channel; undefined while it has none. */
export function settingsOf(db: IndexDatabase, channelId: Uint8Array): ChannelUpdateBody | undefined {
  const slot = findSlot(db, { channelId, kind: ChannelSlotKind.Settings, target: NO_TARGET });
  return slot && settingsIn(slot);
}

/** Decodes the settings that a slot of settings contains. */
export function settingsIn({ detail }: Pick<StoredSlot, "detail">): ChannelUpdateBody | undefined {
  return detail ? ChannelUpdateBody.decode(detail) : undefined;
}

/** The target of slots that a channel has only one of. */
export const NO_TARGET = new Uint8Array();

function nameKeyOf(key: string, settings: ChannelUpdateBody | undefined): string {
  return (settings?.name ?? key).toLowerCase();
}

/** Above this number of channels, readers clear their caches. */
const MAX_LISTED = 100;

/** Invalidates the channels of an address whose fid may have changed. */
export function ownerChanged(db: IndexDatabase, address: Uint8Array): void {
  const owned = db.all(ownedIds, address, MAX_LISTED + 1);
  if (owned.length > MAX_LISTED) db.invalidations.everything();
  else for (const { id } of owned) db.invalidations.channel(id);
}

/** Keys that could be taken for a URL, part of one, or another channel's id. */
const ODD_KEY = /[/?#\s\p{C}]|^[a-z][a-z0-9+.-]*:|^0x[0-9a-f]{64}$|^$/iu;

/** Longer ids do not fit into the cursors of lists by id. */
const MAX_ID_BYTES = 255;

/** Returns the public id of a channel: its key, or its id in hex if the key is long or could be taken for something else. */
export function publicIdOf(key: string, channelId: Uint8Array): string {
  return ODD_KEY.test(key) || Buffer.byteLength(key) > MAX_ID_BYTES ? `0x${channelId.toHex()}` : key;
}
