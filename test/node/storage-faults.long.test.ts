import { Database } from "bun:sqlite";
import { describe, expect, test } from "bun:test";
import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { indexPath } from "../../src/db/index/database.ts";
import { verifyIndex } from "../../src/db/index/verify/verify.ts";
import { compiledProgram } from "../support/compiled-program.ts";
import { castNow, hubClient, prepareDeliveries } from "../support/delivery-network.ts";
import { useAsForeign } from "../support/foreign-process.ts";
import { IS_LONG } from "../support/long.ts";
import { until } from "../support/manual-time.ts";
import { makeWallet } from "../support/messages.ts";
import { startNode, tempDir } from "../support/program.ts";
import { signedHeaders } from "../support/signing.ts";
import { hashOf } from "../support/social.ts";

/** The program with a disk that fails, and with a data directory that disappears. */

const FID = 1;
const PAGE_BYTES = 4096;

async function signed(url: string, method: "GET" | "POST", path: string, body?: object): Promise<Response> {
  const signedAt = Math.floor(Date.now() / 1000);
  const content = body && { body: JSON.stringify(body) };
  const wallet = makeWallet(`custody ${FID}`);
  const headers = await signedHeaders({ method, path, fid: FID, signedAt, wallet, ...content });
  return fetch(`${url}/v2/svc${path}`, { method, headers, ...content });
}

test.each([
  ["deleted", (dataDir: string) => rmSync(dataDir, { recursive: true })],
  [
    "replaced by another",
    (dataDir: string) => {
      renameSync(dataDir, `${dataDir}.old`);
      mkdirSync(dataDir);
    },
  ],
])("a node whose data directory is %s ends with 75 and leaves the place alone", async (_, change) => {
  using dir = tempDir();
  const dataDir = `${dir.path}/data`;
  await using node = await startNode({ command: compiledProgram, dataDir });
  change(dataDir);
  const existed = existsSync(dataDir);
  expect(await node.exited).toBe(75);
  expect(node.logs()).toContain("The data directory is no longer the one that was opened");
  expect(existsSync(dataDir)).toBe(existed);
});

/** What happens to a log under a running node. */
const LOG_LOSSES: Readonly<Record<string, (log: string) => void>> = {
  truncated: (log) => truncateSync(log),
  deleted: (log) => rmSync(log),
  moved: (log) => renameSync(log, `${log}.away`),
};

/** A node that counts what it has acknowledged. */
async function writingNode(dataDir: string) {
  const node = await startNode({ command: compiledProgram, dataDir });
  const hub = hubClient(node.hubAddress);
  const casts: Uint8Array[] = [];
  const keys: string[] = [];
  let serial = 0;
  return {
    node,
    casts,
    keys,
    /** Returns how the node responded to a cast and to a signed request. */
    async write() {
      const cast = castNow(FID, `cast ${serial++}`);
      const key = `key ${serial}`;
      const [accepted, response] = await Promise.all([
        hub.submit([cast]),
        signed(node.url, "POST", "/api_key", { name: key, scopes: ["read"] }).catch(() => undefined),
      ]);
      if (accepted?.[0]) casts.push(cast);
      if (response?.status === 200) keys.push(key);
      return {
        cast: accepted?.[0],
        key: response && { status: response.status, text: await response.text() },
      };
    },
    async [Symbol.asyncDispose]() {
      hub[Symbol.dispose]();
      await node[Symbol.asyncDispose]();
    },
  };
}

async function expectStored(url: string, casts: readonly Uint8Array[], keys: readonly string[]) {
  let response = Response.error();
  // After a loss, what was signed in the second of the start is refused.
  await until(async () => {
    response = await signed(url, "GET", `/api_key/list?fid=${FID}`);
    return response.ok;
  });
  const { api_keys: listed } = (await response.json()) as { api_keys: { name: string }[] };
  expect(listed.map((key) => key.name)).toEqual(expect.arrayContaining([...keys]));
  for (const cast of casts) {
    const found = await fetch(`${url}/v2/svc/cast?type=hash&identifier=${hashOf(cast)}`);
    expect(found.status).toBe(200);
  }
}

describe("a log under a running node", () => {
  test.each(
    (IS_LONG ? Object.keys(LOG_LOSSES) : ["truncated"]).flatMap((loss) =>
      ["index", "state"].map((name) => [loss, name] as const),
    ),
  )(
    "%s, the %s: what is acknowledged from then on is there after kill -9",
    async (loss, name) => {
      using dir = tempDir();
      const dataDir = `${dir.path}/data`;
      await prepareDeliveries(dataDir, { fids: [FID], webhooks: [] });
      const log = `${dataDir}/${name}.db-wal`;
      const [casts, keys]: [Uint8Array[], string[]] = [[], []];
      {
        await using writing = await writingNode(dataDir);
        const { node } = writing;
        expect(await writing.write()).toMatchObject({ cast: true, key: { status: 200 } });
        // A checkpoint by another program: what was acknowledged before does not depend on the log.
        expect(useAsForeign(`${dataDir}/${name}.db`, ["checkpoint"])).toEqual([""]);
        await writing.write();
        const before = { casts: writing.casts.length, keys: writing.keys.length };
        LOG_LOSSES[loss]?.(log);
        const refused = await writing.write();
        if (name === "index") expect(refused.cast).not.toBe(true);
        else if (refused.key) expect(refused.key.status).toBe(503);
        if (loss === "truncated") {
          if (name === "state")
            expect(refused.key?.text).toMatch(/the node cannot (store anything|read its data) now/);
          // A read may have failed first, which is not known as damage before the writer looks.
          await until(async () => (await fetch(`${node.url}/ready`)).status === 503);
          expect(await (await fetch(`${node.url}/ready`)).text()).toContain(`the ${name} is damaged: `);
        }
        for (let more = 0; more < 3; more++) await writing.write();
        await node.kill();
        // The cut takes what only the log had; a log that is deleted or moved was written to the database first.
        const survives = loss === "truncated" ? 1 : before[name === "index" ? "casts" : "keys"];
        casts.push(
          ...writing.casts.slice(0, name === "index" ? survives : before.casts),
          ...writing.casts.slice(before.casts),
        );
        keys.push(
          ...writing.keys.slice(0, name === "state" ? survives : before.keys),
          ...writing.keys.slice(before.keys),
        );
      }
      await using next = await startNode({ command: compiledProgram, dataDir });
      await expectStored(next.url, casts, keys);
      const said = next
        .logs()
        .includes(`The write-ahead log of the ${name} was cut or deleted before this start`);
      expect(said).toBe(loss === "truncated");
      expect(await next.stop()).toBe(0);
    },
    180_000,
  );

  test("truncated, after which the node is stopped: the database is whole at the next start", async () => {
    using dir = tempDir();
    const dataDir = `${dir.path}/data`;
    await prepareDeliveries(dataDir, { fids: [FID], webhooks: [] });
    {
      await using writing = await writingNode(dataDir);
      for (let times = 0; times < 5; times++) await writing.write();
      truncateSync(`${dataDir}/index.db-wal`);
      truncateSync(`${dataDir}/state.db-wal`);
      await writing.write();
      await writing.node.stop();
    }
    expect(verifyIndex(indexPath(dataDir))).toEqual([]);
    await using next = await startNode({ command: compiledProgram, dataDir });
    expect(await next.stop()).toBe(0);
  }, 180_000);
});

test.each(["index.db-wal", "state.db-shm"])(
  "a node whose %s is deleted ends with 75, and nothing is lost that it acknowledged before and after",
  async (name) => {
    using dir = tempDir();
    const dataDir = `${dir.path}/data`;
    await prepareDeliveries(dataDir, { fids: [FID], webhooks: [] });
    const acknowledged: { casts: readonly Uint8Array[]; keys: readonly string[] }[] = [];
    {
      await using writing = await writingNode(dataDir);
      expect(await writing.write()).toMatchObject({ cast: true, key: { status: 200 } });
      rmSync(`${dataDir}/${name}`);
      await writing.write();
      expect(await writing.node.exited).toBe(75);
      expect(writing.node.logs()).toContain(`${name} was deleted`);
      acknowledged.push(writing);
    }
    await using next = await startNode({ command: compiledProgram, dataDir });
    for (const { casts, keys } of acknowledged) await expectStored(next.url, casts, keys);
  },
  180_000,
);

test("a node whose log is replaced by another ends at once with 75, and leaves the log to its owner", async () => {
  using dir = tempDir();
  const dataDir = `${dir.path}/data`;
  await using node = await startNode({ command: compiledProgram, dataDir });
  const log = `${dataDir}/index.db-wal`;
  writeFileSync(`${log}.other`, "of another");
  renameSync(`${log}.other`, log);
  expect(await node.exited).toBe(75);
  expect(node.logs()).toContain(`${log} was replaced`);
  expect(readFileSync(log, "utf8")).toBe("of another");
}, 180_000);

/** Overwrites pages of a closed or open database, as a disk does that returns zeros. */
function zeroPages(path: string, from: number, count: number): void {
  const file = openSync(path, "r+");
  writeSync(file, new Uint8Array(count * PAGE_BYTES), 0, count * PAGE_BYTES, (from - 1) * PAGE_BYTES);
  closeSync(file);
}

/** The first page of a table. */
function rootOf(path: string, table: string): number {
  using db = new Database(path, { readonly: true });
  const found = db.query("SELECT rootpage FROM sqlite_schema WHERE name = ?").get(table);
  return (found as { rootpage: number }).rootpage;
}

describe("a damaged database", () => {
  test.each([
    ["index", "casts", "The index can be rebuilt"],
    ["state", "webhooks", "restore"],
  ])("refuses a start with the file, the damage and the remedy: the %s", async (name, table, remedy) => {
    using dir = tempDir();
    const dataDir = `${dir.path}/data`;
    await prepareDeliveries(dataDir, { fids: [FID], webhooks: [] });
    const path = `${dataDir}/${name}.db`;
    zeroPages(path, rootOf(path, table), 1);
    const failed = startNode({ command: compiledProgram, dataDir });
    await expect(failed).rejects.toThrow(`error: ${path} is damaged:`);
    await expect(failed).rejects.toThrow(remedy);
  });

  test.each([
    ["index", (url: string) => fetch(`${url}/v2/svc/feed/user/casts?fid=${FID}`)],
    ["state", (url: string) => signed(url, "GET", "/frame/app/list")],
  ])("that a read of the running node finds makes /ready 503: the %s", async (name, read) => {
    using dir = tempDir();
    const dataDir = `${dir.path}/data`;
    await prepareDeliveries(dataDir, { fids: [FID], webhooks: [] });
    await using node = await startNode({ command: compiledProgram, dataDir });
    await until(async () => (await fetch(`${node.url}/ready`)).status === 200);
    const path = `${dataDir}/${name}.db`;
    zeroPages(path, 2, statSync(path).size / PAGE_BYTES - 1);
    expect((await read(node.url)).status).toBeGreaterThanOrEqual(500);
    await until(async () => (await fetch(`${node.url}/ready`)).status === 503);
    expect(await (await fetch(`${node.url}/ready`)).text()).toContain(
      `the ${name} is damaged: database disk image is malformed`,
    );
    expect(node.logs()).toContain("Found damage in the database");
  });
});

/** The error lines of a log, without what differs between two lines about the same fault. */
function errorsIn(logs: string): string[] {
  return logs
    .split("\n")
    .filter((line) => line.includes('"level":"error"'))
    .map((line) => {
      const { msg, database } = JSON.parse(line) as { msg: string; database?: string };
      return database === undefined ? msg : `${msg}: ${database}`;
    });
}

function repeated(lines: readonly string[]): string[] {
  return lines.filter((line, at) => lines.indexOf(line) !== at);
}

test.skipIf(!Bun.which("prlimit"))(
  "while the disk takes no writes, nothing is acknowledged and /ready is 503 with the reason; reads continue",
  async () => {
    using dir = tempDir();
    const dataDir = `${dir.path}/data`;
    await prepareDeliveries(dataDir, { fids: [FID], webhooks: [] });
    await using node = await startNode({
      // A write beyond the limit then fails instead of ending the process.
      command: ["bash", "-c", 'trap "" XFSZ; exec "$@"', "bash", ...compiledProgram],
      dataDir,
    });
    const limitFiles = async (bytes: number | "unlimited") => {
      const limited = Bun.spawn(["prlimit", "--pid", String(node.pid), `--fsize=${bytes}:unlimited`]);
      expect(await limited.exited).toBe(0);
    };
    const ready = async () => {
      const response = await fetch(`${node.url}/ready`);
      return `${response.status} ${await response.text()}`;
    };
    const untilReadyIs = async (pattern: RegExp) => {
      const until = Date.now() + 20_000;
      for (let now = await ready(); !pattern.test(now); now = await ready()) {
        if (Date.now() > until) throw new Error(`/ready is ${now}`);
        await Bun.sleep(50);
      }
    };
    using hub = hubClient(node.hubAddress);
    const submit = async (text: string) => (await hub.submit([castNow(FID, text)]))?.[0];
    const signedList = () => signed(node.url, "GET", "/frame/app/list");
    const castCount = async () => {
      const response = await fetch(`${node.url}/v2/svc/feed/user/casts?fid=${FID}`);
      expect(response.status).toBe(200);
      return ((await response.json()) as { casts: unknown[] }).casts.length;
    };
    expect(await submit("one")).toBe(true);
    await untilReadyIs(/^200/);

    await limitFiles(1);
    for (let n = 0; n < 20; n++) expect(await submit(`lost ${n}`)).toBe(false);
    expect((await signedList()).status).toBe(503);
    await untilReadyIs(/^503 .*the index cannot be written: disk I\/O error/);
    expect(await castCount()).toBe(1);
    const status = await fetch(`${node.url}/status`);
    expect(await status.json()).toMatchObject({ disk: { write_fault: expect.stringContaining("index") } });
    // The number of records does not matter.
    expect(node.logs().match(/The index could not be written/g)).toHaveLength(1);
    // One line from each writer, and one from the watch for each database, however much is refused.
    expect(repeated(errorsIn(node.logs()))).toEqual([]);

    await limitFiles("unlimited");
    // Without a write: a load balancer sends nothing to a node that is not ready.
    await untilReadyIs(/^200/);
    expect(await submit("two")).toBe(true);
    expect((await signedList()).status).toBe(200);
    expect(await castCount()).toBe(2);
    expect(await node.stop()).toBe(0);
  },
  180_000,
);
