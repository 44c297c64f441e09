import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { Client, credentials, Metadata, type ServiceError } from "@grpc/grpc-js";
import { createAdmission } from "../../src/admission/admission.ts";
import { createClientAddresses } from "../../src/admission/client-address.ts";
import { indexPath, openIndexReader } from "../../src/db/index/database.ts";
import { createChainChecker } from "../../src/hub/submit/chain-checker.ts";
import { SubmissionCheck } from "../../src/hub/submit/submission-check.ts";
import {
  GetInfoResponse,
  SubmitBulkMessagesRequest,
  SubmitBulkMessagesResponse,
  ValidationResponse,
} from "../../src/protocol/wire/generated/hub.ts";
import {
  Message,
  MessageData,
  MessageType,
  UserNameType,
} from "../../src/protocol/wire/generated/message.ts";
import { OnChainEvent } from "../../src/protocol/wire/generated/on-chain.ts";
import { loadCastsByHash } from "../../src/read/hydrate/casts.ts";
import { loadUsers } from "../../src/read/hydrate/users.ts";
import type { Descriptors } from "../../src/runtime/process.ts";
import { keyAddedEvent } from "../support/envelopes.ts";
import { registerEvent } from "../support/events.ts";
import { type ListeningHub, startHubServer } from "../support/hub.ts";
import {
  DEFAULT_TIMESTAMP,
  encodeData,
  makeWallet,
  sealDataBytes,
  signedCast,
  signMessage,
} from "../support/messages.ts";
import { accountRecords, accountSigner, startTestNode, type TestNode } from "../support/node.ts";
import { hashOf } from "../support/social.ts";

let node: TestNode;
let server: ListeningHub;
let adminOff: ListeningHub;
let client: Client;
let adminOffClient: Client;
const faults: unknown[] = [];

async function startHub(admin: boolean, descriptors?: Descriptors): Promise<ListeningHub> {
  const db = openIndexReader(indexPath(node.dir));
  return startHubServer(
    {
      db,
      network: 1,
      clock: node.clock,
      version: "1.2.3",
      admin,
      budgets: createAdmission().budgets,
      clients: createClientAddresses({ trusted_proxies: ["127.0.0.0/8"], proxy_header: "x-forwarded-for" }),
      check: new SubmissionCheck({ db, network: 1, clock: node.clock, upstreamDecides: false }),
      chain: createChainChecker({ db, l1RpcUrl: "" }),
      submit: async (records) => node.merge(records),
      onFault: (_, cause) => faults.push(cause),
    },
    { host: "127.0.0.1", port: 0 },
    { descriptors },
  );
}

beforeAll(async () => {
  node = startTestNode();
  for (const fid of [1, 2]) node.ingestAll(accountRecords(fid));
  server = await startHub(true);
  adminOff = await startHub(false);
  client = new Client(`127.0.0.1:${server.port}`, credentials.createInsecure());
  adminOffClient = new Client(`127.0.0.1:${adminOff.port}`, credentials.createInsecure());
});

afterAll(async () => {
  client.close();
  adminOffClient.close();
  await Promise.all([server.stop(0), adminOff.stop(0)]);
  node[Symbol.dispose]();
});

/** Sends bytes to a method. Returns the bytes of the response, or the error. */
function call(
  method: string,
  request: Uint8Array,
  over: Client = client,
  metadata = new Metadata(),
): Promise<Buffer | ServiceError> {
  const asBuffer = (bytes: Buffer) => bytes;
  return new Promise((resolve) => {
    over.makeUnaryRequest(method, asBuffer, asBuffer, Buffer.from(request), metadata, (cause, response) =>
      resolve(cause ?? (response as Buffer)),
    );
  });
}

function errCode(response: Buffer | ServiceError): unknown {
  return response instanceof Error ? response.metadata.get("x-err-code")[0] : "no error";
}

const SUBMIT = "/HubService/SubmitMessage";

describe("SubmitMessage", () => {
  test("OK means merged: the next read shows the message, and the response contains the signed data", async () => {
    const cast = signedCast(1, "over gRPC", accountSigner(1));
    const response = await call(SUBMIT, cast);
    if (response instanceof Error) throw response;
    expect(Message.decode(response).data?.fid).toBe(1);
    expect(loadCastsByHash(node.db, [hashOf(cast)]).length).toBe(1);
  });

  test("forged data beside genuine data_bytes is neither merged nor returned", async () => {
    const genuine = encodeData({
      type: MessageType.MESSAGE_TYPE_CAST_ADD,
      fid: 1,
      body: { $case: "castAddBody", value: { text: "genuine" } },
    });
    const forged = MessageData.decode(
      encodeData({
        type: MessageType.MESSAGE_TYPE_CAST_ADD,
        fid: 2,
        body: { $case: "castAddBody", value: { text: "forged" } },
      }),
    );
    const message = Message.encode(sealDataBytes(genuine, accountSigner(1), { data: forged })).finish();
    const response = await call(SUBMIT, message);
    if (response instanceof Error) throw response;
    expect(Message.decode(response).data?.fid).toBe(1);
    expect(loadCastsByHash(node.db, [hashOf(message)])[0]?.text).toBe("genuine");
  });

  test("a refusal is INVALID_ARGUMENT with its x-err-code, and a repeated message is a duplicate", async () => {
    const cast = signedCast(1, "twice", accountSigner(1));
    const broken = Message.encode({ ...Message.decode(cast), hash: Buffer.alloc(20) }).finish();
    for (const [bytes, code] of [
      [cast.subarray(0, cast.length - 3), "bad_request.parse_failure"],
      [new Uint8Array(), "bad_request.parse_failure"],
      [broken, "bad_request.validation_failure"],
      [signedCast(99, "unknown fid", accountSigner(99)), "bad_request.validation_failure"],
    ] as const) {
      const response = await call(SUBMIT, bytes);
      expect(errCode(response)).toBe(code);
      expect(response).toHaveProperty("code", 3);
    }
    expect(errCode(await call(SUBMIT, cast))).toBe("no error");
    expect(errCode(await call(SUBMIT, cast))).toBe("bad_request.duplicate");
    expect(faults).toEqual([]);
  });

  test("a name proof is unavailable if no Ethereum RPC is set", async () => {
    const proof = signMessage(
      {
        type: MessageType.MESSAGE_TYPE_USERNAME_PROOF,
        fid: 1,
        body: {
          $case: "usernameProofBody",
          value: {
            name: Buffer.from("alice.eth"),
            owner: makeWallet("custody 1").address,
            fid: 1,
            type: UserNameType.USERNAME_TYPE_ENS_L1,
            timestamp: DEFAULT_TIMESTAMP + 1_609_459_200,
            signature: Buffer.alloc(65, 1),
          },
        },
      },
      accountSigner(1),
    );
    const response = await call(SUBMIT, proof);
    expect(errCode(response)).toBe("unavailable");
    expect(response).toHaveProperty("code", 14);
  });
});

test("SubmitBulkMessages returns a result for each message in the order of the request", async () => {
  const good = (n: number) => signedCast((n % 2) + 1, `bulk ${n}`, accountSigner((n % 2) + 1));
  const stranger = signedCast(1, "wrong key", accountSigner(2));
  const messages = [good(1), stranger, good(2), good(3), good(1)].map((bytes) => Message.decode(bytes));
  const response = await call(
    "/HubService/SubmitBulkMessages",
    SubmitBulkMessagesRequest.encode({ messages }).finish(),
  );
  if (response instanceof Error) throw response;
  const results = SubmitBulkMessagesResponse.decode(response).messages.map(({ response }) =>
    response?.$case === "messageError" ? response.value.errCode : response?.value.hash.toHex(),
  );
  expect(results).toEqual([
    messages[0]?.hash.toHex(),
    "bad_request.validation_failure",
    messages[2]?.hash.toHex(),
    messages[3]?.hash.toHex(),
    "bad_request.duplicate",
  ]);
});

test("ValidateMessage accepts without merging, and refuses with the reason", async () => {
  const cast = signedCast(1, "only asked about", accountSigner(1));
  const response = await call("/HubService/ValidateMessage", cast);
  if (response instanceof Error) throw response;
  expect(ValidationResponse.decode(response).valid).toBe(true);
  expect(loadCastsByHash(node.db, [hashOf(cast)]).length).toBe(0);
  const stranger = signedCast(1, "wrong key", accountSigner(2));
  expect(errCode(await call("/HubService/ValidateMessage", stranger))).toBe("bad_request.validation_failure");
});

test("refuses connections while file descriptors are short, and accepts them again afterwards", async () => {
  const descriptors = { cap: 10, limit: 20, open: () => 10 };
  const capped = await startHub(false, descriptors);
  const ask = () =>
    new Promise<string>((resolve) => {
      const client = new Client(`127.0.0.1:${capped.port}`, credentials.createInsecure());
      const identity = (bytes: Buffer) => bytes;
      client.makeUnaryRequest("/HubService/GetInfo", identity, identity, Buffer.alloc(0), (cause) => {
        client.close();
        resolve(cause ? `error ${cause.code}` : "ok");
      });
    });
  expect(await ask()).toBe("error 14");
  descriptors.cap = 11;
  expect(await ask()).toBe("ok");
  await capped.stop(0);
});

test("GetInfo counts the contents of the index", async () => {
  const response = await call("/HubService/GetInfo", new Uint8Array());
  if (response instanceof Error) throw response;
  expect(GetInfoResponse.decode(response)).toMatchObject({
    version: "1.2.3",
    numShards: 1,
    dbStats: { numFidRegistrations: 2 },
  });
});

test("a method that this node does not serve is UNIMPLEMENTED", async () => {
  expect(await call("/HubService/GetEvents", new Uint8Array())).toHaveProperty("code", 12);
});

test("AdminService is refused if disabled, and validates the structure of its requests if enabled", async () => {
  const method = "/AdminService/SubmitOnChainEvent";
  const event = OnChainEvent.encode(registerEvent(7, makeWallet("custody 7").address, { block: 5 })).finish();
  const refused = await call(method, event, adminOffClient);
  expect(refused).toHaveProperty("code", 7);
  expect(errCode(await call(method, event))).toBe("no error");
  expect(errCode(await call(method, event))).toBe("bad_request.duplicate");
  const broken = OnChainEvent.encode(registerEvent(8, Buffer.alloc(3), { block: 6 })).finish();
  expect(errCode(await call(method, broken))).toBe("bad_request.validation_failure");
  expect(errCode(await call(method, Buffer.from("ffffff", "hex")))).toBe("bad_request.parse_failure");
});

test("AdminService is refused to callers behind a proxy on this machine", async () => {
  const metadata = new Metadata();
  metadata.set("x-forwarded-for", "192.0.2.1");
  const refused = await call("/AdminService/SubmitOnChainEvent", new Uint8Array(), client, metadata);
  expect(refused).toMatchObject({ code: 7, details: "AdminService accepts the loopback address only" });
});

test("AdminService accepts an auth address as it is on chain", async () => {
  const key = Buffer.concat([Buffer.alloc(12), makeWallet("auth").address]);
  const event = keyAddedEvent(1, key, { block: 900_000 }, { keyType: 2, requestFid: 2 });
  const response = await call("/AdminService/SubmitOnChainEvent", OnChainEvent.encode(event).finish());
  expect(errCode(response)).toBe("no error");
  expect(loadUsers(node.db, [1]).get(1)?.authAddresses).toEqual([
    { address: makeWallet("auth").address, appFid: 2 },
  ]);
});

test("a request above the size limit is refused, and the next one succeeds", async () => {
  expect(await call(SUBMIT, new Uint8Array(5 * 1024 * 1024))).toHaveProperty("code", 8);
  expect(errCode(await call("/HubService/GetInfo", new Uint8Array()))).toBe("no error");
});
