import { afterAll, beforeAll, expect, test } from "bun:test";
import { join } from "node:path";
import { fromSources, type RunningNode, startNode, tempDir } from "../support/program.ts";

const ROOT = join(import.meta.dir, "../..");
const readme = await Bun.file(join(ROOT, "README.md")).text();

/** The commands of a step of the README's "Send a push". */
function step(name: string): string {
  const [, text = ""] =
    new RegExp(`<!-- push: ${name} -->\n\`\`\`sh\n([\\s\\S]*?)\n\`\`\``).exec(readme) ?? [];
  expect(text).not.toBe("");
  return text;
}

const dir = tempDir();
let node: RunningNode;
beforeAll(async () => {
  const [, flags = ""] = /^bun src\/main\.ts serve --demo (.*)$/.exec(step("node")) ?? [];
  const dataDir = `${dir.path}/data`;
  node = await startNode({ command: fromSources, dataDir, demo: true, args: flags.split(" ") });
}, 60_000);
afterAll(async () => {
  await node.stop();
  dir[Symbol.dispose]();
});

const env = () => ({
  PATH: process.env.PATH ?? "",
  HOME: dir.path,
  SVC_HTTP_PORT: new URL(node.url).port,
});

/** Runs commands as the README has them, but for the address of the node and a free port of the client. */
function shell(script: string) {
  const there = script
    .replaceAll("http://127.0.0.1:8080", node.url)
    .replaceAll("bun src/main.ts", `exec_node`)
    .replaceAll("demo-client ", "demo-client --client-port 0 ");
  const prelude = `exec_node() { ${fromSources.join(" ")} "$@"; }\nbun() { ${process.execPath} "$@"; }\n`;
  return Bun.spawn(["sh", "-e", "-c", prelude + there], {
    cwd: dir.path,
    env: env(),
    stdout: "pipe",
    stderr: "pipe",
  });
}

/** What a command prints, as it comes. */
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

test("the README's way from the registration to the first push, step by step", async () => {
  const keys = shell(
    `bun src/main.ts demo keys --fid 3 | bun -p '(await Bun.stdin.json()).custody.privateKey' > fid-3.key; chmod 600 fid-3.key`,
  );
  expect(await keys.exited).toBe(0);
  const client = shell(
    step("client")
      .replace(/\n\nbun /, "\n\nexec bun ")
      .replace("exec bun src/main.ts", `exec ${fromSources.join(" ")}`),
  );
  const printed = linesOf(client.stdout);
  await printed(/Added the mini app for fid 6\n/);
  const sending = shell(step("send"));
  const answer = JSON.parse(await new Response(sending.stdout).text());
  expect(answer).toMatchObject({
    success_count: 3,
    failure_count: 0,
    not_attempted_count: 0,
    retryable_fids: [],
  });
  const out = await printed(/(^fid \d.*\n){3}/m);
  const shown = "Fresh bread | The oven is hot. | https://localhost/oven";
  const lines = out.split("\n").filter((line) => line.startsWith("fid "));
  expect(lines.sort()).toEqual([4, 5, 6].map((fid) => `fid ${fid}: ${shown}`));
  client.kill("SIGTERM");
  expect(await client.exited).toBe(0);
}, 60_000);

test.each([
  [["--app-id", "x"], "give --app-id and --fids together"],
  [["--fids", "4"], "give --app-id and --fids together"],
  [["--app-id", "x", "--fids", "100000"], "is nobody of the demo network"],
  [["--client-port", "70000"], "--client-port"],
  [["--answer", "maybe"], "Allowed choices"],
])("demo-client %p ends with exit code 1 and says why", async (args, message) => {
  const child = Bun.spawn([...fromSources, "demo-client", "--client-port", "0", ...args, "--url", node.url], {
    env: env(),
    cwd: dir.path,
    stdout: "ignore",
    stderr: "pipe",
  });
  expect(await new Response(child.stderr).text()).toContain(message);
  expect(await child.exited).toBe(1);
});

test("an event that the node refuses is shown, and the command ends", async () => {
  const args = ["demo-client", "--client-port", "0", "--app-id", "nobody", "--fids", "4", "--url", node.url];
  const child = Bun.spawn([...fromSources, ...args], {
    env: env(),
    cwd: dir.path,
    stderr: "pipe",
    stdout: "ignore",
  });
  expect(await new Response(child.stderr).text()).toContain("no such app");
  expect(await child.exited).toBe(1);
});
