import { expect, test } from "bun:test";
import { join } from "node:path";
import { scripts } from "../package.json" with { type: "json" };
import { fromSources, startNode, tempDir } from "./support/program.ts";

const readme = await Bun.file(join(import.meta.dir, "../README.md")).text();

test("the README's request gives the answer that it prints", async () => {
  const [, path, answer] = /<!-- answer: (\S+) -->\n```json\n([\s\S]*?)\n```/.exec(readme) ?? [];
  expect(readme).toContain(`curl 'http://127.0.0.1:8080${path}'`);
  using dir = tempDir();
  await using node = await startNode({ command: fromSources, dataDir: `${dir.path}/data`, demo: true });
  const response = await fetch(`${node.url}${path}`);
  expect(await response.json()).toEqual(JSON.parse(answer ?? ""));
}, 60_000);

test("every script that the README tells is in package.json", () => {
  const told = [...readme.matchAll(/bun(?:@[\d.]+)? run ([\w:]+)/g)].map(([, name]) => name ?? "");
  expect(told.length).toBeGreaterThan(5);
  for (const name of told) expect(Object.keys(scripts)).toContain(name);
});

test("every command that the README tells is one that the program knows", () => {
  const told = new Set([...readme.matchAll(/`svc ([a-z]+)/g)].map(([, name]) => name ?? ""));
  const help = Bun.spawnSync([...fromSources, "--help"]).stdout.toString();
  expect(told.size).toBeGreaterThan(3);
  for (const name of told) expect(help).toMatch(new RegExp(`^  ${name}\\b`, "m"));
});
