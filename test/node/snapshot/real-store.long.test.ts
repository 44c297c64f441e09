import { afterAll, beforeAll, expect, test } from "bun:test";
import { existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { createObjectStore } from "../../../src/net/objects/object-store.ts";
import { compiledProgram } from "../../support/compiled-program.ts";
import { startCuttingProxy } from "../../support/cutting-proxy.ts";
import { keptDirectory } from "../../support/kept-files.ts";
import { IS_LONG } from "../../support/long.ts";
import { startNode, tempDir } from "../../support/program.ts";

/** The store of another project, built from the module proxy of Go. */
const STORE = "github.com/versity/versitygw/cmd/versitygw@v1.8.0";
const PART_BYTES = 5 * 1024 * 1024;
const CREDENTIALS = {
  accessKeyId: "AKIAEXAMPLE",
  secretAccessKey: "secretsecret",
  sessionToken: "",
  region: "us-east-1",
};
const UNENDING = new AbortController().signal;
const isThere = IS_LONG && Bun.which("go") !== null;
const dir = tempDir();
let port = 0;
let store: ReturnType<typeof Bun.spawn> | undefined;

beforeAll(async () => {
  if (!isThere) return;
  const built = await keptDirectory("versitygw", async (into) => {
    const env = { ...process.env, GOBIN: into, GOFLAGS: "-mod=mod" };
    const go = Bun.spawn(["go", "install", STORE], { env, stdout: "ignore", stderr: "pipe" });
    if ((await go.exited) !== 0) throw new Error(await new Response(go.stderr).text());
  });
  mkdirSync(join(dir.path, "data/bucket"), { recursive: true });
  port = await freePort();
  store = Bun.spawn(
    [join(built, "versitygw"), "--port", `127.0.0.1:${port}`, "posix", join(dir.path, "data")],
    {
      env: { ROOT_ACCESS_KEY: CREDENTIALS.accessKeyId, ROOT_SECRET_KEY: CREDENTIALS.secretAccessKey },
      stdout: "ignore",
      stderr: "ignore",
    },
  );
  for (let tries = 0; tries < 200; tries++) {
    if (
      await fetch(`http://127.0.0.1:${port}/`).then(
        () => true,
        () => false,
      )
    )
      return;
    await Bun.sleep(100);
  }
  throw new Error("the store does not listen");
}, 1_200_000);
afterAll(async () => {
  store?.kill("SIGKILL");
  await store?.exited;
  dir[Symbol.dispose]();
});

/** A port that was free a moment ago: the store cannot say which one it has taken. */
async function freePort(): Promise<number> {
  const server = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Response() });
  const { port: free = 0 } = server;
  await server.stop(true);
  return free;
}

test.skipIf(!isThere)(
  "a store of another project takes and returns an object of many parts through a proxy that cuts connections",
  async () => {
    await using proxy = await startCuttingProxy(port);
    const objects = createObjectStore({
      endpoint: proxy.url,
      bucket: "bucket",
      credentials: CREDENTIALS,
      partBytes: PART_BYTES,
      retries: { maxFailures: 50, initialDelayMs: 10, maxDelayMs: 100, stallMs: 60_000 },
    });
    const block = crypto.getRandomValues(new Uint8Array(60_000));
    const blocks = 500;
    let made = 0;
    const chunks = (function* () {
      for (; made < blocks; made++) {
        if (made % 120 === 60) queueMicrotask(proxy.cut);
        yield block;
      }
    })();
    await objects.write("a b/ü&+(1)", chunks, UNENDING);
    expect(await objects.list("a b/", UNENDING)).toEqual([
      { key: "a b/ü&+(1)", bytes: block.length * blocks },
    ]);
    const hash = new Bun.CryptoHasher("sha256");
    let bytes = 0;
    let cuts = 0;
    for await (const chunk of objects.read("a b/ü&+(1)", UNENDING)) {
      hash.update(chunk);
      bytes += chunk.length;
      if (bytes > (cuts + 1) * 5_000_000) {
        cuts += 1;
        proxy.cut();
      }
    }
    const expected = new Bun.CryptoHasher("sha256");
    for (let at = 0; at < blocks; at++) expected.update(block);
    expect([bytes, hash.digest("hex")]).toEqual([block.length * blocks, expected.digest("hex")]);
    expect(cuts).toBeGreaterThan(3);
  },
  300_000,
);

test.skipIf(!isThere)(
  "svc backs a demo node up to a store of another project, lists, restores, and serves the same users",
  async () => {
    const env = {
      SVC_BACKUP_ENDPOINT: `http://127.0.0.1:${port}`,
      SVC_BACKUP_ACCESS_KEY_ID: CREDENTIALS.accessKeyId,
      SVC_BACKUP_SECRET_ACCESS_KEY: CREDENTIALS.secretAccessKey,
      SVC_BACKUP_ENCRYPTION_KEY: "5e".repeat(32),
    };
    const svc = async (...args: string[]) => {
      const child = Bun.spawn([...compiledProgram, ...args], {
        env,
        cwd: dir.path,
        stdout: "pipe",
        stderr: "pipe",
      });
      const [out, errors] = await Promise.all([
        new Response(child.stdout).text(),
        new Response(child.stderr).text(),
      ]);
      return { out, errors, exitCode: await child.exited };
    };
    const dataDir = join(dir.path, "node");
    const copyDir = join(dir.path, "copy");
    await using node = await startNode({ command: compiledProgram, dataDir, demo: true });
    expect(await svc("--data-dir", dataDir, "backup", "--to", "s3://bucket/nodes")).toMatchObject({
      exitCode: 0,
    });
    const { out } = await svc("snapshot", "list", "--from", "s3://bucket/nodes");
    const [name = ""] = out.split(" ");
    const from = ["--from", `s3://bucket/nodes/${name}`];
    expect(await svc("snapshot", "verify", ...from)).toMatchObject({ exitCode: 0 });
    const wrong = await svc("--set", "backup.secret_access_key=expired", "snapshot", "verify", ...from);
    expect([wrong.exitCode, wrong.errors]).toEqual([
      1,
      expect.stringContaining("HTTP 403, SignatureDoesNotMatch"),
    ]);
    expect(await svc("--data-dir", copyDir, "restore", ...from)).toMatchObject({ exitCode: 0 });
    expect(existsSync(join(dataDir, "upload.partial"))).toBe(false);
    await using copy = await startNode({ command: compiledProgram, dataDir: copyDir });
    const [a, b] = await Promise.all(
      [node, copy].map(({ url }) => fetch(`${url}/v2/svc/user?fid=3`).then((r) => r.text())),
    );
    expect(b).toBe(a ?? "");
  },
  300_000,
);
