import { countGaslessKeys } from "../../db/index/counts/store-counts.ts";
import { statement } from "../../db/index/statement.ts";
import { ok, type Result } from "../../lib/result.ts";
import { UNKNOWN_FID } from "../../protocol/fid.ts";
import { KEY_TYPE_ED25519, MAX_GASLESS_KEYS } from "../../protocol/validate/chain/gasless-key.ts";
import { Signer, SignerSource, type SignersByFidResponse } from "../../protocol/wire/generated/state.ts";
import { type ActiveSigner, activeSigners, findSigner, signersBehind } from "./chain-reads.ts";
import { type ReadContext, readListOf, readOne } from "./context.ts";
import type { FidQuery } from "./lists/message-lists.ts";
import { EVENT_PAGES, type Page, type PageQuery, type RowFormat, readKeyedList, tokenCodec } from "./page.ts";
import { invalidParam, notFound, type Refusal } from "./refusal.ts";
import type { ListReader } from "./turns.ts";
import { encodeFields } from "./wire-bytes.ts";

interface GaslessRow {
  readonly key: Uint8Array;
  readonly fid: number;
  readonly requestFid: number;
  /** JSON. */
  readonly scopes: string;
  readonly ttlSecs: number;
  readonly addedAt: number;
  readonly lastUsedAt: number;
  readonly nonce: number;
}

const gaslessColumns = `SELECT key, fid, request_fid AS requestFid, scopes, ttl_secs AS ttlSecs,
  added_at AS addedAt, last_used_at AS lastUsedAt, nonce FROM gasless_keys`;
const gaslessKey = statement<GaslessRow, [key: Uint8Array, fid: number]>(
  "hub.gasless-key",
  `${gaslessColumns} WHERE key = ? AND fid = ?`,
);
const gaslessAfter = statement<GaslessRow, [fid: number, key: Uint8Array, limit: number]>(
  "hub.gasless-keys",
  `${gaslessColumns} WHERE fid = ? AND key > ? ORDER BY key LIMIT ?`,
);
const gaslessBefore = statement<GaslessRow, [fid: number, key: Uint8Array, limit: number]>(
  "hub.gasless-keys-reversed",
  `${gaslessColumns} WHERE fid = ? AND key < ? ORDER BY key DESC LIMIT ?`,
);
const nonceOf = statement<{ nonce: number }, [fid: number, requestFid: number]>(
  "hub.key-nonce",
  "SELECT nonce FROM key_nonces WHERE fid = ? AND request_fid = ?",
);

/** An active key of an fid: on-chain or gasless. Expired gasless keys are active until they are removed. */
export type ActiveKey =
  | { readonly source: "onChain"; readonly fid: number; readonly signer: ActiveSigner }
  | { readonly source: "gasless"; readonly row: GaslessRow };

/** The fields of a list of keys other than the keys. */
export type KeySummary = Pick<
  SignersByFidResponse,
  "gaslessSignerCount" | "gaslessSignerLimit" | "currentUserNonce" | "requesterFidNonces"
>;

export interface KeyReads {
  signer(query: { fid: number; signer: Uint8Array }): Result<ActiveKey, Refusal>;
  /** Lists on-chain keys in chain order, then gasless ones by key. */
  signersByFid<Item>(
    query: FidQuery & PageQuery & { readonly requesterFids: readonly number[] },
    format: RowFormat<ActiveKey, Item>,
    reader?: ListReader,
  ): Promise<Result<Page<Item> & { readonly summary: KeySummary }, Refusal>>;
}

const MAX_REQUESTERS = 100;
/** A key that is greater than any other. */
const LAST_KEY = Buffer.alloc(33, 0xff);

/** On-chain keys sort by 0 and their position in the chain; gasless keys by 1 and their bytes in hex. */
const tokens = tokenCodec("GetSignersByFid", ["int", "int", "int", "word"]);
type Position = readonly [place: number, blockNumber: number, logIndex: number, key: string];

export function createKeyReads(context: ReadContext): KeyReads {
  const { db } = context;
  return {
    signer: ({ fid, signer: key }) =>
      readOne(context, fid, "all", () => {
        const signer = findSigner(activeSigners(db, fid), key);
        if (signer) return ok<ActiveKey>({ source: "onChain", fid, signer });
        const row = db.get(gaslessKey, key, fid);
        return row ? ok<ActiveKey>({ source: "gasless", row }) : notFound("Active signer");
      }),
    async signersByFid(query, format, reader) {
      const { fid, requesterFids } = query;
      if (requesterFids.length > MAX_REQUESTERS)
        return invalidParam(`at most ${MAX_REQUESTERS} requester_fids can be asked for`);
      const page = await readListOf(context, { fid, needed: "all", reader }, (turns) => {
        const signers = activeSigners(db, fid);
        const list = {
          tokens,
          sizes: EVENT_PAGES,
          keyOf: positionOf,
          read: (after: Position | undefined, limit: number, reverse: boolean) =>
            readKeys(context, { fid, signers, after, limit, reverse }),
        };
        return readKeyedList(list, { page: query, format, turns });
      });
      if (!page.ok) return page;
      return ok({ ...page.value, summary: summaryOf(context, fid, requesterFids) });
    },
  };
}

function summaryOf({ db }: ReadContext, fid: number, requesterFids: readonly number[]): KeySummary {
  return {
    gaslessSignerCount: countGaslessKeys(db, fid),
    gaslessSignerLimit: MAX_GASLESS_KEYS,
    currentUserNonce: db.get(nonceOf, fid, 0)?.nonce ?? 0,
    requesterFidNonces: Object.fromEntries(
      requesterFids
        .filter((requestFid) => requestFid !== UNKNOWN_FID)
        .map((requestFid) => [requestFid, db.get(nonceOf, 0, requestFid)?.nonce ?? 0]),
    ),
  };
}

function positionOf(active: ActiveKey): Position {
  if (active.source === "gasless") return [1, 0, 0, active.row.key.toHex()];
  return [0, active.signer.blockNumber, active.signer.logIndex, ""];
}

interface KeysQuery {
  readonly fid: number;
  readonly signers: readonly ActiveSigner[];
  readonly after: Position | undefined;
  readonly limit: number;
  readonly reverse: boolean;
}

function readKeys(context: ReadContext, query: KeysQuery): ActiveKey[] {
  const onChain = () => onChainKeys(query);
  const gasless = (limit: number) => gaslessKeys(context, query, limit);
  const { limit, reverse } = query;
  const first = reverse ? gasless(limit) : onChain();
  const second = first.length >= limit ? [] : reverse ? onChain() : gasless(limit - first.length);
  return [...first, ...second].slice(0, limit);
}

function onChainKeys({ fid, signers, after, reverse }: KeysQuery): ActiveKey[] {
  const isBehindGasless = after?.[0] === 1;
  if (isBehindGasless && !reverse) return [];
  const from = after === undefined || isBehindGasless ? undefined : ([after[1], after[2]] as const);
  return signersBehind(signers, from, reverse).map((signer) => ({ source: "onChain", fid, signer }));
}

function gaslessKeys({ db }: ReadContext, { fid, after, reverse }: KeysQuery, limit: number): ActiveKey[] {
  const isBehindOnChain = after?.[0] === 0;
  if (isBehindOnChain && reverse) return [];
  const edge = reverse ? LAST_KEY : Buffer.alloc(0);
  const from = after === undefined || isBehindOnChain ? edge : Buffer.from(after[3], "hex");
  const rows = db.all(reverse ? gaslessBefore : gaslessAfter, fid, from, limit);
  return rows.map((row) => ({ source: "gasless", row }));
}

/** Encodes a key as a `Signer`. */
export function encodeKey(active: ActiveKey): Uint8Array {
  if (active.source === "onChain") {
    const { fid, signer } = active;
    return encodeFields([
      { field: 1, value: SignerSource.SIGNER_SOURCE_ONCHAIN },
      { field: 2, bytes: signer.key },
      { field: 3, value: KEY_TYPE_ED25519 },
      { field: 4, value: fid },
      { field: 5, value: signer.addedAt },
      { field: 12, bytes: signer.bytes },
    ]);
  }
  const { key, fid, requestFid, scopes, ttlSecs, addedAt, lastUsedAt, nonce } = active.row;
  return Signer.encode(
    Signer.fromPartial({
      source: SignerSource.SIGNER_SOURCE_OFFCHAIN,
      key,
      keyType: KEY_TYPE_ED25519,
      fid,
      addedAt,
      lastUsedAt,
      ttl: ttlSecs,
      expiresAt: lastUsedAt + ttlSecs,
      scopes: JSON.parse(scopes),
      requestFid,
      nonce,
    }),
  ).finish();
}
