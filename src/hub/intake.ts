import type { ChainChecker } from "../chain/chain-checker.ts";
import type { Verdict } from "../ingest/engine.ts";
import {
  decodeRecord,
  type EncodedRecord,
  type IngestRecord,
  type RecordKind,
  validateRecord,
} from "../ingest/record.ts";
import { type Clock, nowSecs } from "../process/clock.ts";
import { Rejection } from "../protocol/rejection.ts";
import { encodeMessage } from "../protocol/signed-message.ts";
import type { BulkMessageResponse } from "../protocol/wire/generated/hub.ts";
import type { FarcasterNetwork } from "../protocol/wire/generated/message.ts";
import { acceptedInBulk, refusedInBulk } from "./messages-on-the-wire.ts";

/** What intake works with. */
export interface IntakeContext {
  readonly network: FarcasterNetwork;
  readonly clock: Clock;
  readonly chain: ChainChecker;
  /** Merges validated records; resolves with their verdicts when they are durable. */
  readonly submit: (records: EncodedRecord[]) => Promise<Verdict[]>;
}

/** Records that may be on their way to the writer at once; more are told to come again. */
const MAX_RECORDS_IN_FLIGHT = 20_000;

type RecordOf<Kind extends RecordKind> = Extract<IngestRecord, { kind: Kind }>;

/** Takes records from the wire through validation to the writer. */
export class Intake {
  readonly #context: IntakeContext;
  #inFlight = 0;

  constructor(context: IntakeContext) {
    this.#context = context;
  }

  /** Merges one record; answers it as it was understood, or why it was refused. */
  async merge<Kind extends RecordKind>(kind: Kind, bytes: Uint8Array): Promise<RecordOf<Kind> | Rejection> {
    const record = await this.validate(kind, bytes);
    if (record instanceof Rejection) return record;
    const [verdict] = await this.#submit([toEncoded(record, bytes)]);
    return verdict ?? record;
  }

  /** Decodes, validates and, where the record needs it, asks the chain. */
  async validate<Kind extends RecordKind>(
    kind: Kind,
    bytes: Uint8Array,
  ): Promise<RecordOf<Kind> | Rejection> {
    const record = this.#validate({ kind, bytes });
    if (record instanceof Rejection) return record;
    // A decoded record is of the kind that it was decoded as.
    return (await this.#chainRefusal(record)) ?? (record as RecordOf<Kind>);
  }

  /** Merges what it can; answers in the order of the request, each message with its own result. */
  async mergeBulk(messages: readonly Uint8Array[]): Promise<BulkMessageResponse[]> {
    const results = await Promise.all(messages.map((bytes) => this.validate("message", bytes)));
    const valid = results.flatMap((result, at) =>
      result instanceof Rejection ? [] : [{ at, record: result }],
    );
    const encoded = valid.map(({ at, record }) => toEncoded(record, messages[at] ?? new Uint8Array()));
    const verdicts = encoded.length > 0 ? await this.#submit(encoded) : [];
    valid.forEach(({ at }, index) => {
      const verdict = verdicts[index];
      if (verdict) results[at] = verdict;
    });
    return results.map((result, at) =>
      result instanceof Rejection ? refusedInBulk(result, messages[at]) : acceptedInBulk(result.message),
    );
  }

  #validate(encoded: EncodedRecord): IngestRecord | Rejection {
    const record = decodeRecord(encoded);
    if (record instanceof Rejection) return record;
    const { network, clock } = this.#context;
    return validateRecord(record, { network, nowUnixSecs: nowSecs(clock) }) ?? record;
  }

  async #chainRefusal(record: IngestRecord): Promise<Verdict> {
    return record.kind === "message" ? this.#context.chain.check(record.message) : undefined;
  }

  async #submit(records: EncodedRecord[]): Promise<Verdict[]> {
    if (this.#inFlight + records.length > MAX_RECORDS_IN_FLIGHT) {
      const busy = new Rejection("unavailable", "too many messages wait to be merged; try again");
      return records.map(() => busy);
    }
    this.#inFlight += records.length;
    try {
      return await this.#context.submit(records);
    } finally {
      this.#inFlight -= records.length;
    }
  }
}

/** What goes on to the writer: a message in its stored form, without any unsigned `data` that came beside it. */
function toEncoded(record: IngestRecord, received: Uint8Array): EncodedRecord {
  const bytes = record.kind === "message" ? encodeMessage(record.message) : received;
  return { kind: record.kind, bytes };
}
