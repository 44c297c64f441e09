import { afterAll, beforeAll, expect, test } from "bun:test";
import { MessageType, StorageUnitType } from "../../src/protocol/wire/generated/message.ts";
import { startTestApi, type TestApi } from "../support/api.ts";
import { rentEvent } from "../support/events.ts";
import { DEFAULT_NOW_SECS, DEFAULT_TIMESTAMP, signedCast, signMessage } from "../support/messages.ts";
import { accountRecords, accountSigner } from "../support/node.ts";
import { hashOf, linkMessage } from "../support/social.ts";

let api: TestApi;

const DAY = 86_400;
const YEAR = 365 * DAY;
/** A time in each of the three eras, which determine size and lifetime of a unit. */
const LEGACY = 1_700_000_000;
const IN_2024 = 1_730_000_000;
const RENTED = DEFAULT_NOW_SECS - DAY;
const LONG_AGO = LEGACY - 4 * YEAR;

const take = (bytes: Uint8Array) => expect(api.node.ingestMessage(bytes)).toBe("ok");

beforeAll(async () => {
  api = await startTestApi();
  for (const fid of [1, 2, 3]) api.node.ingestAll(accountRecords(fid, fid === 3 ? 2000 : 1));
  api.node.ingestEvent(rentEvent(1, 3, { block: 500, at: LEGACY }));
  api.node.ingestEvent(rentEvent(1, 5, { block: 400, at: LONG_AGO }));
  api.node.ingestEvent(rentEvent(1, 2, { block: 600, at: IN_2024 }));
  for (const text of ["a", "b"]) take(signedCast(1, text, accountSigner(1)));
  const gone = signedCast(1, "c", accountSigner(1));
  take(gone);
  take(
    signMessage(
      {
        fid: 1,
        type: MessageType.MESSAGE_TYPE_CAST_REMOVE,
        timestamp: DEFAULT_TIMESTAMP + 1,
        body: { $case: "castRemoveBody", value: { targetHash: Buffer.from(hashOf(gone).slice(2), "hex") } },
      },
      accountSigner(1),
    ),
  );
  take(linkMessage(1, "follow", 2));
  take(lend(300));
});

/** A lend by fid 3 to fid 2. */
function lend(numUnits: number, timestamp = DEFAULT_TIMESTAMP) {
  const value = { toFid: 2, numUnits, unitType: StorageUnitType.UNIT_TYPE_2025 };
  const type = MessageType.MESSAGE_TYPE_LEND_STORAGE;
  return signMessage(
    { fid: 3, type, timestamp, body: { $case: "lendStorageBody", value } },
    accountSigner(3),
  );
}

afterAll(() => api[Symbol.asyncDispose]());

const allocation = (units: number, timestamp: number, years: number) => ({
  object: "storage_allocation",
  fid: 1,
  units,
  expiry: timestamp + years * YEAR,
  timestamp,
});

test("allocations are the rents in chain order with the expiry of their era; expired units are not active", async () => {
  for (const path of ["/user/storage-allocations", "/storage/allocations"]) {
    expect((await api.get(`${path}?fid=1`)).body).toEqual({
      total_active_units: 3 + 2 + 1,
      allocations: [
        allocation(5, LONG_AGO, 4),
        allocation(3, LEGACY, 4),
        allocation(2, IN_2024, 3),
        allocation(1, RENTED, 2),
      ],
    });
  }
});

test("lent units count for the borrower and not for the lender", async () => {
  expect((await api.get("/storage/allocations?fid=2")).body).toMatchObject({ total_active_units: 301 });
  expect((await api.get("/storage/allocations?fid=3")).body).toMatchObject({ total_active_units: 1700 });
});

test("a lend to the same borrower replaces the previous one, whose units no longer count", async () => {
  // Fid 3 has 2,000 units and must retain one.
  expect(api.node.ingestMessage(lend(2000, DEFAULT_TIMESTAMP + 1))).not.toBe("ok");
  expect(api.node.ingestMessage(lend(1999, DEFAULT_TIMESTAMP + 1))).toBe("ok");
  expect((await api.get("/storage/allocations?fid=2")).body).toMatchObject({ total_active_units: 2000 });
  expect((await api.get("/storage/allocations?fid=3")).body).toMatchObject({ total_active_units: 1 });
});

test("usage counts live messages, including removes, against the units of each era", async () => {
  for (const path of ["/user/storage-usage", "/storage/usage"]) {
    expect((await api.get(`${path}?fid=1`)).body).toEqual({
      object: "storage_usage",
      units: [
        { store_type: "casts", used: 3, capacity: 3 * 5000 + 2 * 2000 + 100 },
        { store_type: "reactions", used: 0, capacity: 3 * 2500 + 2 * 1000 + 200 },
        { store_type: "links", used: 1, capacity: 3 * 2500 + 2 * 1000 + 200 },
        { store_type: "verifications", used: 0, capacity: 3 * 25 + 2 * 25 + 5 },
        { store_type: "user_data", used: 0, capacity: 3 * 50 + 2 * 50 + 25 },
        { store_type: "username_proofs", used: 0, capacity: 3 * 5 + 2 * 5 + 2 },
        { store_type: "storage_lends", used: 0, capacity: 3 + 2 + 1 },
      ],
    });
  }
});

test("units expire after their lifetime", async () => {
  api.node.clock.advanceSecs(2 * YEAR - DAY);
  expect((await api.get("/storage/allocations?fid=1")).body).toMatchObject({ total_active_units: 3 + 2 });
  api.node.clock.advanceSecs(-1);
  expect((await api.get("/storage/allocations?fid=1")).body).toMatchObject({ total_active_units: 3 + 2 + 1 });
});

test("an unknown fid has no storage; a missing or malformed fid is 400 naming it", async () => {
  for (const fid of [9, 2n ** 32n + 1n, 2n ** 53n + 1n]) {
    expect((await api.get(`/storage/allocations?fid=${fid}`)).body).toEqual({
      total_active_units: 0,
      allocations: [],
    });
    const { units } = (await api.get(`/storage/usage?fid=${fid}`)).body as {
      units: { used: number; capacity: number }[];
    };
    expect(units.map(({ used, capacity }) => used + capacity)).toEqual(Array(7).fill(0));
  }
  for (const path of ["/storage/allocations", "/user/storage-usage"]) {
    for (const query of ["", "?fid=", "?fid=x"]) {
      const { status, body } = await api.get(path + query);
      expect(status).toBe(400);
      expect(body.message).toContain("fid");
    }
  }
});
