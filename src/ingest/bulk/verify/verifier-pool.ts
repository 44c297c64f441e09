import { packBytes, unpackBytes } from "../../../lib/bytes.ts";
import type { Rejection } from "../../../protocol/rejection.ts";
import type { ValidationContext } from "../../../protocol/validate/envelope.ts";
import type { SpoolCandidates } from "../spool-candidates.ts";
import type { MessagePage, SnapshotMessages, VerifiedPage, Verifier } from "./verifier.ts";
import {
  buffersOfJob,
  type VerifierJob,
  type VerifierReply,
  type VerifierResult,
} from "./verifier-thread.ts";

/** A worker that runs `serveVerifier`. */
export type VerifierWorker = Pick<
  Worker,
  "postMessage" | "onmessage" | "onerror" | "addEventListener" | "terminate"
>;

export interface VerifierPoolDeps {
  readonly threads: number;
  /** Starts a thread. */
  readonly openThread: () => VerifierWorker;
  /** Returns the rules for verifying records. Called for each request, because the rules contain the current time. */
  readonly context: () => ValidationContext;
  /** Called once if a thread fails or ends by itself. All calls then reject. */
  readonly onCrash: (reason: string) => void;
  /** Default: the program's own limit. */
  readonly maxBytesInFlight?: number;
}

/** Verifier threads. */
export interface VerifierPool extends Verifier {
  /** Ends the threads once they have finished the work they have started. Other calls reject. */
  stop(): Promise<void>;
}

/** Messages in a part of a page. A page of a thousand messages keeps several threads busy. */
const MESSAGES_PER_PART = 250;
/** A thread gets its next request before it has finished the current one, so that it never waits for the pool. */
const REQUESTS_PER_THREAD = 2;
/** Jobs are sent together up to this size, because a message between threads costs as much as some signatures. */
const BYTES_PER_REQUEST = 64 * 1024;
/** Further calls wait while more is in flight. A page of the largest messages is accepted on its own. */
const MAX_BYTES_IN_FLIGHT = 16 * 1024 * 1024;

interface PendingJob {
  readonly job: VerifierJob;
  readonly bytes: number;
  readonly resolve: (result: VerifierResult) => void;
  readonly reject: (cause: Error) => void;
}

interface Thread {
  readonly worker: VerifierWorker;
  /** Requests without a reply yet, oldest first. */
  requests: (readonly PendingJob[])[];
  /** Called when the thread has replied to all requests. */
  onIdle: () => void;
}

/** Starts threads that verify. Each call's parts are returned in order, but calls may overtake each other. */
export function startVerifierPool(deps: VerifierPoolDeps): VerifierPool {
  const { maxBytesInFlight = MAX_BYTES_IN_FLIGHT } = deps;
  const queue: PendingJob[] = [];
  /** The call that waits for room, and the end of the queue of calls after it. */
  let waiter: PromiseWithResolvers<void> | undefined;
  let line: Promise<void> = Promise.resolve();
  let bytesInFlight = 0;
  let fault: Error | undefined;
  const threads = Array.from({ length: deps.threads }, openThread);

  function openThread(): Thread {
    const worker = deps.openThread();
    const thread: Thread = { worker, requests: [], onIdle: () => {} };
    worker.onmessage = (event: MessageEvent<VerifierReply>) => {
      const jobs = thread.requests.shift() ?? [];
      jobs.forEach(({ resolve, bytes }, at) => {
        bytesInFlight -= bytes;
        resolve(event.data.results[at] as VerifierResult);
      });
      dispatch();
      waiter?.resolve();
      if (thread.requests.length === 0) thread.onIdle();
    };
    worker.onerror = (event) => crashed(thread, event.message);
    worker.addEventListener("close", () => crashed(thread, "it ended by itself"));
    return thread;
  }

  function crashed(thread: Thread, reason: string): void {
    const isFirst = !fault;
    if (isFirst) rejectAll(new Error(`a verifier thread failed: ${reason}`));
    thread.requests = [];
    thread.onIdle();
    if (isFirst) deps.onCrash(reason);
  }

  function rejectAll(cause: Error): void {
    fault = cause;
    const jobs = [...threads.flatMap(({ requests }) => requests.flat()), ...queue.splice(0)];
    for (const { reject } of jobs) reject(cause);
    waiter?.reject(cause);
  }

  /** Sends waiting jobs to the threads with the fewest requests. */
  function dispatch(): void {
    for (let requests = 0; requests < REQUESTS_PER_THREAD; requests++) {
      for (const thread of threads) {
        if (queue.length === 0) return;
        if (thread.requests.length <= requests) send(thread);
      }
    }
  }

  function send({ worker, requests }: Thread): void {
    let bytes = 0;
    let count = 0;
    while (count < queue.length && bytes < BYTES_PER_REQUEST) bytes += queue[count++]?.bytes ?? 0;
    const jobs = queue.splice(0, count);
    requests.push(jobs);
    const transfer = jobs.flatMap(({ job }) => buffersOfJob(job));
    worker.postMessage({ context: deps.context(), jobs: jobs.map(({ job }) => job) }, transfer);
  }

  /**
   * Waits until there is room for the bytes. Calls wait one after another, so that a large page is not overtaken forever.
   */
  async function reserve(bytes: number): Promise<void> {
    while (!fault && bytesInFlight > 0 && bytesInFlight + bytes > maxBytesInFlight) {
      waiter = Promise.withResolvers();
      await waiter.promise;
    }
    waiter = undefined;
    bytesInFlight += bytes;
  }

  /** Queues jobs once there is room for their bytes. Resolves with their results in order. */
  async function run(jobs: readonly VerifierJob[]): Promise<VerifierResult[]> {
    const sizes = jobs.map((job) => buffersOfJob(job).reduce((sum, { byteLength }) => sum + byteLength, 0));
    const total = sizes.reduce((sum, bytes) => sum + bytes, 0);
    const turn = line.then(() => reserve(total));
    line = turn.catch(() => {});
    await turn;
    // Nothing replies to what is queued from then on.
    if (fault) throw fault;
    const results = jobs.map((job, at) => {
      const { promise, resolve, reject } = Promise.withResolvers<VerifierResult>();
      queue.push({ job, bytes: sizes[at] ?? 0, resolve, reject });
      return promise;
    });
    dispatch();
    return Promise.all(results);
  }

  return {
    async verifyPage(page) {
      const results = await run(partsOf(page).map((part): VerifierJob => ({ type: "page", page: part })));
      return results.flatMap((result): VerifiedPage[] => (result.type === "page" ? [result.page] : []));
    },
    async verifySnapshot(part) {
      const results = await run(
        snapshotParts(part).map((one): VerifierJob => ({ type: "snapshot", part: one })),
      );
      return results.flatMap((result) => (result.type === "snapshot" ? [result.verified] : []));
    },
    async validateRecords(records, { collectsCandidates }) {
      const jobs: VerifierJob[] = [];
      for (let at = 0; at < records.length; at += MESSAGES_PER_PART) {
        const part = records.slice(at, at + MESSAGES_PER_PART);
        const kinds = part.map(({ kind }) => kind);
        const packed = packBytes(part.map(({ bytes }) => bytes));
        jobs.push({ type: "records", kinds, records: packed, collectsCandidates });
      }
      const refusals = new Map<number, Rejection>();
      const candidates: SpoolCandidates[] = [];
      for (const [part, result] of (await run(jobs)).entries()) {
        if (result.type !== "records") continue;
        candidates.push(...result.validated.candidates);
        for (const [at, refusal] of result.validated.refusals)
          refusals.set(part * MESSAGES_PER_PART + at, refusal);
      }
      return { refusals, candidates };
    },
    async stop() {
      if (!fault) rejectAll(new Error("the verifier threads were stopped"));
      await Promise.all(threads.map(idle));
      for (const { worker } of threads) worker.terminate();
    },
  };
}

/** Resolves when a thread has replied to all requests, because a thread must not be terminated while it runs. */
function idle(thread: Thread): Promise<void> {
  if (thread.requests.length === 0) return Promise.resolve();
  return new Promise((resolve) => {
    thread.onIdle = resolve;
  });
}

function partsOf(page: MessagePage): MessagePage[] {
  if (page.messages.count <= MESSAGES_PER_PART) return [page];
  const messages = unpackBytes(page.messages);
  const parts: MessagePage[] = [];
  for (let at = 0; at < messages.length; at += MESSAGES_PER_PART)
    parts.push({ ...page, messages: packBytes(messages.slice(at, at + MESSAGES_PER_PART)) });
  return parts;
}

function snapshotParts(part: SnapshotMessages): SnapshotMessages[] {
  if (part.messages.count <= MESSAGES_PER_PART) return [part];
  const [keys, messages] = [unpackBytes(part.keys), unpackBytes(part.messages)];
  const parts: SnapshotMessages[] = [];
  for (let at = 0; at < messages.length; at += MESSAGES_PER_PART) {
    const end = at + MESSAGES_PER_PART;
    parts.push({ keys: packBytes(keys.slice(at, end)), messages: packBytes(messages.slice(at, end)) });
  }
  return parts;
}
