import { afterAll, beforeAll, expect, test } from "bun:test";
import { createOwners } from "../../src/auth/owners/owners.ts";
import { registryFactsFromIndex } from "../../src/sign-in/registry/registry-facts.ts";
import { recoveryEvent, registerEvent, transferEvent } from "../support/events.ts";
import { makeWallet } from "../support/messages.ts";
import { eventRecord, startTestNode, type TestNode } from "../support/node.ts";
import { rowsRead } from "../support/rows-read.ts";
import { openStateFile } from "../support/state-file.ts";
import { localStores } from "../support/state-stores.ts";

const FID = 3;
const CHANGES = 1000;
const [owner, buyer, stranger] = ["owner", "buyer", "stranger"].map((name) => makeWallet(name).address) as [
  Uint8Array,
  Uint8Array,
  Uint8Array,
];

const stack = new DisposableStack();
let node: TestNode;
beforeAll(() => {
  node = startTestNode();
  node.ingestEvent(registerEvent(FID, owner, { block: 1 }));
  node.ingestEvent(transferEvent(FID, owner, buyer, { block: 2 }));
  node.ingestAll(
    Array.from({ length: CHANGES }, (_, at) => eventRecord(recoveryEvent(FID, stranger, { block: 10 + at }))),
  );
});
afterAll(() => {
  stack.dispose();
  node[Symbol.dispose]();
});

const rowsReadBy = (work: () => unknown) => rowsRead(node.db, work);

test("an fid whose owner has changed the recovery address a thousand times costs a signed request no more rows", async () => {
  const custodies = localStores(stack.use(openStateFile()).db).custodies;
  const owners = createOwners({ db: node.db, custodies });
  const request = async (address: Uint8Array) => {
    const custody = await owners.custodyOf(FID, address);
    return custody?.toHex() === address.toHex() && owners.recordAct(FID, address);
  };
  expect(await rowsReadBy(async () => expect(await request(buyer)).toBe(true))).toBeLessThan(10);
  expect(await custodies.find(FID)).toMatchObject({ custody: buyer, blockNumber: CHANGES + 9 });
  expect(await rowsReadBy(async () => expect(await request(owner)).toBe(false))).toBeLessThan(10);
  expect(await rowsReadBy(async () => expect(await request(buyer)).toBe(true))).toBeLessThan(10);
});

test("an act of before the newest change that the index has is no newer than the index", async () => {
  const custodies = localStores(stack.use(openStateFile()).db).custodies;
  const owners = createOwners({ db: node.db, custodies });
  await custodies.record({ fid: FID, custody: owner, blockNumber: 500, logIndex: 0 });
  expect(await owners.custodyOf(FID, owner)).toEqual(buyer);
  await custodies.record({ fid: FID, custody: owner, blockNumber: CHANGES + 10, logIndex: 0 });
  expect(await owners.custodyOf(FID, owner)).toEqual(owner);
});

test("a second node is asked about an address that may have owned such an fid, and reads a bounded number of rows before", async () => {
  let questions = 0;
  const confirmed = { isConfirmed: true as const, value: { custody: buyer, blockNumber: 2, logIndex: 0 } };
  const confirm = {
    confirmCustody: async () => {
      questions++;
      return confirmed;
    },
    confirmKey: async () => ({ isConfirmed: true as const, value: true }),
  };
  const owners = createOwners({ db: node.db, confirm });
  const rows = await rowsReadBy(() => owners.custodyOf(FID, stranger));
  expect(rows).toBeLessThan(300);
  expect(questions).toBe(1);
});

test("the recovery address is read from the newest event that names one", async () => {
  const facts = registryFactsFromIndex(node.db);
  const rows = await rowsReadBy(() => expect(facts.recoveryOf(FID)).toEqual(stranger));
  expect(rows).toBe(1);
});

test("a further registry event of such an fid is merged without reading the others", async () => {
  using other = startTestNode();
  const rowsOfMerge = async (at: TestNode, block: number) =>
    rowsRead(at.db, () => at.ingestEvent(recoveryEvent(FID, stranger, { block })));
  other.ingestEvent(registerEvent(FID, owner, { block: 1 }));
  expect(await rowsOfMerge(node, 9_000)).toBe(await rowsOfMerge(other, 9_000));
});
