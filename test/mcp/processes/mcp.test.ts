import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { Client as OlderClient } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport as OlderStdio } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport as OlderHttp } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import Ajv from "ajv";
import { TOOLS } from "../../../src/mcp/tools.ts";
import { compiledFile, compiledProgram } from "../../support/compiled-program.ts";
import { importSignerOfPerson, postAsPerson } from "../../support/demo-calls.ts";
import { startDemoNode } from "../../support/demo-node.ts";
import { type RunningNode, tempDir } from "../../support/program.ts";
import { sendRaw, statusesOf } from "../../support/raw-socket.ts";

const dir = tempDir();
const info = { name: "test", version: "1.0.0" };
let node: RunningNode;
let client: Client;

beforeAll(async () => {
  node = await startDemoNode({
    dataDir: `${dir.path}/data`,
    args: [
      ...["--set", "http.anonymous_units_per_minute=0"],
      ...["--set", "mcp.max_result_bytes=16384"],
      ...["--set", "mcp.writes=true"],
    ],
  });
  client = new Client(info, { versionNegotiation: { mode: "auto" } });
  await client.connect(new StreamableHTTPClientTransport(new URL(`${node.url}/mcp`)));
});

afterAll(async () => {
  await client?.close();
  await node?.stop();
  dir[Symbol.dispose]();
});

const stdioOf = (...flags: string[]) => {
  const [command = "", ...args] = compiledProgram;
  return {
    command,
    args: [...args, "--log-level", "trace", "mcp", "--url", node.url, ...flags],
    cwd: dir.path,
  };
};

interface Result {
  readonly isError?: boolean;
  readonly content: readonly { readonly text: string }[];
  readonly structuredContent: Record<string, never>;
}

const call = async (name: string, args: Record<string, unknown> = {}) =>
  (await client.callTool({ name, arguments: args })) as unknown as Result;

const post = (headers: Record<string, string>, body: string, url = node.url) =>
  fetch(`${url}/mcp`, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      ...headers,
    },
    body,
  });

const LIST = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/list" });

describe("MCP of the compiled program", () => {
  test("both revisions list the same tools over HTTP and standard input, and close cleanly", async () => {
    const expected = TOOLS.filter(({ write }) => write === undefined).map(({ name }) => name);
    expect(expected).toHaveLength(12);
    expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(expected);

    const local = new Client(info, { versionNegotiation: { mode: "auto" } });
    await local.connect(new StdioClientTransport(stdioOf()));
    const older = new OlderClient(info);
    await older.connect(new OlderHttp(new URL(`${node.url}/mcp`)) as never);
    const olderLocal = new OlderClient(info);
    // What is not a line of the protocol is an error of the client.
    const errors: Error[] = [];
    olderLocal.onerror = (error) => errors.push(error);
    await olderLocal.connect(new OlderStdio(stdioOf()) as never);
    for (const each of [local, older, olderLocal]) {
      const { tools } = await each.listTools();
      expect(tools.map(({ name }) => name)).toEqual(expected);
      const { structuredContent } = await each.callTool({ name: "get_user", arguments: { fid: 1 } });
      expect(structuredContent).toMatchObject({ users: [{ fid: 1, username: "harbor" }] });
      await each.close();
    }
    expect(errors).toEqual([]);
  });

  test("every tool's result matches its output schema and stays within mcp.max_result_bytes", async () => {
    const trending = (await call("get_feed", { kind: "trending" })).structuredContent as unknown as {
      casts: { hash: string }[];
    };
    const cast = trending.casts[0]?.hash ?? "";
    const calls: [string, Record<string, unknown>][] = [
      ["get_user", { fid: 1 }],
      ["get_user", { username: "tove" }],
      ["search_users", { q: "to" }],
      ...["followers", "following", "mutual", "suggested"].map((kind): [string, Record<string, unknown>] => [
        "get_relations",
        { kind, fid: 4, limit: 25 },
      ]),
      ["get_relations", { kind: "between", fid: 4, other_fid: 57 }],
      ["get_cast", { cast }],
      ["get_thread", { cast, depth: 5, parents: 5 }],
      ["search_casts", { q: "coffee", channel: "coffee" }],
      ["get_feed", { kind: "trending", limit: 25 }],
      ["get_feed", { kind: "following", fid: 4 }],
      ["get_feed", { kind: "channel", channel: "coffee" }],
      ["get_feed", { kind: "user", fid: 4 }],
      ["get_notifications", { fid: 4, limit: 25 }],
      ["get_notifications", { fid: 4, types: ["follow"] }],
      ["list_channels", { q: "cof" }],
      ["list_channels", {}],
      ["get_channel", { id: "coffee" }],
      ["get_node", {}],
      ["explain_call", { call: "GET /v2/svc/user" }],
      ["explain_call", { call: "fetchBulkUsers" }],
    ];
    const ajv = new Ajv({ strict: false });
    const reads = TOOLS.filter(({ write }) => write === undefined).map(({ name }) => name);
    expect(new Set(calls.map(([name]) => name))).toEqual(new Set(reads));
    for (const [name, args] of calls) {
      const result = await call(name, args);
      const label = `${name} ${JSON.stringify(args)}`;
      expect({ label, isError: result.isError ?? false, text: result.isError ? result.content : [] }).toEqual(
        {
          label,
          isError: false,
          text: [],
        },
      );
      const output = JSON.parse(JSON.stringify(TOOLS.find((tool) => tool.name === name)?.output));
      expect({ label, ok: ajv.validate(output, result.structuredContent), errors: ajv.errors }).toEqual({
        label,
        ok: true,
        errors: null,
      });
      const { content, structuredContent } = result;
      expect(Buffer.byteLength(JSON.stringify({ content, structuredContent }))).toBeLessThanOrEqual(16_384);
    }
  });

  test("a result that is cut continues after its last item", async () => {
    interface Feed {
      readonly casts: { readonly hash: string }[];
      readonly truncated: boolean;
      readonly cursor: string;
    }
    const feed = async (args: object) =>
      (await call("get_feed", { kind: "user", fid: 4, ...args })).structuredContent as unknown as Feed;
    const cut = await feed({ limit: 25 });
    expect(cut.truncated).toBe(true);
    const next = await feed({ limit: 1, cursor: cut.cursor });
    const all = (await (await fetch(`${node.url}/v2/svc/feed/user/casts?fid=4&limit=26`)).json()) as Feed;
    const hashes = all.casts.map(({ hash }) => hash);
    expect([...cut.casts, ...next.casts].map(({ hash }) => hash)).toEqual(
      hashes.slice(0, cut.casts.length + 1),
    );
  });

  test("bad arguments are refused by a result that names the field, without a fault", async () => {
    for (const [name, args, field] of [
      ["get_user", { fid: -1 }, "fid"],
      ["get_user", {}, "exactly one"],
      ["get_cast", { cast: "0xzz" }, "identifier"],
      ["get_feed", { kind: "nothing" }, "kind"],
      ["get_feed", { kind: "user" }, "fid"],
      ["search_casts", { q: "a", since: "yesterday morning" }, "since"],
      ["list_channels", { cursor: "nonsense" }, "cursor"],
      ["explain_call", { call: "__proto__" }, "call"],
    ] as const) {
      const result = await call(name, args);
      expect(result.isError).toBe(true);
      expect(result.content[0]?.text).toContain(field);
    }
    expect(node.logs()).not.toContain('"Request failed"');
  });

  test("a foreign Origin or Host is 403, a bad key 401 with the scheme, GET 405, a body of 4 MB 413", async () => {
    expect((await post({ origin: "https://evil.example" }, LIST)).status).toBe(403);
    expect((await post({ host: "evil.example" }, LIST)).status).toBe(403);
    const head = `POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: ${4 * 1024 * 1024}\r\n\r\n`;
    const { text } = await sendRaw(Number(new URL(node.url).port), head);
    expect([statusesOf(text), text]).toEqual([[413], expect.stringContaining("at most 65536 bytes")]);
    const refused = await post({ authorization: "Bearer svc_wrong" }, LIST);
    expect([refused.status, refused.headers.get("www-authenticate")]).toEqual([401, "Bearer"]);
    expect((await fetch(`${node.url}/mcp`)).status).toBe(405);
    expect((await post({}, LIST)).status).toBe(200);
  });

  test("where reads need a key, so does /mcp, as a Bearer token", async () => {
    await using keyed = await startDemoNode({
      dataDir: `${dir.path}/keyed`,
      args: ["--set", "http.anonymous=false"],
    });
    const refused = await post({}, LIST, keyed.url);
    expect([refused.status, refused.headers.get("www-authenticate")]).toEqual([401, "Bearer"]);
    const { secret } = await postAsPerson(keyed, 4, "/api_key", { name: "agent", scopes: ["read"] });
    const listed = await post({ authorization: `Bearer ${secret}` }, LIST, keyed.url);
    expect([listed.status, await listed.text()]).toEqual([200, expect.stringContaining("get_user")]);
  });

  test("a key with the scope write gets the tools that write, over HTTP and standard input; another key or none does not", async () => {
    const keyOf = async (...scopes: string[]) =>
      (await postAsPerson(node, 4, "/api_key", { name: "agent", scopes })).secret as string;
    const writer = await keyOf("read", "write");
    const signer_uuid = await importSignerOfPerson(node, { user: 4, owner: 4 });
    const overHttp = async (key: string) => {
      const one = new Client(info, { versionNegotiation: { mode: "auto" } });
      const headers = { authorization: `Bearer ${key}` };
      const to = new URL(`${node.url}/mcp`);
      await one.connect(new StreamableHTTPClientTransport(to, { requestInit: { headers } }));
      return one;
    };
    const reader = await overHttp(await keyOf("read"));
    expect((await reader.listTools()).tools).toHaveLength(12);
    await reader.close();

    const agent = await overHttp(writer);
    expect((await agent.listTools()).tools).toHaveLength(16);
    const publish = async (one: Client, args: object) =>
      (await one.callTool({
        name: "publish_cast",
        arguments: { signer_uuid, text: "by an agent", ...args },
      })) as unknown as Result;
    const { confirm } = (await publish(agent, {})).structuredContent as unknown as { confirm: string };
    const others = await overHttp(await keyOf("read", "write"));
    expect((await publish(others, { confirm })).content[0]?.text).toContain("not the token of this write");
    await others.close();
    const twice = [await publish(agent, { confirm }), await publish(agent, { confirm })];
    expect(
      twice.map(({ structuredContent }) => (structuredContent as unknown as { step: string }).step),
    ).toEqual(["written", "written"]);
    const feed = (await call("get_feed", { kind: "user", fid: 4, limit: 3 }))
      .structuredContent as unknown as {
      casts: { text: string }[];
    };
    expect(feed.casts.filter(({ text }) => text === "by an agent")).toHaveLength(1);
    await agent.close();

    writeFileSync(`${dir.path}/writer`, writer);
    const local = new Client(info, { versionNegotiation: { mode: "auto" } });
    await local.connect(new StdioClientTransport(stdioOf("--write", "--key-file", `${dir.path}/writer`)));
    expect((await local.listTools()).tools).toHaveLength(16);
    expect((await publish(local, {})).structuredContent).toMatchObject({ step: "preview" });
    await local.close();
  });

  test("`svc mcp` ends with its client; to start takes little CPU", async () => {
    const { cwd } = stdioOf();
    // As it is released, with the compilers that the suite leaves out.
    const leastCpuMs = async (args: readonly string[]) => {
      const cpuMs: number[] = [];
      for (let run = 0; run < 5; run += 1) {
        const started = Bun.spawn([compiledFile, ...args], { cwd, stdin: "ignore", stdout: "pipe" });
        expect(await started.exited).toBe(0);
        cpuMs.push(Number(started.resourceUsage()?.cpuTime.total) / 1000);
        if (args[0] === "mcp") expect(await started.stdout.text()).toBe("");
      }
      return Math.min(...cpuMs);
    };
    // A busy machine lets the same work take more CPU time, so it is compared with the least that the program does.
    const version = await leastCpuMs(["version"]);
    expect((await leastCpuMs(["mcp", "--url", node.url])) / version).toBeLessThan(4.5);
  });

  test("/llms.txt and the pages that it links are served without a key", async () => {
    const list = await (await fetch(`${node.url}/llms.txt`)).text();
    expect(list).toStartWith("# svc\n\n> ");
    const pages = [...list.matchAll(/\]\((\S+\/llms\/\S+\.md)\)/g)].map(([, url = ""]) => url);
    expect(pages.length).toBeGreaterThan(20);
    const page = await fetch(pages.find((url) => url.endsWith("agents.md")) ?? "");
    expect([page.headers.get("content-type"), await page.text()]).toEqual([
      "text/markdown; charset=utf-8",
      expect.stringContaining("# Agents"),
    ]);
    expect((await fetch(`${node.url}/llms/..%2Fsvc.md`)).status).toBe(404);
  });

  test("a batch is 400: each message takes a turn and has a price", async () => {
    const call = { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "get_node", arguments: {} } };
    const response = await post({}, JSON.stringify([call, call]));
    expect(response.status).toBe(400);
    expect(await response.json()).toEqual({ message: "send one message a request: batches are not served" });
  });

  test("prints a block for each client with the paths of the program and the key file, and the node", () => {
    writeFileSync(`${dir.path}/key`, "svc_key\n");
    for (const [client, list] of [
      ["claude", "mcpServers"],
      ["cursor", "mcpServers"],
      ["vscode", "servers"],
    ] as const) {
      const flags = ["mcp", "--url", node.url, "--key-file", "key", "--print-config", client];
      const { stdout } = Bun.spawnSync([...compiledProgram, ...flags], { cwd: dir.path });
      expect(JSON.parse(stdout.toString())[list].svc).toEqual({
        type: "stdio",
        command: compiledFile,
        args: ["mcp", "--url", `${node.url}/`, "--key-file", `${dir.path}/key`],
      });
    }
  });
});
