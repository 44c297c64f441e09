import { afterAll, beforeAll, expect, test } from "bun:test";
import { connect } from "node:net";
import { createAdmission } from "../../src/admission/admission.ts";
import { Budget } from "../../src/admission/budget.ts";
import { startTestHub, type TestHub } from "../support/hub.ts";
import {
  callHeaders,
  END_HEADERS,
  FRAME_TYPES,
  frame,
  framesIn,
  headerField,
  LAST_INDEXED,
  opening,
} from "../support/hub-clients/raw-http2.ts";
import { type TemporaryIndex, temporaryIndex } from "../support/temporary-index.ts";

let index: TemporaryIndex;
let hub: TestHub;
let calls: Budget;

beforeAll(async () => {
  index = temporaryIndex();
  calls = new Budget({ unit: "calls", total: 1_000, perClient: 1_000 });
  hub = await startTestHub(index.path, {
    deps: { budgets: { ...createAdmission().budgets, hubCalls: calls } },
  });
});
afterAll(async () => {
  await hub[Symbol.asyncDispose]();
  index[Symbol.dispose]();
});

test("the headers of a call have at most 8 KiB, however few bytes repeat them, and its connection keeps its other calls", async () => {
  const [host = "", port = ""] = hub.address.split(":");
  const socket = connect({ host, port: Number(port) });
  const received: Buffer[] = [];
  socket.on("data", (bytes: Buffer) => received.push(bytes));
  const resets = () =>
    framesIn(Buffer.concat(received))
      .filter(({ type }) => type === FRAME_TYPES.reset)
      .map(({ stream }) => stream);
  const headers = callHeaders("/HubService/SubmitMessage", hub.address);
  const indexed = headerField("x-repeated", "x".repeat(3_900), { isIndexed: true });
  const begin = (stream: number, more: Uint8Array) =>
    frame("headers", END_HEADERS, stream, Buffer.concat([headers, more]));
  socket.write(
    Buffer.concat([
      opening(),
      begin(1, indexed),
      // Of 3 and of 16 such headers.
      begin(3, Buffer.alloc(3, LAST_INDEXED)),
      begin(5, Buffer.alloc(16, LAST_INDEXED)),
      begin(7, Buffer.alloc(1, LAST_INDEXED)),
    ]),
  );
  while (calls.use().held + resets().length < 4) await Bun.sleep(1);
  expect([resets(), calls.use().held]).toEqual([[3, 5], 2]);
  socket.destroy();
  while (calls.use().held > 0) await Bun.sleep(1);
});
