import { Database } from "bun:sqlite";
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { statePath } from "../../src/db/state/database.ts";
import { createCertificateAuthority } from "../support/certificates.ts";
import { compiledProgram } from "../support/compiled-program.ts";
import { fetchAsPerson, importSignerOfPerson, postAsPerson } from "../support/demo-calls.ts";
import { startDemoNode } from "../support/demo-node.ts";
import { IS_LONG } from "../support/long.ts";
import { createDatabase } from "../support/postgres/database.ts";
import { HAS_POSTGRES, type PostgresServer, startPostgres } from "../support/postgres/server.ts";
import { type RunningNode, startNode, tempDir } from "../support/program.ts";
import { type RunningPrometheus, startPrometheus } from "../support/prometheus.ts";
import { type Receiver, startReceiver } from "../support/receiver.ts";

/** Nodes with a fault each, as a Prometheus with the rules of this project sees them. */

const canRun =
  IS_LONG &&
  HAS_POSTGRES &&
  ["prometheus", "prlimit", "mount"].every((tool) => Bun.which(tool) !== null) &&
  process.getuid?.() === 0;
const sets = (...settings: string[]) => settings.flatMap((setting) => ["--set", setting]);

describe.skipIf(!canRun)("alerts of nodes with faults", () => {
  const dir = tempDir();
  const disk = join(dir.path, "disk");
  const nodes: Record<string, RunningNode> = {};
  const cleanUps: (() => unknown)[] = [];
  let prometheus: RunningPrometheus;
  let postgres: PostgresServer;
  let receiver: Receiver;

  const at = (name: string) => {
    const node = nodes[name];
    if (!node) throw new Error(`no node ${name}`);
    return node;
  };
  const demo = (name: string, args: readonly string[] = [], command = compiledProgram) =>
    startDemoNode({ dataDir: join(dir.path, name), args, command });
  /** Waits until these alerts fire; the time limit of the test ends the wait. */
  async function untilFires(...expected: string[]): Promise<void> {
    for (;;) {
      const firing = await prometheus.firing();
      if (expected.every((one) => firing.includes(one))) return;
      await Bun.sleep(200);
    }
  }

  beforeAll(async () => {
    mkdirSync(disk);
    if (Bun.spawnSync(["mount", "-t", "tmpfs", "-o", "size=64m", "tmpfs", disk]).exitCode !== 0)
      throw new Error("no small disk can be mounted");
    cleanUps.push(() => Bun.spawnSync(["umount", "-l", disk]));
    writeFileSync(join(dir.path, "file"), "");
    postgres = await startPostgres();
    const database = await createDatabase({ server: postgres });
    receiver = startReceiver({ tls: createCertificateAuthority().issue(["127.0.0.1"]) });
    nodes.healthy = await demo("healthy");
    nodes.gone = await demo("gone");
    nodes.following = await startNode({
      command: compiledProgram,
      dataDir: join(dir.path, "following"),
      args: sets(`upstream.url=http://${nodes.gone.hubAddress}`, "trust.level=node", "upstream.fids=3"),
    });
    nodes.full = await demo("full", sets("index.max_bytes=2000000"));
    nodes.small = await startNode({ command: compiledProgram, dataDir: join(disk, "data") });
    nodes.open = await demo(
      "open",
      sets(
        "http.trusted_proxies=0.0.0.0/0",
        "net.allow_cidrs=127.0.0.0/8",
        "backup.at=00:00",
        `backup.dir=${join(dir.path, "file/backups")}`,
        "state.timeout_ms=500",
      ),
    );
    nodes.crowded = await demo("crowded", [], ["prlimit", "--nofile=320:320", ...compiledProgram]);
    nodes.shared = await startNode({
      command: compiledProgram,
      dataDir: join(dir.path, "shared"),
      args: sets(`state.url=${database.url}`, "node.id=shared"),
    });
    prometheus = await startPrometheus(dir.path, nodes, { isImpatient: true });
    await prometheus.scrapes(3);
  }, 300_000);
  afterAll(async () => {
    await prometheus?.stop();
    await Promise.all(Object.values(nodes).map((node) => node.kill()));
    await receiver?.[Symbol.asyncDispose]();
    await postgres?.[Symbol.asyncDispose]();
    for (const cleanUp of cleanUps) cleanUp();
    dir[Symbol.dispose]();
  });

  test("settings, a bounded index and a small disk", async () => {
    await untilFires(
      "open: SvcExposed",
      "open: SvcBackupFails",
      "full: SvcIndexFull",
      "full: SvcIndexAlmostFull",
      "full: SvcNotReady",
      "small: SvcDiskAlmostFull",
    );
  }, 120_000);

  test("a receiver with a certificate of an unknown authority", async () => {
    const node = at("open");
    await postAsPerson(node, 4, "/webhook?owner_fid=4", {
      name: "all",
      url: `https://127.0.0.1:${receiver.port}/`,
      subscription: { "cast.created": {} },
    });
    const signer_uuid = await importSignerOfPerson(node, { user: 7, owner: 3 });
    const { secret } = await postAsPerson(node, 3, "/api_key", { name: "bot", scopes: ["write"] });
    await fetch(`${node.url}/v2/farcaster/cast`, {
      method: "POST",
      headers: { "x-api-key": `${secret}`, "content-type": "application/json" },
      body: JSON.stringify({ signer_uuid, text: "to a stranger" }),
    });
    await untilFires("open: SvcCertificateErrors");
  }, 120_000);

  test("another process holds the lock of the state: it cannot be written, and callers see server errors", async () => {
    const node = at("open");
    using lock = new Database(statePath(join(dir.path, "open")));
    lock.exec("BEGIN IMMEDIATE");
    const app = { name: "An app", app_url: "https://a.demo.example/" };
    const add = () => fetchAsPerson(node, 3, { method: "POST", path: "/frame/app", body: app });
    const addMany = () => Promise.all(Array.from({ length: 30 }, add));
    expect(new Set((await addMany()).map(({ status }) => status))).toEqual(new Set([503]));
    await untilFires("open: SvcStateCannotBeWritten");
    await untilFires("open: SvcServerErrors");
    lock.exec("ROLLBACK");
  }, 120_000);

  test("a disk without room", async () => {
    Bun.spawnSync(["dd", "if=/dev/zero", `of=${join(disk, "filler")}`, "bs=1M"]);
    // The node notices when it writes, at the latest when it sweeps.
    for (let nth = 0; nth < 3; nth++)
      await fetch(`${at("small").url}/v2/svc/user?fid=${nth + 1}`).then((response) => response.text());
    await untilFires("small: SvcCannotWrite");
  }, 120_000);

  test("more connections than descriptors", async () => {
    const { hostname, port } = new URL(at("crowded").url);
    const sockets: { end(): void }[] = [];
    for (let nth = 0; nth < 400; nth++)
      await Bun.connect({
        hostname,
        port: Number(port),
        socket: { data() {}, open: (socket) => void sockets.push(socket), error() {}, close() {} },
      }).catch(() => undefined);
    await untilFires("crowded: SvcConnectionsRefused");
    for (const socket of sockets) socket.end();
  }, 120_000);

  test("a PostgreSQL that is away fences its node", async () => {
    await postgres.kill();
    await untilFires("shared: SvcPostgresAway", "shared: SvcNodeFenced");
  }, 120_000);

  test("a followed node that ends", async () => {
    await at("gone").kill();
    await untilFires("gone: SvcDown", "following: SvcUpstreamLost");
  }, 120_000);

  test("the healthy node has none", async () => {
    const firing = await prometheus.firing();
    expect(firing.filter((one) => one.startsWith("healthy:"))).toEqual([]);
    const names = [...new Set(firing.map((one) => one.split(": ")[1]))];
    expect([names.length > 15, names]).toEqual([true, names]);
  });
});
