import { type ByteList, unpackBytes } from "../../../lib/bytes.ts";
import type { ValidationContext } from "../../../protocol/validate/envelope.ts";
import type { RecordKind } from "../../record.ts";
import {
  type MessagePage,
  type SnapshotMessages,
  type ValidatedRecords,
  type VerifiedPage,
  type VerifiedSnapshot,
  validateRecords,
  verifyPage,
  verifySnapshot,
} from "./verifier.ts";

/** A unit of work of a verifier thread. */
export type VerifierJob =
  | { readonly type: "page"; readonly page: MessagePage }
  | { readonly type: "snapshot"; readonly part: SnapshotMessages }
  | {
      readonly type: "records";
      readonly kinds: readonly RecordKind[];
      readonly records: ByteList;
      readonly collectsCandidates: boolean;
    };

/** The result of a job of the same type. */
export type VerifierResult =
  | { readonly type: "page"; readonly page: VerifiedPage }
  | { readonly type: "snapshot"; readonly verified: VerifiedSnapshot }
  | { readonly type: "records"; readonly validated: ValidatedRecords };

/** Jobs in one message to a thread. Their buffers are transferred. */
export interface VerifierRequest {
  readonly context: ValidationContext;
  readonly jobs: readonly VerifierJob[];
}

/** The results of a request, in order, with their buffers transferred. A thread replies to its requests in order. */
export interface VerifierReply {
  readonly results: readonly VerifierResult[];
}

/** The part of a worker's global scope that a verifier thread uses. */
export interface VerifierScope {
  onmessage: ((event: MessageEvent<VerifierRequest>) => void) | null;
  postMessage(reply: VerifierReply, transfer: ArrayBuffer[]): void;
}

/** Runs the jobs that arrive at a thread. An error can only be a bug, and ends the thread. */
export function serveVerifier(scope: VerifierScope): void {
  scope.onmessage = ({ data: { context, jobs } }) => {
    const results = jobs.map((job) => runJob(job, context));
    scope.postMessage({ results }, results.flatMap(buffersOf));
  };
}

function runJob(job: VerifierJob, context: ValidationContext): VerifierResult {
  if (job.type === "page") return { type: "page", page: verifyPage(job.page, context) };
  if (job.type === "snapshot") return { type: "snapshot", verified: verifySnapshot(job.part, context) };
  const records = unpackBytes(job.records).map((bytes, at) => ({ kind: job.kinds[at] as RecordKind, bytes }));
  return { type: "records", validated: validateRecords(records, context, job) };
}

function buffersOf(result: VerifierResult): ArrayBuffer[] {
  if (result.type === "records")
    return result.validated.candidates.flatMap(({ facts, rows }) => [
      facts.buffer as ArrayBuffer,
      rows.buffer as ArrayBuffer,
    ]);
  if (result.type === "snapshot") return [bufferOf(result.verified.packed)];
  const { messages, packed } = result.page;
  return packed ? [bufferOf(messages), bufferOf(packed)] : [bufferOf(messages)];
}

/** Returns the buffers of a job, which are transferred with it. */
export function buffersOfJob(job: VerifierJob): ArrayBuffer[] {
  if (job.type === "page") return [bufferOf(job.page.messages)];
  return job.type === "records"
    ? [bufferOf(job.records)]
    : [bufferOf(job.part.keys), bufferOf(job.part.messages)];
}

/** Returns the buffer of a packed list, which it shares with nothing else. */
export function bufferOf({ bytes }: ByteList): ArrayBuffer {
  return bytes.buffer as ArrayBuffer;
}
