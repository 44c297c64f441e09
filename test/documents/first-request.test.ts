import { afterAll, beforeAll, expect, test } from "bun:test";
import { statSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { alerts } from "../../packaging/monitoring/alerts.ts";
import { metricsIn } from "../../packaging/monitoring/dashboard.ts";
import { clusterFigures } from "../../src/cluster/cluster-figures.ts";
import type { Figure } from "../../src/runtime/figures/figures.ts";
import { traceFigures } from "../../src/runtime/trace/span-counts.ts";
import { upstreamFigures } from "../../src/upstream/figures/figures.ts";
import { exampleEnv, inCheckout } from "../support/document-shell.ts";
import { documentExample, documentText, ROOT } from "../support/documents.ts";
import { fromSources, type RunningNode, startNode, tempDir } from "../support/program.ts";

const dir = tempDir();
let node: RunningNode;
beforeAll(async () => {
  node = await startNode({ command: fromSources, dataDir: `${dir.path}/data`, demo: true });
}, 180_000);
afterAll(async () => {
  await node.stop();
  dir[Symbol.dispose]();
});

test("the first request returns the printed response", async () => {
  const [, path] = /^curl 'http:\/\/127\.0\.0\.1:8080(\S+)'$/.exec(documentExample("first request")) ?? [];
  const response = await fetch(`${node.url}${path}`);
  expect(await response.json()).toEqual(JSON.parse(documentExample("first response")));
});

test("every further read of the README returns entries", async () => {
  const paths = [...documentExample("more reads").matchAll(/^curl 'http:\/\/127\.0\.0\.1:8080(\S+)'$/gm)];
  expect(paths.length).toBe(documentExample("more reads").split("\n").length);
  for (const [, path] of paths) {
    const response = await fetch(`${node.url}${path}`);
    const body = (await response.json()) as object;
    const entries = Object.values({ ...body, ...("result" in body ? (body.result as object) : {}) }).find(
      Array.isArray,
    );
    expect([path, response.status, (entries?.length ?? 0) > 0]).toEqual([path, 200, true]);
  }
});

test("a demo node serves a trending feed with likes from the start", async () => {
  const response = await fetch(`${node.url}/v2/svc/feed/trending?limit=100`);
  const { casts } = (await response.json()) as { casts: { reactions: { likes_count: number } }[] };
  expect(casts.length).toBeGreaterThan(5);
  expect(casts[0]?.reactions.likes_count).toBeGreaterThan(0);
});

test("every metric is documented, and every documented metric exists", async () => {
  const page = await (await fetch(`${node.url}/metrics`)).text();
  const namesOf = (figures: readonly Figure<never>[]) =>
    figures.flatMap(({ metric }) => (metric ? [`svc_${metric.name}`] : []));
  const names = [...page.matchAll(/^# HELP (\w+)/gm)].map(([, name]) => name ?? "");
  const existing = [...names, ...namesOf(upstreamFigures), ...namesOf(traceFigures)].sort();
  const documented = (part: string) => {
    const [, table = ""] =
      new RegExp(`<!-- ${part} -->([\\s\\S]*?)<!-- /${part} -->`).exec(
        documentText("docs/operate/watch.md"),
      ) ?? [];
    return [...table.matchAll(/`(svc_\w+)`/g)].map(([, name]) => name ?? "").sort();
  };
  const clusterNames = namesOf(clusterFigures);
  expect(documented("metrics")).toEqual(existing);
  expect(documented("metrics of a cluster")).toEqual(clusterNames.sort());
  for (const { expr } of alerts)
    for (const name of metricsIn(expr))
      expect([...existing, ...clusterNames]).toContain(name.replace(/_bucket$/, ""));
});

test("the documented commands write keys that only their owner can read", () => {
  const written = Bun.spawnSync(["sh", "-e", "-c", inCheckout(documentExample("keys"))], {
    cwd: dir.path,
    env: exampleEnv(dir.path),
  });
  expect([written.exitCode, written.stderr.toString()]).toEqual([0, ""]);
  for (const file of ["fid-3.json", "fid-3.key"])
    expect(statSync(`${dir.path}/${file}`).mode & 0o777).toBe(0o600);
});

test("the SDK publishes a cast by a signer that a person of the demo network approves", async () => {
  symlinkSync(join(ROOT, "node_modules"), join(dir.path, "node_modules"));
  const shell = (script: string) =>
    Bun.spawnSync(["sh", "-e", "-c", inCheckout(script)], {
      cwd: dir.path,
      env: exampleEnv(dir.path, { SVC_HTTP_PORT: new URL(node.url).port }),
    });
  const [install, ...keys] = documentExample("first key").split("\n");
  expect(install).toBe("npx --yes bun@1.4.5 install --no-summary && npx --yes bun@1.4.5 run build");
  const made = shell(keys.join("\n"));
  expect([made.exitCode, made.stdout.toString()]).toEqual([0, ""]);
  const app = documentExample("first cast").replace("http://127.0.0.1:8080", node.url);
  await Bun.write(`${dir.path}/app.ts`, app.replace("Bun.sleep(1000)", "Bun.sleep(50)"));
  const running = Bun.spawn([process.execPath, "app.ts"], {
    cwd: dir.path,
    env: exampleEnv(dir.path),
    stdout: "pipe",
    stderr: "pipe",
  });
  const lines: string[] = [];
  const decoder = new TextDecoder();
  let unread = "";
  for await (const chunk of running.stdout) {
    unread += decoder.decode(chunk, { stream: true });
    const ended = unread.split("\n");
    unread = ended.pop() ?? "";
    lines.push(...ended);
    if (lines.length !== 1 || ended.length === 0) continue;
    const approved = shell(lines[0] ?? "");
    expect([approved.stdout.toString(), approved.stderr.toString()]).toEqual([
      expect.stringMatching(/^approved, fid 5, message 0x[0-9a-f]{40}\n$/),
      "",
    ]);
  }
  expect([await running.exited, await new Response(running.stderr).text()]).toEqual([0, ""]);
  expect(lines.slice(1)).toEqual([documentExample("first cast output")]);
});
