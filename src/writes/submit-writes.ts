import { StateUnavailable } from "../db/state/unavailable.ts";
import { isChannelMessage } from "../protocol/channels/slots.ts";
import { decodeMessage, type SignedMessage } from "../protocol/message/signed-message.ts";
import type { Logger } from "../runtime/log/logger.ts";
import type { IndexWatch } from "./index-watch.ts";
import { acceptedBlockOf } from "./index-watch.ts";
import { DUPLICATE_CODE, type SubmitResult, type WriteNetwork } from "./network.ts";
import { decideOutcomes, type MessageOutcome, type WriteRefusal } from "./outcome.ts";
import { QUEUE_FULL, refusalOf, STATE_AWAY, UPSTREAM_AWAY } from "./refusals.ts";
import type { WriteReply } from "./rpc.ts";
import { decidedBy, reopened } from "./store/write-calls.ts";
import type { Lease, NewWrite, Settlement, StoredCall, WriteAudit, WriteStore } from "./store/write-store.ts";

/** How long the channel to the upstream may take to be ready. */
const READY_MS = 2_000;
/** The delay before a message is resubmitted: after a lost response, and after an OK without a block that contains it. */
const FIRST_RETRY_MS = 1_000;
export const ACCEPTED_RETRY_MS = 60_000;

export interface WriteSubmitterDeps {
  readonly store: WriteStore;
  readonly network: WriteNetwork;
  readonly index: IndexWatch;
  readonly confirmTimeoutMs: number;
  readonly maxQueued: number;
  /** Called with messages that the upstream has accepted and the index has not seen yet. */
  readonly onUnseen: (seq: number, message: SignedMessage) => void;
  /** Called with a write that may or may not have been stored. It must never be submitted. */
  readonly onForgotten: (request: string) => void;
  readonly log: Logger;
}

/** A signed message and the index of its outcome. */
export interface Positioned {
  readonly position: number;
  readonly message: SignedMessage;
  /** The message as it is stored and submitted, always the same bytes. */
  readonly bytes: Uint8Array;
}

/** A write whose messages are signed. */
export interface SignedWrite {
  readonly ownerFid: number;
  readonly apiKeyId: string;
  readonly call: NewWrite["call"];
  readonly outcomes: readonly MessageOutcome[];
  readonly messages: readonly Positioned[];
  readonly audit: WriteAudit;
}

/** A write on its way: the part that the user's next write waits for, and the rest. */
export type Sent =
  | { readonly kind: "replied"; readonly reply: WriteReply }
  /** Another request has this idempotency key. */
  | { readonly kind: "known" }
  /** Resolves to the reply when the index has the messages, or the time limit has passed. */
  | { readonly kind: "sent"; readonly finish: () => Promise<WriteReply> };

/** Stores signed writes and submits their messages to the network. */
export type WriteSubmitter = ReturnType<typeof createWriteSubmitter>;

export function createWriteSubmitter(deps: WriteSubmitterDeps) {
  const { store, network, index, onUnseen, onForgotten, log } = deps;

  async function begin(write: SignedWrite) {
    const request = crypto.randomUUID();
    const { messages, outcomes: _, ...rest } = write;
    const stored: NewWrite = { request, ...rest, messages: messages.map(toNewMessage) };
    try {
      return { request, result: await store.begin(stored, deps.maxQueued) };
    } catch (cause) {
      // The client learns that nothing was stored, so nothing may be submitted later.
      if (!isNotSent(cause)) onForgotten(request);
      throw cause;
    }
  }

  async function send(messages: readonly Positioned[]): Promise<readonly SubmitResult[]> {
    if (messages.length === 0) return [];
    try {
      return await network.submit(messages.map(({ bytes }) => bytes));
    } catch (err) {
      log.error({ err }, "A write could not be submitted");
      return messages.map(() => ({ kind: "unknown", reason: "the node failed" }));
    }
  }

  /** Waits for a message that the upstream has accepted. */
  async function settled(result: SubmitResult, { message }: Positioned): Promise<Settlement["result"]> {
    switch (result.kind) {
      case "merged":
        return { kind: "merged" };
      case "accepted":
        return confirmed(message, ACCEPTED_RETRY_MS);
      case "unknown":
        return { kind: "again", afterMs: FIRST_RETRY_MS, accepted: false };
      case "login_refused":
        return { kind: "refused", refusal: refusalOf(result), isTold: true };
      case "refused":
        if (result.code !== DUPLICATE_CODE)
          return { kind: "refused", refusal: refusalOf(result), isTold: true };
        // The network has it. This node's index may not have it yet, or never will.
        return confirmed(message, FIRST_RETRY_MS);
    }
  }

  async function confirmed(message: SignedMessage, afterMs: number): Promise<Settlement["result"]> {
    if (!(await index.awaitIndexed(message, deps.confirmTimeoutMs)))
      return { kind: "again", afterMs, accepted: true, acceptedBlock: acceptedBlockOf(index, message) };
    return { kind: "merged", ...(index.isReplaced(message) && { isReplaced: true }) };
  }

  async function finish(
    { outcomes, messages }: Pick<SignedWrite, "outcomes" | "messages">,
    results: readonly SubmitResult[],
    { request, leases }: { readonly request: string; readonly leases: readonly Lease[] },
  ): Promise<WriteReply> {
    const settlements = await Promise.all(
      leases.map(async (lease, at): Promise<Settlement> => {
        const positioned = messages[at];
        if (!positioned) throw new Error("a lease without its message");
        return { lease, result: await settled(results[at] ?? NO_RESULT, positioned) };
      }),
    );
    try {
      if (settlements.length > 0) await store.settle(request, settlements);
    } catch (err) {
      log.warn({ err }, "The outcome of a write could not be stored; its messages are submitted again");
      return replyOf(outcomes, settlements.map(asQueued));
    }
    for (const [at, { lease, result }] of settlements.entries()) {
      const message = messages[at]?.message;
      if (message && result.kind === "again" && result.accepted) onUnseen(lease.seq, message);
    }
    return replyOf(outcomes, settlements);
  }

  return {
    /**
     * Stores a write, then sends it. Its messages are resubmitted, byte for byte, until the network has accepted or refused them. Only a
     * write without messages and without an idempotency key is not stored.
     */
    async send(write: SignedWrite): Promise<Sent> {
      const hasMessages = write.messages.length > 0;
      if (!hasMessages && write.call === null)
        return { kind: "sent", finish: async () => replyOf(write.outcomes, []) };
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
    },

    /**
     * Returns messages of a stored call that were merged but are missing in the index, for example after a restore of an index that is
     * older than the state.
     */
    async lostOf({ request, outcomes }: StoredCall): Promise<readonly Positioned[]> {
      if (outcomes.every(({ state }) => state !== "merged")) return [];
      const merged = await store.mergedMessages(request);
      return merged.flatMap(({ position, message: bytes }) => {
        const message = decodeMessage(bytes);
        const isLost =
          outcomes[position]?.state === "merged" &&
          message.ok &&
          // The last message has a slot of a channel: resubmitting an old one would undo later ones.
          !isChannelMessage(message.value.data) &&
          !index.isIndexed(message.value);
        return isLost ? [{ position, message: message.value, bytes }] : [];
      });
    },

    /** Resubmits lost messages of a stored call. */
    async sendAgain({ request, outcomes }: StoredCall, lost: readonly Positioned[]): Promise<Sent> {
      const leases = await store.reopen(
        request,
        lost.map(({ position }) => position),
      );
      // Another request is already doing this.
      if (leases.length === 0) return { kind: "known" };
      const messages = lost.filter((one) => leases.some(({ position }) => position === one.position));
      const results = await send(messages);
      const write = { outcomes: reopened(outcomes, leases), messages };
      return { kind: "sent", finish: () => finish(write, results, { request, leases }) };
    },
  };
}

const NO_RESULT: SubmitResult = { kind: "unknown", reason: "no result" };

function refused(refusal: WriteRefusal): Sent {
  return { kind: "replied", reply: { ok: false, refusal } };
}

function isNotSent(cause: unknown): boolean {
  return cause instanceof StateUnavailable && !cause.mayHaveHappened;
}

function toNewMessage({ position, message, bytes }: Positioned): NewWrite["messages"][number] {
  const { fid, type } = message.data;
  return { position, fid, type, hash: message.hash, message: bytes };
}

/** A result that was not stored is requested again: a refusal may turn out differently, and a merge has no audit entry yet. */
function asQueued({ lease }: Settlement): Settlement {
  return { lease, result: { kind: "again", afterMs: FIRST_RETRY_MS, accepted: false } };
}

function replyOf(before: readonly MessageOutcome[], settlements: readonly Settlement[]): WriteReply {
  const { outcomes, isFreed } = decideOutcomes(before, decidedBy(settlements));
  const first = outcomes.find(({ refusal }) => refusal)?.refusal;
  if (isFreed && first) return { ok: false, refusal: first };
  return { ok: true, replayed: false, outcomes };
}
