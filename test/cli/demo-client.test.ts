import { afterAll, beforeAll, expect, test } from "bun:test";
import { compiledProgram } from "../support/compiled-program.ts";
import { startDemoNode } from "../support/demo-node.ts";
import { exampleEnv } from "../support/document-shell.ts";
import { documentExample } from "../support/documents.ts";
import { type RunningNode, tempDir } from "../support/program.ts";

const dir = tempDir();
let node: RunningNode;
beforeAll(async () => {
  const [, flags = ""] = /^\.\/dist\/svc serve --demo (.*)$/.exec(documentExample("push node")) ?? [];
  const dataDir = `${dir.path}/data`;
  node = await startDemoNode({ dataDir, args: flags.split(" ") });
}, 180_000);
afterAll(async () => {
  await node.stop();
  dir[Symbol.dispose]();
});

const env = () => exampleEnv(dir.path, { SVC_HTTP_PORT: new URL(node.url).port });

/** Runs the commands of an example with the address of the node and a free port of the client. */
function shell(script: string) {
  const there = script
    .replaceAll("http://127.0.0.1:8080", node.url)
    .replaceAll("./dist/svc", "exec_node")
    .replaceAll("demo-client ", "demo-client --client-port 0 ");
  return Bun.spawn(["sh", "-e", "-c", `exec_node() { ${compiledProgram.join(" ")} "$@"; }\n${there}`], {
    cwd: dir.path,
    env: env(),
    stdout: "pipe",
    stderr: "pipe",
  });
}

/** The output of a running command. */
function linesOf(stream: ReadableStream<Uint8Array>) {
  const reader = stream.getReader();
  const decoder = new TextDecoder();
  let text = "";
  return async (until: RegExp): Promise<string> => {
    while (!until.test(text)) {
      const part = await reader.read();
      if (part.done) throw new Error(`ended after ${text}`);
      text += decoder.decode(part.value);
    }
    return text;
  };
}

test("runs the documented steps from the registration to the first push", async () => {
  expect(await shell(documentExample("keys")).exited).toBe(0);
  const client = shell(
    documentExample("push client").replace(/\n\n\.\/dist\/svc /, `\n\nexec ${compiledProgram.join(" ")} `),
  );
  const printed = linesOf(client.stdout);
  await printed(/Added the mini app for fid 6\n/);
  const sending = shell(documentExample("push send"));
  const response = JSON.parse(await new Response(sending.stdout).text());
  expect(response).toMatchObject({
    success_count: 3,
    failure_count: 0,
    not_attempted_count: 0,
    retryable_fids: [],
  });
  const out = await printed(/(^fid \d.*\n){3}/m);
  const shown = "Fresh bread | The oven is hot. | https://bread.demo.example/oven";
  const lines = out.split("\n").filter((line) => line.startsWith("fid "));
  expect(lines.sort()).toEqual([4, 5, 6].map((fid) => `fid ${fid}: ${shown}`));
  client.kill("SIGTERM");
  expect(await client.exited).toBe(0);
}, 180_000);

test.each([
  [["--app-id", "x"], "give --app-id and --fids together"],
  [["--fids", "4"], "give --app-id and --fids together"],
  [["--app-id", "x", "--fids", "100000"], "is not a user of the demo network"],
  [["--client-port", "70000"], "--client-port"],
  [["--answer", "maybe"], "Allowed choices"],
])("demo-client %p ends with exit code 1 and says why", async (args, message) => {
  const child = Bun.spawn(
    [...compiledProgram, "demo-client", "--client-port", "0", ...args, "--url", node.url],
    {
      env: env(),
      cwd: dir.path,
      stdout: "ignore",
      stderr: "pipe",
    },
  );
  expect(await new Response(child.stderr).text()).toContain(message);
  expect(await child.exited).toBe(1);
});

test("shows an event that the node rejects, and exits", async () => {
  const args = ["demo-client", "--client-port", "0", "--app-id", "nobody", "--fids", "4", "--url", node.url];
  const child = Bun.spawn([...compiledProgram, ...args], {
    env: env(),
    cwd: dir.path,
    stderr: "pipe",
    stdout: "ignore",
  });
  expect(await new Response(child.stderr).text()).toContain("no such app");
  expect(await child.exited).toBe(1);
});
