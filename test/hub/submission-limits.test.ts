import { heapStats } from "bun:jsc";
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type ClientHttp2Session, type ClientHttp2Stream, connect as connectHttp2 } from "node:http2";
import { connect } from "node:net";
import { Client, credentials, type ServiceError, status } from "@grpc/grpc-js";
import fc from "fast-check";
import { createAdmission } from "../../src/admission/admission.ts";
import { Budget } from "../../src/admission/budget.ts";
import { BUDGETS } from "../../src/admission/budgets.ts";
import { indexPath, openIndexReader } from "../../src/db/index/database.ts";
import type { ReceiveLimits } from "../../src/hub/receive-limits.ts";
import { splitBulkRequest } from "../../src/hub/submit/message-responses.ts";
import {
  SUBMISSION_LIMITS,
  SubmissionCheck,
  type SubmissionLimits,
} from "../../src/hub/submit/submission-check.ts";
import type { EncodedRecord, MergeOutcome } from "../../src/ingest/record.ts";
import { ok } from "../../src/lib/result.ts";
import {
  SubmitBulkMessagesRequest,
  SubmitBulkMessagesResponse,
} from "../../src/protocol/wire/generated/hub.ts";
import { Message, MessageType, UserNameType } from "../../src/protocol/wire/generated/message.ts";
import { gaslessKeyMessage, gaslessKeyRemoval } from "../support/gasless-keys.ts";
import { directClients } from "../support/http.ts";
import { type ListeningHub, startHubServer } from "../support/hub.ts";
import {
  DEFAULT_NOW_SECS,
  DEFAULT_TIMESTAMP,
  makeSigner,
  makeWallet,
  signedCast,
  signMessage,
  type TestSigner,
} from "../support/messages.ts";
import { accountRecords, accountSigner, startTestNode, type TestNode } from "../support/node.ts";
import { expectOk } from "../support/result.ts";

const BULK = "/HubService/SubmitBulkMessages";
const SUBMIT = "/HubService/SubmitMessage";
const GZIP = { "grpc.default_compression_algorithm": 2 };

let node: TestNode;
/** The writer's handling of records. Tests replace it. */
let submit: (records: EncodedRecord[]) => Promise<MergeOutcome[]>;
let chainChecks = 0;
const hubs: Hub[] = [];
const TIMEOUTS = { receiveTimeoutMs: 30_000, respondTimeoutMs: 30_000 };

interface Hub {
  readonly server: ListeningHub;
  readonly hubRequests: Budget;
  readonly plain: Client;
  readonly gzip: Client;
}

/** @param requestBytes what the requests of all calls may take; the usual by default. */
async function startHub(
  limits: Partial<SubmissionLimits> = {},
  receive?: ReceiveLimits,
  requestBytes?: number,
): Promise<Hub> {
  const { budgets } = createAdmission();
  const total = requestBytes ?? BUDGETS.hubRequests.total;
  const hubRequests = new Budget({ ...BUDGETS.hubRequests, total, perClient: total });
  const db = openIndexReader(indexPath(node.dir));
  const common = { db, network: 1, clock: node.clock };
  const server = await startHubServer(
    {
      ...common,
      version: "1.2.3",
      admin: true,
      clients: directClients,
      budgets: { ...budgets, hubRequests },
      check: new SubmissionCheck({
        ...common,
        upstreamDecides: false,
        limits: { ...SUBMISSION_LIMITS, ...limits },
      }),
      chain: {
        async check({ data }) {
          if (data.body?.$case === "usernameProofBody") chainChecks += 1;
          return undefined;
        },
      },
      submit: (records) => submit(records),
      onFault: (_, cause) => {
        throw cause;
      },
    },
    { host: "127.0.0.1", port: 0 },
    { receiveLimits: receive },
  );
  const client = (options = {}) =>
    new Client(`127.0.0.1:${server.port}`, credentials.createInsecure(), options);
  const hub = { server, hubRequests, plain: client(), gzip: client(GZIP) };
  hubs.push(hub);
  return hub;
}

let hub: Hub;

beforeAll(async () => {
  node = startTestNode();
  for (const fid of [1, 2, 9]) node.ingestAll(accountRecords(fid));
  submit = async (records) => node.merge(records);
  hub = await startHub();
});

afterAll(async () => {
  for (const { server, plain, gzip } of hubs) {
    plain.close();
    gzip.close();
    await server.stop(0);
  }
  node[Symbol.dispose]();
});

function call(client: Client, method: string, request: Uint8Array): Promise<Buffer | ServiceError> {
  const asBuffer = (bytes: Buffer) => bytes;
  return new Promise((resolve) => {
    client.makeUnaryRequest(method, asBuffer, asBuffer, Buffer.from(request), (cause, response) =>
      resolve(cause ?? (response as Buffer)),
    );
  });
}

/** Opens a call whose frames the test writes. */
function openCall(session: ClientHttp2Session, path = SUBMIT): ClientHttp2Stream {
  const headers = { "content-type": "application/grpc", te: "trailers" };
  return session.request({ ":method": "POST", ":path": path, ...headers });
}

/** Opens a call that sends `bytes` and then stalls. */
function stall(session: ClientHttp2Session, path: string, bytes: Buffer): ClientHttp2Stream {
  const stream = openCall(session, path);
  stream.on("error", () => {});
  stream.write(bytes);
  return stream;
}

const codeOf = (response: Buffer | ServiceError) => (response instanceof Error ? response.code : status.OK);
const bulkOf = (messages: readonly Uint8Array[]) =>
  SubmitBulkMessagesRequest.encode({ messages: messages.map((bytes) => Message.decode(bytes)) }).finish();

async function bulk(messages: readonly Uint8Array[]): Promise<string[]> {
  const response = await call(hub.plain, BULK, bulkOf(messages));
  if (response instanceof Error) throw response;
  return SubmitBulkMessagesResponse.decode(response).messages.map(({ response }) =>
    response?.$case === "messageError" ? response.value.message : "ok",
  );
}

describe("a bulk request", () => {
  const empty = (count: number) => Buffer.alloc(2 * count).fill(Buffer.from([0x0a, 0x00]));

  test("of two million empty messages in a few kilobytes is refused before any of them is decoded", async () => {
    const response = await call(hub.gzip, BULK, empty(2_090_000));
    expect(response).toMatchObject({ code: status.INVALID_ARGUMENT });
    expect((response as ServiceError).details).toBe("a request holds at most 1000 messages");
  });

  test("may contain a thousand messages and only a few unknown fields", async () => {
    expect(codeOf(await call(hub.plain, BULK, empty(1000)))).toBe(status.OK);
    expect(codeOf(await call(hub.plain, BULK, empty(1001)))).toBe(status.INVALID_ARGUMENT);
    const unknown = Buffer.alloc(2 * 1001).fill(Buffer.from([0x10, 0x00]));
    expect(codeOf(await call(hub.plain, BULK, unknown))).toBe(status.INVALID_ARGUMENT);
  });

  test("is split as the generated decoder does, and malformed bytes are refused without an exception", () => {
    const messages = fc.array(fc.uint8Array({ maxLength: 40 }), { maxLength: 12 });
    fc.assert(
      fc.property(messages, fc.nat(11), (list, max) => {
        const request = Buffer.concat(
          list.map((bytes) => Buffer.concat([Buffer.from([0x0a, bytes.length]), bytes])),
        );
        const split = splitBulkRequest(request, max);
        if (list.length > max) expect(split.ok).toBe(false);
        else expect(expectOk(split).map((bytes) => bytes.toHex())).toEqual(list.map((b) => b.toHex()));
      }),
    );
    fc.assert(fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => void splitBulkRequest(bytes, 5)));
  });

  test("does not block other calls while its messages are checked", async () => {
    const messages = Array.from({ length: 600 }, (_, n) => verification(1, accountSigner(1), n));
    let turns = 0;
    let isOver = false;
    const count = () => {
      turns += 1;
      if (!isOver) setImmediate(count);
    };
    setImmediate(count);
    const check = new SubmissionCheck({
      db: node.db,
      network: 1,
      clock: node.clock,
      upstreamDecides: false,
    });
    const results = expectOk(await check.checkAll(messages));
    isOver = true;
    // The check of each recovers an Ethereum signer.
    expect(results.every((result) => !result.ok)).toBe(true);
    expect(turns).toBeGreaterThan(3);
  });
});

describe("received bytes", () => {
  test("are bounded by method, compressed or not", async () => {
    const large = Buffer.alloc(300 * 1024);
    for (const client of [hub.plain, hub.gzip]) {
      expect(codeOf(await call(client, SUBMIT, large))).toBe(status.RESOURCE_EXHAUSTED);
      expect(codeOf(await call(client, "/HubService/ValidateMessage", large))).toBe(
        status.RESOURCE_EXHAUSTED,
      );
      expect(codeOf(await call(client, "/AdminService/SubmitOnChainEvent", large))).toBe(
        status.RESOURCE_EXHAUSTED,
      );
      expect(codeOf(await call(client, BULK, Buffer.alloc(5 * 1024 * 1024)))).toBe(status.RESOURCE_EXHAUSTED);
    }
    expect(codeOf(await call(hub.gzip, SUBMIT, signedCast(1, "compressed", accountSigner(1))))).toBe(
      status.OK,
    );
  });

  test("the limit for one message of a bulk request is that of a single submit", async () => {
    const large = Buffer.concat([Buffer.from([0x0a, 0x80, 0x80, 0x14]), Buffer.alloc(20 * 16_384)]);
    expect(await call(hub.plain, BULK, large)).toMatchObject({
      code: status.INVALID_ARGUMENT,
      details: "a message is larger than 262144 bytes",
    });
  });

  test("are bounded over all open calls together", async () => {
    const crowded = await startHub({}, { requestBytes: () => 4000, ...TIMEOUTS }, 5000);
    const held = Promise.withResolvers<void>();
    submit = async (records) => {
      await held.promise;
      return node.merge(records);
    };
    const cast = signedCast(1, "x".repeat(320), accountSigner(1));
    const waiting = Array.from({ length: 12 }, () => call(crowded.plain, SUBMIT, cast));
    const refused = await Promise.race(waiting);
    expect(refused).toMatchObject({ code: status.RESOURCE_EXHAUSTED });
    // A compressed request counts with its maximum decompressed size.
    expect(codeOf(await call(crowded.gzip, SUBMIT, cast))).toBe(status.RESOURCE_EXHAUSTED);
    held.resolve();
    const codes = (await Promise.all(waiting)).map(codeOf);
    expect(codes).toContain(status.OK);
    submit = async (records) => node.merge(records);
    for (const client of [crowded.plain, crowded.gzip])
      expect(
        codeOf(
          await call(client, SUBMIT, signedCast(1, `after ${client === crowded.gzip}`, accountSigner(1))),
        ),
      ).toBe(status.OK);
  });

  test("are released when a client cancels its call", async () => {
    const crowded = await startHub({}, { requestBytes: () => 4000, ...TIMEOUTS }, 3100);
    let casts = 0;
    const submitUntil = async (wanted: status) => {
      let code: status | undefined;
      for (let tries = 0; code !== wanted && tries < 1000; tries++)
        code = codeOf(await call(crowded.plain, SUBMIT, signedCast(1, `cast ${casts++}`, accountSigner(1))));
      expect(code).toBe(wanted);
    };
    for (let n = 0; n < 3; n++) {
      const session = connectHttp2(`http://127.0.0.1:${crowded.server.port}`);
      session.on("error", () => {});
      const stream = openCall(session);
      stream.on("error", () => {});
      // The start of a message that is never completed.
      stream.write(Buffer.concat([Buffer.from([0, 0, 0, 0x0f, 0]), Buffer.alloc(3000)]));
      await submitUntil(status.RESOURCE_EXHAUSTED);
      session.destroy();
      await submitUntil(status.OK);
    }
  });

  test("are released when a call stalls beyond its timeout", async () => {
    const timeouts = { receiveTimeoutMs: 300, respondTimeoutMs: 300 };
    const crowded = await startHub({}, { requestBytes: () => 4000, ...timeouts }, 3100);
    const bulk = Buffer.concat([Buffer.from([0, 0, 0, 0x07, 0xd0]), Buffer.alloc(2000, "\n\0")]);
    const message = Buffer.concat([Buffer.from([0, 0, 0, 0x0f, 0]), Buffer.alloc(3000)]);
    const stalls: ((session: ClientHttp2Session) => ClientHttp2Stream)[] = [
      // The start of a message that is never completed.
      (session) => stall(session, SUBMIT, message),
      // A complete message without the end of the request.
      (session) => stall(session, BULK, bulk),
      // A complete request whose large response the client does not read.
      (session) => stall(session, BULK, bulk).end(),
    ];
    for (const start of stalls) {
      const session = connectHttp2(`http://127.0.0.1:${crowded.server.port}`, {
        settings: { initialWindowSize: 0 },
      });
      session.on("error", () => {});
      await new Promise((resolve) => start(session).once("close", resolve));
      // More than fits beside the stalled call.
      const casts = bulkOf(Array(4).fill(signedCast(1, "x".repeat(320), accountSigner(1))));
      let code: status | undefined;
      for (let tries = 0; code !== status.OK && tries < 100; tries++)
        code = codeOf(await call(crowded.plain, BULK, casts));
      expect(code).toBe(status.OK);
      session.destroy();
    }
  });

  test("are held without more memory when they arrive one at a time", async () => {
    const { server, hubRequests } = await startHub();
    const frame = (type: number, flags: number, stream: number, payload: Uint8Array) =>
      Buffer.concat([Buffer.from([0, 0, payload.length, type, flags, 0, 0, 0, stream]), payload]);
    const fields = {
      ":method": "POST",
      ":scheme": "http",
      ":authority": "localhost",
      ":path": BULK,
      "content-type": "application/grpc",
    };
    const head = Object.entries({ ...fields, te: "trailers" }).map(
      ([name, value]) =>
        `\0${String.fromCharCode(name.length)}${name}${String.fromCharCode(value.length)}${value}`,
    );
    const byteArrays = () => {
      Bun.gc(true);
      return heapStats().objectTypeCounts.Uint8Array ?? 0;
    };
    const bytes = 5000;
    const socket = connect(server.port, "127.0.0.1");
    const before = byteArrays();
    socket.write("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");
    socket.write(
      Buffer.concat([frame(4, 0, 0, Buffer.alloc(0)), frame(1, 4, 1, Buffer.from(head.join("")))]),
    );
    socket.write(frame(0, 0, 1, Buffer.from([0, 0, 1, 0, 0])));
    socket.write(Buffer.concat(Array(bytes).fill(frame(0, 0, 1, Buffer.from("x")))));
    while (hubRequests.use().held < 5 + bytes) await new Promise((resolve) => setImmediate(resolve));
    expect(byteArrays() - before).toBeLessThan(1000);
    socket.destroy();
  });

  test("are those of one message for each call: a second one ends the call", async () => {
    const session = connectHttp2(`http://127.0.0.1:${hub.server.port}`);
    const stream = openCall(session);
    const grpcStatus = new Promise((resolve) => {
      const readStatus = (headers: Record<string, unknown>) => {
        if (headers["grpc-status"] !== undefined) resolve(Number(headers["grpc-status"]));
      };
      stream.on("response", readStatus);
      stream.on("trailers", readStatus);
    });
    stream.resume();
    stream.end(Buffer.alloc(5 * 3000));
    expect(await grpcStatus).toBe(status.INVALID_ARGUMENT);
    session.destroy();
  });
});

test("messages in flight are bounded by their bytes over all calls, including those of disconnected clients", async () => {
  const crowded = await startHub({ bytesInFlight: 5000 });
  const held = Promise.withResolvers<void>();
  submit = async (records) => {
    await held.promise;
    return node.merge(records);
  };
  const casts = Array.from({ length: 8 }, (_, n) => signedCast(1, `in flight ${n}`, accountSigner(1)));
  const waiting = casts.map((cast) => call(crowded.plain, SUBMIT, cast));
  expect(await Promise.race(waiting)).toMatchObject({ code: status.UNAVAILABLE });
  held.resolve();
  const codes = (await Promise.all(waiting)).map(codeOf);
  expect([...new Set(codes)].sort((a, b) => a - b)).toEqual([status.OK, status.UNAVAILABLE]);
  submit = async (records) => node.merge(records);
  expect(codeOf(await call(crowded.plain, SUBMIT, signedCast(1, "later", accountSigner(1))))).toBe(status.OK);
});

test("a client's messages in flight take half of the bytes, and another one still submits", async () => {
  const check = new SubmissionCheck({
    db: node.db,
    network: 1,
    clock: node.clock,
    upstreamDecides: false,
    limits: { ...SUBMISSION_LIMITS, bytesInFlight: 8_000 },
  });
  const held = Promise.withResolvers<void>();
  const message = new Uint8Array(2_500);
  const submit = (client: string) =>
    check.submitting<string, never>([message], () => held.promise.then(() => ok("done")), client);
  const hostile = Array.from({ length: 3 }, () => submit("hostile"));
  const reason = "too many messages of this client are in flight; try again";
  expect(await hostile[1]?.then((result) => result.ok || result.error.reason)).toBe(reason);
  const own = submit("own");
  held.resolve();
  expect([(await hostile[0])?.ok, (await own).ok]).toEqual([true, true]);
});

test("two clients whose messages take all of the bytes leave some to a message of another one", async () => {
  const context = { db: node.db, network: 1, clock: node.clock, upstreamDecides: false };
  const check = new SubmissionCheck(context);
  const held = Promise.withResolvers<void>();
  const submit = (client: string, bytes: number) =>
    check.submitting<string, never>(
      [new Uint8Array(bytes)],
      () => held.promise.then(() => ok("done")),
      client,
    );
  const { bytesInFlight, messageBytes } = SUBMISSION_LIMITS;
  const size = 127 * 1024;
  const hostile = Array.from({ length: bytesInFlight / (size + 1024) }, (_, n) =>
    submit(`hostile ${n % 2}`, size),
  );
  const own = [submit("hostile 0", 1), submit("own", messageBytes - 1024), submit("own", 1)];
  held.resolve();
  expect((await Promise.all(own)).map((result) => result.ok)).toEqual([false, true, false]);
  expect((await Promise.all(hostile)).every((result) => result.ok)).toBe(true);
});

test("next to a client that submits many messages at once, another one's is checked after a few of them", async () => {
  const check = new SubmissionCheck({
    db: node.db,
    network: 1,
    clock: node.clock,
    upstreamDecides: false,
  });
  const checked: string[] = [];
  const submit = (client: string) =>
    check.submitting<boolean, never>(
      [new Uint8Array(1)],
      async () => {
        const endsMs = performance.now() + 1;
        while (performance.now() < endsMs) Math.random();
        checked.push(client);
        return ok(true);
      },
      client,
    );
  const hostile = Array.from({ length: 100 }, () => submit("hostile"));
  await submit("own");
  expect(checked.indexOf("own")).toBeLessThan(20);
  await Promise.all(hostile);
  expect(checked).toHaveLength(101);
});

/** An Ethereum claim with an invalid signature; `n` makes it distinct. */
function verification(fid: number, signer: TestSigner, n = 0): Uint8Array {
  const address = Buffer.alloc(20, 7);
  address.writeUInt32BE(n);
  const value = { address, claimSignature: Buffer.alloc(65, 1), blockHash: Buffer.alloc(32, 1) };
  return signMessage(
    {
      type: MessageType.MESSAGE_TYPE_VERIFICATION_ADD,
      fid,
      body: { $case: "verificationAddBody", value },
    },
    signer,
  );
}

function nameProof(fid: number, signer: TestSigner): Uint8Array {
  const value = {
    name: Buffer.from("alice.eth"),
    owner: makeWallet(`custody ${fid}`).address,
    fid,
    type: UserNameType.USERNAME_TYPE_ENS_L1,
    timestamp: DEFAULT_NOW_SECS,
    signature: Buffer.alloc(65, 1),
  };
  return signMessage(
    { type: MessageType.MESSAGE_TYPE_USERNAME_PROOF, fid, body: { $case: "usernameProofBody", value } },
    signer,
  );
}

describe("cheap checks run first", () => {
  const unregistered = "fid 77 is not registered";
  const stranger = "signer is not an active key of the fid";

  test("the author is checked before a claim's signer is recovered", async () => {
    expect(
      await bulk([
        verification(77, accountSigner(77)),
        verification(1, accountSigner(2)),
        verification(1, accountSigner(1)),
      ]),
    ).toEqual([unregistered, stranger, "claim_signature is not the address's"]);
  });

  test("the author is checked before Ethereum is called", async () => {
    chainChecks = 0;
    expect(await bulk([nameProof(77, accountSigner(77)), nameProof(1, accountSigner(2))])).toEqual([
      unregistered,
      stranger,
    ]);
    expect(chainChecks).toBe(0);
    expect(await bulk([nameProof(1, accountSigner(1))])).toEqual(["ok"]);
    expect(chainChecks).toBe(1);
  });

  test("fid, nonce and key are checked before the signatures of a key operation, and refused ones never reach the writer", async () => {
    const signer = makeSigner("gasless");
    const key = { signer, requestFid: 9, ttlSecs: 3600 };
    const otherWallet = makeWallet("nobody");
    let records = 0;
    submit = async (batch) => {
      records += batch.length;
      return node.merge(batch);
    };
    expect(
      await bulk([
        gaslessKeyMessage({ ...key, fid: 77, nonce: 1, custody: otherWallet }),
        gaslessKeyMessage({ ...key, fid: 1, nonce: 0, custody: otherWallet }),
        gaslessKeyMessage({ ...key, fid: 1, nonce: 1, requestFid: 78, custody: otherWallet }),
        gaslessKeyMessage({ ...key, fid: 1, nonce: 1, custody: otherWallet }),
        gaslessKeyRemoval({ fid: 1, signer, nonce: 1, by: otherWallet, at: DEFAULT_TIMESTAMP }),
      ]),
    ).toEqual([
      unregistered,
      "nonce is not above the last one",
      "signed key request is not of its fid's custody address",
      "custody_signature is not of the fid's custody address",
      "key is no gasless key of the fid",
    ]);
    expect(records).toBe(0);
    submit = async (batch) => node.merge(batch);
  });

  test("a message may be signed by a key that the same request adds before it", async () => {
    const signer = makeSigner("added in bulk");
    const scopes = [MessageType.MESSAGE_TYPE_CAST_ADD, MessageType.MESSAGE_TYPE_USERNAME_PROOF];
    expect(
      await bulk([
        signedCast(2, "before", signer),
        gaslessKeyMessage({ fid: 2, signer, requestFid: 9, ttlSecs: 3600, nonce: 1, scopes }),
        signedCast(2, "behind", signer),
        nameProof(2, signer),
        gaslessKeyRemoval({ fid: 2, signer, nonce: 1, by: "itself", at: DEFAULT_TIMESTAMP }),
        signedCast(2, "too late", signer),
      ]),
    ).toEqual([stranger, "ok", "ok", "ok", "ok", stranger]);
  });
});
