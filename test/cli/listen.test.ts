import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { symlinkSync } from "node:fs";
import { join } from "node:path";
import { signedHeaders } from "../../src/webhooks/deliver/sign.ts";
import { makeSecret } from "../management/owned-store-contract.ts";
import { compiledProgram } from "../support/compiled-program.ts";
import { startDemoNode } from "../support/demo-node.ts";
import { exampleEnv } from "../support/document-shell.ts";
import { documentExample, ROOT } from "../support/documents.ts";
import { until } from "../support/manual-time.ts";
import { type RunningNode, tempDir } from "../support/program.ts";
import { run } from "./run.ts";

const dir = tempDir();
let node: RunningNode;
beforeAll(async () => {
  const [, flags = ""] = /^\.\/dist\/svc serve --demo (.*)$/.exec(documentExample("webhook node")) ?? [];
  const dataDir = `${dir.path}/data`;
  node = await startDemoNode({ dataDir, args: flags.split(" ") });
}, 180_000);
afterAll(async () => {
  await node.stop();
  dir[Symbol.dispose]();
});

/** Runs the commands of an example. */
function shell(script: string) {
  const there = script.replaceAll("./dist/svc", "exec_node");
  return Bun.spawn(["sh", "-e", "-c", `exec_node() { ${compiledProgram.join(" ")} "$@"; }\n${there}`], {
    cwd: dir.path,
    env: exampleEnv(dir.path, { SVC_HTTP_PORT: new URL(node.url).port }),
    stdout: "pipe",
    stderr: "pipe",
  });
}

async function outputOf(script: string): Promise<string> {
  const child = shell(script);
  const [out, errors] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ]);
  expect([await child.exited, errors]).toEqual([0, ""]);
  return out;
}

/** The listener as a process, with the output since the last reading. */
function startListener(args: readonly string[]) {
  const child = Bun.spawn([...compiledProgram, "listen", ...args], {
    cwd: dir.path,
    env: { PATH: process.env.PATH ?? "", HOME: dir.path },
    stdout: "pipe",
    stderr: "pipe",
  });
  const reader = child.stdout.getReader();
  const decoder = new TextDecoder();
  let unread = "";
  async function next(end: RegExp): Promise<string> {
    for (;;) {
      const found = end.exec(unread);
      if (found) {
        const read = unread.slice(0, found.index + found[0].length);
        unread = unread.slice(read.length);
        return read;
      }
      const part = await reader.read();
      if (part.done) throw new Error(`ended after ${unread}`);
      unread += decoder.decode(part.value);
    }
  }
  return {
    next,
    url: async () => /http\S+/.exec(await next(/Receives deliveries at .*\n/))?.[0] ?? "",
    async [Symbol.asyncDispose]() {
      child.kill("SIGTERM");
      expect(await child.exited).toBe(0);
    },
  };
}

test("runs the documented steps from the registration to the first delivery", async () => {
  await outputOf(documentExample("keys"));
  // The listener uses any free port, which is unknown before it listens: deliveries reach it through this relay.
  const listening = Promise.withResolvers<string>();
  await using relay = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    async fetch(request) {
      const { method, headers } = request;
      return fetch(await listening.promise, { method, headers, body: await request.arrayBuffer() });
    },
  });
  await outputOf(documentExample("webhook register").replace("localhost:9200", `localhost:${relay.port}`));
  const { webhook } = await Bun.file(`${dir.path}/bread-talk.json`).json();
  expect(documentExample("webhook listen")).toMatch(/^\.\/dist\/svc listen --port 9200 \\\n {2}--secret /);
  const secret = (await outputOf(/"\$\((.*)\)"/.exec(documentExample("webhook listen"))?.[1] ?? "")).trim();
  expect(secret).toBe(webhook.secrets[0].value);
  await using listener = startListener(["--port", "0", "--secret", secret]);
  listening.resolve(await listener.url());

  const testing = outputOf(documentExample("webhook test"));
  const tested = await listener.next(/\n\}\n/);
  expect(tested).toMatch(/^msg_[0-9a-f]{32}\n {2}X-Svc-Signature: by secret 1 \(\w{4}…\)\n/);
  expect(tested).toMatch(/\n {2}webhook-signature: by secret 1 \(\w{4}…\)\n\{\n/);
  expect(tested).toContain('"test": true');
  const [messageId = ""] = /msg_\w+/.exec(tested) ?? [];
  expect(await testing).toMatch(new RegExp(`^message_id +type\n${messageId}  cast.created\nmessage_id`));

  // The example imports packages of this repository and reads the keys beside it.
  symlinkSync(join(ROOT, "node_modules"), join(dir.path, "node_modules"));
  const example = documentExample("send a message").replace("127.0.0.1:3383", node.hubAddress);
  await Bun.write(`${dir.path}/send-message.ts`, example);
  const casting = Bun.spawn([process.execPath, "send-message.ts"], { cwd: dir.path, stdout: "pipe" });
  const delivered = await listener.next(/\n\}\n/);
  expect(delivered).toContain('"text": "hello from my own node"');
  expect(delivered).not.toContain('"test": true');
  expect(await new Response(casting.stdout).text()).toBe("merged and on disk\n");

  const id = webhook.webhook_id;
  const signer = "--fid 3 --key-file fid-3.key";
  const again = await outputOf(`./dist/svc webhook replay ${id} --message-id ${messageId} ${signer}`);
  expect(again).toBe("queued 1 again\n");
  expect(await listener.next(/\n\}\n/)).toStartWith(`${messageId}, repeated\n`);
  const failed = await outputOf(`./dist/svc webhook replay ${id} --from 2020-01-01T00:00:00Z ${signer}`);
  expect(failed).toBe("queued 0 again\n");
  // A delivery is settled a moment after the listener has printed it.
  const numbers = async () => (await fetch(`${node.url}/metrics`)).text();
  await until(async () => (await numbers()).includes('{response="http_2xx",outcome="delivered"} 3'));
  const list = await outputOf(`./dist/svc webhook deliveries ${id} --limit 1 ${signer}`);
  expect(list).toMatch(/^message_id +type +state +attempts +last_response +created_at/);
  expect(list).toMatch(/\nmsg_\w+ +cast\.created +delivered +1 +200 +\d{4}-/);
  expect(list).toMatch(/\nmore: --cursor \S+\n$/);
  const status = (await (await fetch(`${node.url}/status`)).json()) as { webhooks: object };
  expect(status.webhooks).toMatchObject({
    subscribed: 1,
    deliveries: { queued: 0, delivered: 2, failed: 0, dropped: 0 },
  });
  expect(await numbers()).toContain('svc_webhook_deliveries{state="delivered"} 2');
}, 180_000);

describe("the listener", () => {
  const [older, newer] = [makeSecret(1).value, makeSecret(2).value];
  const body = '{"type":"cast.created","data":"\\u001b[31m\u202e"}';
  const deliver = async (
    url: string,
    input: { secrets?: string[]; body?: string; ageSecs?: number; headers?: Record<string, string> } = {},
  ) => {
    const secrets = (input.secrets ?? [newer]).map((value) => ({ ...makeSecret(1), value }));
    const timestamp = Math.floor(Date.now() / 1000) - (input.ageSecs ?? 0);
    const signed = signedHeaders({ messageId: "msg_1", timestamp, body }, secrets, ["X-Svc-Signature"]);
    const headers = { ...signed, ...input.headers };
    return (await fetch(url, { method: "POST", headers, body: input.body ?? body })).status;
  };

  test("names the secret that signed, and responds 401 when none of them did", async () => {
    await Bun.write(`${dir.path}/secrets`, `${older}\n${newer}\n`);
    await using listener = startListener(["--port", "0", "--secret-file", "secrets", "--answer", "204"]);
    const url = await listener.url();
    expect(await deliver(url, { secrets: [newer] })).toBe(204);
    const first = await listener.next(/\n\}\n/);
    expect(first.match(/by secret 2/g)).toHaveLength(2);
    // No received text moves the cursor of a terminal.
    expect(first).toContain("\\u001b[31m\\u202e");
    expect(first).not.toMatch(/[^\P{C}\n]/u);
    // Signed by both, the older one last: the two schemes may name different secrets.
    expect(await deliver(url, { secrets: [newer, older] })).toBe(204);
    const second = await listener.next(/\n\}\n/);
    expect(second).toStartWith("msg_1, repeated\n  X-Svc-Signature: by secret 1 ");
    expect(second).toContain("webhook-signature: by secret 2 ");
    expect(await deliver(url, { ageSecs: 900 })).toBe(204);
    expect(await listener.next(/\n\}\n/)).toMatch(/but signed 90\d seconds ago/);
    const spoiled: Parameters<typeof deliver>[1][] = [
      { secrets: ["f".repeat(64)] },
      { body: `${body} ` },
      { headers: { "webhook-id": "msg_2" } },
      { headers: { "webhook-timestamp": "" } },
      { headers: { "webhook-signature": "v1," } },
      { headers: { "X-Svc-Signature": "" } },
    ];
    for (const delivery of spoiled) {
      expect([delivery, await deliver(url, delivery)]).toEqual([delivery, 401]);
      expect(await listener.next(/\n\}\n/)).toContain("NOT GENUINE");
    }
    expect((await fetch(url)).status).toBe(405);
    expect((await fetch(url, { method: "POST", body: new Uint8Array(5 * 1024 * 1024) })).status).toBe(413);
  }, 180_000);

  test.each([
    [[], "give --secret or --secret-file"],
    [["--secret", ""], "a secret is empty"],
    [["--secret", "whsec_"], "a secret is empty"],
    [["--secret", "s", "--answer", "99"], "It is a status from 200 to 599"],
    [["--secret-file", "never"], "cannot be read"],
    [["--secret", "s", "--port", "70000"], "http.port"],
  ])("listen %p ends with exit code 1 and says why", async (args, message) => {
    const { exitCode, errors } = await run(["listen", ...args]);
    expect(errors).toContain(message);
    expect(exitCode).toBe(1);
  });

  test.each([
    [["replay", "id"], "pass --message-id or --from"],
    [["replay", "id", "--from", "yesterday"], "It is a time such as"],
    [["deliveries", "id", "--state", "lost"], "Allowed choices"],
  ])("webhook %p ends with exit code 1 and says why", async (args, message) => {
    const { exitCode, errors } = await run(["webhook", ...args, "--fid", "3"]);
    expect(errors).toContain(message);
    expect(exitCode).toBe(1);
  });
});
