import { expect, test } from "bun:test";
import { type IndexDatabase, indexPath, openIndexReader } from "../../src/db/index/database.ts";
import { outboxBacklog } from "../../src/db/index/log/outbox.ts";
import { getPosition } from "../../src/db/index/positions.ts";
import { verifyIndex } from "../../src/db/index/verify/verify.ts";
import { compiledProgram } from "../support/compiled-program.ts";
import { type RunningNode, startNode } from "../support/program.ts";
import { makeDevnetChain } from "../support/upstream/chain.ts";
import type { Faults } from "../support/upstream/faults.ts";
import { UpstreamNode } from "../support/upstream/node.ts";
import { UpstreamServer } from "../support/upstream/server.ts";
import { DATA_SHARDS } from "../support/upstream/shards.ts";
import { Watch } from "../support/upstream/watch.ts";
import { emptyDir, run } from "./run.ts";

const HISTORY = 40;
const DURING = 15;
const AFTER = 15;

test("a snapshot of a node that follows starts another one, which reads no fid again and becomes equal", async () => {
  using dir = emptyDir();
  const chain = makeDevnetChain("snapshot of a follower", HISTORY + DURING + AFTER);
  const upstream = new UpstreamNode(chain);
  upstream.produce(HISTORY);
  const watch = new Watch();
  let fidsRead = 0;
  const faults: Faults = {
    onCall(method) {
      if (method === "GetAllCastMessagesByFid") fidsRead++;
      return watch.onCall(method);
    },
    onDelivery: () => watch.onDelivery(),
  };
  const server = new UpstreamServer(upstream, { faults });
  await server.start();
  const settings = ["--set", "protocol.network=devnet", "--set", `upstream.url=${server.url}`];
  const data = (name: string) => `${dir.path}/${name}`;
  const start = (name: string) =>
    startNode({ command: compiledProgram, dataDir: data(name), args: settings });
  const svc = (...args: string[]) => run([...settings, ...args]);
  const hasEverything = async (node: RunningNode, index: IndexDatabase) =>
    watch.until(node.exited, () =>
      [0, ...DATA_SHARDS].every(
        (shard) => (getPosition(index, `upstream ${shard} applied`) ?? 0) >= upstream.height(shard),
      ),
    );

  await using first = await start("first");
  {
    using index = openIndexReader(indexPath(data("first")));
    await hasEverything(first, index);
  }
  const creating = svc("--data-dir", data("first"), "snapshot", "create", "--to", data("snapshot"));
  // The node applies blocks while it is copied.
  for (let tick = HISTORY + 1; tick <= HISTORY + DURING; tick++) {
    upstream.produce(tick);
    await fetch(`${first.url}/ready`);
  }
  const created = await creating;
  expect(created).toMatchObject({ exitCode: 0 });
  expect(created.out).toContain("applied blocks by shard: 0:");
  expect(await svc("snapshot", "verify", "--from", data("snapshot"))).toMatchObject({ exitCode: 0 });
  expect(
    await svc("--data-dir", data("second"), "snapshot", "restore", "--from", data("snapshot")),
  ).toMatchObject({
    exitCode: 0,
  });
  using index = openIndexReader(indexPath(data("second")));
  expect(outboxBacklog(index).events).toBe(0);

  fidsRead = 0;
  upstream.produce(HISTORY + DURING + AFTER);
  await using second = await start("second");
  await hasEverything(second, index);
  expect(fidsRead).toBe(0);
  expect(await svc("--data-dir", data("second"), "verify")).toMatchObject({ exitCode: 0 });
  await second.stop();
  expect(chain.dumpOf(index)).toBe(chain.referenceDump);
  expect(verifyIndex(indexPath(data("second")))).toEqual([]);
  await first.stop();
  server.stop();
}, 180_000);
