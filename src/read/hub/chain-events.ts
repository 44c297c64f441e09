import type { IndexDatabase } from "../../db/index/database.ts";
import { statement } from "../../db/index/statement.ts";
import { canonicalKey } from "../../protocol/auth-address.ts";
import { KEY_TYPE_ED25519 } from "../../protocol/validate/gasless-key.ts";
import {
  IdRegisterEventType,
  OnChainEvent,
  OnChainEventType,
  type SignerEventBody,
  SignerEventType,
} from "../../protocol/wire/generated/on-chain.ts";

/** An on-chain event as it was received, with its place in the chain. */
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

/** The place of an event in the chain. */
export type ChainPosition = readonly [blockNumber: number, logIndex: number];

/** Returns events of one type of an fid, in chain order or in reverse, behind `after` or from the start. */
export function chainEvents(
  db: IndexDatabase,
  query: { type: number; fid: number; after: ChainPosition | undefined; reverse: boolean; limit: number },
): ChainEvent[] {
  const { type, fid, after, reverse, limit } = query;
  const start: ChainPosition = reverse ? [Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER] : [-1, -1];
  return db.all(reverse ? eventsBefore : eventsAfter, type, fid, ...(after ?? start), limit);
}

const ALL = Number.MAX_SAFE_INTEGER;

/** Returns the last Register or Transfer event of an fid. */
export function lastRegistration(db: IndexDatabase, fid: number): ChainEvent | undefined {
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

/** An active on-chain key that signs messages, and the event that made it active. */
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
 * Returns the active keys of an fid that sign messages, in the order of the events that made them active: the last add or,
 * after an admin reset, with which the reference node finds the key's add again, the first.
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

/** Returns the active key that a request names, in any of the forms of a key. */
export function findSigner(signers: readonly ActiveSigner[], key: Uint8Array): ActiveSigner | undefined {
  const wanted = canonicalKey(key);
  return signers.find((signer) => Buffer.compare(canonicalKey(signer.key), wanted) === 0);
}

/** Returns the keys behind a position, in chain order or in reverse. */
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
