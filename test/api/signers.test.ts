import { afterAll, beforeAll, expect, test } from "bun:test";
import { IdRegisterEventType, OnChainEvent } from "../../src/protocol/wire/generated/on-chain.ts";
import { startTestApi, type TestApi } from "../support/api.ts";
import { registerEvent, signerEvent, transferEvent } from "../support/events.ts";
import { DEFAULT_NOW_SECS, makeSigner, makeWallet } from "../support/messages.ts";
import { readAllPages } from "../support/read-all-pages.ts";

let api: TestApi;

const key = (name: string) => makeSigner(name).publicKey;
const hexOf = (bytes: Uint8Array) => `0x${Buffer.from(bytes).toString("hex")}`;
const [first, second] = [makeWallet("first").address, makeWallet("second").address];
const AT = DEFAULT_NOW_SECS - 86_400;

/** A change of the recovery address, which contains no custody address. */
function recoveryEvent(fid: number, recoveryAddress: Uint8Array, block: number): OnChainEvent {
  const event = registerEvent(fid, recoveryAddress, { block });
  return OnChainEvent.fromPartial({
    ...event,
    body: {
      $case: "idRegisterEventBody",
      value: {
        eventType: IdRegisterEventType.ID_REGISTER_EVENT_TYPE_CHANGE_RECOVERY,
        recoveryAddress,
        to: new Uint8Array(),
        from: new Uint8Array(),
      },
    },
  });
}

beforeAll(async () => {
  api = await startTestApi();
  // Events are merged in another order than the chain's.
  for (const event of [
    recoveryEvent(1, first, 30),
    transferEvent(1, first, second, { block: 20 }),
    registerEvent(1, first, { block: 10 }),
    signerEvent(1, key("c"), { block: 13, log: 2 }, "add"),
    signerEvent(1, key("a"), { block: 50 }, "remove"),
    signerEvent(1, key("b"), { block: 40 }, "admin_reset"),
    signerEvent(1, key("b"), { block: 13, log: 1 }),
    signerEvent(1, key("a"), { block: 12 }),
    registerEvent(2, second, { block: 11 }),
    signerEvent(2, key("z"), { block: 14 }),
  ])
    expect(api.node.ingestEvent(event)).toBe("ok");
});

afterAll(() => api[Symbol.asyncDispose]());

const SIGNER_PATHS = ["/signer", "/signers", "/signer/list", "/onchain/signers"];
const ALL_PATHS = [...SIGNER_PATHS, "/onchain/id_registry_event"];

test("signer events contain all events of the fid in chain order, under every name and in pages of any size", async () => {
  const event = (event_type: string, block: number, name: string, added: boolean) => ({
    object: "signer",
    fid: 1,
    event_type,
    block_number: block,
    block_timestamp: AT,
    signer_key: hexOf(key(name)),
    key_type: added ? 1 : 0,
    metadata_type: added ? 1 : 0,
  });
  const expected = [
    event("add", 12, "a", true),
    event("add", 13, "b", true),
    event("add", 13, "c", true),
    event("admin_reset", 40, "b", false),
    event("remove", 50, "a", false),
  ];
  for (const path of SIGNER_PATHS) {
    expect((await api.get(`${path}?fid=1`)).body).toEqual({ events: expected, next: { cursor: null } });
    for (const limit of [1, 2, 3, 100])
      expect(await readAllPages<object>(api, `${path}?fid=1`, "events", limit)).toEqual(expected);
  }
});

test("id-registry events contain the changed fields, and null for the others", async () => {
  const expected = [
    {
      event_type: "Register",
      block_number: 10,
      from: null,
      to: hexOf(first),
      recovery_address: hexOf(first),
    },
    {
      event_type: "Transfer",
      block_number: 20,
      from: hexOf(first),
      to: hexOf(second),
      recovery_address: null,
    },
    { event_type: "ChangeRecovery", block_number: 30, from: null, to: null, recovery_address: hexOf(first) },
  ].map((event) => ({ object: "id_registry_event", fid: 1, block_timestamp: AT, ...event }));
  for (const limit of [1, 2, 100])
    expect(await readAllPages<object>(api, "/onchain/id_registry_event?fid=1", "events", limit)).toEqual(
      expected,
    );
});

test("without a limit a page has a hundred events, and an event added between pages is returned once", async () => {
  for (let n = 0; n < 101; n++) api.node.ingestEvent(signerEvent(2, key(`key ${n}`), { block: 1000 + n }));
  const { body } = await api.get("/signer?fid=2");
  expect(body.events).toHaveLength(100);
  const walked = await readAllPages<{ block_number: number }>(api, "/signer?fid=2", "events", 40, (page) => {
    if (page === 0) api.node.ingestEvent(signerEvent(2, key("late"), { block: 5000 }));
  });
  expect(walked.map((event) => event.block_number)).toEqual([
    14,
    ...Array.from({ length: 101 }, (_, n) => 1000 + n),
    5000,
  ]);
});

test("a missing or malformed parameter is 400 naming it; an unknown fid has no events", async () => {
  for (const path of ALL_PATHS) {
    for (const [query, name] of [
      ["", "fid"],
      ["?fid=x", "fid"],
      ["?fid=1&limit=0", "limit"],
      ["?fid=1&cursor=garbage", "cursor"],
    ] as const) {
      const { status, body } = await api.get(path + query);
      expect({ path, query, status }).toEqual({ path, query, status: 400 });
      expect(body.message).toContain(name);
    }
    for (const fid of [9, 2n ** 32n + 1n, 2n ** 53n + 1n])
      expect((await api.get(`${path}?fid=${fid}`)).body).toEqual({ events: [], next: { cursor: null } });
  }
});
