import { afterAll, expect, test } from "bun:test";
import { join } from "node:path";
import { indexPath } from "../../src/db/index/database.ts";
import { verifyIndex } from "../../src/db/index/verify/verify.ts";
import { run } from "../cli/run.ts";
import { compiledProgram } from "../support/compiled-program.ts";
import { startDemoNode } from "../support/demo-node.ts";
import { startNode, tempDir } from "../support/program.ts";

const dir = tempDir();
const dataDir = join(dir.path, "data");
const OFF = ["--set", "index.full_text=false"];
const PATHS = ["/v2/svc/cast/search?q=bread", "/v2/farcaster/cast/search?q=bread"];

afterAll(() => dir[Symbol.dispose]());

test("without index.full_text searches of casts are 501, compact frees its pages, and switched on again they are as before", async () => {
  const search = async (url: string) =>
    Promise.all(
      PATHS.map(async (path) => {
        const response = await fetch(url + path);
        return [response.status, await response.json()] as const;
      }),
    );
  const demo = await startDemoNode({ dataDir });
  const before = await search(demo.url);
  expect(before.map(([status]) => status)).toEqual([200, 200]);
  await demo.stop();
  {
    await using node = await startNode({ command: compiledProgram, dataDir, args: OFF });
    const message = "the node does not index the words of casts (index.full_text)";
    for (const [status, body] of await search(node.url)) {
      expect(status).toBe(501);
      expect(body).toMatchObject({ message });
    }
    expect((await fetch(`${node.url}/v2/svc/user/search?q=a`)).status).toBe(200);
    const document = JSON.stringify(await (await fetch(`${node.url}/openapi.json`)).json());
    expect(document.split("With `index.full_text = false`.").length).toBeGreaterThan(2);
  }
  const compacted = await run(["--data-dir", dataDir, ...OFF, "index", "compact", "--json"]);
  expect([compacted.exitCode, compacted.errors]).toEqual([0, ""]);
  const { bytesBefore, bytesAfter } = JSON.parse(compacted.out);
  expect(bytesAfter).toBeLessThan(0.95 * bytesBefore);
  await using node = await startNode({ command: compiledProgram, dataDir });
  expect(await search(node.url)).toEqual(before);
  expect(node.logs()).toContain("Built the full-text index");
  await node.stop();
  expect(verifyIndex(indexPath(dataDir))).toEqual([]);
}, 180_000);
