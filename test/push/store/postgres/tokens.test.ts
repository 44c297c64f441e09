import { expect, test } from "bun:test";
import {
  createPostgresStores,
  createPostgresSweeps,
} from "../../../../src/node/state/postgres/open-postgres.ts";
import type { TokenStore } from "../../../../src/push/store/tokens/token-store.ts";
import { ManualClock } from "../../../support/clock.ts";
import { reuseDatabases } from "../../../support/postgres/database.ts";
import { HAS_POSTGRES } from "../../../support/postgres/server.ts";
import { steadyClock } from "../../../support/postgres/steady-clock.ts";
import { testApp } from "../../../support/send.ts";
import { tokenStoreContract } from "../token-store-contract.ts";
import { WRONG_TOTALS } from "./token-totals.ts";

if (HAS_POSTGRES) {
  const openDatabase = reuseDatabases();
  tokenStoreContract("tokens in PostgreSQL", async (machine) => {
    const database = await openDatabase();
    const clock = steadyClock(machine);
    const connect = async () =>
      createPostgresStores(database.opened, { node: database.node(), clock, limits: { maxQueued: 1 } });
    const { apps, tokens } = await connect();
    return {
      store: tokens,
      connect: async () => (await connect()).tokens,
      addApp: async (appId) => void (await apps.create(testApp({ appId, secrets: [] }), 1000)),
      deleteApp: async (appId) => void (await apps.delete({ id: appId, ownerFid: 3, nowSecs: 100 })),
      async [Symbol.asyncDispose]() {
        expect(await database.query(WRONG_TOTALS)).toEqual([]);
        await database[Symbol.asyncDispose]();
      },
    };
  });

  test("a sweep deletes the counts of nodes that cancel out, also while nodes count, and changes no number", async () => {
    await using database = await openDatabase();
    const clock = steadyClock(new ManualClock(100));
    const options = () => ({ node: database.node(), clock, limits: { maxQueued: 1 } });
    const [a, b] = [
      createPostgresStores(database.opened, options()),
      createPostgresStores(database.opened, options()),
    ];
    await a.apps.create(testApp({ appId: "x", secrets: [] }), 10);
    const limit = { maxChanges: 1000, windowSecs: 60 };
    const add = (tokens: TokenStore, fid: number, host: string) => {
      const details = { url: `https://${host}/`, host, token: `t${fid}` };
      const event = { name: "miniapp_added", details } as const;
      return tokens.apply({ appId: "x", fid, clientFid: 1, event, nowSecs: 100 }, limit);
    };
    for (let fid = 1; fid <= 6; fid++) {
      await add(a.tokens, fid, `h${fid}.example`);
      await add(b.tokens, fid, "kept.example");
    }
    expect(await database.rows("audience_clients")).toBe(13);
    const [sweep] = createPostgresSweeps(database.opened, options()).filter(
      ({ name }) => name === "audience_clients",
    );
    const counting = Promise.all(
      [7, 8, 9].map((fid) => add(fid % 2 ? a.tokens : b.tokens, fid, "kept.example")),
    );
    let deleted = 0;
    for (let more = true; more; ) {
      const swept = await sweep?.step(4);
      deleted += swept?.deleted ?? 0;
      more = swept?.more ?? false;
    }
    await counting;
    expect(deleted).toBe(12);
    expect(await database.query(WRONG_TOTALS)).toEqual([]);
    const { enabled, clients } = await b.tokens.audience("x", { fromDay: 0, maxClients: 10 });
    expect([enabled, clients.map(({ host }) => host)]).toEqual([9, ["kept.example"]]);
  });
}
