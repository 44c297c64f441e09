import { Database } from "bun:sqlite";
import { afterEach, describe, expect, test } from "bun:test";
import { readdirSync, statSync, writeFileSync } from "node:fs";
import { openSideFile, sideFilePath } from "../../src/db/side/side-file.ts";
import { declaredStatements } from "../../src/db/side/statement.ts";
import type { FetchOutcome } from "../../src/previews/fetch-preview.ts";
import { PreviewReader } from "../../src/previews/preview-reader.ts";
import { type PreviewServiceDeps, startPreviewService } from "../../src/previews/preview-service.ts";
import { PreviewSignal } from "../../src/previews/preview-signal.ts";
import { PREVIEW_SCHEMA } from "../../src/previews/preview-store.ts";
import { silentLog } from "../support/log.ts";
import { ManualTime, until } from "../support/manual-time.ts";
import { tempDir } from "../support/program.ts";

const URL_A = "https://a.example/page";
const GIB = 1024 ** 3;

const found = (
  title: string,
  more: Partial<Extract<FetchOutcome, { kind: "found" }>["found"]> = {},
): FetchOutcome => ({
  kind: "found",
  found: {
    contentType: "text/html",
    contentLength: 10,
    image: undefined,
    html: { ogTitle: title },
    frame: undefined,
    maxAgeSecs: undefined,
    ...more,
  },
});

const failed: FetchOutcome = { kind: "failed" };

interface Options extends Partial<PreviewServiceDeps> {
  readonly dir?: { readonly path: string };
  readonly freeBytes?: () => number;
  readonly outcomes?: readonly FetchOutcome[];
}

const started: (() => unknown)[] = [];
afterEach(async () => {
  for (const stop of started.splice(0).reverse()) await stop();
});

/** A service over a real file, whose fetches end as the test says, and a reader of its file. */
function startService({ outcomes = [], dir: given, freeBytes = () => 100 * GIB, ...more }: Options = {}) {
  const own = given ? undefined : tempDir();
  const dir = given ?? (own as NonNullable<typeof own>);
  const time = new ManualTime(1_800_000_000);
  const signal = new PreviewSignal();
  const log = silentLog;
  const side = { dir: dir.path, schema: PREVIEW_SCHEMA, clock: time, log, freeBytes };
  const fetched: string[] = [];
  const reported: string[] = [];
  const service = startPreviewService({
    file: openSideFile({ ...side, mode: "writer" }),
    signal,
    async fetchPreview({ href }) {
      fetched.push(href);
      return outcomes[Math.min(fetched.length, outcomes.length) - 1] ?? found(`page ${fetched.length}`);
    },
    maxBytes: 64 * 1024 * 1024,
    clock: time,
    monotonicMs: () => time.nowMs(),
    setTimer: time.after,
    log,
    ...more,
  });
  const reader = new PreviewReader({
    file: openSideFile({ ...side, mode: "reader" }),
    signal,
    nowMs: () => time.nowMs(),
    report: (wanted) => reported.push(...wanted),
  });
  started.push(
    () => own?.[Symbol.dispose](),
    () => service.stop(),
    () => reader[Symbol.dispose](),
  );
  const shown = (url = URL_A) => reader.of([url]).get(url);
  const settled = async () => {
    await until(() => service.stats().running === 0);
  };
  const get = async (url = URL_A) => {
    service.want([url]);
    await settled();
  };
  return { dir, time, service, reader, fetched, reported, shown, get, settled };
}

describe("a read", () => {
  test("shows what is known, asks for the rest once an hour, and never waits", async () => {
    const { reported, shown, get, time } = startService();
    expect(shown()).toEqual({ _status: "PENDING" });
    expect(shown()).toEqual({ _status: "PENDING" });
    await until(() => reported.length > 0);
    expect(reported).toEqual([URL_A]);
    await get();
    expect(shown()).toEqual({
      _status: "RESOLVED",
      content_type: "text/html",
      content_length: 10,
      html: { ogTitle: "page 1" },
    });
    expect(shown()).toBe(shown());
    time.advanceMs(25 * 3_600_000);
    expect(shown()?._status).toBe("RESOLVED");
    await until(() => reported.length > 1);
    expect(reported).toEqual([URL_A, URL_A]);
  });

  test("shows every failure as the same", async () => {
    for (const kind of ["refused", "missing", "failed"] as const) {
      const { shown, get } = startService({ outcomes: [{ kind }] });
      await get();
      expect(shown()).toEqual({ _status: "FAILED" });
    }
  });

  test("finds URLs under http and with a fragment, and leaves out what is never fetched", async () => {
    const { reader, get } = startService();
    await get();
    const urls = ["http://a.example/page", `${URL_A}#x`, "https://10.0.0.1/", "no url"];
    expect([...reader.of(urls).keys()]).toEqual(urls.slice(0, 2));
  });
});

describe("expiry", () => {
  test.each([
    ["a page", found("x"), 86_400],
    ["a page for 2 hours", found("x", { maxAgeSecs: 7_200 }), 7_200],
    ["a page for no time", found("x", { maxAgeSecs: 0 }), 3_600],
    ["a page for ever", found("x", { maxAgeSecs: 1e9 }), 604_800],
    ["an image", found("x", { contentType: "image/png", maxAgeSecs: 60 }), 604_800],
    ["a missing page", { kind: "missing" } as const, 86_400],
    ["a refused URL", { kind: "refused" } as const, 604_800],
    ["a failure", failed, 600],
  ])("%s", async (_, outcome, secs) => {
    const { fetched, get, time } = startService({ outcomes: [outcome] });
    await get();
    time.advanceMs((secs - 1) * 1000);
    await get();
    expect(fetched).toHaveLength(1);
    time.advanceMs(2_000);
    await get();
    expect(fetched).toHaveLength(2);
  });

  test("failures are tried later each time, up to a day", async () => {
    const { fetched, get, time } = startService({ outcomes: [failed] });
    await get();
    for (const secs of [600, 1_200, 2_400, 4_800, 9_600, 19_200, 38_400, 76_800, 86_400, 86_400]) {
      const before = fetched.length;
      time.advanceMs((secs - 1) * 1000);
      await get();
      expect(fetched).toHaveLength(before);
      time.advanceMs(1_000);
      await get();
      expect(fetched).toHaveLength(before + 1);
    }
  });

  test("a page that is no longer reachable is still shown; a deleted one is not", async () => {
    const { shown, get, time } = startService({ outcomes: [found("x"), failed, { kind: "missing" }] });
    await get();
    time.advanceMs(90_000_000);
    await get();
    expect(shown()?.html?.ogTitle).toBe("x");
    time.advanceMs(90_000_000);
    await get();
    expect(shown()).toEqual({ _status: "FAILED" });
  });
});

describe("a crawl", () => {
  test("waits for its URL", async () => {
    const { service } = startService();
    expect(await service.crawl(URL_A, "client")).toMatchObject({
      isResolved: true,
      html: { ogTitle: "page 1" },
    });
  });

  test("ends after 2.5 seconds", async () => {
    const never = Promise.withResolvers<FetchOutcome>();
    const { service, time } = startService({ fetchPreview: () => never.promise });
    const crawl = service.crawl(URL_A, "client");
    time.advanceMs(2_500);
    expect(await crawl).toBe("pending");
    never.resolve(failed);
  });

  test("gets a fresh preview at once", async () => {
    const { service, fetched, get } = startService();
    await get();
    expect(await service.crawl(URL_A, "client")).toMatchObject({ isResolved: true });
    expect(fetched).toHaveLength(1);
  });
});

test("a host that asks for time is called again after it", async () => {
  const { fetched, get, time, settled, shown } = startService({
    outcomes: [{ kind: "rest", host: "a.example", afterSecs: 120 }, found("later")],
  });
  await get();
  time.advanceMs(119_000);
  await settled();
  expect(fetched).toHaveLength(1);
  time.advanceMs(1_000);
  await settled();
  expect(shown()?.html?.ogTitle).toBe("later");
});

test("a mini app that a redirect led to is not one of the redirecting domain", async () => {
  const frame = { version: "1", image: "https://evil.example/i.png", frames_url: "https://evil.example/" };
  const { service, dir } = startService({
    outcomes: [found("moved", { frame, movedTo: "evil.example" }), found("own", { frame })],
  });
  service.want([URL_A, "https://b.example/"]);
  await until(() => service.stats().outcomes.found === 2);
  using file = new Database(sideFilePath(dir.path, PREVIEW_SCHEMA), { readonly: true });
  expect(file.query("SELECT domain FROM mini_apps").all()).toEqual([{ domain: "b.example" }]);
});

test("a URL whose hosts always rest fails after four tries", async () => {
  const { fetched, get, time, settled, shown } = startService({
    outcomes: [{ kind: "rest", host: "b.example", afterSecs: 1 }],
  });
  await get();
  for (let at = 0; at < 20; at++) {
    time.advanceMs(10_000);
    await settled();
  }
  expect(fetched).toHaveLength(4);
  expect(shown()).toEqual({ _status: "FAILED" });
});

describe("the file", () => {
  test("is the owner's, and is replaced when it is damaged or of another version", async () => {
    for (const spoil of [
      (path: string) =>
        writeFileSync(path, "this is no database, but it is long enough to be read as one".repeat(40)),
      (path: string) => {
        using other = new Database(path, { create: true });
        other.run("CREATE TABLE previews (x)");
        other.run("PRAGMA user_version = 99");
      },
    ]) {
      using dir = tempDir();
      const path = sideFilePath(dir.path, PREVIEW_SCHEMA);
      spoil(path);
      const { shown, get } = startService({ dir });
      await get();
      expect(shown()).toBeDefined();
      expect(readdirSync(dir.path).some((name) => name.startsWith("previews.db.bad-"))).toBe(true);
      expect(statSync(path).mode & 0o077).toBe(0);
    }
  });

  test("keeps the previews over a restart", async () => {
    using dir = tempDir();
    const first = startService({ dir });
    await first.get();
    await first.service.stop();
    const second = startService({ dir });
    await second.get();
    expect(second.fetched).toEqual([]);
  });

  test("is not written while the disk is almost full, and is again once it has room", async () => {
    let free = 1;
    const { get, service, fetched, time } = startService({ freeBytes: () => free });
    await get();
    expect(service.stats().fault).toContain("full");
    free = 100 * GIB;
    time.advanceMs(61_000);
    await get();
    expect(service.stats().fault).toBeNull();
    expect(fetched).toHaveLength(2);
  });

  test("stays within its limit: the previews that were shown longest ago make room", async () => {
    const long = { ogDescription: "x".repeat(1000), ogTitle: "y".repeat(300) };
    const { service, time, shown } = startService({
      fetchPreview: async () => found("", { html: long }),
      maxBytes: 1024 * 1024,
    });
    for (let at = 0; at < 1_200; at++) {
      service.want([`https://h${at}.example/`]);
      await until(() => service.stats().running === 0);
      time.advanceMs(1_000);
      if (at % 100 === 0) service.noteUses(["https://h0.example/"]);
    }
    expect(service.stats().bytes).toBeLessThan(1500 * 1024);
    expect(shown("https://h0.example/")?._status).toBe("RESOLVED");
    expect(shown("https://h1.example/")?._status).toBe("PENDING");
  });

  test("has an index for every statement", () => {
    using dir = tempDir();
    using db = new Database(sideFilePath(dir.path, PREVIEW_SCHEMA), { create: true });
    for (const step of PREVIEW_SCHEMA.steps) db.exec(step);
    const own = [...declaredStatements()].filter(([name]) => name.startsWith("previews."));
    expect(own.length).toBeGreaterThan(4);
    for (const [name, { sql }] of own) {
      const plan = db.query<{ detail: string }, []>(`EXPLAIN QUERY PLAN ${sql}`).all();
      const scans = plan.filter(({ detail }) => /^SCAN (?!.*USING (?:COVERING )?INDEX)/.test(detail));
      expect([name, ...scans]).toEqual([name]);
    }
  });
});
