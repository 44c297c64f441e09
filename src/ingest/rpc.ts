import type { IndexDatabase } from "../index/database.ts";
import { type RankingSnapshot, storeRankings } from "../index/rankings.ts";
import type { RpcClient } from "../lib/port-rpc.ts";
import { Rejection, type RejectionCode } from "../protocol/rejection.ts";
import type { Verdict } from "./engine.ts";
import type { IngestQueue, IngestStats } from "./queue.ts";
import { decodeRecord, type EncodedRecord, type IngestRecord } from "./record.ts";

/** What other threads ask of the ingest worker. Records to submit have been validated by whoever asks. */
export type IngestRequest =
  | { readonly type: "submit"; readonly records: readonly EncodedRecord[] }
  | { readonly type: "rankings"; readonly snapshot: RankingSnapshot }
  | { readonly type: "stats" };

/** A refusal as plain data, null for a record that was merged. */
type PlainVerdict = { readonly code: RejectionCode; readonly reason: string } | null;

export type IngestAnswer =
  | { readonly type: "verdicts"; readonly verdicts: readonly PlainVerdict[] }
  | { readonly type: "stored" }
  | { readonly type: "stats"; readonly stats: IngestStats };

export type IngestClient = RpcClient<IngestRequest, IngestAnswer>;

/** The writer's side: `db` is the connection that the queue's engine writes with. */
export interface Writer {
  readonly db: IndexDatabase;
  readonly queue: IngestQueue;
}

/** Answers requests: records go through the queue, a ranking is written at once, between two of its commits. */
export async function handleIngestRequest(
  { db, queue }: Writer,
  request: IngestRequest,
): Promise<IngestAnswer> {
  if (request.type === "stats") return { type: "stats", stats: queue.stats() };
  if (request.type === "rankings") {
    storeRankings(db, request.snapshot);
    return { type: "stored" };
  }
  const decoded = request.records.map(decodeRecord);
  const verdicts = await queue.submit(
    decoded.filter((record): record is IngestRecord => !(record instanceof Rejection)),
  );
  let next = 0;
  const plain = decoded.map((record): PlainVerdict => {
    const verdict = record instanceof Rejection ? record : verdicts[next++];
    return verdict ? { code: verdict.code, reason: verdict.reason } : null;
  });
  return { type: "verdicts", verdicts: plain };
}

/** Merges validated records through the ingest worker; verdicts in order, after they are durable. */
export async function submitRecords(
  client: IngestClient,
  records: readonly EncodedRecord[],
): Promise<Verdict[]> {
  const answer = await client.call({ type: "submit", records });
  if (answer.type !== "verdicts") throw new Error("the ingest worker answered another question");
  return answer.verdicts.map((verdict) =>
    verdict ? new Rejection(verdict.code, verdict.reason) : undefined,
  );
}

/** Stores a ranking through the ingest worker; resolves when it is durable. */
export async function submitRankings(client: IngestClient, snapshot: RankingSnapshot): Promise<void> {
  const answer = await client.call({ type: "rankings", snapshot });
  if (answer.type !== "stored") throw new Error("the ingest worker answered another question");
}

/** What the ingest worker has done and still has to do. */
export async function ingestStats(client: IngestClient): Promise<IngestStats> {
  const answer = await client.call({ type: "stats" });
  if (answer.type !== "stats") throw new Error("the ingest worker answered another question");
  return answer.stats;
}
