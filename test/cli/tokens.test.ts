import { expect, test } from "bun:test";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { openState, statePath } from "../../src/db/state/database.ts";
import { createSteadyClock } from "../../src/db/state/state-clock.ts";
import { createPostgresStores } from "../../src/node/state/postgres/open-postgres.ts";
import { systemClock } from "../../src/runtime/clock.ts";
import { openDataDir } from "../../src/runtime/data-dir.ts";
import { CLOSED_PORT } from "../support/addresses.ts";
import { compiledProgram } from "../support/compiled-program.ts";
import { createDatabase } from "../support/postgres/database.ts";
import { HAS_POSTGRES } from "../support/postgres/server.ts";
import { APP_ID, SECRET, startSendApi, testApp } from "../support/send.ts";
import { localStores } from "../support/state-stores.ts";
import { emptyDir, run } from "./run.ts";

const HOST = "93.184.216.34";
const QUIET = ["--log-level", "silent"];

/** A data directory with the test's app. */
async function place() {
  const dir = emptyDir();
  const data = join(dir.path, "data");
  mkdirSync(data, { mode: 0o700 });
  using db = openState(statePath(data));
  await localStores(db).apps.create(testApp(), 10);
  const tokens = (args: readonly string[], flags: readonly string[] = QUIET) =>
    run(["--data-dir", data, ...flags, "tokens", ...args]);
  return { dir, data, tokens, file: join(dir.path, "tokens.json"), [Symbol.dispose]: dir[Symbol.dispose] };
}

function listed(fid: number, url = `https://${HOST}/notify`) {
  const time = "2025-01-01T00:00:00.000Z";
  const token = `token of ${fid}`;
  return {
    object: "notification_token",
    fid,
    status: fid % 10 === 0 ? "disabled" : "enabled",
    url,
    token,
    created_at: time,
    updated_at: time,
  };
}

test("imports a file, changes nothing when repeated, and exports the same file", async () => {
  using at = await place();
  const list = Array.from({ length: 30 }, (_, n) => listed(n + 1));
  await Bun.write(at.file, JSON.stringify({ notification_tokens: list, next: { cursor: null } }));
  const args = ["import", at.file, "--app-id", APP_ID, "--client-fid", `${HOST}=9152`];
  const hosts = `  ${HOST}: 30 (client 9152)\n`;
  const line = (added: number, unchanged: number) =>
    `Tokens: ${added} added, 0 updated, ${unchanged} unchanged, 0 newer here, 0 refused\n${hosts}`;
  expect(await at.tokens([...args, "--dry-run"])).toEqual({
    exitCode: 0,
    out: `${line(30, 0)}Nothing was changed (--dry-run)\n`,
    errors: "",
  });
  expect(await at.tokens(args)).toEqual({ exitCode: 0, out: line(30, 0), errors: "" });
  expect(await at.tokens(args)).toEqual({ exitCode: 0, out: line(0, 30), errors: "" });
  const exported = await at.tokens(["export", "--app-id", APP_ID]);
  expect(exported).toMatchObject({ exitCode: 0, errors: "" });
  expect(JSON.parse(exported.out)).toEqual({ notification_tokens: list, next: { cursor: null } });
});

test("imports the tokens of a running node from its list, page by page", async () => {
  await using source = await startSendApi({ compatPrefixes: ["farcaster"] });
  source.addTokens(
    Array.from({ length: 250 }, (_, n) => ({ fid: n + 1, url: `https://${HOST}/n`, token: `t${n}` })),
  );
  using at = await place();
  const keyFile = join(at.dir.path, "key");
  await Bun.write(keyFile, `${SECRET}\n`);
  const url = `${source.signed.api.url}/v2/farcaster/frame/notification_tokens/`;
  const args = ["import", url, "--api-key-file", keyFile, "--app-id", APP_ID];
  const opened = [...QUIET, "--set", "net.allow_http=true", "--set", "net.allow_cidrs=127.0.0.0/8"];
  const done = await at.tokens(args, opened);
  expect(done.errors).toBe("");
  expect(done.out).toStartWith("Tokens: 250 added");
  const closed = await at.tokens(args);
  expect(closed).toMatchObject({ exitCode: 1, out: "" });
  expect(closed.errors).toContain("must use https");
  await Bun.write(keyFile, "6".repeat(64));
  const wrong = await at.tokens(args, opened);
  expect(wrong).toMatchObject({ exitCode: 1, out: "" });
  expect(wrong.errors).toContain("status 401");
  expect(wrong.errors).not.toContain("666");
});

test("rejects a directory in use, a missing app and an invalid source with the reason, and changes nothing", async () => {
  using at = await place();
  await Bun.write(at.file, JSON.stringify(listed(1)));
  const held = openDataDir(at.data);
  const busy = await at.tokens(["import", at.file, "--app-id", APP_ID]);
  held.release();
  expect({ exitCode: busy.exitCode, out: busy.out }).toEqual({ exitCode: 75, out: "" });
  expect(busy.errors).toContain("in use");
  for (const [args, message] of [
    [["import", at.file, "--app-id", "nobody"], 'no app "nobody"'],
    [["export", "--app-id", "nobody"], 'no app "nobody"'],
    [["import", `${at.file}x`, "--app-id", APP_ID], "cannot be read"],
    [["import", "https://api.example/", "--app-id", APP_ID], "a URL needs --api-key-file"],
    [["import", at.file, "--app-id", APP_ID, "--api-key-file", at.file], "--api-key-file is for a URL"],
    [["import", at.file, "--app-id", APP_ID, "--client-fid", "9152"], "It is a host and an fid"],
    [["import", at.file], "--app-id"],
  ] as const) {
    const refused = await at.tokens(args);
    expect({ exitCode: refused.exitCode, out: refused.out }).toEqual({ exitCode: 1, out: "" });
    expect(refused.errors).toContain(message);
  }
});

/** Set TOKENS=1000000 for the list of an app with a million users. */
const COUNT = Number(process.env.TOKENS ?? 5000);

test(
  `${COUNT} tokens take no more memory than a few`,
  async () => {
    using at = await place();
    const write = async (count: number) => {
      const writer = Bun.file(at.file).writer();
      for (let fid = 1; fid <= count; fid++) {
        writer.write(`${fid === 1 ? '{"notification_tokens":[' : ","}${JSON.stringify(listed(fid))}`);
        if (fid % 1000 === 0) await writer.flush();
      }
      writer.write('],"next":{"cursor":null}}');
      await writer.end();
    };
    const peakBytes = async () => {
      const args = ["--data-dir", at.data, ...QUIET, "tokens", "import", at.file, "--app-id", APP_ID];
      const child = Bun.spawn([...compiledProgram, ...args], { stdout: "pipe", stderr: "inherit" });
      const out = await new Response(child.stdout).text();
      expect(await child.exited).toBe(0);
      return { out, bytes: child.resourceUsage()?.maxRSS ?? 0 };
    };
    await write(10);
    const few = await peakBytes();
    await write(COUNT);
    const first = await peakBytes();
    const second = await peakBytes();
    expect(first.out).toContain(`${(COUNT - 10).toLocaleString("en-US")} added`);
    expect(second.out).toContain(`0 added, 0 updated, ${COUNT.toLocaleString("en-US")} unchanged`);
    for (const { bytes } of [first, second]) expect(bytes).toBeLessThan(few.bytes + 128 * 1024 * 1024);
    if (process.env.TOKENS)
      console.log("peak bytes", { few: few.bytes, first: first.bytes, second: second.bytes });
  },
  30_000 + COUNT,
);

test.skipIf(!HAS_POSTGRES)(
  "imports into and exports from a state in PostgreSQL, whatever holds the data directory",
  async () => {
    await using database = await createDatabase();
    using at = await place();
    const clock = createSteadyClock({ clock: systemClock });
    const node = database.node();
    const stores = createPostgresStores(database.pools(), { node, clock, limits: { maxQueued: 1 } });
    await stores.apps.create(testApp(), 10);
    const held = openDataDir(at.data);
    const list = Array.from({ length: 1_200 }, (_, n) => listed(n + 1));
    await Bun.write(at.file, JSON.stringify({ notification_tokens: list, next: { cursor: null } }));
    const flags = [...QUIET, "--set", `state.url=${database.url}`];
    const args = ["import", at.file, "--app-id", APP_ID, "--client-fid", `${HOST}=9152`];
    const outcome = async (command: readonly string[]) =>
      (await at.tokens(command, flags)).out.split("\n")[0];
    expect(await outcome([...args, "--dry-run"])).toContain("1,200 added, 0 updated, 0 unchanged");
    expect(await stores.tokens.totals()).toEqual({ enabled: 0, disabled: 0, no_token: 0 });
    expect(await outcome(args)).toContain("1,200 added, 0 updated, 0 unchanged");
    expect(await stores.tokens.totals()).toEqual({ enabled: 1_080, disabled: 120, no_token: 0 });
    const exported = await at.tokens(["export", "--app-id", APP_ID], flags);
    expect(JSON.parse(exported.out)).toEqual({ notification_tokens: list, next: { cursor: null } });
    held.release();

    const away = await at.tokens(
      ["export", "--app-id", APP_ID],
      [...QUIET, "--set", `state.url=postgres://nobody@127.0.0.1:${CLOSED_PORT}/none`],
    );
    expect([away.exitCode, away.out]).toEqual([75, ""]);
  },
  180_000,
);
