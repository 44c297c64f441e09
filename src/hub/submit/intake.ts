import type { MergeOutcome } from "../../ingest/record.ts";
import {
  decodeRecord,
  type EncodedRecord,
  type IngestRecord,
  type RecordKind,
  validateRecord,
} from "../../ingest/record.ts";
import { err, ok, type Result } from "../../lib/result.ts";
import { encodeMessage, type SignedMessage } from "../../protocol/message/signed-message.ts";
import { type Rejection, rejection } from "../../protocol/rejection.ts";
import type { BulkMessageResponse } from "../../protocol/wire/generated/hub.ts";
import type { FarcasterNetwork } from "../../protocol/wire/generated/message.ts";
import { type Clock, nowSecs } from "../../runtime/clock.ts";
import type { ChainChecker } from "./chain-checker.ts";
import { acceptedInBulk, refusedInBulk } from "./message-responses.ts";
import type { Checked, SubmissionCheck } from "./submission-check.ts";

/** Dependencies of the intake. */
export interface IntakeDeps {
  readonly network: FarcasterNetwork;
  readonly clock: Clock;
  readonly chain: ChainChecker;
  /** Merges validated records. Resolves with their outcomes once they are durable. */
  readonly submit: (records: EncodedRecord[]) => Promise<MergeOutcome[]>;
}

/** Concurrent chain checks of one request, so that one request does not use the whole limit. */
const CHAIN_CHECKS_PER_REQUEST = 4;
/** The largest event has 4096 bytes of metadata. */
const MAX_ADMIN_RECORD_BYTES = 64 * 1024;

type RecordOf<Kind extends RecordKind> = Extract<IngestRecord, { kind: Kind }>;

/** Checks records from the wire and submits them to the writer. */
export class Intake {
  readonly #context: IntakeDeps;
  readonly #check: SubmissionCheck;

  constructor(context: IntakeDeps, check: SubmissionCheck) {
    this.#context = context;
    this.#check = check;
  }

  /** Merges an event or a proof from the operator, who vouches for it. */
  async mergeAdminRecord<Kind extends Exclude<RecordKind, "message">>(
    kind: Kind,
    bytes: Uint8Array,
  ): Promise<Result<RecordOf<Kind>, Rejection>> {
    if (bytes.length > MAX_ADMIN_RECORD_BYTES)
      return err(
        rejection("bad_request.invalid_param", `a record is larger than ${MAX_ADMIN_RECORD_BYTES} bytes`),
      );
    const record = decodeRecord({ kind, bytes });
    if (!record.ok) return record;
    const { network, clock, submit } = this.#context;
    const refusal = validateRecord(record.value, { network, nowUnixSecs: nowSecs(clock) });
    if (refusal) return err(refusal);
    const [outcome] = await submit([{ kind, bytes }]);
    // A decoded record has the kind that it was decoded as.
    return outcome ? err(outcome) : ok(record.value as RecordOf<Kind>);
  }

  /** Merges a message of a client, by default of this node. Returns the decoded message, or why it was refused. */
  merge(bytes: Uint8Array, client?: string): Promise<Checked> {
    const handle = async () => {
      const message = await this.#checkOne(bytes, false, client);
      if (!message.ok) return message;
      const [outcome] = await this.#context.submit([toRecord(message.value)]);
      return outcome ? err(outcome) : message;
    };
    return this.#check.submitting([bytes], handle, client);
  }

  /** Checks a message or a frame action, also on the chain if necessary. */
  validate(bytes: Uint8Array, client?: string): Promise<Checked> {
    return this.#check.withinLimits([bytes], () => this.#checkOne(bytes, true, client), client);
  }

  /** Merges the valid messages. Returns the results in the order of the request. */
  mergeBulk(
    messages: readonly Uint8Array[],
    client?: string,
  ): Promise<Result<BulkMessageResponse[], Rejection>> {
    const handle = async () => {
      const results: Checked[] = [];
      const mergeUpTo = async (checked: readonly Checked[]) => {
        results.push(...(await this.#mergeChecked(checked.slice(results.length), client)));
      };
      // A message may depend on an earlier key message in the same request.
      const mergeKeys = async (before: readonly Checked[]) => {
        if (!before.slice(results.length).some(isKeyMessage)) return false;
        await mergeUpTo(before);
        return true;
      };
      const checked = await this.#check.checkAll(messages, { onRefused: mergeKeys, client });
      if (!checked.ok) return checked;
      await mergeUpTo(checked.value);
      return ok(
        results.map((result, at) =>
          result.ok ? acceptedInBulk(result.value) : refusedInBulk(result.error, messages[at]),
        ),
      );
    };
    return this.#check.submitting(messages, handle, client);
  }

  async #checkOne(bytes: Uint8Array, acceptsFrameActions: boolean, client = ""): Promise<Checked> {
    const message = this.#check.check(bytes, acceptsFrameActions);
    const refusal = message.ok ? await this.#context.chain.check(message.value, client) : undefined;
    return refusal ? err(refusal) : message;
  }

  /**
   * Checks the messages that need it on the chain, and merges the valid ones. Returns each message, or why it was refused.
   */
  async #mergeChecked(checked: readonly Checked[], client = ""): Promise<Checked[]> {
    const results = await this.#checkOnChain(checked, client);
    const valid = results.flatMap((result, at) => (result.ok ? [{ message: result.value, at }] : []));
    if (valid.length === 0) return results;
    const outcomes = await this.#context.submit(valid.map(({ message }) => toRecord(message)));
    valid.forEach(({ at }, index) => {
      const outcome = outcomes[index];
      if (outcome) results[at] = err(outcome);
    });
    return results;
  }

  async #checkOnChain(checked: readonly Checked[], client: string): Promise<Checked[]> {
    const results = [...checked];
    const entries = results.entries();
    const work = async () => {
      for (const [at, result] of entries) {
        if (!result.ok) continue;
        const refusal = await this.#context.chain.check(result.value, client);
        if (refusal) results[at] = err(refusal);
      }
    };
    await Promise.all(Array.from({ length: CHAIN_CHECKS_PER_REQUEST }, work));
    return results;
  }
}

function isKeyMessage(checked: Checked): boolean {
  if (!checked.ok) return false;
  const { body } = checked.value.data;
  return body?.$case === "keyAddBody" || body?.$case === "keyRemoveBody";
}

/** Returns the record for the writer: the message in its stored form, without any unsigned `data` in the envelope. */
function toRecord(message: SignedMessage): EncodedRecord {
  return { kind: "message", bytes: encodeMessage(message) };
}
