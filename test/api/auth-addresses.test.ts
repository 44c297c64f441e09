import { afterAll, beforeEach, expect, test } from "bun:test";
import { startTestApi, type TestApi } from "../support/api.ts";
import { keyAddedEvent } from "../support/envelopes.ts";
import { signerEvent } from "../support/events.ts";
import { makeWallet } from "../support/messages.ts";
import { accountRecords } from "../support/node.ts";

const FID = 1;
const APP = 9;
const { address } = makeWallet("auth");
const shown = `0x${address.toHex()}`;
const encoded = Buffer.concat([Buffer.alloc(12), address]);

let api: TestApi;
let block: number;

beforeEach(async () => {
  await api?.[Symbol.asyncDispose]();
  api = await startTestApi({ compatPrefixes: ["farcaster"] });
  for (const fid of [FID, APP]) api.node.ingestAll(accountRecords(fid));
  block = 900_000;
});

afterAll(() => api[Symbol.asyncDispose]());

function add(key: Uint8Array, requestFid: number | "none" = APP): void {
  const place = { block: block++ };
  const metadata = requestFid === "none" ? {} : { requestFid };
  expect(api.node.ingestEvent(keyAddedEvent(FID, key, place, { keyType: 2, ...metadata }))).toBe("ok");
}

function end(key: Uint8Array, kind: "remove" | "admin_reset"): void {
  expect(api.node.ingestEvent(signerEvent(FID, key, { block: block++ }, kind))).toBe("ok");
}

/** The addresses in both dialects: the native one has the app's fid, the compat one the app's object. */
async function authAddresses() {
  const native = await api.get(`/user?fid=${FID}`);
  const compat = await api.get(`/v2/farcaster/user/bulk?fids=${FID}`);
  // biome-ignore lint/suspicious/noExplicitAny: tests read responses of every shape
  const users = [native.body.user, (compat.body.users as any)[0]] as any[];
  return users.map((user) => user.auth_addresses);
}

test("an auth address has the app that requested it, ABI-encoded on chain or bare", async () => {
  expect(await authAddresses()).toEqual([[], []]);
  for (const key of [encoded, address]) {
    add(key);
    expect(await authAddresses()).toEqual([
      [{ address: shown, app: { fid: APP } }],
      [
        {
          address: shown,
          app: {
            object: "user_dehydrated",
            fid: APP,
            username: `!${APP}`,
            display_name: null,
            pfp_url: null,
            custody_address: `0x${makeWallet(`custody ${APP}`).address.toHex()}`,
          },
        },
      ],
    ]);
    end(key, "remove");
    expect(await authAddresses()).toEqual([[], []]);
  }
});

test("both encodings are one key: it is listed once, and either removes it", async () => {
  add(encoded);
  add(address);
  expect((await authAddresses()).map((list) => list.length)).toEqual([1, 1]);
  end(address, "remove");
  expect(await authAddresses()).toEqual([[], []]);
  add(address);
  end(encoded, "admin_reset");
  expect(await authAddresses()).toEqual([[], []]);
  add(encoded);
  expect((await authAddresses()).map((list) => list.length)).toEqual([1, 1]);
});

test("an unknown app is only its fid, which is 0 if the metadata names none", async () => {
  add(encoded, 777);
  add(makeWallet("another").address, "none");
  expect(await authAddresses()).toEqual([
    [
      { address: shown, app: { fid: 777 } },
      { address: `0x${makeWallet("another").address.toHex()}`, app: { fid: null } },
    ].sort((a, b) => (a.address < b.address ? -1 : 1)),
    [
      { address: shown, app: { object: "user_dehydrated", fid: 777 } },
      {
        address: `0x${makeWallet("another").address.toHex()}`,
        app: { object: "user_dehydrated", fid: 0 },
      },
    ].sort((a, b) => (a.address < b.address ? -1 : 1)),
  ]);
});

test("a key with other contents is stored as an event and adds no address", async () => {
  for (const key of [Buffer.alloc(32, 1), Buffer.alloc(7, 1), Buffer.alloc(33)]) add(key);
  expect(await authAddresses()).toEqual([[], []]);
  const { body } = await api.get(`/signer?fid=${FID}`);
  const events = body.events as unknown[];
  // The account's own key is the first.
  expect(events).toHaveLength(4);
});
