import type { IndexDatabase } from "../../db/index/database.ts";
import { statement } from "../../db/index/statement.ts";
import { err, ok, type Result } from "../../lib/result.ts";
import { canonicalKey } from "../../protocol/auth-address.ts";
import { KEY_TYPE_ED25519 } from "../../protocol/validate/chain/gasless-key.ts";
import {
  IdRegisterEventType,
  OnChainEvent,
  OnChainEventType,
  type SignerEventBody,
  SignerEventType,
} from "../../protocol/wire/generated/on-chain.ts";
import type { FidAddressTypeResponse } from "../../protocol/wire/generated/reads.ts";
import { type Needed, type ReadContext, readList, readListOf, readOne } from "./context.ts";
import type { FidQuery } from "./lists/message-lists.ts";
import { EVENT_PAGES, type Page, type PageQuery, type RowFormat, readKeyedList, tokenCodec } from "./page.ts";
import { BEING_FILLED, invalidParam, notFound, type Refusal } from "./refusal.ts";
import type { ListReader, Turns } from "./turns.ts";

const fidOfCustody = statement<{ fid: number }, [address: Uint8Array]>(
  "hub.fid-of-custody",
  "SELECT fid FROM fids WHERE custody = ? ORDER BY fid LIMIT 1",
);
const addressTypes = statement<
  { isCustody: number; isAuth: number; isVerified: number },
  [fid: number, address: Uint8Array, key: Uint8Array]
>(
  "hub.address-types",
  `SELECT EXISTS (SELECT 1 FROM fids WHERE fid = ?1 AND custody = ?2) AS isCustody,
          EXISTS (SELECT 1 FROM signers WHERE fid = ?1 AND key = ?3 AND key_type = 2 AND state = 1) AS isAuth,
          EXISTS (SELECT 1 FROM verifications WHERE fid = ?1 AND address = ?2) AS isVerified`,
);

/** A list of on-chain events, in a format chosen by the caller. */
type EventList<Query> = <Item>(
  query: Query & PageQuery,
  format: RowFormat<ChainEvent, Item>,
  reader?: ListReader,
) => Promise<Result<Page<Item>, Refusal>>;

/** Reads of on-chain events, as they were received. */
export interface ChainReads {
  /** Returns the event that activated a message-signing key. */
  onChainSigner(query: { fid: number; signer: Uint8Array }): Result<ChainEvent, Refusal>;
  readonly onChainSignersByFid: EventList<FidQuery>;
  /** Lists all events of one type in chain order, unless a page size is given. */
  readonly onChainEvents: EventList<FidQuery & { readonly eventType: number }>;
  /** Returns the last Register or Transfer event. */
  idRegistryEvent(query: FidQuery): Result<ChainEvent, Refusal>;
  /** Returns the last such event of the lowest fid whose current custody address this is. */
  idRegistryEventByAddress(query: { address: Uint8Array }): Result<ChainEvent, Refusal>;
  fidAddressType(query: { fid: number; address: Uint8Array }): Result<FidAddressTypeResponse, Refusal>;
}

const signerTokens = tokenCodec("GetOnChainSignersByFid", ["int", "int"]);
const eventTokens = tokenCodec("GetOnChainEvents", ["int", "int"]);
const keyOf = ({ blockNumber, logIndex }: ChainEvent) => [blockNumber, logIndex] as const;

/** Without a page size, a response has all events, because followers do not read a second page. */
const ALL_EVENTS = { byDefault: Number.MAX_SAFE_INTEGER, max: EVENT_PAGES.max };

/** The types of events, each with the state of an fid that the index must have to show them. */
const NEEDED: ReadonlyMap<number, Needed> = new Map([
  [OnChainEventType.EVENT_TYPE_SIGNER, "profile"],
  [OnChainEventType.EVENT_TYPE_SIGNER_MIGRATED, "all"],
  [OnChainEventType.EVENT_TYPE_ID_REGISTER, "profile"],
  [OnChainEventType.EVENT_TYPE_STORAGE_RENT, "all"],
  [OnChainEventType.EVENT_TYPE_TIER_PURCHASE, "profile"],
]);

export function createChainReads(context: ReadContext): ChainReads {
  const { db } = context;
  return {
    onChainSigner: ({ fid, signer }) =>
      readOne(context, fid, "profile", () => {
        const active = findSigner(activeSigners(db, fid), signer);
        return active ? ok(active) : notFound("Active signer");
      }),
    onChainSignersByFid: async (query, format, reader) =>
      readListOf(context, { fid: query.fid, needed: "profile", reader }, (turns) => {
        const signers = activeSigners(db, query.fid);
        const list = {
          tokens: signerTokens,
          sizes: EVENT_PAGES,
          keyOf,
          read: (after: readonly [number, number] | undefined, limit: number, reverse: boolean) =>
            signersBehind(signers, after, reverse).slice(0, limit),
        };
        return readKeyedList(list, { page: query, format, turns });
      }),
    onChainEvents: async (query, format, reader) => {
      const { fid, eventType: type, pageSize } = query;
      const isRegistry = type === OnChainEventType.EVENT_TYPE_CHANNEL_REGISTER;
      const needed = isRegistry ? "all" : NEEDED.get(type);
      if (needed === undefined) return invalidParam("Invalid event type");
      const list = {
        tokens: eventTokens,
        sizes: pageSize ? EVENT_PAGES : ALL_EVENTS,
        keyOf,
        read: (after: readonly [number, number] | undefined, limit: number, reverse: boolean) =>
          chainEvents(db, { type, fid, after, reverse, limit }),
      };
      const read = (turns: Turns) => readKeyedList(list, { page: query, format, turns });
      // Registrations of channels belong to no fid, and every node has them.
      return isRegistry
        ? readList(context, reader, read)
        : readListOf(context, { fid, needed, reader }, read);
    },
    idRegistryEvent: ({ fid }) => readOne(context, fid, "profile", () => registration(context, fid)),
    idRegistryEventByAddress({ address }) {
      if (!context.isFilled()) return err(BEING_FILLED);
      const fid = db.get(fidOfCustody, address)?.fid;
      const event = fid === undefined ? undefined : lastRegistration(db, fid);
      return event ? ok(event) : err({ code: "not_found", reason: "no id-registry event for address" });
    },
    fidAddressType: ({ fid, address }) =>
      readOne(context, fid, "profile", () => {
        const types = db.get(addressTypes, fid, address, canonicalKey(address));
        return ok({
          isCustody: types?.isCustody === 1,
          isAuth: types?.isAuth === 1,
          isVerified: types?.isVerified === 1,
        });
      }),
  };
}

function registration({ db }: ReadContext, fid: number): Result<ChainEvent, Refusal> {
  const event = lastRegistration(db, fid);
  return event ? ok(event) : notFound("ID registry event");
}

/** An on-chain event as received, with its position in the chain. */
export interface ChainEvent {
  readonly blockNumber: number;
  readonly logIndex: number;
  readonly bytes: Uint8Array;
}

type Params = [type: number, fid: number, blockNumber: number, logIndex: number, limit: number];

const columns = "SELECT block_number AS blockNumber, log_index AS logIndex, bytes FROM on_chain_events";
const eventsAfter = statement<ChainEvent, Params>(
  "hub.chain-events",
  `${columns} WHERE type = ? AND fid = ? AND (block_number, log_index) > (?, ?)
   ORDER BY block_number, log_index LIMIT ?`,
);
const eventsBefore = statement<ChainEvent, Params>(
  "hub.chain-events-reversed",
  `${columns} WHERE type = ? AND fid = ? AND (block_number, log_index) < (?, ?)
   ORDER BY block_number DESC, log_index DESC LIMIT ?`,
);

/** Position of an event in the chain. */
type ChainPosition = readonly [blockNumber: number, logIndex: number];

/** Returns events of one type of an fid, in chain order or in reverse, after `after` or from the start. */
function chainEvents(
  db: IndexDatabase,
  query: { type: number; fid: number; after: ChainPosition | undefined; reverse: boolean; limit: number },
): ChainEvent[] {
  const { type, fid, after, reverse, limit } = query;
  const start: ChainPosition = reverse ? [Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER] : [-1, -1];
  return db.all(reverse ? eventsBefore : eventsAfter, type, fid, ...(after ?? start), limit);
}

const ALL = Number.MAX_SAFE_INTEGER;

/** Returns the last Register or Transfer event of an fid. */
function lastRegistration(db: IndexDatabase, fid: number): ChainEvent | undefined {
  const type = OnChainEventType.EVENT_TYPE_ID_REGISTER;
  return chainEvents(db, { type, fid, after: undefined, reverse: true, limit: ALL }).find(({ bytes }) => {
    const { body } = OnChainEvent.decode(bytes);
    if (body?.$case !== "idRegisterEventBody") return false;
    const { eventType } = body.value;
    return (
      eventType === IdRegisterEventType.ID_REGISTER_EVENT_TYPE_REGISTER ||
      eventType === IdRegisterEventType.ID_REGISTER_EVENT_TYPE_TRANSFER
    );
  });
}

/** An active on-chain key that signs messages, with the event that activated it. */
export interface ActiveSigner extends ChainEvent {
  readonly key: Uint8Array;
  /** Unix seconds. */
  readonly addedAt: number;
}

interface SignerHistory {
  first: ActiveSigner | undefined;
  last: ActiveSigner | undefined;
  state: SignerEventType;
  keyType: number;
}

/**
 * Returns the active message-signing keys of an fid, in the order of the events that activated them. That event is the last
 * add or, after an admin reset, the first one, because the reference node then finds the key's add again.
 */
export function activeSigners(db: IndexDatabase, fid: number): ActiveSigner[] {
  const keys = new Map<string, SignerHistory>();
  const query = { type: OnChainEventType.EVENT_TYPE_SIGNER, fid, after: undefined, reverse: false };
  for (const event of chainEvents(db, { ...query, limit: ALL })) {
    const { body, blockTimestamp } = OnChainEvent.decode(event.bytes);
    if (body?.$case === "signerEventBody") note(keys, body.value, { ...event, addedAt: blockTimestamp });
  }
  const active = [...keys.values()].flatMap((history) => activeOf(history) ?? []);
  return active.sort((a, b) => a.blockNumber - b.blockNumber || a.logIndex - b.logIndex);
}

function note(
  keys: Map<string, SignerHistory>,
  { key, keyType, eventType }: SignerEventBody,
  event: Omit<ActiveSigner, "key">,
): void {
  const name = canonicalKey(key).toHex();
  const history = keys.get(name) ?? { first: undefined, last: undefined, state: eventType, keyType: 0 };
  keys.set(name, history);
  history.state = eventType;
  if (eventType !== SignerEventType.SIGNER_EVENT_TYPE_ADD) return;
  history.keyType = keyType;
  history.last = { ...event, key };
  history.first ??= history.last;
}

function activeOf({ first, last, state, keyType }: SignerHistory): ActiveSigner | undefined {
  if (keyType !== KEY_TYPE_ED25519) return undefined;
  if (state === SignerEventType.SIGNER_EVENT_TYPE_ADD) return last;
  return state === SignerEventType.SIGNER_EVENT_TYPE_ADMIN_RESET ? first : undefined;
}

/** Returns the active key that a request names, in any form of the key. */
export function findSigner(signers: readonly ActiveSigner[], key: Uint8Array): ActiveSigner | undefined {
  const wanted = canonicalKey(key);
  return signers.find((signer) => Buffer.compare(canonicalKey(signer.key), wanted) === 0);
}

/** Returns the keys after a position, in chain order or in reverse. */
export function signersBehind(
  signers: readonly ActiveSigner[],
  after: ChainPosition | undefined,
  reverse: boolean,
): readonly ActiveSigner[] {
  const ordered = reverse ? signers.toReversed() : signers;
  if (after === undefined) return ordered;
  const sign = reverse ? -1 : 1;
  return ordered.filter(
    ({ blockNumber, logIndex }) => sign * (blockNumber - after[0] || logIndex - after[1]) > 0,
  );
}
