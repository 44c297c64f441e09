import { expect, jest, test } from "bun:test";
import { StateUnavailable } from "../../../src/db/state/unavailable.ts";
import { allRetryableFids, createSendService } from "../../../src/push/send-service.ts";
import { takeCampaign } from "../../support/campaigns.ts";
import { startPushClient } from "../../support/push-client.ts";
import { expectOk } from "../../support/result.ts";
import { notification, testApp } from "../../support/send.ts";
import { localStores } from "../../support/state-stores.ts";
import { DAY_SECS, type Stores, useRuns } from "./fixture.ts";

/** What a caller that runs a campaign, or sends, waits for and gets. */

const runs = useRuns();
const { startEngine, store, addTokens, found } = runs;

test("a campaign that another run has started ends without the results of its tokens: the list would be incomplete", async () => {
  await using client = startPushClient();
  addTokens(client, 2);
  await store();
  await takeCampaign(localStores(runs.state).campaigns, "c");
  const engine = await startEngine();
  expect(await engine.run("c")).toEqual({ results: undefined });
  await engine.stop(0);
});

test("runs a campaign once for two calls, and resolves for a finished one", async () => {
  await using client = startPushClient();
  addTokens(client, 250);
  await store();
  const engine = await startEngine();
  await Promise.all([engine.run("c"), engine.run("c")]);
  await engine.run("c");
  expect(client.requests).toHaveLength(3);
  await engine.stop(0);
});

test("a caller does not wait for a campaign that faults interrupt again and again", async () => {
  const stores = localStores(runs.state, { clock: runs.clock });
  let faults = 0;
  const campaigns: Stores["campaigns"] = {
    ...stores.campaigns,
    async end() {
      faults += 1;
      throw new Error("a fault");
    },
  };
  await store();
  const engine = await startEngine({ stores: { ...stores, campaigns } });
  expect(await engine.run("c")).toBeUndefined();
  expect(faults).toBeGreaterThan(1);
  await engine.stop(0);
  expect((await found())?.status).not.toBe("completed");
});

test("a caller waits for a campaign that an absent state interrupts again and again", async () => {
  const stores = localStores(runs.state, { clock: runs.clock });
  let refusals = 0;
  const campaigns: Stores["campaigns"] = {
    ...stores.campaigns,
    async end(...args) {
      refusals += 1;
      if (refusals <= 8) throw new StateUnavailable("away");
      return stores.campaigns.end(...args);
    },
  };
  await store();
  const engine = await startEngine({ stores: { ...stores, campaigns } });
  const ended = engine.run("c");
  const wake = setInterval(() => void engine.wake(), 1);
  expect(await ended).toEqual({ results: [] });
  clearInterval(wake);
  await engine.stop(0);
});

test("asks for the ends of no campaigns after it has stopped", async () => {
  await store();
  jest.useFakeTimers();
  try {
    const stores = localStores(runs.state, { clock: runs.clock });
    const asked: Promise<unknown>[] = [];
    const campaigns: Stores["campaigns"] = {
      ...stores.campaigns,
      ended(ids) {
        const response = stores.campaigns.ended(ids);
        asked.push(response);
        return response;
      },
    };
    const engine = await startEngine({ stores: { ...stores, campaigns }, permission: () => "isolated" });
    void engine.run("c");
    jest.advanceTimersByTime(500);
    await Promise.all(asked);
    await engine.stop(0);
    jest.advanceTimersByTime(60_000);
    expect(asked).toHaveLength(1);
  } finally {
    jest.useRealTimers();
  }
});

test("a send that arrives while the process stops is stored and not waited for", async () => {
  const stores = localStores(runs.state, { clock: runs.clock });
  const engine = await startEngine({ stores, permission: () => "isolated" });
  const sends = createSendService({
    ...stores,
    fanOut: engine,
    clock: runs.clock,
    dedupeTtlSecs: DAY_SECS,
    stopping: AbortSignal.abort(),
  });
  const started = expectOk(await sends.start(testApp(), { notification }));
  expect(await started.result).toBeUndefined();
  expect(await stores.campaigns.find(started.campaignId)).toMatchObject({ status: "queued" });
  await engine.stop(0);
});

test("a send that runs while the process stops is no longer waited for", async () => {
  const called = Promise.withResolvers<void>();
  await using client = startPushClient(() => {
    called.resolve();
    return new Promise(() => undefined);
  });
  addTokens(client, 1);
  const stores = localStores(runs.state, { clock: runs.clock });
  const engine = await startEngine({ stores });
  const stopping = new AbortController();
  const deps = {
    ...stores,
    fanOut: engine,
    clock: runs.clock,
    dedupeTtlSecs: DAY_SECS,
    stopping: stopping.signal,
  };
  const started = expectOk(await createSendService(deps).start(testApp(), { notification }));
  await called.promise;
  stopping.abort();
  expect(await started.result).toBeUndefined();
  await engine.stop(0);
});

test("a fault at the end of a send reaches the caller that waits for it; no one has to", async () => {
  const stores = localStores(runs.state, { clock: runs.clock });
  const read = Promise.withResolvers<void>();
  const find = () => {
    read.resolve();
    return Promise.reject(new Error("no disk"));
  };
  const campaigns = { ...stores.campaigns, find };
  const engine = await startEngine({ stores });
  const sends = createSendService({
    ...{ ...stores, campaigns, fanOut: engine, clock: runs.clock, dedupeTtlSecs: DAY_SECS },
    stopping: new AbortController().signal,
  });
  const { result } = expectOk(await sends.start(testApp(), { notification }));
  await read.promise;
  // A rejection that no one handles fails the test here.
  for (let turn = 0; turn < 2; turn++) await new Promise((resolve) => setImmediate(resolve));
  await expect(result).rejects.toThrow("no disk");
  await engine.stop(0);
});

test.each([9_999, 10_000, 20_001])(
  "all %i fids that may be sent to again are returned, ascending",
  async (count) => {
    await store();
    runs.state.sqlite.run(
      `WITH RECURSIVE fids (fid) AS (SELECT 1 UNION ALL SELECT fid + 1 FROM fids WHERE fid < ${count})
     INSERT INTO campaign_retryable (campaign, fid) SELECT (SELECT seq FROM campaigns), fid FROM fids`,
    );
    const fids = await allRetryableFids(localStores(runs.state).campaigns, "c");
    expect(fids).toEqual(Array.from({ length: count }, (_, at) => at + 1));
  },
);
