import { describe, expect, test } from "bun:test";
import { setImmediate } from "node:timers/promises";
import fc from "fast-check";
import { parseTraceparent } from "../../../src/runtime/trace/span.ts";
import { createSpans, type EndedSpan } from "../../../src/runtime/trace/spans.ts";

const PARENT = { traceId: "4bf92f3577b34da6a3ce929d0e0e4736", spanId: "00f067aa0ba902b7" };
const START = { name: "work", kind: "internal" } as const;

function spansOf(options: { readonly ratio?: number; readonly random?: () => number } = {}) {
  const ended: EndedSpan[] = [];
  let monotonicMs = 100;
  const spans = createSpans({
    ratio: options.ratio ?? 1,
    onEnd: (span) => ended.push(span),
    stop: async () => undefined,
    clock: { nowMs: () => 1_700_000_000_000 },
    monotonicMs: () => monotonicMs,
    random: options.random ?? (() => 0),
  });
  return { spans, ended, advanceMs: (ms: number) => (monotonicMs += ms) };
}

describe("traceparent", () => {
  test("is read as W3C Trace Context says, of this version and of later ones", () => {
    const text = `${PARENT.traceId}-${PARENT.spanId}`;
    expect(parseTraceparent(`00-${text}-01`)).toEqual({ ...PARENT, isSampled: true });
    expect(parseTraceparent(`00-${text}-00`)).toEqual({ ...PARENT, isSampled: false });
    expect(parseTraceparent(`cc-${text}-03-what-the-future-will-be-like`)).toEqual({
      ...PARENT,
      isSampled: true,
    });
    for (const invalid of [
      `ff-${text}-01`,
      `00-${text}-01-extra`,
      `00-${"0".repeat(32)}-${PARENT.spanId}-01`,
      `00-${PARENT.traceId}-${"0".repeat(16)}-01`,
      `00-${text.toUpperCase()}-01`,
      `00-${text}-1`,
      `cc-${text}-01.`,
      `cc-${text}-01-${"x".repeat(100)}`,
      null,
    ])
      expect([invalid, parseTraceparent(invalid)]).toEqual([invalid, undefined]);
  });

  test("of any text is undefined or a header that is valid again", () => {
    const like = fc.stringMatching(/^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$/);
    fc.assert(
      fc.property(fc.oneof(fc.string(), like), (text) => {
        const parsed = parseTraceparent(text);
        if (!parsed) return;
        const { traceId, spanId, isSampled } = parsed;
        expect(parseTraceparent(`00-${traceId}-${spanId}-0${isSampled ? 1 : 0}`)).toEqual(parsed);
      }),
    );
  });
});

describe("spans", () => {
  test("belong to the span within which they start, also after what it awaits, and to none after its end", async () => {
    const { spans, ended, advanceMs } = spansOf();
    const request = spans.start({ ...START, name: "request" });
    let late = () => undefined as unknown;
    await request?.run(async () => {
      await setImmediate();
      const read = spans.active()?.child({ ...START, name: "read" });
      advanceMs(5);
      read?.end({ attributes: { rows: 2 } });
      late = (await import("node:async_hooks")).AsyncLocalStorage.bind(() => spans.active());
    });
    expect(spans.active()).toBeUndefined();
    advanceMs(1.5);
    request?.end({ name: "GET /user", failure: "503" });
    request?.end();
    expect(late()).toBeUndefined();
    expect(request?.child(START)).toBeUndefined();
    const [read, outer] = ended;
    expect(ended).toHaveLength(2);
    expect(read).toMatchObject({ name: "read", parentId: outer?.spanId, traceId: outer?.traceId });
    expect(read).toMatchObject({
      startMs: 1_700_000_000_000,
      endMs: 1_700_000_000_005,
      attributes: { rows: 2 },
    });
    expect(outer).toMatchObject({ name: "GET /user", failure: "503", parentId: undefined });
    expect(outer?.endMs).toBe(1_700_000_000_006.5);
    expect(request?.traceparent).toBe(`00-${outer?.traceId}-${outer?.spanId}-01`);
  });

  test("that a trusted caller began follow its decision; others follow the ratio and may be linked", () => {
    const { spans, ended } = spansOf({ ratio: 0.5, random: () => 0.7 });
    const sampled = { ...PARENT, isSampled: true };
    expect(spans.start(START)).toBeUndefined();
    expect(spans.start(START, { link: sampled })).toBeUndefined();
    spans.start(START, { parent: sampled })?.end();
    expect(ended).toMatchObject([{ traceId: PARENT.traceId, parentId: PARENT.spanId }]);
    const all = spansOf();
    expect(all.spans.start(START, { parent: { ...PARENT, isSampled: false } })).toBeUndefined();
    all.spans.start(START, { link: sampled })?.end();
    expect(all.ended).toMatchObject([{ parentId: undefined, link: sampled }]);
    expect(all.ended[0]?.traceId).not.toBe(PARENT.traceId);
    expect(spansOf({ ratio: 0 }).spans.start(START)).toBeUndefined();
  });

  test("of one span are bounded", () => {
    const { spans, ended } = spansOf();
    const campaign = spans.start(START);
    for (let call = 0; call < 1000; call++) campaign?.child(START)?.end();
    expect(ended).toHaveLength(64);
  });
});
