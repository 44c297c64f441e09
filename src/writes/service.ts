import { StateUnavailable } from "../db/state/unavailable.ts";
import { valueWithin } from "../lib/promises.ts";
import { err, ok, type Result } from "../lib/result.ts";
import { encodeMessage, type SignedMessage } from "../protocol/message/signed-message.ts";
import type { MessageData } from "../protocol/wire/generated/message.ts";
import type { Logger } from "../runtime/log/logger.ts";
import { decoded, type Prepared, pending, type Signed } from "./call-messages.ts";
import { FidOrder, keyOf, lineOf, nameOf } from "./order/fid-order.ts";
import type { Timed } from "./order/timing.ts";
import type { MessageOutcome, WriteRefusal } from "./outcome.ts";
import {
  FAILED,
  IN_PROGRESS,
  NO_SIGNERS,
  OTHER_BODY,
  PAUSED,
  STATE_AWAY,
  STOPPING,
  TOO_MANY,
  TOO_MANY_OF_FID,
  TOO_MANY_OF_OWNER,
} from "./refusals.ts";
import type { UnsignedBody, WriteCall, WriteLimit, WriteReply } from "./rpc.ts";
import { auditOfCall, type RecordRefused } from "./store/write-audit.ts";
import type { ChargeWrite } from "./store/write-limits.ts";
import type { CallKey, StoredCall, WriteStore } from "./store/write-store.ts";
import type { Positioned, Sent, WriteSubmitter } from "./submit-writes.ts";
import type { WriteCounters } from "./write-figures.ts";

/** Writes in progress, for all owners and for one. If the upstream hangs, no owner takes all places. */
const MAX_UNDER_WAY = 1_024;
const MAX_UNDER_WAY_OF_OWNER = 256;
/** How long a write waits for earlier ones of its user. */
const MAX_ORDER_WAIT_MS = 5_000;
/** How long a repetition waits for the first request, and how often it polls the state. */
const MAX_REPEAT_WAIT_MS = 10_000;
const REPEAT_POLL_MS = 500;
/** After a longer wait there is not enough time left for an attempt of its own. */
const MAX_WAIT_BEFORE_ATTEMPT_MS = 2_000;

/** The managed signers from the point of view of writes. */
export interface WriteSigners {
  /** Returns the user that an owner's signer writes for, or why it may not write messages of these types. */
  userOf(
    signerUuid: string,
    ownerFid: number,
    types: readonly number[],
  ): Promise<Result<number, WriteRefusal>>;
  /** Signs the messages of one write, in order. It verifies the signer itself. */
  sign(
    signerUuid: string,
    ownerFid: number,
    messages: readonly MessageData[],
  ): Promise<Result<readonly SignedMessage[], WriteRefusal>>;
}

/** Charges the limits for this many messages before they are signed. */
type Admit = (messages: number) => Promise<Result<undefined, WriteRefusal>>;

export interface WriteServiceDeps {
  readonly store: Pick<WriteStore, "findCall">;
  readonly submitter: WriteSubmitter;
  readonly timesOf: (
    fid: number,
    bodies: readonly UnsignedBody[],
    admit: Admit,
  ) => Promise<Result<readonly Timed[], WriteRefusal>>;
  readonly charge: ChargeWrite;
  /** Undefined if the node has no managed signers. */
  readonly signers: WriteSigners | undefined;
  readonly isPaused: () => boolean;
  readonly recordRefused: RecordRefused;
  readonly counters: WriteCounters;
  readonly log: Logger;
}

interface Answer {
  readonly reply: WriteReply;
  /** Whether the audit log already has it: entries of stored messages are added with their outcomes. */
  readonly isSettled: boolean;
}

/**
 * Creates the service for writes. It executes those of one user one after the other, and guarantees that what is reported as done is in
 * the network or will be brought there, and that what is reported as refused never is.
 */
export function createWriteService(deps: WriteServiceDeps) {
  const { store, submitter, timesOf, charge, signers, isPaused, recordRefused, counters, log } = deps;
  const order = new FidOrder();
  /** Calls of this process by key, for repetitions. */
  const underWay = new Map<string, Promise<unknown>>();
  /** The number of calls in progress by owner. */
  const ofOwners = new Map<number, number>();
  let isStopping = false;
  let idle: PromiseWithResolvers<void> | undefined;

  async function submit(call: WriteCall): Promise<Answer> {
    const startedMs = performance.now();
    const key = keyOf(call);
    for (;;) {
      const known = key && (await store.findCall(key));
      const waitedMs = performance.now() - startedMs;
      if (known) {
        const answer = await replayOf(known, call);
        if (answer) return answer;
        if (waitedMs >= MAX_REPEAT_WAIT_MS) return early(IN_PROGRESS);
        await waitFor(underWay.get(nameOf(key)));
        continue;
      }
      if (isPaused()) return early(PAUSED);
      if (waitedMs > MAX_WAIT_BEFORE_ATTEMPT_MS) return early(IN_PROGRESS);
      const first = key && underWay.get(nameOf(key));
      if (first) {
        await waitFor(first);
        continue;
      }
      const attempted = attempt(call, key);
      if (key) underWay.set(nameOf(key), attempted);
      try {
        const answer = await attempted;
        if (answer) return answer;
      } finally {
        if (key) underWay.delete(nameOf(key));
      }
    }
  }

  /**
   * Returns the reply of an earlier request; undefined while that one is in progress. The reply must be true, so messages that the index
   * has lost since are submitted again.
   */
  async function replayOf(stored: StoredCall, { idem }: WriteCall): Promise<Answer | undefined> {
    const { bodyDigest, outcomes, isDone } = stored;
    if (!idem || Buffer.compare(bodyDigest, idem.bodyDigest) !== 0) return early(OTHER_BODY);
    if (!isDone) return undefined;
    const lost = await submitter.lostOf(stored);
    if (lost.length === 0) return { reply: { ok: true, replayed: true, outcomes }, isSettled: true };
    if (isPaused()) return early(PAUSED);
    const answer = await answerOf(await submitter.sendAgain(stored, lost));
    return answer?.reply.ok ? { ...answer, reply: { ...answer.reply, replayed: true } } : answer;
  }

  /** Returns undefined if another request has the key of the call. */
  async function attempt(call: WriteCall, key: CallKey | undefined): Promise<Answer | undefined> {
    const prepared = await prepare(call);
    if (!prepared.ok) return early(prepared.error);
    const { fid } = prepared.value;
    let limits: readonly WriteLimit[] = [];
    const admit: Admit = async (messages) => {
      const charged = await charge(call, fid, messages);
      limits = charged.limits;
      return charged.admitted;
    };
    const sent = await order.run(lineOf(call, fid), MAX_ORDER_WAIT_MS, () =>
      signAndSend(call, key, prepared.value, admit),
    );
    if (!sent) return early(TOO_MANY_OF_FID);
    const answer = await answerOf(sent);
    return answer && limits.length > 0 ? { ...answer, reply: { ...answer.reply, limits } } : answer;
  }

  async function prepare({ content, signerUuid, owner }: WriteCall): Promise<Result<Prepared, WriteRefusal>> {
    if (content === "stored") return err(IN_PROGRESS);
    if ("signed" in content) return decoded(content.signed);
    if (!signers || signerUuid === null) return err(NO_SIGNERS);
    const user = await signers.userOf(
      signerUuid,
      owner.fid,
      content.bodies.flatMap((body) => body?.type ?? []),
    );
    return user.ok ? ok({ fid: user.value }) : user;
  }

  async function signAndSend(
    call: WriteCall,
    key: CallKey | undefined,
    { fid, received }: Prepared,
    admit: Admit,
  ): Promise<Sent> {
    const signed = received ? await admitted(received, admit) : await sign(call, fid, admit);
    if (!signed.ok) return { kind: "replied", reply: no(signed.error) };
    const { outcomes, messages } = signed.value;
    const { owner, idem } = call;
    return submitter.send({
      ownerFid: owner.fid,
      apiKeyId: owner.apiKeyId,
      call: key && idem ? { ...key, bodyDigest: idem.bodyDigest, outcomes } : null,
      outcomes,
      messages,
      audit: auditOfCall(call),
    });
  }

  async function sign(call: WriteCall, fid: number, admit: Admit): Promise<Result<Signed, WriteRefusal>> {
    const { content, signerUuid, owner } = call;
    if (content === "stored" || !("bodies" in content) || !signers || signerUuid === null) {
      return err(NO_SIGNERS);
    }
    const { bodies } = content;
    const timed = await timesOf(
      fid,
      bodies.filter((body) => body !== null),
      admit,
    );
    if (!timed.ok) return timed;
    const unsigned = timed.value.flatMap((one) => (one.kind === "data" ? one.data : []));
    const signed = unsigned.length === 0 ? ok([]) : await signers.sign(signerUuid, owner.fid, unsigned);
    if (!signed.ok) return signed;
    const outcomes: MessageOutcome[] = [];
    const messages: Positioned[] = [];
    const timedInOrder = timed.value.values();
    const signedInOrder = signed.value.values();
    for (const [position, body] of bodies.entries()) {
      const one = body && timedInOrder.next().value;
      const type = body?.type ?? 0;
      if (!one) {
        outcomes.push({ hash: "", fid, type, state: "skipped" });
        continue;
      }
      if (one.kind === "unchanged") {
        outcomes.push({ hash: one.hash.toHex(), fid, type, state: "unchanged" });
        continue;
      }
      const message = signedInOrder.next().value;
      if (!message) throw new Error("a message of the write was not signed");
      messages.push({ position, message, bytes: encodeMessage(message) });
      outcomes.push(pending(message));
    }
    return ok({ outcomes, messages });
  }

  function count(owner: number, change: 1 | -1): void {
    counters.underWay += change;
    const left = (ofOwners.get(owner) ?? 0) + change;
    if (left === 0) ofOwners.delete(owner);
    else ofOwners.set(owner, left);
  }

  return {
    async submit(call: WriteCall): Promise<WriteReply> {
      if (isStopping) return no(STOPPING);
      if (counters.underWay >= MAX_UNDER_WAY) return no(TOO_MANY);
      const owner = call.owner.fid;
      if ((ofOwners.get(owner) ?? 0) >= MAX_UNDER_WAY_OF_OWNER) return no(TOO_MANY_OF_OWNER);
      count(owner, 1);
      try {
        const { reply, isSettled } = await submit(call);
        if (reply.ok || !isSettled) await recordRefused(call, reply);
        counters.countReply(reply);
        return reply;
      } catch (cause) {
        if (cause instanceof StateUnavailable) return no(STATE_AWAY);
        log.error({ err: cause, requestId: call.requestId }, "A write failed");
        return no(FAILED);
      } finally {
        count(owner, -1);
        if (counters.underWay === 0) idle?.resolve();
      }
    },
    /** Refuses new writes. Resolves when those in progress have ended. */
    async stop(): Promise<void> {
      isStopping = true;
      if (counters.underWay === 0) return;
      idle ??= Promise.withResolvers();
      await idle.promise;
    },
  };
}

function no(refused: WriteRefusal): WriteReply {
  return { ok: false, refusal: refused };
}

/** Returns a refusal from before anything was stored. */
function early(refused: WriteRefusal): Answer {
  return { reply: no(refused), isSettled: false };
}

/** Returns undefined if another request has the key. */
async function answerOf(sent: Sent): Promise<Answer | undefined> {
  if (sent.kind === "known") return undefined;
  if (sent.kind === "replied") return { reply: sent.reply, isSettled: false };
  return { reply: await sent.finish(), isSettled: true };
}

async function admitted(signed: Signed, admit: Admit): Promise<Result<Signed, WriteRefusal>> {
  const charged = await admit(signed.messages.length);
  return charged.ok ? ok(signed) : charged;
}

/** Waits for a request of this process, or for the next poll of the state. */
function waitFor(first: Promise<unknown> | undefined): Promise<unknown> {
  return first ? valueWithin(first, REPEAT_POLL_MS) : Bun.sleep(REPEAT_POLL_MS);
}
