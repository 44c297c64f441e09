import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type ClientHttp2Session, connect } from "node:http2";
import { createAdmission } from "../../../src/admission/admission.ts";
import { Budget } from "../../../src/admission/budget.ts";
import { createClientAddresses } from "../../../src/admission/client-address.ts";
import { ok } from "../../../src/lib/result.ts";
import { decodeMessage } from "../../../src/protocol/message/signed-message.ts";
import { createHubReads } from "../../../src/read/hub/hub-reads.ts";
import { createListRunner, type ListReader, ROWS_PER_TURN } from "../../../src/read/hub/turns.ts";
import { ManualClock } from "../../support/clock.ts";
import { mergeAdmitted, startTestHub, type TestHub } from "../../support/hub.ts";
import { DEFAULT_TIMESTAMP, signedCast } from "../../support/messages.ts";
import { accountSigner } from "../../support/node.ts";
import { expectOk } from "../../support/result.ts";
import { linkMessage } from "../../support/social.ts";
import { type TemporaryIndex, temporaryIndex } from "../../support/temporary-index.ts";

const CASTS = 300;
/** `fid: 1`. */
const CASTS_OF_1 = Buffer.from([0, 0, 0, 0, 2, 8, 1]);
const RESOURCE_EXHAUSTED = "8";

let index: TemporaryIndex;
let hub: TestHub;
/** Room for one list, and a part of the next, of each of two clients. */
let responses: Budget;
let pageBytes: number;

beforeAll(async () => {
  index = temporaryIndex();
  const casts = Array.from({ length: CASTS }, (_, n) =>
    expectOk(
      decodeMessage(
        signedCast(1, `${n} `.padEnd(1000, "x"), accountSigner(1), { timestamp: DEFAULT_TIMESTAMP + n }),
      ),
    ),
  );
  mergeAdmitted(index.db, casts);
  pageBytes = CASTS * 2200;
  responses = new Budget({ unit: "bytes of responses", total: 3 * pageBytes, perClient: 1.5 * pageBytes });
  hub = await startTestHub(index.path, {
    deps: {
      budgets: { ...createAdmission().budgets, hubResponses: responses },
      clients: createClientAddresses({ trusted_proxies: ["127.0.0.0/8"], proxy_header: "x-forwarded-for" }),
    },
  });
});
afterAll(async () => {
  await hub[Symbol.asyncDispose]();
  index[Symbol.dispose]();
});

/** A connection whose client grants each response `windowBytes` until it says otherwise. */
function connection(windowBytes: number): ClientHttp2Session & Disposable {
  const session = connect(`http://${hub.address}`, { settings: { initialWindowSize: windowBytes } });
  session.on("error", () => undefined);
  return Object.assign(session, { [Symbol.dispose]: () => session.destroy() });
}

/** Asks for all casts of fid 1, as a client behind a proxy. Its status arrives with the headers if it is refused, else after the response. */
function ask(session: ClientHttp2Session, address: string) {
  const stream = session.request({
    ":method": "POST",
    ":path": "/HubService/GetCastsByFid",
    "content-type": "application/grpc",
    te: "trailers",
    "x-forwarded-for": address,
  });
  const statuses = Promise.withResolvers<string>();
  const note = (headers: Record<string, unknown>) => {
    if ("grpc-status" in headers) statuses.resolve(String(headers["grpc-status"]));
  };
  stream.on("response", note);
  stream.on("trailers", note);
  stream.on("error", () => statuses.resolve("none"));
  stream.end(CASTS_OF_1);
  return { stream, status: statuses.promise };
}

/** Reads the response of a call to its end. Returns its status. */
function read({ stream, status }: ReturnType<typeof ask>): Promise<string> {
  stream.resume();
  return status;
}

describe("a client that reads no response", () => {
  test("gets no more of them than its share, other clients get theirs, and the end of its connection frees all", async () => {
    {
      using closed = connection(1);
      const statuses: string[] = [];
      const unread = Array.from({ length: 20 }, () => ask(closed, "203.0.113.1"));
      for (const { status } of unread) status.then((one) => statuses.push(one));
      while (statuses.length < unread.length - 1) await Bun.sleep(1);
      // Every call but the one that has its share is refused, which needs no window.
      expect(new Set(statuses)).toEqual(new Set([RESOURCE_EXHAUSTED]));
      expect(responses.use().held).toBeWithin(pageBytes * 0.9, pageBytes * 1.5);

      using open = connection(4 * 1024 * 1024);
      expect(await read(ask(open, "203.0.113.2"))).toBe("0");
      expect(await read(ask(open, "203.0.113.1"))).toBe(RESOURCE_EXHAUSTED);
    }
    while (responses.use().held > 0) await Bun.sleep(1);
    using again = connection(4 * 1024 * 1024);
    expect(await read(ask(again, "203.0.113.1"))).toBe("0");
  });

  test("gets its next list as soon as it has read the one before", async () => {
    using session = connection(4 * 1024 * 1024);
    for (let n = 0; n < 5; n++) expect(await read(ask(session, "203.0.113.3"))).toBe("0");
    while (responses.use().held > 0) await Bun.sleep(1);
  });
});

describe("the turns of lists", () => {
  const limits = { running: 4, waiting: 8, perClient: { running: 2, waiting: 8 } };
  const reader = (clientKey: string, takeRoom = () => true): ListReader => ({
    clientKey,
    signal: new AbortController().signal,
    takeRoom,
  });

  test("go to the clients by turns, and a full queue of one gives way to another", async () => {
    const runner = createListRunner(limits);
    const gate = Promise.withResolvers<void>();
    const order: string[] = [];
    const list = (client: string, n: number) =>
      runner.run(async () => {
        order.push(`${client}${n}`);
        await gate.promise;
        return ok(n);
      }, reader(client));
    const flood = Array.from({ length: 10 }, (_, n) => list("a", n));
    const others = [list("b", 0), list("c", 0), list("b", 1)];
    expect(order).toEqual(["a0", "a1", "b0", "c0"]);
    gate.resolve();
    expect(await Promise.all(others)).toEqual([ok(0), ok(0), ok(1)]);
    const outcomes = await Promise.all(flood);
    expect(outcomes.filter(({ ok }) => !ok)).toEqual([
      { ok: false, error: { code: "rate_limited", reason: "too many lists are being read; try again" } },
    ]);
    expect(order.indexOf("b1")).toBeLessThan(order.indexOf("a3"));
  });

  test("are given up while the types of an account's links are found: it may have as many types as links", async () => {
    const types = 4 * ROWS_PER_TURN;
    const links = Array.from({ length: types }, (_, n) =>
      expectOk(decodeMessage(linkMessage(2, `t${n}`, 3, { at: DEFAULT_TIMESTAMP + n }))),
    );
    mergeAdmitted(index.db, links);
    const reads = createHubReads({ db: index.db, network: 1, clock: new ManualClock(0) });
    const format = { show: ({ hash }: { hash: Uint8Array }) => hash, bytesOf: () => 20 };
    let turns = 0;
    const counting = reader("a", () => ++turns > 0);
    const page = expectOk(await reads.allLinkMessagesByFid({ fid: 2, pageSize: 1 }, format, counting));
    expect(page.items).toHaveLength(1);
    // The beginning, each type, and the two indexes of each.
    expect(turns).toBeGreaterThan((3 * types) / ROWS_PER_TURN);
  });

  test("end when their reader leaves its responses unread", async () => {
    const runner = createListRunner(limits);
    let room = 3;
    let rows = 0;
    const read = runner.run<never>(
      async (turns) => {
        for (;;) {
          rows += 1;
          await turns.next();
        }
      },
      reader("a", () => room-- > 0),
    );
    expect(await read).toMatchObject({ ok: false, error: { code: "rate_limited" } });
    // The room of the beginning, and two more times.
    expect(rows).toBe(3 * ROWS_PER_TURN);
  });
});
