import type { MergeOutcome } from "../ingest/engine.ts";
import {
  decodeRecord,
  type EncodedRecord,
  type IngestRecord,
  type RecordKind,
  validateRecord,
} from "../ingest/record.ts";
import { Rejection } from "../protocol/rejection.ts";
import { encodeMessage, type SignedMessage } from "../protocol/signed-message.ts";
import type { BulkMessageResponse } from "../protocol/wire/generated/hub.ts";
import type { FarcasterNetwork } from "../protocol/wire/generated/message.ts";
import { type Clock, nowSecs } from "../runtime/clock.ts";
import type { ChainChecker } from "./chain/chain-checker.ts";
import { acceptedInBulk, refusedInBulk } from "./messages-on-the-wire.ts";
import type { Checked, SubmissionCheck } from "./submission-check.ts";

/** What intake works with. */
export interface IntakeContext {
  readonly network: FarcasterNetwork;
  readonly clock: Clock;
  readonly chain: ChainChecker;
  /** Merges validated records; resolves with their outcomes when they are durable. */
  readonly submit: (records: EncodedRecord[]) => Promise<MergeOutcome[]>;
}

/** Messages of one request that ask a chain at a time, so that one request does not fill the way there. */
const CHAIN_CHECKS_PER_REQUEST = 4;
/** The largest event has 4096 bytes of metadata. */
const MAX_ADMIN_RECORD_BYTES = 64 * 1024;

type RecordOf<Kind extends RecordKind> = Extract<IngestRecord, { kind: Kind }>;

/** Takes records from the wire through the checks to the writer. */
export class Intake {
  readonly #context: IntakeContext;
  readonly #check: SubmissionCheck;

  constructor(context: IntakeContext, check: SubmissionCheck) {
    this.#context = context;
    this.#check = check;
  }

  /** Merges an event or a proof that the operator vouches for. */
  async mergeVouched<Kind extends Exclude<RecordKind, "message">>(
    kind: Kind,
    bytes: Uint8Array,
  ): Promise<RecordOf<Kind> | Rejection> {
    if (bytes.length > MAX_ADMIN_RECORD_BYTES)
      return new Rejection(
        "bad_request.invalid_param",
        `a record is larger than ${MAX_ADMIN_RECORD_BYTES} bytes`,
      );
    const record = decodeRecord({ kind, bytes });
    if (record instanceof Rejection) return record;
    const { network, clock, submit } = this.#context;
    const refusal = validateRecord(record, { network, nowUnixSecs: nowSecs(clock) });
    if (refusal) return refusal;
    const [outcome] = await submit([{ kind, bytes }]);
    // A decoded record is of the kind that it was decoded as.
    return outcome ?? (record as RecordOf<Kind>);
  }

  /** Merges a message; answers it as it was understood, or why it was refused. */
  merge(bytes: Uint8Array): Promise<Checked> {
    return this.#check.hold([bytes], async () => {
      const message = await this.#checkOne(bytes);
      if (message instanceof Rejection) return message;
      const [outcome] = await this.#context.submit([toRecord(message)]);
      return outcome ?? message;
    });
  }

  /** Checks a message, and asks the chain where it needs that. */
  validate(bytes: Uint8Array): Promise<Checked> {
    return this.#check.hold([bytes], () => this.#checkOne(bytes));
  }

  /** Merges what it can; answers in the order of the request, each message with its own result. */
  mergeBulk(messages: readonly Uint8Array[]): Promise<BulkMessageResponse[] | Rejection> {
    return this.#check.hold(messages, async () => {
      const results: Checked[] = [];
      const mergeUpTo = async (checked: readonly Checked[]) => {
        results.push(...(await this.#mergeChecked(checked.slice(results.length))));
      };
      // A message may need what a key message before it, in the same request, does.
      const checked = await this.#check.checkAll(messages, async (before) => {
        if (!before.slice(results.length).some(isKeyMessage)) return false;
        await mergeUpTo(before);
        return true;
      });
      await mergeUpTo(checked);
      return results.map((result, at) =>
        result instanceof Rejection ? refusedInBulk(result, messages[at]) : acceptedInBulk(result),
      );
    });
  }

  async #checkOne(bytes: Uint8Array): Promise<Checked> {
    const message = this.#check.check(bytes);
    return message instanceof Rejection ? message : ((await this.#context.chain.check(message)) ?? message);
  }

  /** Asks the chain about those that need it and merges what is left; answers each message or why it was refused. */
  async #mergeChecked(checked: readonly Checked[]): Promise<Checked[]> {
    const results = await this.#askChain(checked);
    const valid = results.flatMap((message, at) => (message instanceof Rejection ? [] : [{ message, at }]));
    if (valid.length === 0) return results;
    const outcomes = await this.#context.submit(valid.map(({ message }) => toRecord(message)));
    valid.forEach(({ at }, index) => {
      const outcome = outcomes[index];
      if (outcome) results[at] = outcome;
    });
    return results;
  }

  async #askChain(checked: readonly Checked[]): Promise<Checked[]> {
    const results = [...checked];
    const places = results.entries();
    const work = async () => {
      for (const [at, message] of places) {
        if (message instanceof Rejection) continue;
        const refusal = await this.#context.chain.check(message);
        if (refusal) results[at] = refusal;
      }
    };
    await Promise.all(Array.from({ length: CHAIN_CHECKS_PER_REQUEST }, work));
    return results;
  }
}

function isKeyMessage(checked: Checked): boolean {
  if (checked instanceof Rejection) return false;
  const { body } = checked.data;
  return body?.$case === "keyAddBody" || body?.$case === "keyRemoveBody";
}

/** What goes on to the writer: a message in its stored form, without any unsigned `data` that came beside it. */
function toRecord(message: SignedMessage): EncodedRecord {
  return { kind: "message", bytes: encodeMessage(message) };
}
