import { expect, test } from "bun:test";
import type { OperatorRpc } from "../../../src/console/console-rpc.ts";
import { createSetUpRuns } from "../../../src/console/operator/set-up-runs.ts";
import { settingRoutes } from "../../../src/console/operator/setting-routes.ts";
import type { SetUp } from "../../../src/console/setup/set-up.ts";
import type { RpcClient } from "../../../src/lib/port-rpc.ts";

/** The route of the set-up over the steps of a node; `done` gets what is audited and started, in order. */
function routesOf(done: string[]) {
  const step = (name: string) => async () => {
    done.push(`${name} begins`);
    return {};
  };
  const setUp: SetUp = {
    test: step("test"),
    estimate: step("estimate"),
    check: step("check"),
    apply: step("apply"),
  };
  const runs = createSetUpRuns(setUp, () => true, String);
  const node = {
    startSetUp: async (...wish: Parameters<typeof runs.startSetUp>) => runs.startSetUp(...wish),
  };
  return settingRoutes({
    node: node as unknown as RpcClient<OperatorRpc>,
    nodeId: "node-1",
    hidden: { detail: { hide: true } },
    posted: {},
    read:
      (answer) =>
      async ({ request }) =>
        await answer(request),
    change:
      (_, make) =>
      async ({ request }) =>
        await make(request, await request.bytes()),
    async record(_, action, id, outcome = "ok") {
      // What begins before the log is asked is seen here.
      await Bun.sleep(0);
      done.push(`${action} ${id} ${outcome}`);
    },
  });
}

test("a set-up is in the audit log before it begins, and one that is refused is there as failed", async () => {
  const done: string[] = [];
  const routes = routesOf(done);
  const post = async (step: string) => {
    const body = JSON.stringify({ step, scope: { kind: "demo" }, urls: [] });
    const type = { "content-type": "application/json" };
    const response = await routes.handle(
      new Request("http://node/setup", { method: "POST", body, headers: type }),
    );
    return response.ok;
  };
  expect([await post("check"), await post("apply"), await post("apply")]).toEqual([true, true, false]);
  expect(done).toEqual([
    "check begins",
    "setup.apply node-1 ok",
    "apply begins",
    "setup.apply node-1 ok",
    "setup.apply node-1 failed",
  ]);
});
