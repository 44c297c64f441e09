import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import {
  Client,
  credentials,
  Metadata,
  Server,
  ServerCredentials,
  type ServerUnaryCall,
  type ServiceError,
  type sendUnaryData,
  status,
} from "@grpc/grpc-js";
import fc from "fast-check";
import { createAdmission } from "../../src/admission/admission.ts";
import { indexPath, openIndexReader } from "../../src/db/index/database.ts";
import { createChainChecker } from "../../src/hub/submit/chain-checker.ts";
import { SUBMISSION_LIMITS, SubmissionCheck } from "../../src/hub/submit/submission-check.ts";
import { WriteThrough } from "../../src/hub/submit/write-through.ts";
import {
  type BulkMessageResponse,
  GetInfoResponse,
  HubServiceService,
  SubmitBulkMessagesRequest,
  SubmitBulkMessagesResponse,
} from "../../src/protocol/wire/generated/hub.ts";
import { Message, MessageType } from "../../src/protocol/wire/generated/message.ts";
import { OnChainEvent } from "../../src/protocol/wire/generated/on-chain.ts";
import { connectUpstream } from "../../src/upstream/calls/connection.ts";
import { registerEvent } from "../support/events.ts";
import { directClients } from "../support/http.ts";
import { type ListeningHub, startHubServer } from "../support/hub.ts";
import { liveHashes } from "../support/live-messages.ts";
import { makeWallet, signedCast, signMessage } from "../support/messages.ts";
import { accountRecords, accountSigner, startTestNode, type TestNode } from "../support/node.ts";

type Respond<Response> = (
  request: Message[],
  login: string | undefined,
) => Response | ServiceError | "silence";

/** The upstream's responses. Tests replace them. */
let respondToSubmit: Respond<Message>;
let respondToBulk: Respond<BulkMessageResponse[]>;
/** The messages that reached the upstream. */
let forwarded: { hash: string; login: string | undefined }[];
let loginsRefused: number;

let node: TestNode;
let upstream: Server;
let toUpstream: Client;
let server: ListeningHub;
let client: Client;
const faults: unknown[] = [];

/** Starts an upstream with the test's responses. */
async function startUpstream(): Promise<{ server: Server; port: number }> {
  const peer = new Server();
  const { submitMessage, submitBulkMessages } = HubServiceService;
  const handle =
    <Request, Response, Result>(
      messagesOf: (request: Request) => Message[],
      respond: () => Respond<Result>,
      responseOf: (result: Result) => Response,
    ) =>
    (call: ServerUnaryCall<Request, Response>, callback: sendUnaryData<Response>) => {
      const messages = messagesOf(call.request);
      const login = call.metadata.get("authorization")[0]?.toString();
      for (const { hash } of messages) forwarded.push({ hash: hash.toHex(), login });
      const result = respond()(messages, login);
      if (result === "silence") return;
      if (result instanceof Error) callback(result);
      else callback(null, responseOf(result));
    };
  peer.addService(
    { submitMessage, submitBulkMessages },
    {
      submitMessage: handle(
        (message: Message) => [message],
        () => respondToSubmit,
        (message) => message,
      ),
      submitBulkMessages: handle(
        ({ messages }: SubmitBulkMessagesRequest) => messages,
        () => respondToBulk,
        (messages): SubmitBulkMessagesResponse => ({ messages }),
      ),
    },
  );
  const port = await new Promise<number>((resolve, reject) => {
    peer.bindAsync("127.0.0.1:0", ServerCredentials.createInsecure(), (cause, bound) =>
      cause ? reject(cause) : resolve(bound),
    );
  });
  return { server: peer, port };
}

function startHub(
  to: Client,
  {
    timeoutMs,
    bytesInFlight = SUBMISSION_LIMITS.bytesInFlight,
    isFirst = true,
  }: { timeoutMs?: number; bytesInFlight?: number; isFirst?: boolean } = {},
): Promise<ListeningHub> {
  const db = openIndexReader(indexPath(node.dir));
  const limits = { ...SUBMISSION_LIMITS, bytesInFlight };
  const check = new SubmissionCheck({ db, network: 1, clock: node.clock, upstreamDecides: true, limits });
  const submits = new WriteThrough({
    target: () => ({ client: to, isFirst }),
    username: "node",
    password: "open:sesame",
    check,
    clock: node.clock,
    onLoginRefused: () => {
      loginsRefused += 1;
    },
    ...(timeoutMs !== undefined && { timeoutMs }),
  });
  return startHubServer(
    {
      db,
      network: 1,
      clock: node.clock,
      version: "1.2.3",
      admin: true,
      budgets: createAdmission().budgets,
      clients: directClients,
      check,
      chain: createChainChecker({ db, l1RpcUrl: "" }),
      submit: async (records) => node.merge(records),
      onFault: (_, cause) => faults.push(cause),
      upstream: {
        submits,
        isReady: async () => true,
        shards: async () => [
          { shard: 0, appliedBlock: 70, lagSecs: 2 },
          { shard: 1, appliedBlock: 500, lagSecs: 1 },
          { shard: 2, appliedBlock: 0, lagSecs: undefined },
        ],
      },
    },
    { host: "127.0.0.1", port: 0 },
  );
}

function connect(hub: ListeningHub): Client {
  return new Client(`127.0.0.1:${hub.port}`, credentials.createInsecure());
}

beforeAll(async () => {
  node = startTestNode();
  node.ingestAll(accountRecords(1));
  const started = await startUpstream();
  upstream = started.server;
  toUpstream = connectUpstream(`http://127.0.0.1:${started.port}`);
  server = await startHub(toUpstream);
  client = connect(server);
});

beforeEach(() => {
  respondToSubmit = ([message]) => message as Message;
  respondToBulk = (messages) => messages.map(accepted);
  forwarded = [];
  loginsRefused = 0;
});

afterAll(async () => {
  client.close();
  await server.stop(0);
  toUpstream.close();
  upstream.forceShutdown();
  node[Symbol.dispose]();
});

/** Sends bytes to a method. Returns the bytes of the response, or the error. */
function call(method: string, request: Uint8Array, over: Client = client): Promise<Buffer | ServiceError> {
  const asBuffer = (bytes: Buffer) => bytes;
  return new Promise((resolve) => {
    over.makeUnaryRequest(method, asBuffer, asBuffer, Buffer.from(request), (cause, response) =>
      resolve(cause ?? (response as Buffer)),
    );
  });
}

const SUBMIT = "/HubService/SubmitMessage";

function callBulk(messages: Message[]): Promise<Buffer | ServiceError> {
  return call("/HubService/SubmitBulkMessages", SubmitBulkMessagesRequest.encode({ messages }).finish());
}

async function submitBulk(messages: Message[]): Promise<string[]> {
  const response = await callBulk(messages);
  if (response instanceof Error) throw response;
  return SubmitBulkMessagesResponse.decode(response).messages.map(({ response }) =>
    response?.$case === "messageError"
      ? `${response.value.hash.toHex()} ${response.value.errCode}`
      : `${response?.value.hash.toHex()} ok`,
  );
}

test("a node that is not the first one of the settings gets no credentials", async () => {
  const hub = await startHub(toUpstream, { isFirst: false });
  const other = connect(hub);
  const message = cast("to another node");
  await call(SUBMIT, message, other);
  await call(SUBMIT, message);
  expect(forwarded.map(({ login }) => login)).toEqual([
    undefined,
    `Basic ${Buffer.from("node:open:sesame").toString("base64")}`,
  ]);
  other.close();
  await hub.stop(0);
});

function refusal(response: Buffer | ServiceError) {
  if (!(response instanceof Error)) throw new Error("the call succeeded");
  const { code, details, metadata } = response;
  return { code, details, errCode: metadata.get("x-err-code")[0] };
}

function fault(code: status, details: string, errCode?: string): ServiceError {
  const metadata = new Metadata();
  if (errCode !== undefined) metadata.set("x-err-code", errCode);
  return Object.assign(new Error(details), { code, details, metadata });
}

function accepted(message: Message): BulkMessageResponse {
  return { response: { $case: "message", value: message } };
}

function refused({ hash }: Pick<Message, "hash">, errCode: string): BulkMessageResponse {
  return { response: { $case: "messageError", value: { hash, errCode, message: "because" } } };
}

const cast = (text: string) => signedCast(1, text, accountSigner(1));
const hashOf = (bytes: Uint8Array) => Message.decode(bytes).hash.toHex();
const liveMessages = () => liveHashes(node.db).length;

describe("SubmitMessage on a node that follows", () => {
  test("forwards the message with the node's credentials and does not merge it", async () => {
    const bytes = cast("through");
    const response = await call(SUBMIT, bytes);
    if (response instanceof Error) throw response;
    expect(Message.decode(response).data?.body).toMatchObject({ value: { text: "through" } });
    const login = `Basic ${Buffer.from("node:open:sesame").toString("base64")}`;
    expect(forwarded).toEqual([{ hash: hashOf(bytes), login }]);
    expect(liveMessages()).toBe(0);
  });

  test("refuses an invalid message without forwarding it", async () => {
    const bytes = cast("broken");
    const forged = Message.encode({ ...Message.decode(bytes), hash: Buffer.alloc(20) }).finish();
    expect(refusal(await call(SUBMIT, forged))).toMatchObject({
      code: status.INVALID_ARGUMENT,
      errCode: "bad_request.validation_failure",
    });
    expect(refusal(await call(SUBMIT, bytes.subarray(3)))).toMatchObject({
      errCode: "bad_request.parse_failure",
    });
    expect(forwarded).toEqual([]);
  });

  test("forwards a message of an fid that the index does not know", async () => {
    const response = await call(SUBMIT, signedCast(77, "new here", accountSigner(77)));
    expect(response).not.toBeInstanceOf(Error);
    expect(forwarded).toHaveLength(1);
  });

  test("forwards a claim of an fid that the index does not know", async () => {
    const claim = (fid: number) =>
      signMessage(
        {
          type: MessageType.MESSAGE_TYPE_VERIFICATION_ADD,
          fid,
          body: {
            $case: "verificationAddBody",
            value: {
              address: Buffer.alloc(20, 7),
              claimSignature: Buffer.alloc(65, 1),
              blockHash: Buffer.alloc(32, 1),
            },
          },
        },
        accountSigner(fid),
      );
    expect(await call(SUBMIT, claim(77))).not.toBeInstanceOf(Error);
    expect(forwarded).toHaveLength(1);
    expect(refusal(await call(SUBMIT, claim(1))).details).toBe("claim_signature is not the address's");
    expect(forwarded).toHaveLength(1);
  });

  test.each([
    [status.INVALID_ARGUMENT, "bad_request.duplicate"],
    [status.INVALID_ARGUMENT, "bad_request.prunable"],
    [status.RESOURCE_EXHAUSTED, "rate_limited"],
    [status.UNAVAILABLE, "unavailable"],
  ])("a refusal by the upstream is returned with its code: %d %s", async (code, errCode) => {
    respondToSubmit = () => fault(code, "the upstream's reason", errCode);
    expect(refusal(await call(SUBMIT, cast("refused")))).toEqual({
      code,
      errCode,
      details: "the upstream's reason",
    });
  });

  test("shortens a long reason of the upstream", async () => {
    respondToSubmit = () => fault(status.INVALID_ARGUMENT, "x".repeat(5000), "bad_request.conflict");
    expect(refusal(await call(SUBMIT, cast("long")))?.details).toHaveLength(500);
  });

  test("reports refused credentials to the operator once a minute and not to the caller", async () => {
    respondToSubmit = () => fault(status.UNAUTHENTICATED, "bad password of user node", "unauthenticated");
    const unavailable = {
      code: status.UNAVAILABLE,
      errCode: "unavailable",
      details: "the upstream refuses this node's credentials",
    };
    expect(refusal(await call(SUBMIT, cast("one")))).toEqual(unavailable);
    expect(refusal(await call(SUBMIT, cast("two")))).toEqual(unavailable);
    expect(loginsRefused).toBe(1);
    node.clock.advanceSecs(60);
    await call(SUBMIT, cast("three"));
    expect(loginsRefused).toBe(2);
  });
});

describe("a failing upstream", () => {
  test("UNAVAILABLE at once and without an address if it is down", async () => {
    const nowhere = connectUpstream("http://127.0.0.1:1");
    const hub = await startHub(nowhere);
    const over = connect(hub);
    const response = refusal(await call(SUBMIT, cast("nobody there"), over));
    expect(response).toEqual({
      code: status.UNAVAILABLE,
      errCode: "unavailable",
      details: "the upstream cannot be reached; try again",
    });
    over.close();
    await hub.stop(0);
    nowhere.close();
  });

  test("ends at the deadline if it does not respond, and at once beyond the limit of calls in flight", async () => {
    respondToSubmit = () => "silence";
    const hub = await startHub(toUpstream, { timeoutMs: 300, bytesInFlight: 6000 });
    const over = connect(hub);
    const responses = await Promise.all([1, 2, 3].map((n) => call(SUBMIT, cast(`silence ${n}`), over)));
    expect(responses.map((response) => refusal(response).code).sort((a, b) => a - b)).toEqual([
      status.DEADLINE_EXCEEDED,
      status.DEADLINE_EXCEEDED,
      status.UNAVAILABLE,
    ]);
    respondToSubmit = ([message]) => message as Message;
    // A busy machine may take longer than the deadline, so one of many.
    const after = async () => !((await call(SUBMIT, cast("after"), over)) instanceof Error);
    let isSubmitted = await after();
    for (let n = 0; n < 50 && !isSubmitted; n++) isSubmitted = await after();
    expect(isSubmitted).toBe(true);
    over.close();
    await hub.stop(0);
  });
});

describe("SubmitBulkMessages on a node that follows", () => {
  const casts = Array.from({ length: 6 }, (_, n) => Message.decode(cast(`bulk ${n}`)));
  const wrong = casts.map((message) => ({ ...message, signature: Buffer.alloc(64, 1) }));

  test("each message gets its own result, even if the upstream's results are reordered, repeated, missing or unknown", async () => {
    const result = fc.constantFrom("ok", "bad_request.duplicate", "bad_request.conflict", "none");
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.record({ at: fc.nat(5), isWrong: fc.boolean() }), { maxLength: 9 }),
        fc.array(result, { minLength: 6, maxLength: 6 }),
        fc.nat(),
        async (request, results, seed) => {
          const verdictOf = new Map(casts.map(({ hash }, at) => [hash.toHex(), results[at] ?? "none"]));
          respondToBulk = (messages) => {
            const responses = messages.flatMap((message) => {
              const verdict = verdictOf.get(message.hash.toHex()) ?? "none";
              if (verdict === "none") return [];
              return verdict === "ok" ? [accepted(message)] : [refused(message, verdict)];
            });
            const turn = responses.length > 0 ? seed % responses.length : 0;
            const stranger = refused({ hash: Buffer.alloc(20, 9) }, "bad_request.duplicate");
            return [
              stranger,
              ...responses.slice(turn),
              ...responses.slice(0, turn),
              ...responses.slice(0, 1),
            ];
          };
          const messages = request.map(({ at, isWrong }) => (isWrong ? wrong : casts)[at] as Message);
          expect(await submitBulk(messages)).toEqual(
            request.map(({ at, isWrong }) => {
              const hash = casts[at]?.hash.toHex() ?? "";
              if (isWrong) return `${hash} bad_request.validation_failure`;
              return `${hash} ${results[at] === "none" ? "unavailable" : results[at]}`;
            }),
          );
        },
      ),
      { numRuns: 60 },
    );
    expect(faults).toEqual([]);
  });

  test("does not call the upstream if nothing is left to forward; fails if its call fails", async () => {
    expect(await submitBulk(wrong.slice(0, 2))).toHaveLength(2);
    expect(forwarded).toEqual([]);
    respondToBulk = () => fault(status.UNAVAILABLE, "", "unavailable");
    expect(refusal(await callBulk(casts)).code).toBe(status.UNAVAILABLE);
  });
});

test("ValidateMessage is served locally", async () => {
  expect(await call("/HubService/ValidateMessage", cast("only asked about"))).not.toBeInstanceOf(Error);
  expect(forwarded).toEqual([]);
});

test("AdminService is refused, because the upstream sends on-chain events", async () => {
  const event = OnChainEvent.encode(registerEvent(7, makeWallet("custody 7").address, { block: 5 })).finish();
  const response = refusal(await call("/AdminService/SubmitOnChainEvent", event));
  expect(response.code).toBe(status.FAILED_PRECONDITION);
  expect(response.details).toContain("follows an upstream");
});

test("GetInfo reports the upstream's shards and the applied block of each", async () => {
  const response = await call("/HubService/GetInfo", new Uint8Array());
  if (response instanceof Error) throw response;
  expect(GetInfoResponse.decode(response)).toMatchObject({
    numShards: 2,
    dbStats: { numFidRegistrations: 1 },
    shardInfos: [
      { shardId: 0, maxHeight: 70, blockDelay: 2 },
      { shardId: 1, maxHeight: 500, blockDelay: 1 },
      { shardId: 2, maxHeight: 0, blockDelay: 0 },
    ],
  });
});
