import { expect, test } from "bun:test";
import { openState, statePath } from "../../../src/db/state/database.ts";
import { compiledProgram } from "../../support/compiled-program.ts";
import { until } from "../../support/manual-time.ts";
import { startNode, tempDir } from "../../support/program.ts";
import { localStores } from "../../support/state-stores.ts";

test("a node sweeps when it starts and reports it in /status and /metrics", async () => {
  using dir = tempDir();
  const path = statePath(dir.path);
  {
    using db = openState(path);
    const nonces = localStores(db).nonces;
    await nonces.spend(
      { fid: 3, nonce: new Uint8Array(32) },
      { nowSecs: 1, validUntil: 600, expiresAt: 600 },
    );
  }
  await using node = await startNode({ command: compiledProgram, dataDir: dir.path });
  const status = async () => {
    const response = (await (await fetch(`${node.url}/status`)).json()) as {
      maintenance: Record<string, unknown>;
    };
    return response.maintenance;
  };
  await until(async () => (await status()).runs !== 0);
  expect(await status()).toEqual({
    runs: expect.any(Number),
    faults: 0,
    last_run_at: expect.any(Number),
    last_run_ms: expect.any(Number),
    deleted_rows: expect.objectContaining({ nonces: 1, secrets: 0, token_changes: 0, orphaned_tokens: 0 }),
    behind: [],
  });
  const metrics = await (await fetch(`${node.url}/metrics`)).text();
  expect(metrics).toContain('svc_notification_tokens{state="enabled"} 0');
  expect(await node.stop()).toBe(0);
  expect(node.logs()).not.toContain('"level":"error"');
}, 180_000);
