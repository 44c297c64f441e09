import { Database } from "bun:sqlite";
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer as createHttp2Server } from "node:http2";
import { type AddressInfo, createServer } from "node:net";
import { assess } from "../../../src/cli/doctor/databases.ts";
import { type ExamineDeps, examine } from "../../../src/cli/doctor/examine.ts";
import type { Finding } from "../../../src/cli/doctor/finding.ts";
import { placeOf } from "../../../src/cli/doctor/place.ts";
import { loadConfig } from "../../../src/config/load.ts";
import { createSpoolTables } from "../../../src/db/index/bulk/spool-tables.ts";
import {
  type IndexDatabase,
  indexPath,
  openIndexInMemory,
  openIndexWriter,
} from "../../../src/db/index/database.ts";
import { claimNetwork, claimSource, markDemo } from "../../../src/db/index/identity.ts";
import { statePath } from "../../../src/db/state/database.ts";
import { openHistory } from "../../../src/history/history.ts";
import { defer } from "../../../src/ingest/bulk/deferred-records.ts";
import { UserError } from "../../../src/lib/failure.ts";
import { resolveBySystem } from "../../../src/net/resolve.ts";
import { nowSecs, systemClock } from "../../../src/runtime/clock.ts";
import { openDataDir } from "../../../src/runtime/data-dir.ts";
import { CLOSED_PORT, OWN_LOOPBACK } from "../../support/addresses.ts";
import { ManualClock } from "../../support/clock.ts";
import { createIndex, createState } from "../../support/empty-databases.ts";
import { startTestHub } from "../../support/hub.ts";
import { silentLog } from "../../support/log.ts";
import { startTestNode } from "../../support/node.ts";
import { writeOlderIndex } from "../../support/older-index.ts";
import { tempDir } from "../../support/program.ts";
import { makeChain } from "../../support/upstream/chain.ts";
import { UpstreamNode } from "../../support/upstream/node.ts";
import { UpstreamServer } from "../../support/upstream/server.ts";
import { HeldSnapshots } from "../../support/upstream/snapshots.ts";

const TICKS = 25;
const node = new UpstreamNode(makeChain("doctor", TICKS));
const server = new UpstreamServer(node);
const home = tempDir();

beforeAll(async () => {
  node.produce(TICKS);
  await server.start();
});
afterAll(() => {
  server.stop();
  home[Symbol.dispose]();
});

/** The findings of settings, by their subject. */
async function examined(
  settings: readonly string[],
  { dir = `${home.path}/data`, ...deps }: Partial<ExamineDeps> & { readonly dir?: string } = {},
): Promise<ReadonlyMap<string, Finding>> {
  const set = [`data.dir=${dir}`, "http.port=0", "hub.port=0", ...settings];
  const findings = await examine({
    ...loadConfig({ argvFlags: { set }, env: {}, readFile: () => undefined, cwd: "/" }),
    clock: new ManualClock(node.chain.endsAt),
    kernelClock: () => "yes",
    resolve: resolveBySystem,
    // In this process, which is faster.
    askPlace: placeOf,
    askReady: async () => "200",
    ...deps,
  });
  for (const { level, advice } of findings) expect(level === "ok").toBe(advice === undefined);
  return new Map(findings.map((finding) => [finding.check, finding]));
}

const upstream = () => `upstream.url=${server.url}`;

test("has only ok findings for a followable node and a fit machine, and leaves no file", async () => {
  const findings = await examined([upstream()]);
  const levels = Object.fromEntries([...findings].map(([check, { level }]) => [check, level]));
  expect(levels).toMatchObject({
    settings: "ok",
    "data directory": "ok",
    "disk space": "ok",
    "space for the index": "ok",
    memory: "ok",
    "time source": "ok",
    DNS: "ok",
    "followed node": "ok",
    network: "ok",
    "lag of the followed node": "ok",
    clock: "ok",
  });
  expect(findings.get("followed node")?.text).toContain("version 0.14.2 with 2 shards");
  expect(readdirSync(home.path)).toEqual([]);
});

describe("the data directory", () => {
  test("below a file cannot be used", async () => {
    using other = tempDir();
    writeFileSync(`${other.path}/file`, "");
    const findings = await examined([], { dir: `${other.path}/file` });
    expect(findings.get("data directory")).toMatchObject({
      level: "fail",
      text: expect.stringContaining("not a directory"),
    });
    expect(findings.get("disk speed")?.level).toBe("fail");
  });

  test("on a file system that never responds fails, and delays no other check", async () => {
    const findings = await examined([], { askPlace: async () => undefined });
    expect(findings.get("data directory")).toMatchObject({
      level: "fail",
      text: expect.stringContaining("does not respond"),
    });
    expect(findings.get("memory")?.level).toBe("ok");
    expect(findings.has("disk speed")).toBe(false);
  });

  test("in memory is a warning", async () => {
    const findings = await examined([], { dir: `/dev/shm/svc-doctor-test-${process.pid}` });
    expect(findings.get("file system")).toMatchObject({
      level: "warn",
      text: expect.stringContaining("tmpfs"),
    });
  });

  test("locked by a node is checked for readiness instead of free ports", async () => {
    using other = tempDir();
    const opened = openDataDir(other.path);
    try {
      const askReady = async () => {
        throw new UserError("http://127.0.0.1:8080/ready responded 503 the index is being filled");
      };
      const ready = await examined([], { dir: other.path });
      expect(ready.get("running node")).toMatchObject({ level: "ok" });
      expect(ready.has("ports")).toBe(false);
      const filling = await examined([], { dir: other.path, askReady });
      expect(filling.get("running node")).toMatchObject({
        level: "fail",
        text: expect.stringContaining("503"),
      });
      expect(filling.get("open files")?.text).toStartWith("the running node");
      // The node of a package that was just installed does not have the settings yet that are examined.
      const notSetUp = async () => {
        throw new UserError('/ready responded 503 {"message":"not_set_up: the node has no data"}');
      };
      const installed = await examined([], { dir: other.path, askReady: notSetUp });
      expect(installed.get("running node")).toMatchObject({
        level: "warn",
        advice: expect.stringContaining("Restart it"),
      });
    } finally {
      opened.release();
    }
    expect((await examined([], { dir: other.path })).has("running node")).toBe(false);
  });
});

describe("the followed node", () => {
  test("is reported as none when no setting names one", async () => {
    const findings = await examined([]);
    expect(findings.get("followed node")).toMatchObject({
      level: "ok",
      text: expect.stringContaining("none"),
    });
  });

  test("of several has findings of its own, and one that is away is a warning while another can be followed", async () => {
    const urls = `["${server.url}", "http://127.0.0.1:${CLOSED_PORT}"]`;
    const findings = await examined([`upstream.urls=${urls}`, "trust.level=node"]);
    expect(findings.get("followed node 1")).toMatchObject({ level: "ok" });
    expect(findings.get("certificates 1")?.level).toBe("ok");
    expect(findings.get("calls 1")?.text).toBe("32 in flight and any number a second, at a private address");
    expect(findings.get("followed node 2")).toMatchObject({
      level: "warn",
      text: expect.stringContaining("does not respond"),
    });
    // Each of two nodes can keep every owner out.
    const owners = findings.get("who owns an fid");
    expect([owners?.level, owners?.advice]).toEqual(["warn", "List a third node in upstream.urls"]);
    const three = `["${server.url}", "http://127.0.0.1:${CLOSED_PORT}", "http://localhost:${CLOSED_PORT}"]`;
    const ofThree = await examined([`upstream.urls=${three}`, "trust.level=node"]);
    expect(ofThree.get("who owns an fid")).toMatchObject({
      level: "ok",
      text: "confirmed by two of 3 nodes (trust.events)",
    });
  });

  test("says whether an index can be filled from its snapshots: none, recent ones, none of the network, or old ones", async () => {
    const without = await examined([upstream(), "trust.level=node"]);
    expect(without.get("replication")).toMatchObject({
      level: "warn",
      text: "it serves no snapshots: an index of the whole network is filled fid by fid, with 13 calls for each",
    });
    const snapshots = new HeldSnapshots();
    const serving = new UpstreamServer(node, { snapshots });
    await serving.start();
    try {
      const settings = [`upstream.url=${serving.url}`, "trust.level=node"];
      expect((await examined(settings)).get("replication")?.text).toStartWith(
        "it has no snapshot of shard 1 yet",
      );
      snapshots.take(node);
      const recent = (await examined(settings)).get("replication");
      expect(recent?.level).toBe("ok");
      expect(recent?.text).toMatch(
        /^its snapshots are at most 0\.\d h old; a page of \d+ records took \d+ ms$/,
      );
      const partial = await examined([...settings, "upstream.fids=3"]);
      expect(partial.get("replication")?.text).toBe("not needed for an index of selected fids");
      const later = new ManualClock(node.chain.endsAt + 27 * 3600);
      expect((await examined(settings, { clock: later })).get("replication")).toMatchObject({
        level: "warn",
        text: expect.stringContaining("its newest snapshots are 27."),
      });
      snapshots.change = ({ entries, ...page }) => ({
        ...page,
        entries: [{ key: Buffer.alloc(26), message: new Uint8Array(3) }, ...entries],
      });
      expect((await examined(settings)).get("replication")).toMatchObject({
        level: "fail",
        text: "a page of its snapshots is not of the network's state (bad_message)",
      });
    } finally {
      serving.stop();
    }
  });

  test("without a server does not respond", async () => {
    const findings = await examined([`upstream.url=http://127.0.0.1:${CLOSED_PORT}`]);
    expect(findings.get("followed node")).toMatchObject({
      level: "fail",
      text: `http://127.0.0.1:${CLOSED_PORT} does not respond: connect ECONNREFUSED 127.0.0.1:${CLOSED_PORT}`,
    });
    expect(findings.get("space for the index")?.level).toBe("warn");
  });

  test("that accepts and says nothing does not delay the check", async () => {
    const silent = createServer((socket) => void socket.on("error", () => undefined));
    await new Promise<void>((resolve) => silent.listen(0, OWN_LOOPBACK, resolve));
    const { port } = silent.address() as AddressInfo;
    const findings = await examined([`upstream.url=http://${OWN_LOOPBACK}:${port}`], { timeoutMs: 300 });
    expect(findings.get("followed node")?.level).toBe("warn");
    expect(findings.get("followed node")?.text).toContain("within 0.3 s");
    silent.close();
  });

  test("that is another server is none", async () => {
    const web = createHttp2Server((_, response) => void response.end("<html>"));
    await new Promise<void>((resolve) => web.listen(0, OWN_LOOPBACK, resolve));
    const { port } = web.address() as AddressInfo;
    const findings = await examined([`upstream.url=http://${OWN_LOOPBACK}:${port}`]);
    expect(findings.get("followed node")).toMatchObject({
      level: "fail",
      text: expect.stringContaining("does not lead to a Farcaster node that can be followed"),
    });
    web.close();
  });

  test("of another network fails", async () => {
    const findings = await examined([upstream(), "protocol.network=testnet"]);
    expect(findings.get("followed node")).toMatchObject({
      level: "fail",
      text: expect.stringContaining("its messages are of mainnet, and protocol.network is testnet"),
    });
  });

  test("that lags is a warning, and does not make our clock wrong", async () => {
    node.blockDelay = 3600;
    const findings = await examined([upstream()], { clock: new ManualClock(node.chain.endsAt + 3600) });
    node.blockDelay = 0;
    expect(findings.get("lag of the followed node")).toMatchObject({
      level: "warn",
      text: "its newest block is 3600 s old, more than upstream.ready_lag_secs (30)",
    });
    expect(findings.get("clock")?.level).toBe("ok");
  });

  test.each([
    [20, "warn", "20 s ahead of"],
    [-20, "warn", "20 s behind"],
    [400, "fail", "signed requests are refused"],
  ] as const)("shows that this machine's clock is off by %d s: %s", async (secs, level, text) => {
    const findings = await examined([upstream()], { clock: new ManualClock(node.chain.endsAt + secs) });
    expect(findings.get("clock")).toMatchObject({ level, text: expect.stringContaining(text) });
  });
});

test("the clock of a followed node without blocks of its own is the date of its responses", async () => {
  await using hub = await startTestHub(openIndexInMemory());
  const settings = [`upstream.url=http://${hub.address}`];
  const right = await examined(settings, { clock: systemClock });
  expect(right.get("clock")?.level).toBe("ok");
  expect(right.get("network")).toMatchObject({ level: "warn", text: "it has no messages that name one" });
  const clock = new ManualClock(nowSecs(systemClock) + 30);
  expect((await examined(settings, { clock })).get("clock")?.level).toBe("warn");
});

describe("the machine", () => {
  test.each([
    ["no", "nothing synchronizes the clock"],
    ["unknown", "does not report"],
  ] as const)("without a synchronised clock is a warning: %s", async (answer, text) => {
    const findings = await examined([], { kernelClock: () => answer });
    expect(findings.get("time source")).toMatchObject({ level: "warn", text: expect.stringContaining(text) });
  });

  test("that cannot resolve a name of the settings fails, with the name and its setting", async () => {
    const findings = await examined(["upstream.url=https://node.invalid:3383"]);
    expect(findings.get("DNS")).toMatchObject({
      level: "fail",
      text: expect.stringContaining("node.invalid (upstream.url) does not resolve"),
    });
  }, 180_000);

  test("whose port is taken fails, with the setting", async () => {
    const taken = createServer();
    await new Promise<void>((resolve) => taken.listen(0, OWN_LOOPBACK, resolve));
    const { port } = taken.address() as AddressInfo;
    const findings = await examined([`http.host=${OWN_LOOPBACK}`, `http.port=${port}`]);
    expect(findings.get("ports")).toMatchObject({
      level: "fail",
      advice: expect.stringContaining("http.port"),
    });
    taken.close();
  });
});

test("risky settings are warnings, and a PostgreSQL that does not respond is a failure without its password", async () => {
  const findings = await examined([
    "http.host=0.0.0.0",
    "service.name=mine",
    `state.url=postgres://svc:secret@127.0.0.1:${CLOSED_PORT}/svc`,
  ]);
  expect(findings.get("settings")).toMatchObject({
    level: "warn",
    text: expect.stringContaining("http.anonymous"),
  });
  expect(findings.get("PostgreSQL")).toMatchObject({ level: "fail" });
  expect(JSON.stringify([...findings])).not.toContain("secret@");
  expect(JSON.stringify([...findings])).not.toContain(":secret");
});

test("a check writes nothing into a directory that exists", async () => {
  using other = tempDir();
  mkdirSync(`${other.path}/data`);
  await examined([], { dir: `${other.path}/data` });
  expect(readdirSync(`${other.path}/data`)).toEqual([]);
});

test("checks the history where there is one, and names what was set aside", async () => {
  using other = tempDir();
  const dir = `${other.path}/data`;
  mkdirSync(dir);
  const found = async () => (await examined([], { dir })).get("history");
  expect(await found()).toBeUndefined();
  const history = openHistory({
    dir,
    settings: { max_bytes: 128_000_000, log_days: 7 },
    beginning: { version: "1.0.0", settings: {} },
    clock: systemClock,
    log: silentLog,
  });
  history.stop();
  expect(await found()).toMatchObject({
    level: "ok",
    text: "history.db can be read and has 1 of at most 135 MB",
  });
  writeFileSync(`${dir}/history.db`, "no database".repeat(1000));
  expect(await found()).toMatchObject({
    level: "warn",
    text: expect.stringContaining("history.db cannot be read"),
  });
  writeFileSync(`${dir}/history.db.bad-1790000000000`, "");
  rmSync(`${dir}/history.db`);
  expect(await found()).toMatchObject({
    level: "warn",
    text: "history.db.bad-1790000000000 was set aside as damaged",
  });
});

describe("the databases", () => {
  /** The findings about the databases of a data directory that `change` has changed, which keeps its files. */
  async function databasesAfter(
    change: (dir: string) => void,
    settings: readonly string[] = [],
  ): Promise<Record<string, string>> {
    using place = tempDir();
    const dir = `${place.path}/data`;
    mkdirSync(dir);
    createIndex(dir)[Symbol.dispose]();
    createState(dir)[Symbol.dispose]();
    change(dir);
    const before = readdirSync(dir).sort();
    const findings = await examined(settings, { dir });
    expect(readdirSync(dir).sort()).toEqual(before);
    return Object.fromEntries(
      ["index", "state"].flatMap((check) => {
        const found = findings.get(check);
        return found ? [[check, `${found.level}: ${found.text.replaceAll(`${dir}/`, "")}`]] : [];
      }),
    );
  }

  const whole = {
    index: "ok: index.db: current version, intact",
    state: "ok: state.db: current version, intact",
  };
  const migrated = (path: string, sql: string) => {
    using db = new Database(path);
    db.run(sql);
  };

  test("open and are intact", async () => {
    expect(await databasesAfter(() => {})).toEqual(whole);
  });

  const refused: readonly [string, string, (db: IndexDatabase) => void, string[]][] = [
    ["of another network", "holds devnet", (db) => claimNetwork(db, "devnet"), []],
    [
      "that follows, without an upstream",
      "upstream.url is empty",
      (db) => claimSource(db, { follows: true }),
      [],
    ],
    [
      "of the demo network, with an upstream",
      "holds the demo network",
      markDemo,
      [`upstream.url=http://127.0.0.1:${CLOSED_PORT}`],
    ],
    ["whose import was killed while it was built", "run `svc import", createSpoolTables, []],
    [
      "whose import was killed while records waited",
      "run `svc import",
      (db) => {
        const record = { kind: "message" as const, bytes: Uint8Array.of(1) };
        defer(db, { number: 1, offset: 0, record, isAdmitted: false });
      },
      [],
    ],
  ];
  test.each(refused)(
    "an index %s fails, as the start of the node does",
    async (_, reason, change, settings) => {
      const { index } = await databasesAfter((dir) => {
        using db = openIndexWriter(indexPath(dir));
        change(db);
      }, settings);
      expect(index).toStartWith("fail: ");
      expect(index).toContain(reason);
    },
  );

  test("of a newer version fail", async () => {
    const found = await databasesAfter((dir) => {
      for (const path of [indexPath(dir), statePath(dir)])
        migrated(path, "INSERT INTO __drizzle_migrations (hash, created_at) VALUES ('x', 9e12)");
    });
    expect(found).toEqual({
      index: "fail: index.db was written by a newer version of this program",
      state: "fail: state.db was written by a newer version of this program",
    });
  });

  test("of an earlier version are reported as migrated by the next start", () => {
    using db = openIndexInMemory();
    expect(assess(db, "older")).toEqual({
      check: "index",
      level: "ok",
      text: `${db.file}: earlier version; the next start migrates it`,
    });
  });

  test("with an index in an older format are a warning", async () => {
    const found = await databasesAfter((dir) => {
      using source = startTestNode();
      rmSync(indexPath(dir));
      writeOlderIndex(indexPath(dir), source.db);
    });
    expect(found.index).toBe(
      "warn: index.db has the format of an earlier version; the node serves nothing until it is migrated",
    );
  });

  test("with a zeroed page fail", async () => {
    const found = await databasesAfter((dir) => {
      for (const path of [indexPath(dir), statePath(dir)]) {
        const content = readFileSync(path);
        writeFileSync(path, content.fill(0, 20 * 4096, 21 * 4096));
      }
    });
    expect(found).toEqual({
      index: expect.stringMatching(/^fail: index.db is damaged: /),
      state: expect.stringMatching(/^fail: state.db is damaged: /),
    });
  });

  test("that SQLite does not recognize fail as damaged, not as unopenable files", async () => {
    const found = await databasesAfter((dir) => {
      for (const path of [indexPath(dir), statePath(dir)]) {
        const content = readFileSync(path);
        writeFileSync(path, content.fill(0xff, 0, 4096));
      }
    });
    expect(found).toEqual({
      index: "fail: index.db is damaged: file is not a database",
      state: "fail: state.db is damaged: file is not a database",
    });
  });

  test("with a filled index and no state fail", async () => {
    const found = await databasesAfter((dir) => {
      rmSync(statePath(dir));
      migrated(indexPath(dir), "INSERT INTO totals (name, shard, count) VALUES ('messages', 0, 5)");
    });
    expect(found.state).toBe(
      "fail: state.db is missing; the node does not start with a filled index and no state",
    );
  });
});
