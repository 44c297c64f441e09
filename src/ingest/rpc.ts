import type { RpcClient } from "../lib/port-rpc.ts";
import { Rejection, type RejectionCode } from "../protocol/rejection.ts";
import type { Verdict } from "./engine.ts";
import type { IngestQueue } from "./queue.ts";
import { decodeRecord, type EncodedRecord, type IngestRecord } from "./record.ts";

/** What other workers ask of the ingest worker: records that they validated already, to be merged. */
export interface IngestRequest {
  readonly records: readonly EncodedRecord[];
}

/** A refusal as plain data, null for a record that was merged. */
export type IngestAnswer = ({ readonly code: RejectionCode; readonly reason: string } | null)[];

/** Answers requests from the queue. */
export async function handleIngestRequest(queue: IngestQueue, request: IngestRequest): Promise<IngestAnswer> {
  const decoded = request.records.map(decodeRecord);
  const verdicts = await queue.submit(
    decoded.filter((record): record is IngestRecord => !(record instanceof Rejection)),
  );
  let next = 0;
  return decoded.map((record) => {
    const verdict = record instanceof Rejection ? record : verdicts[next++];
    return verdict ? { code: verdict.code, reason: verdict.reason } : null;
  });
}

/** Merges validated records through the ingest worker; verdicts in order, after they are durable. */
export async function submitRecords(
  client: RpcClient<IngestRequest, IngestAnswer>,
  records: readonly EncodedRecord[],
): Promise<Verdict[]> {
  const answer = await client.call({ records });
  return answer.map((verdict) => (verdict ? new Rejection(verdict.code, verdict.reason) : undefined));
}
