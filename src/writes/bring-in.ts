import { StateUnavailable } from "../db/state/unavailable.ts";
import { encodeMessage, type SignedMessage } from "../protocol/signed-message.ts";
import type { Logger } from "../runtime/logger.ts";
import { DUPLICATE_CODE, type SubmitResult, type WriteNetwork } from "./network.ts";
import { decideOutcomes, type MessageOutcome, type WriteRefusal } from "./outcome.ts";
import { FAILED, QUEUE_FULL, refusalOf, STATE_AWAY, UPSTREAM_AWAY } from "./refusals.ts";
import type { WriteReply } from "./rpc.ts";
import type { Sightings } from "./sightings.ts";
import { decidedBy } from "./store/settling.ts";
import type { Lease, NewWrite, Settlement, WriteStore } from "./store/write-store.ts";

/** How long the channel to the upstream may take to be ready. */
const READY_MS = 2_000;
/** Before a message is submitted again: after a lost answer, and after an OK that no block has shown. */
const FIRST_RETRY_MS = 1_000;
export const ACCEPTED_RETRY_MS = 60_000;

export interface BringInDeps {
  readonly store: WriteStore;
  readonly network: WriteNetwork;
  readonly isFollowing: boolean;
  readonly sightings: Sightings;
  readonly confirmTimeoutMs: number;
  readonly maxQueued: number;
  /** Called with messages that the upstream has accepted and the index has not seen yet. */
  readonly onUnseen: (seq: number, message: SignedMessage) => void;
  /** Called with a write of which it is unknown whether it was stored. It must never be submitted. */
  readonly onForgotten: (request: string) => void;
  readonly log: Logger;
}

/** A signed message and the index of its outcome. */
export interface Positioned {
  readonly position: number;
  readonly message: SignedMessage;
}

/** A write whose messages are signed. */
export interface SignedWrite {
  readonly ownerFid: number;
  readonly apiKeyId: string;
  readonly call: NewWrite["call"];
  readonly outcomes: readonly MessageOutcome[];
  readonly messages: readonly Positioned[];
}

/** A write on its way: what the user's next write waits for, and the rest. */
export type Sent =
  | { readonly kind: "replied"; readonly reply: WriteReply }
  /** Another request has this idempotency key. */
  | { readonly kind: "known" }
  /** Resolves with the reply when the index has the messages, or the time is over. */
  | { readonly kind: "sent"; readonly finish: () => Promise<WriteReply> };

/**
 * Brings signed writes into the network. On a node that follows none, and without an idempotency key, a message is merged and that is
 * all. Otherwise the write is stored before it is sent, so that its messages are submitted again, byte for byte, until the
 * network has taken or refused them.
 */
export function createBringIn(deps: BringInDeps): (write: SignedWrite) => Promise<Sent> {
  const { store, network, isFollowing, sightings, confirmTimeoutMs, maxQueued, onUnseen, onForgotten, log } =
    deps;

  async function begin(write: SignedWrite) {
    const request = crypto.randomUUID();
    const { ownerFid, apiKeyId, call, messages } = write;
    const stored: NewWrite = { request, ownerFid, apiKeyId, call, messages: messages.map(toNewMessage) };
    try {
      return { request, result: await store.begin(stored, maxQueued) };
    } catch (cause) {
      // The response says that nothing was stored, so nothing may come of it.
      if (!isNotSent(cause)) onForgotten(request);
      throw cause;
    }
  }

  async function send(messages: readonly Positioned[]): Promise<readonly SubmitResult[]> {
    if (messages.length === 0) return [];
    try {
      return await network.submit(messages.map(({ message }) => encodeMessage(message)));
    } catch (err) {
      log.error({ err }, "A write could not be submitted");
      return messages.map(() => ({ kind: "unknown", reason: "the node failed" }));
    }
  }

  /** Waits for a message that the upstream has. */
  async function settled(result: SubmitResult, { message }: Positioned): Promise<Settlement["result"]> {
    switch (result.kind) {
      case "merged":
        return { kind: "merged" };
      case "accepted":
        return (await sightings.awaitSeen(message, confirmTimeoutMs))
          ? { kind: "merged" }
          : { kind: "again", afterMs: ACCEPTED_RETRY_MS, accepted: true };
      case "unknown":
        return { kind: "again", afterMs: FIRST_RETRY_MS, accepted: false };
      case "login_refused":
        return { kind: "refused", refusal: refusalOf(result), isTold: true };
      case "refused":
        if (result.code !== DUPLICATE_CODE)
          return { kind: "refused", refusal: refusalOf(result), isTold: true };
        // The network has it. The index of this node may not, or never will.
        return (await sightings.awaitSeen(message, confirmTimeoutMs))
          ? { kind: "merged" }
          : { kind: "again", afterMs: FIRST_RETRY_MS, accepted: true };
    }
  }

  async function finish(
    write: SignedWrite,
    results: readonly SubmitResult[],
    stored: { readonly request: string; readonly leases: readonly Lease[] } | undefined,
  ): Promise<WriteReply> {
    const settlements = await Promise.all(
      write.messages.map(async (positioned, at): Promise<Settlement> => {
        const result = await settled(results[at] ?? NO_RESULT, positioned);
        const lease = stored?.leases[at] ?? { seq: 0, leaseEndsAtMs: 0, position: positioned.position };
        return { lease, result };
      }),
    );
    if (!stored) return replyOf(write, withoutQueue(settlements));
    try {
      if (settlements.length > 0) await store.settle(stored.request, settlements);
    } catch (err) {
      log.warn({ err }, "What became of a write could not be stored; its messages are submitted again");
      return replyOf(write, settlements.map(asQueued));
    }
    for (const [at, { lease, result }] of settlements.entries()) {
      const message = write.messages[at]?.message;
      if (message && result.kind === "again" && result.accepted) onUnseen(lease.seq, message);
    }
    return replyOf(write, settlements);
  }

  return async (write) => {
    const hasMessages = write.messages.length > 0;
    const isStored = write.call !== null || (isFollowing && hasMessages);
    if (!isStored) {
      const results = await send(write.messages);
      return { kind: "replied", reply: await finish(write, results, undefined) };
    }
    if (hasMessages && !(await network.isReady(READY_MS))) return refused(UPSTREAM_AWAY);
    let leases: readonly Lease[];
    let request: string;
    try {
      const stored = await begin(write);
      if (stored.result.kind === "known") return { kind: "known" };
      if (stored.result.kind === "full") return refused(QUEUE_FULL);
      ({ request } = stored);
      ({ leases } = stored.result);
    } catch (cause) {
      if (!(cause instanceof StateUnavailable)) throw cause;
      return refused(STATE_AWAY);
    }
    const results = await send(write.messages);
    return { kind: "sent", finish: () => finish(write, results, { request, leases }) };
  };
}

const NO_RESULT: SubmitResult = { kind: "unknown", reason: "no result" };

function refused(refusal: WriteRefusal): Sent {
  return { kind: "replied", reply: { ok: false, refusal } };
}

function isNotSent(cause: unknown): boolean {
  return cause instanceof StateUnavailable && !cause.mayHaveHappened;
}

function toNewMessage({ position, message }: Positioned): NewWrite["messages"][number] {
  const { fid, type } = message.data;
  return { position, fid, type, hash: message.hash, message: encodeMessage(message) };
}

/** It is not submitted again: whether it was merged is unknown. */
function withoutQueue(settlements: readonly Settlement[]): readonly Settlement[] {
  return settlements.map(({ lease, result }) => ({
    lease,
    result: result.kind === "again" ? { kind: "refused", refusal: FAILED, isTold: true } : result,
  }));
}

/** A refusal that was not stored is asked for again, and may end otherwise. */
function asQueued({ lease, result }: Settlement): Settlement {
  return {
    lease,
    result: result.kind === "refused" ? { kind: "again", afterMs: FIRST_RETRY_MS, accepted: false } : result,
  };
}

function replyOf(write: SignedWrite, settlements: readonly Settlement[]): WriteReply {
  const { outcomes, isFreed } = decideOutcomes(write.outcomes, decidedBy(settlements));
  const first = outcomes.find(({ refusal }) => refusal)?.refusal;
  if (isFreed && first) return { ok: false, refusal: first };
  return { ok: true, replayed: false, outcomes };
}
