import { setImmediate } from "node:timers/promises";
import { Budget } from "../../admission/budget.ts";
import { refusalText, TURNS } from "../../admission/budgets.ts";
import { FairOrder } from "../../admission/fair-order.ts";
import { FairTurns } from "../../admission/fair-turns.ts";
import type { IndexDatabase } from "../../db/index/database.ts";
import { admit, admitAuthor } from "../../ingest/merge/admit.ts";
import { err, ok, type Result } from "../../lib/result.ts";
import { decodeMessage, type SignedMessage } from "../../protocol/message/signed-message.ts";
import { type Rejection, rejection } from "../../protocol/rejection.ts";
import { isCostly, validateForm, verifyClaim } from "../../protocol/validate/message.ts";
import type { FarcasterNetwork } from "../../protocol/wire/generated/message.ts";
import { type Clock, nowSecs } from "../../runtime/clock.ts";

/** Dependencies and limits for checking submitted messages. */
export interface SubmissionCheckDeps {
  readonly db: IndexDatabase;
  readonly network: FarcasterNetwork;
  readonly clock: Clock;
  /** Whether an upstream decides who may write. It may know users that the index does not know yet. */
  readonly upstreamDecides: boolean;
  /** Returns why the node merges nothing now, whatever is submitted. Default: it always merges. */
  readonly refusal?: () => Rejection | undefined;
  /** Default: the program's own limits. */
  readonly limits?: SubmissionLimits;
}

export interface SubmissionLimits {
  readonly messagesPerRequest: number;
  /**
   * Maximum size of an encoded message. It has room for the largest data and the unsigned copy of it that clients also send.
   */
  readonly messageBytes: number;
  /** Maximum total size of the messages of all requests that are being checked, merged or forwarded. */
  readonly bytesInFlight: number;
}

/** One client may use this part (1 / `CLIENT_SHARE`) of the bytes in flight. */
const CLIENT_SHARE = 2;
/**
 * Up to this part (1 / `RESERVED_SHARE`) of the bytes in flight, which is one large message, a client may draw on a reserve
 * while other clients use all of them.
 */
const RESERVED_SHARE = 128;
/** Stands for the client of what this node itself submits. */
const THIS_NODE = "";
/** How long the check of a bulk request may occupy the thread at a time. */
const SLICE_MS = 2;

const TOO_MANY_WAIT = rejection("unavailable", refusalText(TURNS.bulkChecks.unit, "client"));

interface Task {
  readonly client: string;
  readonly run: () => Promise<unknown>;
}

/** Bytes that a message counts in addition to its size, for the objects into which it is decoded. */
const OVERHEAD_BYTES = 1024;

export const SUBMISSION_LIMITS: SubmissionLimits = {
  messagesPerRequest: 1000,
  messageBytes: 256 * 1024,
  bytesInFlight: 32 * 1024 * 1024,
};

/** The result of a check: the message, or why the node refuses it. */
export type Checked = Result<SignedMessage, Rejection>;

/**
 * Limits and checks submitted messages. Every submission passes through here. A message refused here has cost little, and
 * one that passes is valid by itself.
 */
export class SubmissionCheck {
  readonly #context: SubmissionCheckDeps;
  readonly #limits: SubmissionLimits;
  readonly #inFlight: Budget;
  readonly #order: FairOrder<Task, unknown>;
  readonly #bulkChecks = new FairTurns(TURNS.bulkChecks);

  constructor(context: SubmissionCheckDeps) {
    this.#context = context;
    this.#limits = context.limits ?? SUBMISSION_LIMITS;
    const total = this.#limits.bytesInFlight;
    const shares = { perClient: total / CLIENT_SHARE, reservedPerClient: total / RESERVED_SHARE };
    this.#inFlight = new Budget({ unit: "messages", total, ...shares });
    this.#order = new FairOrder({
      run: ({ run }) => run(),
      clientOf: ({ client }) => client,
      refuse: (_, shortage) => err(rejection("unavailable", refusalText("messages", shortage))),
    });
  }

  /** Maximum number of messages per request. */
  get maxMessages(): number {
    return this.#limits.messagesPerRequest;
  }

  /**
   * Runs `handle` for a request that submits messages, unless the node merges nothing now. A node that forwards messages
   * refuses them too, because it would not see their outcome.
   *
   * @returns as `withinLimits`.
   */
  async submitting<T, E>(
    messages: readonly Uint8Array[],
    handle: () => Promise<Result<T, E>>,
    client = THIS_NODE,
  ): Promise<Result<T, E | Rejection>> {
    const refusal = this.#context.refusal?.();
    return refusal ? err(refusal) : this.withinLimits(messages, handle, client);
  }

  /**
   * Runs `handle` for a request whose messages count as in flight until it is done. On a busy thread it waits for its
   * client's turn, because even a refused message costs the check of a signature.
   *
   * @returns the result of `handle`, or why the request is refused.
   */
  async withinLimits<T, E>(
    messages: readonly Uint8Array[],
    handle: () => Promise<Result<T, E>>,
    client = THIS_NODE,
  ): Promise<Result<T, E | Rejection>> {
    const { messagesPerRequest, messageBytes } = this.#limits;
    if (messages.length > messagesPerRequest)
      return err(
        rejection("bad_request.invalid_param", `a request holds at most ${messagesPerRequest} messages`),
      );
    if (messages.some(({ length }) => length > messageBytes))
      return err(rejection("bad_request.invalid_param", `a message is larger than ${messageBytes} bytes`));
    const bytes = messages.reduce((sum, { length }) => sum + length + OVERHEAD_BYTES, 0);
    const hold = this.#inFlight.open(client);
    const shortage = hold.grow(bytes);
    if (shortage) return err(rejection("unavailable", refusalText("messages", shortage)));
    try {
      return (await this.#order.run({ client, run: handle })) as Result<T, E | Rejection>;
    } finally {
      hold.end();
    }
  }

  /**
   * Checks one message: first its form and its own signature, then, if more is needed, its author, and only then the costly
   * claim. If an upstream decides and the index does not know the author, the upstream makes the costly check.
   *
   * @param acceptsFrameActions whether the message is only being validated, not submitted.
   */
  check(bytes: Uint8Array, acceptsFrameActions = false): Checked {
    const decoded = decodeMessage(bytes);
    if (!decoded.ok) return decoded;
    const message = decoded.value;
    const { db, network, clock, upstreamDecides } = this.#context;
    const now = nowSecs(clock);
    const refusal = validateForm(message, { network, nowUnixSecs: now, acceptsFrameActions });
    if (refusal) return err(refusal);
    if (!isCostly(message)) return decoded;
    const admission = { db, network, nowSecs: now };
    const authorRefusal = admitAuthor(admission, message);
    if (authorRefusal) return upstreamDecides ? decoded : err(authorRefusal);
    const wrongClaim = verifyClaim(message);
    if (wrongClaim) return err(wrongClaim);
    // The writer admits the message again. A message refused here costs the writer nothing.
    const isKeyMessage =
      message.data.body?.$case === "keyAddBody" || message.data.body?.$case === "keyRemoveBody";
    const notAdmitted = isKeyMessage && !upstreamDecides ? admit(admission, message) : undefined;
    return notAdmitted ? err(notAdmitted) : decoded;
  }

  /**
   * Checks the messages of a request in order, and lets other work of the thread run every few milliseconds.
   *
   * @param onRefused called for a refused message; resolves with true if it should be checked once more.
   */
  async checkAll(
    messages: readonly Uint8Array[],
    {
      onRefused = async () => false,
      client = THIS_NODE,
    }: {
      readonly onRefused?: (checked: readonly Checked[]) => Promise<boolean>;
      readonly client?: string | undefined;
    } = {},
  ): Promise<Result<Checked[], Rejection>> {
    const checked = await this.#bulkChecks.run(client, () => this.#checkInSlices(messages, onRefused));
    return checked === undefined ? err(TOO_MANY_WAIT) : ok(checked);
  }

  async #checkInSlices(
    messages: readonly Uint8Array[],
    onRefused: (checked: readonly Checked[]) => Promise<boolean>,
  ): Promise<Checked[]> {
    const checked: Checked[] = [];
    let sliceSinceMs = performance.now();
    for (const bytes of messages) {
      if (performance.now() - sliceSinceMs > SLICE_MS) {
        await setImmediate();
        sliceSinceMs = performance.now();
      }
      let result = this.check(bytes);
      if (!result.ok && (await onRefused(checked))) result = this.check(bytes);
      checked.push(result);
    }
    return checked;
  }
}
