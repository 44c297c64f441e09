import { afterAll, beforeAll, expect, test } from "bun:test";
import { MessageType, UserNameType } from "../../src/protocol/wire/generated/message.ts";
import { startTestApi, type TestApi } from "../support/api.ts";
import { fnameProof } from "../support/events.ts";
import { DEFAULT_NOW_SECS, DEFAULT_TIMESTAMP, makeWallet, signMessage } from "../support/messages.ts";
import { accountRecords, accountSigner } from "../support/node.ts";

let api: TestApi;

const custody = makeWallet("custody 1").address;
const owner = `0x${Buffer.from(custody).toString("hex")}`;

beforeAll(async () => {
  api = await startTestApi();
  for (const fid of [1, 2]) api.node.ingestAll(accountRecords(fid));
  for (const fid of [2, 0])
    api.node.ingestProof(fnameProof("gone", fid, makeWallet("custody 2").address, 1_700_000_000 - fid));
  const ens = signMessage(
    {
      fid: 1,
      type: MessageType.MESSAGE_TYPE_USERNAME_PROOF,
      body: {
        $case: "usernameProofBody",
        value: {
          timestamp: DEFAULT_NOW_SECS,
          name: Buffer.from("one.eth"),
          owner: custody,
          signature: Buffer.alloc(65, 9),
          fid: 1,
          type: UserNameType.USERNAME_TYPE_ENS_L1,
        },
      },
      timestamp: DEFAULT_TIMESTAMP,
    },
    accountSigner(1),
  );
  expect(api.node.merge([{ kind: "message", bytes: ens }])).toEqual([undefined]);
});

afterAll(() => api[Symbol.asyncDispose]());

test("an fname is unavailable while its proof is live, in any spelling", async () => {
  for (const written of ["user1", "USER1", "@user1", " User1 ", " @USER1"])
    expect((await api.get(`/fname/availability?fname=${encodeURIComponent(written)}`)).body).toEqual({
      available: false,
      username: "user1",
    });
  for (const free of ["user3", "gone", "@Nobody", "0", "a-b"])
    expect((await api.get(`/fname/availability?fname=${encodeURIComponent(free)}`)).body).toEqual({
      available: true,
      username: null,
    });
});

test("an invalid fname is unavailable; a missing one is 400", async () => {
  for (const never of [
    "-a",
    "a_b",
    "nonexistent_test_name_xyz_99",
    "one.eth",
    "@@a",
    "a b",
    "a".repeat(17),
    "ä",
    " @",
  ])
    expect((await api.get(`/fname/availability?fname=${encodeURIComponent(never)}`)).body).toEqual({
      available: false,
      username: null,
    });
  for (const query of ["", "?fname="]) {
    const { status, body } = await api.get(`/fname/availability${query}`);
    expect({ query, status }).toEqual({ query, status: 400 });
    expect(body.message).toContain("fname");
  }
  for (const query of ["", "?username="]) {
    const { status, body } = await api.get(`/username-proof${query}`);
    expect(status).toBe(400);
    expect(body.message).toContain("username");
  }
});

test("returns a proof as signed; null for an unknown name and a released one", async () => {
  expect((await api.get("/username-proof?username=user1")).body).toEqual({
    username_proof: {
      timestamp: DEFAULT_NOW_SECS - 50_000,
      name: "user1",
      owner,
      signature: `0x${"07".repeat(65)}`,
      fid: 1,
      type: "USERNAME_TYPE_FNAME",
    },
  });
  expect((await api.get("/username-proof?username=one.eth")).body).toEqual({
    username_proof: {
      timestamp: DEFAULT_NOW_SECS,
      name: "one.eth",
      owner,
      signature: `0x${"09".repeat(65)}`,
      fid: 1,
      type: "USERNAME_TYPE_ENS_L1",
    },
  });
  for (const none of ["gone", "nobody", "USER1", "%25"])
    expect((await api.get(`/username-proof?username=${none}`)).body).toEqual({ username_proof: null });
});
