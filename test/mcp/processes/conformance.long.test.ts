import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdirSync, readdirSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { TOOLS } from "../../../src/mcp/tools.ts";
import { compiledFile } from "../../support/compiled-program.ts";
import { startDemoNode } from "../../support/demo-node.ts";
import { keptDirectory } from "../../support/kept-files.ts";
import { IS_LONG } from "../../support/long.ts";
import { type RunningNode, tempDir } from "../../support/program.ts";

/** Downloaded, so only the long form does it: the official suite, and a client that reads the settings of other clients. */
const PACKAGES = { "@modelcontextprotocol/conformance": "0.2.0-alpha.12", mcporter: "0.12.3" };

/** The tools, prompts and resources that the suite expects of a server made for it, and what this one has in their place. */
const IN_PLACE: Readonly<Record<string, { name?: string; uri?: string; arguments?: object }>> = {
  test_simple_text: { name: "get_node", arguments: {} },
  test_error_handling: { name: "get_user", arguments: {} },
  test_simple_prompt: { name: "summarise_feed", arguments: {} },
  test_prompt_with_arguments: { name: "draft_reply", arguments: { cast: "testValue1", note: "testValue2" } },
  "test://static-text": { uri: "svc://docs/agents" },
  "test://template/123/data": { uri: "svc://user/123" },
};

/** The checks that this server cannot pass, by reason. Tasks are an extension that it does not declare; their scenarios are not scored. */
const NOT_SERVED: Readonly<Record<string, readonly string[]>> = {
  "no tool, prompt or resource has images, sound, files or embedded resources": [
    "tools-call-image",
    "tools-call-audio",
    "tools-call-embedded-resource",
    "tools-call-mixed-content",
    "prompts-get-embedded-resource",
    "prompts-get-with-image",
    "resources-read-binary",
  ],
  "no call takes long enough to report progress or to log to the client, which the server does not declare": [
    "tools-call-with-progress",
    "tools-call-with-logging",
    "logging-set-level",
    "sep-2575-server-no-log-without-loglevel",
  ],
  "nothing is asked of the client: neither its model, nor its person, nor its folders": [
    "tools-call-sampling",
    "tools-call-elicitation",
    "elicitation-sep1034-general",
    "elicitation-sep1330-general",
    "sep-2322-elicitation-incomplete",
    "sep-2322-sampling-incomplete",
    "sep-2322-list-roots-incomplete",
    "sep-2322-request-state-incomplete",
    "sep-2322-multiple-inputs-incomplete",
    "sep-2322-multi-round-r1",
    "sep-2322-non-tool-incomplete",
    "sep-2322-result-type-included",
    "sep-2322-reject-tampered-state",
    "sep-2322-respect-client-capabilities",
    "sep-2575-server-rejects-undeclared-capability",
    "sep-2575-missing-capability-http-400",
    "sep-2575-http-server-no-independent-requests-on-stream",
  ],
  "resources do not change, so there are no subscriptions": ["resources-subscribe", "resources-unsubscribe"],
  "no tool takes an argument by a header, or has a schema with $defs (the suite does not score these)": [
    "json-schema-2020-12-tool-found",
    "sep-2243-server-no-xmcp-tool",
    "sep-2243-server-decode-base64",
    "sep-2243-server-validate-param-match",
    "sep-2243-server-reject-invalid-param-chars",
    "sep-2243-server-reject-param-mismatch",
  ],
};

const dir = tempDir();
let node: RunningNode;
let packages: string;

beforeAll(async () => {
  if (!IS_LONG) return;
  node = await startDemoNode({
    dataDir: `${dir.path}/data`,
    args: ["--set", "http.anonymous_units_per_minute=0"],
  });
  const manifest = JSON.stringify({ dependencies: PACKAGES });
  packages = await keptDirectory(`mcp-clients-${Bun.hash(manifest).toString(36)}`, async (into) => {
    writeFileSync(join(into, "package.json"), manifest);
    await run([process.execPath, "install", "--ignore-scripts", "--silent"], into);
  });
}, 300_000);

afterAll(async () => {
  await node?.stop();
  dir[Symbol.dispose]();
});

async function run(command: string[], cwd: string, env = process.env): Promise<string> {
  const child = Bun.spawn(command, { cwd, env, stdin: "ignore", stdout: "pipe", stderr: "pipe" });
  const [out] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()]);
  await child.exited;
  return out;
}

/** Gives the names of the suite to what the node has in their place, and passes on everything else unchanged. */
function startRenaming(): Disposable & { readonly url: string } {
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    async fetch(request) {
      const headers = new Headers(request.headers);
      let body = await request.text();
      const message = body === "" ? undefined : JSON.parse(body);
      const instead = IN_PLACE[message?.params?.name ?? message?.params?.uri];
      if (instead) {
        body = JSON.stringify({ ...message, params: { ...message.params, ...instead } });
        if (headers.has("mcp-name")) headers.set("mcp-name", instead.name ?? instead.uri ?? "");
      }
      headers.delete("content-length");
      const { method } = request;
      return fetch(`${node.url}/mcp`, { method, headers, ...(body !== "" && { body }) });
    },
  });
  return { url: `http://127.0.0.1:${server.port}/mcp`, [Symbol.dispose]: () => void server.stop(true) };
}

interface CheckResult {
  readonly id: string;
  readonly status: string;
}

async function resultsOf(revision: string): Promise<readonly CheckResult[]> {
  using renaming = startRenaming();
  const out = join(dir.path, revision);
  const suite = join(packages, "node_modules/@modelcontextprotocol/conformance/dist/index.js");
  const flags = ["--url", renaming.url, "--requirements", revision, "-o", out];
  await run([process.execPath, suite, "server", ...flags], dir.path);
  const scored = readdirSync(out).filter((name) => !name.startsWith("server-tasks-"));
  const files = scored.map((name) => Bun.file(join(out, name, "checks.json")).json());
  return (await Promise.all(files)).flat();
}

describe.skipIf(!IS_LONG)("MCP of the compiled program, tested by other implementations", () => {
  test("mcp check 2: the official suite passes for both revisions, but for what this server does not have", async () => {
    const failed = new Set<string>();
    const passed: Record<string, number> = {};
    for (const revision of ["2026-07-28", "2025-11-25"]) {
      const results = await resultsOf(revision);
      passed[revision] = results.filter(({ status }) => status === "SUCCESS").length;
      for (const { id, status } of results) if (status === "FAILURE") failed.add(id);
    }
    expect([...failed].sort()).toEqual(Object.values(NOT_SERVED).flat().sort());
    expect(passed).toEqual({ "2026-07-28": 99, "2025-11-25": 44 });
  }, 180_000);

  test.each([
    ["claude", ".claude.json", "claude-code"],
    ["cursor", ".cursor/mcp.json", "cursor"],
    ["vscode", ".vscode/mcp.json", "vscode"],
  ])(
    "mcp check 10: a client that reads the settings of %s starts the program and lists the tools",
    async (client, file, kind) => {
      const home = join(dir.path, client);
      mkdirSync(dirname(join(home, file)), { recursive: true });
      symlinkSync(compiledFile, join(home, "svc"));
      const block = await run([compiledFile, "mcp", "--url", node.url, "--print-config", client], home);
      writeFileSync(join(home, file), block);
      const env = { HOME: home, PATH: `${home}:${process.env.PATH}` };
      const reader = join(packages, "node_modules/mcporter/dist/cli.js");
      const { servers } = JSON.parse(await run([process.execPath, reader, "list", "--json"], home, env));
      const tools = TOOLS.filter(({ write }) => write === undefined).map(({ name }) => ({ name }));
      expect(servers).toMatchObject([{ name: "svc", status: "ok", source: { importKind: kind }, tools }]);
    },
    60_000,
  );
});
