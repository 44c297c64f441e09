import type { IndexDatabase } from "../db/index/database.ts";
import { admit, admitAuthor } from "../ingest/admit.ts";
import { ByteBudget } from "../lib/byte-budget.ts";
import { Rejection } from "../protocol/rejection.ts";
import { decodeMessage, type SignedMessage } from "../protocol/signed-message.ts";
import { isCostly, validateForm, verifyClaim } from "../protocol/validate/message.ts";
import type { FarcasterNetwork } from "../protocol/wire/generated/message.ts";
import { type Clock, nowSecs } from "../runtime/clock.ts";
import { EventLoopSlices } from "./event-loop-slices.ts";

/** What checking submitted messages works with. */
export interface SubmissionCheckContext {
  readonly db: IndexDatabase;
  readonly network: FarcasterNetwork;
  readonly clock: Clock;
  /** Whether another node decides who may write, and knows of users of whom the index does not know yet. */
  readonly upstreamDecides: boolean;
  /** The service's own where left out. */
  readonly limits?: SubmissionLimits;
}

export interface SubmissionLimits {
  readonly messagesPerRequest: number;
  /** Of one encoded message: the largest data, and the unsigned copy of it that clients send beside it, fit well. */
  readonly messageBytes: number;
  /** Of the messages of all requests that are being checked, merged or forwarded, and of what is made of them. */
  readonly bytesInFlight: number;
}

/** What a message is counted for beyond its bytes: the objects that it becomes. */
const OVERHEAD_BYTES = 1024;

export const SUBMISSION_LIMITS: SubmissionLimits = {
  messagesPerRequest: 1000,
  messageBytes: 256 * 1024,
  bytesInFlight: 32 * 1024 * 1024,
};

/** What became of a message that was checked: it as it was signed, or why it is refused. */
export type Checked = SignedMessage | Rejection;

/**
 * Bounds and checks messages that somebody submits. Every way to submit one leads through here: what is refused here has
 * cost little, and what passes is valid by itself.
 */
export class SubmissionCheck {
  readonly #context: SubmissionCheckContext;
  readonly #limits: SubmissionLimits;
  readonly #inFlight: ByteBudget;

  constructor(context: SubmissionCheckContext) {
    this.#context = context;
    this.#limits = context.limits ?? SUBMISSION_LIMITS;
    this.#inFlight = new ByteBudget(this.#limits.bytesInFlight);
  }

  /** Messages that one request may hold. */
  get maxMessages(): number {
    return this.#limits.messagesPerRequest;
  }

  /**
   * Handles a request whose messages count as in flight until it is done.
   *
   * @returns what `handle` resolves with, or why the request is not handled at all.
   */
  async hold<T>(messages: readonly Uint8Array[], handle: () => Promise<T>): Promise<T | Rejection> {
    const { messagesPerRequest, messageBytes } = this.#limits;
    if (messages.length > messagesPerRequest)
      return new Rejection(
        "bad_request.invalid_param",
        `a request holds at most ${messagesPerRequest} messages`,
      );
    if (messages.some(({ length }) => length > messageBytes))
      return new Rejection("bad_request.invalid_param", `a message is larger than ${messageBytes} bytes`);
    const bytes = messages.reduce((sum, { length }) => sum + length + OVERHEAD_BYTES, 0);
    if (!this.#inFlight.reserve(bytes))
      return new Rejection("unavailable", "too many messages are in flight; try again");
    try {
      return await handle();
    } finally {
      this.#inFlight.release(bytes);
    }
  }

  /**
   * Checks one message: first its form and its own signature, then, for what costs more, who writes it, and only then that.
   * Where an upstream decides and the index does not know the author, the costly part is left to the upstream.
   */
  check(bytes: Uint8Array): Checked {
    const message = decodeMessage(bytes);
    if (message instanceof Rejection) return message;
    const { db, network, clock, upstreamDecides } = this.#context;
    const now = nowSecs(clock);
    const refusal = validateForm(message, { network, nowUnixSecs: now });
    if (refusal) return refusal;
    if (!isCostly(message)) return message;
    const admission = { db, network, nowSecs: now };
    const unknown = admitAuthor(admission, message);
    if (unknown) return upstreamDecides ? message : unknown;
    const wrongClaim = verifyClaim(message);
    if (wrongClaim) return wrongClaim;
    // The writer looks again; what is refused here does not cost it anything.
    const isKeyMessage =
      message.data.body?.$case === "keyAddBody" || message.data.body?.$case === "keyRemoveBody";
    return (isKeyMessage && !upstreamDecides ? admit(admission, message) : undefined) ?? message;
  }

  /**
   * Checks the messages of a request in order, and lets other work of the thread run in between.
   *
   * @param onRefused asked for a message that was refused; true where it shall be checked once more.
   */
  async checkAll(
    messages: readonly Uint8Array[],
    onRefused: (checked: readonly Checked[]) => Promise<boolean> = async () => false,
  ): Promise<Checked[]> {
    const slices = new EventLoopSlices();
    const checked: Checked[] = [];
    for (const bytes of messages) {
      await slices.next();
      let result = this.check(bytes);
      if (result instanceof Rejection && (await onRefused(checked))) result = this.check(bytes);
      checked.push(result);
    }
    return checked;
  }
}
