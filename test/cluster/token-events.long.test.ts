import { expect, test } from "bun:test";
import { createApps } from "../../src/apps/app-store.ts";
import { startCluster, until } from "../support/cluster.ts";
import { compiledProgram } from "../support/compiled-program.ts";
import { clientKey, keyAddedEvent, officialEnvelope } from "../support/envelopes.ts";
import { IS_LONG } from "../support/long.ts";
import { eventRecord } from "../support/node.ts";
import { HAS_POSTGRES } from "../support/postgres/server.ts";
import { stateDbOf } from "../support/postgres/state-db.ts";
import { APP_ID, testApp } from "../support/send.ts";

const FID = 3;
const CLIENT = 1;
const PER_NODE = 100;

test.skipIf(!HAS_POSTGRES || !IS_LONG)(
  "of 300 events of a user and an app at three nodes in an hour, 60 are applied, and the others get 429 with a time",
  async () => {
    await using cluster = await startCluster({
      seed: "token events of three nodes",
      command: compiledProgram,
    });
    const nodes = [await cluster.start("a"), await cluster.start("b"), await cluster.start("c")];
    const apps = createApps(stateDbOf(cluster.database.pools()));
    await apps.create(testApp({ appId: APP_ID }), 10);
    const key = clientKey(FID, CLIENT);
    const added = keyAddedEvent(FID, key.publicKey, { block: 900_000 }, { requestFid: CLIENT });
    cluster.act([{ fid: FID, record: eventRecord(added) }]);

    const report = (url: string, n: number) =>
      fetch(`${url}/v2/svc/frame/webhook/${APP_ID}`, {
        method: "POST",
        body: JSON.stringify(
          officialEnvelope(FID, key, {
            event: "notifications_enabled",
            notificationDetails: { url: "https://127.0.0.1/n", token: `t${n}` },
          }),
        ),
      });
    let applied = 0;
    // Each node knows the key when its block has arrived.
    for (const { url } of nodes) {
      await until(async () => {
        const isApplied = (await report(url, 0)).status === 200;
        if (isApplied) applied += 1;
        return isApplied;
      }, "the key is known");
    }
    const responses = await Promise.all(
      nodes.flatMap(({ url }) => Array.from({ length: PER_NODE }, (_, n) => report(url, n))),
    );
    for (const { status, headers } of responses) {
      if (status === 200) applied += 1;
      else expect([status, Number(headers.get("retry-after")) > 3_500]).toEqual([429, true]);
    }
    expect(applied).toBe(60);
  },
  180_000,
);
