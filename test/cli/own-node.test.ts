import { Database } from "bun:sqlite";
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { chownSync } from "node:fs";
import {
  getAdminRpcClient,
  getInsecureHubRpcClient,
  type HubError,
  Message as TheirMessage,
  OnChainEvent as TheirOnChainEvent,
} from "@farcaster/hub-nodejs";
import { ownNodeUrl } from "../../src/cli/client/node-url.ts";
import { statePath } from "../../src/db/state/database.ts";
import { OnChainEvent } from "../../src/protocol/wire/generated/on-chain.ts";
import { openDataDir } from "../../src/runtime/data-dir.ts";
import { configWith } from "../runtime/config.ts";
import { compiledFile, compiledProgram } from "../support/compiled-program.ts";
import { startDemoNode } from "../support/demo-node.ts";
import { registerEvent } from "../support/events.ts";
import { makeWallet, signedCast } from "../support/messages.ts";
import { accountSigner } from "../support/node.ts";
import { type RunningNode, startNode, tempDir } from "../support/program.ts";
import { run } from "./run.ts";

const dir = tempDir();
let node: RunningNode;
beforeAll(async () => {
  const settings = ["service.ready_when_empty=false", "log.format=json", "hub.admin=true"];
  const args = settings.flatMap((setting) => ["--set", setting]);
  node = await startNode({ command: compiledProgram, dataDir: `${dir.path}/data`, args });
}, 180_000);
afterAll(async () => {
  await node.stop();
  dir[Symbol.dispose]();
});

describe("a node without data and upstream, with service.ready_when_empty = false", () => {
  test("is alive and not ready, and says what to do", async () => {
    expect((await fetch(`${node.url}/health`)).status).toBe(200);
    const ready = await fetch(`${node.url}/ready`);
    expect([ready.status, await ready.json()]).toEqual([
      503,
      {
        message:
          "not_set_up: the node has no data and follows no node; svc init chooses the users that it serves, " +
          "svc serve --demo fills it with a demo network, " +
          "service.ready_when_empty = true makes it a network of its own",
      },
    ]);
  });

  test("refuses every submit with that reason, over gRPC and /v1, also that of an administrator", async () => {
    const message = TheirMessage.decode(signedCast(1, "hello", accountSigner(1)));
    const hub = getInsecureHubRpcClient(node.hubAddress);
    const admin = await getAdminRpcClient(node.hubAddress);
    const event = registerEvent(1, makeWallet("custody 1").address, { block: 1, at: 1_700_000_000 });
    const results = [
      await hub.submitMessage(message),
      await hub.submitBulkMessages({ messages: [message] }),
      await admin.submitOnChainEvent(TheirOnChainEvent.decode(OnChainEvent.encode(event).finish())),
    ];
    hub.$.close();
    admin.close();
    for (const result of results) {
      const { errCode, message: reason } = result._unsafeUnwrapErr() as HubError;
      expect([errCode, reason]).toEqual(["unavailable", expect.stringContaining("not_set_up: ")]);
    }
    const v1 = await fetch(`${node.url}/v1/submitMessage`, {
      method: "POST",
      headers: { "content-type": "application/octet-stream" },
      body: TheirMessage.encode(message).finish(),
    });
    expect([v1.status, await v1.text()]).toEqual([503, expect.stringContaining("not_set_up: ")]);
    expect((await fetch(`${node.url}/ready`)).status).toBe(503);
  });

  test("numbers no heights, and becomes a network of its own by that setting", async () => {
    using other = tempDir();
    const args = (isReady: boolean) => ["--set", `service.ready_when_empty=${isReady}`];
    const start = (isReady: boolean) =>
      startNode({ command: compiledProgram, dataDir: other.path, args: args(isReady) });
    const logs = () => {
      using state = new Database(statePath(other.path), { readonly: true });
      return state.query("SELECT node_id FROM node_logs").all().length;
    };
    const unready = await start(false);
    await unready.stop();
    expect(unready.logs()).toContain("follows no node, so /ready is 503: stop it, and run `");
    expect(logs()).toBe(0);
    await using own = await start(true);
    expect((await fetch(`${own.url}/ready`)).status).toBe(200);
    expect(logs()).toBe(1);
    expect(own.logs()).toContain("follows no node, so its lists are empty: stop it, and run `");
  });
});

describe("a command next to the node of a data directory", () => {
  const beside = ["--data-dir", `${dir.path}/data`];

  test("finds the port of the node, which the settings do not name", async () => {
    const { exitCode, out, errors } = await run([...beside, "console"]);
    expect({ exitCode, out }).toEqual({ exitCode: 0, out: expect.stringContaining(node.url) });
    expect(errors).toBe("The link opens the page once, within 60 seconds.\n");
    expect(await run([...beside, "healthcheck", "--live"])).toMatchObject({ exitCode: 0 });
  });

  test("calls the port of a flag instead", async () => {
    const { exitCode, errors } = await run([...beside, "--port", "1", "console"]);
    expect({ exitCode, errors }).toEqual({
      exitCode: 75,
      errors: `error: no node listens at http://127.0.0.1:1: start one with \`${compiledFile} serve\`, or name the URL of another\n`,
    });
  });

  test.each([
    ["http://0.0.0.0:9000", "http://127.0.0.1:9000"],
    ["http://[::]:9000", "http://[::1]:9000"],
    ["http://127.0.0.1", "http://127.0.0.1:80"],
  ])("reaches a node that listens at %s by %s", (announced, reached) => {
    using other = tempDir();
    const opened = openDataDir(other.path);
    opened.announce(announced);
    const sources = new Map([["data.dir", "--data-dir"]]);
    expect(ownNodeUrl({ config: configWith(`data.dir=${other.path}`), sources })).toBe(reached);
    opened.release();
  });

  test("says what is missing where no node has started, or where only another user may look", async () => {
    const nowhere = await run(["--data-dir", `${dir.path}/nowhere`, "console"]);
    expect(nowhere).toMatchObject({ exitCode: 1, out: "" });
    expect(nowhere.errors).toStartWith(
      `error: no node has started over the data directory ${dir.path}/nowhere`,
    );
  });

  test.skipIf(process.getuid?.() !== 0)(
    "does not follow the data directory of another user in the place where it happens to run",
    async () => {
      chownSync(`${dir.path}/data`, 65_534, 65_534);
      const here = await run(["healthcheck", "--live"], { cwd: dir.path, env: { SVC_HTTP_PORT: "1" } });
      expect(here.errors).toContain("no node listens at http://127.0.0.1:1");
      expect(await run([...beside, "healthcheck", "--live"])).toMatchObject({ exitCode: 0 });
      chownSync(`${dir.path}/data`, 0, 0);
    },
  );
});

test("the error of a second demo on the machine names all that it must set; then both run", async () => {
  const inUse = [`http.port=${new URL(node.url).port}`, `hub.port=${node.hubAddress.split(":").at(-1)}`];
  const flags = ["--data-dir", `${dir.path}/second`, ...inUse.flatMap((set) => ["--set", set])];
  const refused = await run([...flags, "serve", "--demo"]);
  expect(refused).toMatchObject({ exitCode: 75, out: "" });
  const said = [...refused.errors.matchAll(/Set another: (SVC_\w+)=\d+ before the command/g)];
  expect(said.map(([, variable]) => variable)).toEqual(["SVC_HTTP_PORT", "SVC_HUB_PORT"]);
  const sameData = await run(["--data-dir", `${dir.path}/data`, "serve", "--demo"]);
  expect(sameData.errors).toContain("name another one with --data-dir (SVC_DATA_DIR)");
  await using second = await startDemoNode({ dataDir: `${dir.path}/second` });
  for (const { url } of [node, second]) expect((await fetch(`${url}/health`)).status).toBe(200);
}, 180_000);
