import { statement } from "../../db/index/statement.ts";
import { err, ok, type Result } from "../../lib/result.ts";
import { canonicalKey } from "../../protocol/auth-address.ts";
import { OnChainEventType } from "../../protocol/wire/generated/on-chain.ts";
import type { FidAddressTypeResponse } from "../../protocol/wire/generated/reads.ts";
import {
  activeSigners,
  type ChainEvent,
  chainEvents,
  findSigner,
  lastRegistration,
  signersBehind,
} from "./chain-events.ts";
import { type ReadContext, readListOf, readOne } from "./context.ts";
import { readKeyedList } from "./keyed-list.ts";
import type { FidQuery } from "./message-lists.ts";
import { EVENT_PAGES, type Page, type PageQuery, type RowFormat, tokenCodec } from "./page.ts";
import { BEING_FILLED, invalidParam, notFound, type Refusal } from "./refusal.ts";
import type { Needed } from "./scope.ts";
import type { ListReader } from "./turns.ts";

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

/** A list of on-chain events, in a format of the caller. */
type EventList<Query> = <Item>(
  query: Query & PageQuery,
  format: RowFormat<ChainEvent, Item>,
  reader?: ListReader,
) => Promise<Result<Page<Item>, Refusal>>;

/** Reads of on-chain events, as they were received. */
export interface ChainReads {
  /** The event that made a key active that signs messages. */
  onChainSigner(query: { fid: number; signer: Uint8Array }): Result<ChainEvent, Refusal>;
  readonly onChainSignersByFid: EventList<FidQuery>;
  /** All events of one type in chain order, unless a page size is given. */
  readonly onChainEvents: EventList<FidQuery & { readonly eventType: number }>;
  /** The last Register or Transfer event. */
  idRegistryEvent(query: FidQuery): Result<ChainEvent, Refusal>;
  /** That event of the lowest fid that an address has in custody now. */
  idRegistryEventByAddress(query: { address: Uint8Array }): Result<ChainEvent, Refusal>;
  fidAddressType(query: { fid: number; address: Uint8Array }): Result<FidAddressTypeResponse, Refusal>;
}

const signerTokens = tokenCodec("GetOnChainSignersByFid", ["int", "int"]);
const eventTokens = tokenCodec("GetOnChainEvents", ["int", "int"]);
const keyOf = ({ blockNumber, logIndex }: ChainEvent) => [blockNumber, logIndex] as const;

/** Without a page size, a response has all events: followers read no second page. */
const ALL_EVENTS = { byDefault: Number.MAX_SAFE_INTEGER, max: EVENT_PAGES.max };

/** The types of events, and what the index must have of an fid to show them. */
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
      const needed = NEEDED.get(type);
      if (needed === undefined) return invalidParam("Invalid event type");
      const list = {
        tokens: eventTokens,
        sizes: pageSize ? EVENT_PAGES : ALL_EVENTS,
        keyOf,
        read: (after: readonly [number, number] | undefined, limit: number, reverse: boolean) =>
          chainEvents(db, { type, fid, after, reverse, limit }),
      };
      return readListOf(context, { fid, needed, reader }, (turns) =>
        readKeyedList(list, { page: query, format, turns }),
      );
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
