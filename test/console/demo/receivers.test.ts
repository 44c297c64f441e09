import { describe, expect, test } from "bun:test";
import { createDemoReceivers, MAX_HELD_CHARS, MAX_SHOWN_CHARS } from "../../../src/console/demo/receivers.ts";
import type { Secret } from "../../../src/db/state/secret.ts";
import { signedHeaders } from "../../../src/webhooks/deliver/sign.ts";

const secret = (value: string): Secret => ({
  uid: crypto.randomUUID(),
  value,
  createdAt: 1,
  expiresAt: null,
});
const OWN = secret("a".repeat(64));
const ROTATED = secret("b".repeat(64));
const HEADER = "X-Svc-Signature";

function receiversWith(secrets: readonly Secret[] = [OWN]) {
  const asked: [number, string][] = [];
  const receivers = createDemoReceivers({
    baseUrl: "http://127.0.0.1:1/receivers/",
    signatureHeader: HEADER,
    async secretsOf(fid, url) {
      asked.push([fid, url]);
      return secrets;
    },
    nowMs: () => 1_000,
    setTimer(ms, work) {
      if (ms === 0) queueMicrotask(work);
      return () => undefined;
    },
  });
  return { receivers, asked };
}

const delivery = (body: string, secrets: readonly Secret[], changes: Record<string, string> = {}) =>
  new Request("http://127.0.0.1:1/receivers/x", {
    method: "POST",
    body,
    headers: {
      ...signedHeaders({ messageId: "msg_1", timestamp: 1_700_000_000, body }, secrets, [HEADER]),
      ...changes,
    },
  });

describe("a receiver of the demo", () => {
  test("knows its owner by its id, also after a restart", async () => {
    const { receivers, asked } = receiversWith();
    const { id, url } = receivers.create(3);
    const { receivers: later, asked: askedLater } = receiversWith();
    expect(later.find(id)).toEqual({ id, url, answer: 200 });
    await later.receive(id, delivery("{}", [OWN]));
    expect([asked, askedLater]).toEqual([[], [[3, url]]]);
  });

  test.each([
    "",
    "3",
    "3-",
    "0-111111111111",
    "3-11111111111",
    "3-000000000000",
    "../3-111111111111",
    "-1-111111111111",
  ])("the id %j is of no receiver", async (id) => {
    const { receivers } = receiversWith();
    expect(receivers.find(id)).toBeUndefined();
    expect((await receivers.receive(id, delivery("{}", [OWN]))).status).toBe(404);
  });

  test.each([
    ["valid", [OWN], {}],
    ["valid", [ROTATED, OWN], {}],
    ["invalid", [ROTATED], {}],
    ["invalid", [OWN], { "webhook-signature": "v1,AAAA" }],
    ["invalid", [OWN], { [HEADER]: "00" }],
    ["invalid", [OWN], { "webhook-timestamp": "1700000001" }],
    ["unknown", [], {}],
  ] as const)("a signature is %s by the secrets of the webhook", async (verdict, secrets, changes) => {
    const { receivers } = receiversWith(secrets);
    const { id } = receivers.create(3);
    await receivers.receive(id, delivery('{"type":"cast.created"}', [OWN], changes));
    const page = await receivers.next(id, 0, 1);
    expect(page?.events[0]?.event).toMatchObject({ signature: verdict, messageId: "msg_1" });
  });

  test("a request without a signature is shown as such, and its body is cut", async () => {
    const { receivers } = receiversWith();
    const { id } = receivers.create(3);
    const body = "x".repeat(MAX_SHOWN_CHARS + 1);
    await receivers.receive(id, new Request("http://127.0.0.1:1/", { method: "POST", body }));
    const event = (await receivers.next(id, 0, 1))?.events[0]?.event;
    expect([event?.signature, event?.isCut, event?.body.length]).toEqual(["missing", true, MAX_SHOWN_CHARS]);
  });

  test("responds as it is set, and a slow response waits until the sender has disconnected", async () => {
    const { receivers } = receiversWith();
    const { id } = receivers.create(3);
    const statusOf = async () => (await receivers.receive(id, delivery("{}", [OWN]))).status;
    expect(await statusOf()).toBe(200);
    receivers.setAnswer(id, 500);
    expect(await statusOf()).toBe(500);
    receivers.setAnswer(id, 410);
    expect(await statusOf()).toBe(410);
    receivers.setAnswer(id, "slow");
    const gone = new AbortController();
    const slow = receivers.receive(id, new Request(delivery("{}", [OWN]), { signal: gone.signal }));
    expect(Bun.peek.status(slow)).toBe("pending");
    gone.abort();
    await slow;
  });

  test("slow responses, receivers and what they hold are bounded", async () => {
    const { receivers } = receiversWith();
    const first = receivers.create(3);
    receivers.setAnswer(first.id, "slow");
    const pending = Array.from({ length: 40 }, () => receivers.receive(first.id, delivery("{}", [OWN])));
    const refused = (await Promise.all(pending.slice(32))).map(({ status }) => status);
    expect(refused).toEqual(new Array(8).fill(503));
    const body = "y".repeat(MAX_SHOWN_CHARS);
    const ids = Array.from({ length: 300 }, () => receivers.create(4).id);
    for (const id of ids.slice(-90)) {
      for (let nth = 0; nth < 5; nth++) await receivers.receive(id, delivery(body, [OWN]));
    }
    let held = 0;
    for (const id of ids.slice(-90)) {
      const { events = [] } = (await receivers.next(id, 0, 0)) ?? {};
      held += events.reduce((sum, { event }) => sum + event.body.length, 0);
      if (held > 0) expect(events.length).toBeGreaterThan(0);
    }
    expect(held).toBeLessThanOrEqual(MAX_HELD_CHARS);
    expect(held).toBeGreaterThan(MAX_HELD_CHARS / 2);
    // Pushed out by the others, so it is a new one.
    expect(receivers.find(first.id)?.answer).toBe(200);
  });
});
