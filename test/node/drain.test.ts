import { expect, test } from "bun:test";
import { compiledProgram } from "../support/compiled-program.ts";
import { startNode, tempDir } from "../support/program.ts";

test("after SIGTERM a node serves for the drain delay, is not ready, closes connections, and ends with 0", async () => {
  using dir = tempDir();
  await using node = await startNode({
    command: compiledProgram,
    dataDir: dir.path,
    args: ["--set", "http.drain_delay_secs=1", "--set", "node.id=a.1"],
  });
  const nodeOf = (response: Response) => response.headers.get("x-svc-node");
  const ready = await fetch(`${node.url}/ready`);
  expect([ready.status, nodeOf(ready)]).toEqual([200, "a.1"]);
  const sentAtMs = performance.now();
  const stopped = node.stop();
  while ((await fetch(`${node.url}/ready`)).status === 200) await Bun.sleep(5);
  const response = await fetch(`${node.url}/v2/svc/user?fid=3`);
  expect(response.status).toBe(404);
  expect(response.headers.get("connection")).toBe("close");
  expect(await stopped).toBe(0);
  expect(performance.now() - sentAtMs).toBeGreaterThanOrEqual(1000);
}, 30_000);
