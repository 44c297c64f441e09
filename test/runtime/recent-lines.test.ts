import { describe, expect, test } from "bun:test";
import { createLogger } from "../../src/runtime/log/logger.ts";
import { limitedLines, RecentLines } from "../../src/runtime/log/recent-lines.ts";
import { configWith } from "./config.ts";

const TOKEN = "operator-token-of-32-characters!";

function logged(...set: string[]) {
  const lines = new RecentLines();
  const log = createLogger(configWith(...set), {
    destination: { write: () => undefined },
    keep: (line) => lines.add("main", line),
  });
  return { lines, log };
}

describe("the recent lines", () => {
  test("are those of level warn and above, in both formats", () => {
    for (const format of ["json", "pretty"]) {
      const { lines, log } = logged("log.level=trace", `log.format=${format}`);
      log.info({ level: "error" }, "not kept");
      log.warn({ url: "http://x" }, "kept");
      log.child({ subsystem: "hub" }).error({ err: new Error("broken") }, "failed");
      expect(lines.after(0)).toMatchObject([
        { seq: 1, level: "warn", thread: "main", message: "kept", fields: '{"url":"http://x"}' },
        { seq: 2, level: "error", message: "failed", fields: expect.stringContaining('"subsystem":"hub"') },
      ]);
      expect(lines.after(1)).toHaveLength(1);
      expect(lines.lastFaultOf("main")?.message).toBe("failed");
      expect(lines.lastFaultOf("hub")).toBeUndefined();
    }
  });

  test("after a number of an earlier run are all of this one", () => {
    const { lines, log } = logged();
    log.warn("first");
    expect([lines.after(1), lines.after(7)]).toMatchObject([[], [{ message: "first" }]]);
  });

  test("have no secret: neither by the name of its field nor by its value", () => {
    const { lines, log } = logged(`console.operator_token=${TOKEN}`);
    log.warn({ authorization: "Bearer abc-def-ghi", url: `http://x/?k=${TOKEN}` }, `refused ${TOKEN}`);
    const text = JSON.stringify(lines.after(0));
    expect(text).not.toContain(TOKEN);
    expect(text).not.toContain("abc-def-ghi");
  });

  test("have no character that moves a cursor or reorders text", () => {
    const { lines, log } = logged();
    log.warn({ name: "a\u202eb\u0007\u009b31m", "k\u200b": "\u2028" }, "said \u001b[2J\r\n\u2066x");
    const [line] = lines.after(0);
    expect(`${line?.message}${line?.fields}`).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u);
    expect(JSON.parse(line?.fields ?? "")).toMatchObject({ name: "a\u202eb\u0007\u009b31m" });
  });

  test("are the last 300, each of bounded length", () => {
    const { lines, log } = logged();
    const big = Array.from({ length: 9 }, () => "x".repeat(9000));
    for (let at = 0; at < 400; at++) log.warn({ at, big }, "m".repeat(9000));
    const kept = lines.after(0);
    expect(kept.map(({ seq }) => seq)).toEqual(Array.from({ length: 300 }, (_, at) => 101 + at));
    expect(JSON.stringify(kept).length).toBeLessThan(300 * 4000);
  });

  test("of a thread that logs without end are 200 a second, and one that counts the rest", () => {
    let nowMs = 0;
    const kept: string[] = [];
    const keep = limitedLines(
      (line) => kept.push(line),
      () => nowMs,
    );
    for (let at = 0; at < 1000; at++) keep("line");
    expect(kept).toHaveLength(200);
    nowMs = 1000;
    keep("line");
    expect(kept.slice(200)).toEqual([expect.stringContaining('"lines":800'), "line"]);
  });
});
