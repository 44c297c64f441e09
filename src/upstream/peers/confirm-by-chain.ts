import { decodeFunctionResult, encodeFunctionData, parseAbi } from "viem/utils";
import { assignmentsIn } from "../../auth/owners/custody.ts";
import type { Assignment } from "../../auth/owners/custody-store.ts";
import type { Confirmed, ConfirmRpc, Lane } from "../../auth/owners/owners.ts";
import type { IndexDatabase } from "../../db/index/database.ts";
import type { EthBlockNumber, EthCall, EthCallRequest } from "../../net/eth-call.ts";
import { canonicalKey } from "../../protocol/auth-address.ts";
import { fromHex, type Hex, toHex } from "../../protocol/validate/eth.ts";
import {
  type OnChainEvent,
  OnChainEventType,
  SignerEventType,
} from "../../protocol/wire/generated/on-chain.ts";
import { ID_REGISTRY, KEY_REGISTRY } from "../../transactions/contracts.ts";
import type { Dispute } from "../chain/trust-tracker.ts";
import { createLanes, TOO_MANY_QUESTIONS } from "./lanes.ts";
import { StoredDigests, storedEvents } from "./stored-events.ts";

/** How long, in milliseconds, a finding of the chain counts. A later event of the index is compared at once. */
const CONFIRMED_MS = 60_000;
const DISPUTED_MS = 15_000;
const WAITS_MS = 1000;
const MAX_REMEMBERED = 10_000;
/** An event this many blocks ahead of the newest one cannot be from the chain. Ten minutes. */
const MAX_AHEAD_BLOCKS = 300;
const MAX_DISPUTES = 100;
/** A node may have sent anything in place of a key: longer ones are not looked up. */
const MAX_KEY_BYTES = 256;
const KEY_ADDED = 1;
const UNASKED = "the chain could not be asked who owns the fid";

const registries = parseAbi([
  "function custodyOf(uint256 fid) view returns (address custody)",
  "function keyDataOf(uint256 fid, bytes key) view returns ((uint8 state, uint32 keyType))",
]);

export interface ConfirmByChainDeps {
  readonly db: IndexDatabase;
  /** The operator's RPC of Optimism. */
  readonly call: EthCall;
  readonly blockNumber: EthBlockNumber;
  readonly onDispute: (dispute: Dispute) => void;
  /** A monotonic clock. */
  readonly nowMs?: () => number;
}

/** Confirms by the chain, and knows where its findings differ from the index. */
export type ConfirmByChain = ConfirmRpc & {
  /** Returns what the chain disputed last. */
  disputes(): readonly Dispute[];
  /** Asks again about the dispute that was asked about longest ago, because no decision may ever do that. */
  recheck(): Promise<void>;
};

/** A question to the chain: who owns an fid or, with a key, whether the fid has it. */
interface Question {
  readonly fid: number;
  readonly type: OnChainEventType;
  readonly key?: Uint8Array;
}

/** A finding of the chain, and how long it counts. */
interface Finding<T> {
  readonly outcome: Confirmed<T>;
  readonly forMs: number;
}

/**
 * Asks the registries of Optimism who owns an fid and which keys it has, instead of a second node. Their findings count once
 * the chain has passed the newest event of the index: a node that invents a transfer changes nothing, and one that withholds
 * a transfer does not let the previous owner act. The new owner can act once the index has the transfer.
 */
export function createConfirmByChain(deps: ConfirmByChainDeps): ConfirmByChain {
  const { db, call, blockNumber, onDispute } = deps;
  const nowMs = deps.nowMs ?? (() => performance.now());
  const lanes = createLanes();
  const digests = new StoredDigests(db);
  const remembered = new Map<
    string,
    { readonly of: string; readonly outcome: Confirmed<unknown>; readonly untilMs: number }
  >();
  const asking = new Map<string, Promise<Confirmed<unknown>>>();
  /** Questions on which the chain and the index disagree, by name, the least recently asked first. */
  const disputes = new Map<string, Question>();
  /** The newest block that the chain has had at any time. */
  let knownHead = 0;

  /** Returns the finding that is in memory unless the index has other events of the fid since. Only a question to the chain decodes them. */
  async function ask<T>(
    name: string,
    { type, fid }: { readonly type: OnChainEventType; readonly fid: number },
    lane: Lane,
    find: (stored: readonly OnChainEvent[]) => Promise<Finding<T>>,
  ): Promise<Confirmed<T>> {
    const of = digests.of(type, fid);
    const known = remembered.get(name);
    if (known && known.untilMs > nowMs() && known.of === of) return known.outcome as Confirmed<T>;
    const key = `${name} ${of}`;
    const running = asking.get(key);
    if (running) return running as Promise<Confirmed<T>>;
    const slot = lanes[lane].take();
    if (!slot) return { isConfirmed: false, reason: TOO_MANY_QUESTIONS };
    const asked = slot
      .then(async () => {
        const { events, digest } = storedEvents(db, type, fid);
        const { outcome, forMs } = await find(events);
        remembered.delete(name);
        remembered.set(name, { of: digest, outcome, untilMs: nowMs() + forMs });
        dropOldest(remembered, MAX_REMEMBERED);
        return outcome;
      })
      .finally(() => {
        lanes[lane].release();
        asking.delete(key);
      });
    asking.set(key, asked);
    return asked;
  }

  /** Returns the newest block of the chain; undefined if it does not respond. */
  async function askHead(): Promise<number | undefined> {
    const head = await blockNumber();
    knownHead = Math.max(knownHead, head ?? 0);
    return head;
  }

  /**
   * Returns since when the fid belongs to its owner on the chain: the position of the latest event of the index that the chain has reached,
   * if it names that owner, or else the newest block. Nothing else of what a node says about positions counts: an event in the future would
   * be later than true ones to come.
   */
  function assigned(custody: Uint8Array, stored: readonly OnChainEvent[]): Assignment {
    const latest = assignmentsIn(stored).findLast(({ blockNumber: block }) => block <= knownHead);
    return latest && isSame(latest.custody, custody)
      ? latest
      : { custody, blockNumber: knownHead, logIndex: -1 };
  }

  /** Reports whether the chain has passed the newest event of the index; undefined if it does not respond. */
  async function hasPassed(stored: readonly OnChainEvent[]): Promise<boolean | undefined> {
    const head = await askHead();
    const newest = Math.max(0, ...stored.map((event) => event.blockNumber));
    return head === undefined ? undefined : newest <= head || newest > head + MAX_AHEAD_BLOCKS;
  }

  /** Returns the chain's finding that differs from the index, unless the chain is late. */
  async function otherwise<T>(stored: readonly OnChainEvent[], value: () => T): Promise<Finding<T>> {
    const isPast = await hasPassed(stored);
    if (isPast === undefined) return waits(UNASKED);
    if (!isPast) return waits("the chain's node has not reached the newest event of the fid yet");
    return { outcome: { isConfirmed: true, value: value() }, forMs: DISPUTED_MS };
  }

  /** Returns the disputes, one for all keys of an fid. */
  function listed(): readonly Dispute[] {
    const all = [...disputes.values()].map(({ fid, type }) => ({ fid, type, upstreams: [] }));
    return all.filter((one, at) => at === all.findIndex((other) => isOf(one, other)));
  }

  function note(question: Question, isDisputed: boolean): void {
    const name = nameOf(question);
    const isNew = isDisputed && !listed().some((one) => isOf(one, question));
    disputes.delete(name);
    if (!isDisputed) return;
    disputes.set(name, question);
    dropOldest(disputes, MAX_DISPUTES);
    if (isNew) onDispute({ fid: question.fid, type: question.type, upstreams: [] });
  }

  const confirm: ConfirmRpc = {
    confirmCustody(fid, lane) {
      const question = { fid, type: OnChainEventType.EVENT_TYPE_ID_REGISTER };
      return ask<Assignment | undefined>(nameOf(question), question, lane, async (stored) => {
        const found = addressIn(await call(custodyCall(fid)));
        const shown = assignmentsIn(stored).at(-1);
        const isUnreached = shown !== undefined && shown.blockNumber > knownHead;
        if (found === undefined || (isUnreached && (await askHead()) === undefined)) return waits(UNASKED);
        const owner = found.some((byte) => byte !== 0) ? found : undefined;
        const value = () => owner && assigned(owner, stored);
        if (isSame(owner, shown?.custody)) {
          note(question, false);
          return { outcome: { isConfirmed: true, value: value() }, forMs: CONFIRMED_MS };
        }
        const finding = await otherwise(stored, value);
        // An owner that the index does not have yet means a transfer that is on its way.
        const wasOwner = !owner || stored.some(({ body }) => isSame(newOwner(body), owner));
        note(question, finding.outcome.isConfirmed && wasOwner);
        return finding;
      });
    },

    confirmKey(fid, key, lane) {
      const wanted = canonicalKey(key);
      const question = { fid, type: OnChainEventType.EVENT_TYPE_SIGNER, key: wanted };
      return ask(nameOf(question), question, lane, async (ofAllKeys) => {
        const stored = ofAllKeys.filter(({ body }) => isSame(keyOf(body), wanted));
        const last = stored.at(-1)?.body;
        const raw = last?.$case === "signerEventBody" ? last.value.key : wanted;
        if (raw.length > MAX_KEY_BYTES)
          return { outcome: { isConfirmed: true, value: false }, forMs: CONFIRMED_MS };
        const state = keyStateIn(await call(keyCall(fid, raw)));
        if (state === undefined) return waits("the chain could not be asked which keys the fid has");
        if (state === KEY_ADDED) {
          note(question, false);
          return { outcome: { isConfirmed: true, value: true }, forMs: CONFIRMED_MS };
        }
        const found = await otherwise(stored, () => false);
        // The index may have removed the key in the meantime, which ends the dispute.
        note(question, found.outcome.isConfirmed && isAdded(last));
        return found;
      });
    },
  };

  return {
    ...confirm,
    disputes: listed,
    async recheck() {
      const [oldest] = disputes.values();
      if (!oldest) return;
      // Without a response it stays, behind the others.
      note(oldest, true);
      remembered.delete(nameOf(oldest));
      const { fid, key } = oldest;
      await (key ? confirm.confirmKey(fid, key, "open") : confirm.confirmCustody(fid, "open"));
    },
  };
}

function nameOf({ fid, key }: Question): string {
  return key ? `key ${fid} ${toHex(key)}` : `custody ${fid}`;
}

const isOf = (one: Pick<Dispute, "fid" | "type">, other: Pick<Dispute, "fid" | "type">) =>
  one.fid === other.fid && one.type === other.type;

function waits(reason: string): Finding<never> {
  return { outcome: { isConfirmed: false, reason }, forMs: WAITS_MS };
}

function custodyCall(fid: number): EthCallRequest {
  const data = encodeFunctionData({ abi: registries, functionName: "custodyOf", args: [BigInt(fid)] });
  return { to: ID_REGISTRY, data };
}

function keyCall(fid: number, key: Uint8Array): EthCallRequest {
  const args = [BigInt(fid), toHex(key)] as const;
  return { to: KEY_REGISTRY, data: encodeFunctionData({ abi: registries, functionName: "keyDataOf", args }) };
}

/** Undefined for bytes that the registry cannot return, such as none, which is what an address without code returns. */
function addressIn(result: Hex | "reverted" | "unavailable"): Uint8Array | undefined {
  return decoded(() => {
    const data = result as Hex;
    return fromHex(decodeFunctionResult({ abi: registries, functionName: "custodyOf", data }));
  });
}

function keyStateIn(result: Hex | "reverted" | "unavailable"): number | undefined {
  return decoded(() => {
    const data = result as Hex;
    return decodeFunctionResult({ abi: registries, functionName: "keyDataOf", data }).state;
  });
}

function decoded<T>(decode: () => T): T | undefined {
  try {
    return decode();
  } catch {
    return undefined;
  }
}

function newOwner(body: OnChainEvent["body"]): Uint8Array | undefined {
  return body?.$case === "idRegisterEventBody" ? body.value.to : undefined;
}

function isAdded(body: OnChainEvent["body"]): boolean {
  return body?.$case === "signerEventBody" && body.value.eventType === SignerEventType.SIGNER_EVENT_TYPE_ADD;
}

function keyOf(body: OnChainEvent["body"]): Uint8Array | undefined {
  return body?.$case === "signerEventBody" ? canonicalKey(body.value.key) : undefined;
}

function isSame(a: Uint8Array | undefined, b: Uint8Array | undefined): boolean {
  return a && b ? Buffer.compare(a, b) === 0 : a === b;
}

function dropOldest(map: Map<string, unknown>, max: number): void {
  const [oldest] = map.keys();
  if (map.size > max && oldest !== undefined) map.delete(oldest);
}
