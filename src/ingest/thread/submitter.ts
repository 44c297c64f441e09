import type { EncodedRecord, MergeOutcome } from "../record.ts";
import type { IngestClient } from "./rpc.ts";

/** With this many records, a port message is sent at once, so that the writer does not wait while more are validated. */
const ENOUGH_RECORDS = 100;

interface Submission {
  readonly records: readonly EncodedRecord[];
  readonly resolve: (outcomes: MergeOutcome[]) => void;
  readonly reject: (cause: unknown) => void;
}

/**
 * Sends validated records to the writer. Records submitted in one turn of the event loop share one port message, because a
 * message between threads costs more than most records in it. The writer also commits them together.
 */
export class Submitter {
  readonly #client: IngestClient;
  #waiting: Submission[] = [];
  #records = 0;

  constructor(client: IngestClient) {
    this.#client = client;
  }

  /** Resolves with the outcomes, in order, after the records are merged and on disk. */
  submit(records: readonly EncodedRecord[]): Promise<MergeOutcome[]> {
    const { promise, resolve, reject } = Promise.withResolvers<MergeOutcome[]>();
    if (this.#waiting.length === 0) setImmediate(() => this.#send());
    this.#waiting.push({ records, resolve, reject });
    this.#records += records.length;
    if (this.#records >= ENOUGH_RECORDS) this.#send();
    return promise;
  }

  #send(): void {
    const sent = this.#waiting;
    if (sent.length === 0) return;
    this.#waiting = [];
    this.#records = 0;
    const records = sent.flatMap((submission) => submission.records);
    this.#client.submit(records).then(
      (outcomes) => {
        let at = 0;
        for (const submission of sent) {
          const end = at + submission.records.length;
          submission.resolve(outcomes.slice(at, end));
          at = end;
        }
      },
      (cause) => {
        for (const { reject } of sent) reject(cause);
      },
    );
  }
}
