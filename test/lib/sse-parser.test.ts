import { expect, test } from "bun:test";
import fc from "fast-check";
import { SseParser } from "../../src/lib/sse-parser.ts";

const field = fc.constantFrom("id", "event", "data", "retry", "", "x");
const value = fc.constantFrom("", "a", " b", "{}", "c:d", "é😀");
const line = fc.tuple(field, value).map(([name, text]) => (name === "" ? "" : `${name}: ${text}`));
const stream = fc.array(fc.tuple(line, fc.constantFrom("\n", "\r\n")), { maxLength: 30 });

test("the events of a stream do not depend on how it is cut", () => {
  fc.assert(
    fc.property(stream, fc.array(fc.nat(20)), (lines, cuts) => {
      const text = lines.map(([content, end]) => content + end).join("");
      const whole = new SseParser(1000);
      const cut = new SseParser(1000);
      const events = [];
      let at = 0;
      for (const length of cuts) {
        events.push(...cut.push(text.slice(at, at + length)));
        at += length;
      }
      events.push(...cut.push(text.slice(at)));
      expect(events).toEqual(whole.push(text));
      expect(cut.lastId).toBe(whole.lastId);
    }),
  );
});

test("an id without data moves the last id and makes no event", () => {
  const parser = new SseParser(100);
  expect(parser.push("id: 1\nevent: a\ndata: x\ndata: y\n\n: comment\nid: 2\n\ndata: z\n\n")).toEqual([
    { id: "1", event: "a", data: "x\ny" },
    { id: "2", event: "message", data: "z" },
  ]);
  expect(parser.lastId).toBe("2");
});

test("a line or an event without an end is refused", () => {
  expect(() => new SseParser(10).push("data: 01234567890123")).toThrow("too long");
  expect(() => new SseParser(10).push("data: 0123456\ndata: 0123456\n")).toThrow("too long");
});
