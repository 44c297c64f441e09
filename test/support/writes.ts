import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  type Client,
  Metadata,
  Server,
  ServerCredentials,
  type ServerUnaryCall,
  type ServiceError,
  type sendUnaryData,
  status,
} from "@grpc/grpc-js";
import { createAdmission } from "../../src/admission/admission.ts";
import type { AuditStore } from "../../src/audit/audit-store.ts";
import type { Config } from "../../src/config/schema.ts";
import { indexPath, openIndexReader } from "../../src/db/index/database.ts";
import { openState, statePath } from "../../src/db/state/database.ts";
import { createHub } from "../../src/hub/server.ts";
import { createChainChecker } from "../../src/hub/submit/chain-checker.ts";
import { SubmissionCheck } from "../../src/hub/submit/submission-check.ts";
import { WriteThrough } from "../../src/hub/submit/write-through.ts";
import { startNodeWrites } from "../../src/node/compose/signing/writes.ts";
import { createLocalStores } from "../../src/node/state/sqlite-stores.ts";
import {
  type BulkMessageResponse,
  HubServiceService,
  type SubmitBulkMessagesRequest,
  type SubmitBulkMessagesResponse,
} from "../../src/protocol/wire/generated/hub.ts";
import { Message } from "../../src/protocol/wire/generated/message.ts";
import { connectUpstream } from "../../src/upstream/calls/connection.ts";
import type { WriteCall, WriteReply, Writes, WritesStats } from "../../src/writes/rpc.ts";
import type { WriteSigners } from "../../src/writes/service.ts";
import type { WriteStore } from "../../src/writes/store/write-store.ts";
import { configWith } from "../runtime/config.ts";
import { directClients } from "./http.ts";
import { silentLog } from "./log.ts";
import { accountRecords, startTestNode, type TestNode } from "./node.ts";

/** What the scripted upstream does with a message: `ok`, the code of a refusal, or no response at all. */
export type Answer = "ok" | "silence" | "login" | "internal" | `bad_request.${string}`;

/** A followed node whose responses a test decides. */
export interface ScriptedUpstream extends AsyncDisposable {
  readonly url: string;
  /** The hashes of the messages that have reached it, in order; bulk calls are in `bulks`, too. */
  readonly received: string[];
  readonly bulks: string[][];
  answer: (hash: string, isBulk: boolean) => Answer;
  /** Called with each message that got an OK. */
  onAccepted: (message: Uint8Array) => void;
}

export async function startScriptedUpstream(port = 0): Promise<ScriptedUpstream> {
  const server = new Server();
  const upstream = {
    url: "",
    received: [] as string[],
    bulks: [] as string[][],
    answer: (): Answer => "ok",
    onAccepted: () => {},
    async [Symbol.asyncDispose]() {
      server.forceShutdown();
    },
  } as ScriptedUpstream & { url: string };
  const { submitMessage, submitBulkMessages } = HubServiceService;
  server.addService(
    { submitMessage, submitBulkMessages },
    {
      submitMessage({ request }: ServerUnaryCall<Message, Message>, callback: sendUnaryData<Message>) {
        const hash = request.hash.toHex();
        upstream.received.push(hash);
        const answer = upstream.answer(hash, false);
        if (answer === "silence") return;
        if (answer !== "ok") return callback(errorOf(answer));
        callback(null, request);
        upstream.onAccepted(Message.encode(request).finish());
      },
      submitBulkMessages(
        { request }: ServerUnaryCall<SubmitBulkMessagesRequest, SubmitBulkMessagesResponse>,
        callback: sendUnaryData<SubmitBulkMessagesResponse>,
      ) {
        const hashes = request.messages.map(({ hash }) => hash.toHex());
        upstream.bulks.push(hashes);
        upstream.received.push(...hashes);
        const answers = hashes.map((hash) => upstream.answer(hash, true));
        if (answers.includes("silence")) return;
        // One error fails all messages of the fid.
        const failure = answers.find((answer) => answer !== "ok");
        const messages = request.messages.map((message): BulkMessageResponse => {
          if (failure === undefined) return { response: { $case: "message", value: message } };
          const value = { hash: message.hash, errCode: failure, message: "failed" };
          return { response: { $case: "messageError", value } };
        });
        callback(null, { messages });
        if (failure === undefined)
          for (const message of request.messages) upstream.onAccepted(Message.encode(message).finish());
      },
    },
  );
  const bound = await new Promise<number>((resolve, reject) => {
    server.bindAsync(`127.0.0.1:${port}`, ServerCredentials.createInsecure(), (cause, at) =>
      cause ? reject(cause) : resolve(at),
    );
  });
  upstream.url = `http://127.0.0.1:${bound}`;
  return upstream;
}

function errorOf(answer: Exclude<Answer, "ok" | "silence">): ServiceError {
  const metadata = new Metadata();
  if (answer.startsWith("bad_request.")) metadata.set("x-err-code", answer);
  const code =
    answer === "login"
      ? status.UNAUTHENTICATED
      : answer === "internal"
        ? status.INTERNAL
        : status.INVALID_ARGUMENT;
  return Object.assign(new Error(answer), { code, details: `the upstream says ${answer}`, metadata });
}

/** The writes of a node over a real index, a real state and a real gRPC channel. */
export interface TestWrites extends AsyncDisposable {
  readonly node: TestNode;
  /** Which a test may change. */
  readonly config: Config;
  readonly store: WriteStore;
  readonly audit: AuditStore;
  readonly writes: Writes;
  submit(messages: readonly Uint8Array[], over?: Partial<WriteCall>): Promise<WriteReply>;
  stats(): Promise<WritesStats>;
  pause(isPaused: boolean): void;
  /** Makes entries of the audit log fail, as a full disk does. Returns what ends that. */
  breakAudit(): () => void;
  /** Starts the writes again, as after a crash: what was under way is not waited for. */
  restart(): Promise<void>;
}

export const OWNER = { fid: 3, apiKeyId: "test key", writesPerMinute: 10_000 };

export async function startTestWrites(
  options: {
    readonly upstream?: ScriptedUpstream;
    readonly settings?: readonly string[];
    readonly fids?: readonly number[];
    readonly timeoutMs?: number;
    readonly signers?: WriteSigners;
    readonly pollMs?: number;
  } = {},
): Promise<TestWrites> {
  const { upstream, settings = [], fids = [1, 2], timeoutMs = 300, pollMs = 10 } = options;
  const node = startTestNode();
  node.ingestAll(fids.flatMap((fid) => accountRecords(fid)));
  const stateDir = mkdtempSync(join(tmpdir(), "writes-test-"));
  const state = openState(statePath(stateDir));
  const db = openIndexReader(indexPath(node.dir));
  const log = silentLog;
  const client: Client | undefined =
    upstream && connectUpstream(upstream.url, { retryMs: 100, maxRetryMs: 200 });
  const check = new SubmissionCheck({
    db,
    network: 1,
    clock: node.clock,
    upstreamDecides: upstream !== undefined,
  });
  const { rpc: hub } = createHub({
    db,
    network: 1,
    clock: node.clock,
    version: "1.2.3",
    admin: false,
    budgets: createAdmission().budgets,
    clients: directClients,
    check,
    chain: createChainChecker({ db, l1RpcUrl: "" }),
    submit: async (records) => node.merge(records),
    onFault: () => {},
    ...(client && {
      upstream: {
        submits: new WriteThrough({
          target: () => ({ client, isFirst: true }),
          username: "",
          password: "",
          check,
          clock: node.clock,
          onLoginRefused: () => {},
          timeoutMs,
        }),
        isReady: (waitMs: number) =>
          new Promise<boolean>((resolve) =>
            client.waitForReady(Date.now() + Math.min(waitMs, timeoutMs), (fault) => resolve(!fault)),
          ),
        shards: async () => [],
      },
    }),
  });
  let isPaused = false;
  const config = structuredClone(
    configWith(
      ...(upstream ? [`upstream.url=${upstream.url}`] : []),
      "writes.confirm_timeout_ms=200",
      ...settings,
    ),
  );
  const start = () => {
    const stores = createLocalStores(state, {
      limits: { maxQueued: 100 },
      clock: node.clock,
      monotonicMs: () => node.clock.nowMs(),
    });
    const writes = startNodeWrites({
      config,
      clock: node.clock,
      log,
      db,
      commits: { read: () => undefined },
      store: stores.writes,
      buckets: stores.buckets,
      audit: stores.audit,
      hub,
      signals: { isPaused: () => isPaused, isFenced: () => false },
      signers: options.signers,
      pollMs,
    });
    return { store: stores.writes, audit: stores.audit, ...writes };
  };
  let running = start();
  return {
    node,
    config,
    get store() {
      return running.store;
    },
    get audit() {
      return running.audit;
    },
    get writes() {
      return running.rpc;
    },
    submit: (signed, over) =>
      running.rpc.submit({
        owner: OWNER,
        route: "POST /message",
        idem: null,
        signerUuid: null,
        content: { signed },
        requestId: "request",
        address: "127.0.0.1",
        ...over,
      }),
    stats: () => running.rpc.stats(),
    pause(paused) {
      isPaused = paused;
    },
    breakAudit() {
      state.sqlite.run("ALTER TABLE audit_entries RENAME TO away");
      return () => void state.sqlite.run("ALTER TABLE away RENAME TO audit_entries");
    },
    async restart() {
      await running.stop();
      running = start();
    },
    async [Symbol.asyncDispose]() {
      await running.stop();
      client?.close();
      state[Symbol.dispose]();
      db[Symbol.dispose]();
      node[Symbol.dispose]();
      rmSync(stateDir, { recursive: true, force: true });
    },
  };
}
