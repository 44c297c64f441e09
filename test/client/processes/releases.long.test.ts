import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { join } from "node:path";
import { keysOfPerson } from "../../support/demo-calls.ts";
import { startDemoNode } from "../../support/demo-node.ts";
import { IS_LONG } from "../../support/long.ts";
import {
  HAS_NODE_RELEASES,
  NODE_RELEASES,
  type NodeReleases,
  nodeReleases,
} from "../../support/node-releases.ts";
import { type RunningNode, tempDir } from "../../support/program.ts";
import { runPublished } from "../published-client.ts";

describe.skipIf(!IS_LONG || !HAS_NODE_RELEASES)("the published client", () => {
  const dir = tempDir();
  let releases: NodeReleases;
  let node: RunningNode;
  beforeAll(async () => {
    releases = await nodeReleases();
    node = await startDemoNode({ dataDir: join(dir.path, "demo") });
  }, 300_000);
  afterAll(async () => {
    await node?.stop();
    dir[Symbol.dispose]();
  });

  // Its package.json says 20.3 or newer.
  test.each(NODE_RELEASES.filter((release) => release !== "18"))(
    "reads, signs and follows the stream in Node %s",
    async (release) => {
      const { custody } = keysOfPerson(3);
      const command = [join(releases.bin(release), "node")];
      const { out, errors } = await runPublished(join(dir.path, release), command, {
        url: node.url,
        custody: custody.privateKey,
      });
      expect(
        errors.replaceAll(/^.*ExperimentalWarning.*$|^\(Use `node --trace-warnings.*$/gm, "").trim(),
      ).toBe("");
      expect(JSON.parse(out)).toMatchObject({ name: "Mira Wren", unsigned: 401 });
    },
    180_000,
  );
});
