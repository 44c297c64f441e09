import { expect, test } from "bun:test";
import { getInsecureHubRpcClient } from "@farcaster/hub-nodejs";
import { compiledProgram } from "../support/compiled-program.ts";
import { startDeliveryReceiver } from "../support/delivery-receiver.ts";
import { postAsPerson } from "../support/demo-calls.ts";
import { until } from "../support/manual-time.ts";
import { type RunningNode, startNode, tempDir } from "../support/program.ts";

interface Status {
  readonly unavailable: readonly string[];
  readonly threads: readonly { readonly name: string; readonly state: string }[];
  readonly webhooks: { readonly subscribed: number };
}

async function statusOf({ url }: RunningNode): Promise<Status & { readonly names: string[] }> {
  const status = (await (await fetch(`${url}/status`)).json()) as Status;
  return { ...status, names: status.threads.map(({ name }) => name).toSorted() };
}

const OWNER = 3;
const QUIET = ["http_1", "hub", "ingest", "main", "maintenance", "ranking", "state"];

test("threads without work start on demand, count as healthy meanwhile, and start with the node once they have work", async () => {
  using dir = tempDir();
  const options = {
    command: compiledProgram,
    dataDir: `${dir.path}/data`,
    args: ["--set", "net.allow_http=true", "--set", "net.allow_cidrs=127.0.0.0/8"],
  };
  await using receiver = await startDeliveryReceiver();
  {
    await using node = await startNode({ ...options, demo: true });
    await until(async () => (await statusOf(node)).names.length > 0);
  }
  {
    await using node = await startNode(options);
    const quiet = await statusOf(node);
    expect(quiet.names).toEqual(QUIET);
    expect(quiet.unavailable).toEqual([]);
    const metrics = await (await fetch(`${node.url}/metrics`)).text();
    for (const part of ["delivery", "fan_out", "hub", "matching", "signers", "writes"])
      expect(metrics).toContain(`svc_node_part_up{part="${part}"} 1\n`);
    expect(metrics).toContain('svc_webhook_deliveries{state="queued"} 0\n');
    expect((await fetch(`${node.url}/ready`)).status).toBe(200);

    // The first connection of gRPC loads what serves it.
    const hub = getInsecureHubRpcClient(node.hubAddress);
    const info = await hub.getInfo({ dbStats: true });
    expect(info.isOk()).toBe(true);
    hub.close();

    const webhook = { url: `http://127.0.0.1:${receiver.port}/hook`, name: "on need" };
    await postAsPerson(node, OWNER, `/webhook?owner_fid=${OWNER}`, {
      ...webhook,
      subscription: { "cast.created": {} },
    });
    await until(async () => (await statusOf(node)).webhooks.subscribed === 1);
    const awake = await statusOf(node);
    expect(awake.names).toEqual([...QUIET, "delivery", "matching"].toSorted());
    expect(awake.unavailable).toEqual([]);
  }
  await using node = await startNode(options);
  const again = await statusOf(node);
  expect(again.names).toEqual([...QUIET, "delivery", "matching"].toSorted());
  // The matching thread reports its subscriptions after it has loaded them.
  await until(async () => (await statusOf(node)).webhooks.subscribed === 1);
}, 180_000);
