import { afterEach, describe, expect, test } from "bun:test";
import fc from "fast-check";
import { growthOf, retentionOf } from "../../../src/push/audience-service.ts";
import type {
  ChangeLimit,
  ClientTokens,
  LiveToken,
  TokenEvent,
  TokenEventName,
  TokenPosition,
  TokenRecord,
  TokenStore,
} from "../../../src/push/store/tokens/token-store.ts";
import { ManualClock } from "../../support/clock.ts";

export interface TokenFixture extends AsyncDisposable {
  readonly store: TokenStore;
  /** Another connection to the same data. */
  connect(): Promise<TokenStore>;
  addApp(appId: string): Promise<void>;
  deleteApp(appId: string): Promise<void>;
}

const UNLIMITED: ChangeLimit = { maxChanges: 1_000_000, windowSecs: 1 };
const HOSTS = ["a.example", "a.example:8443", "b.example", "z.example"];

function details(n: number) {
  const host = HOSTS[n % HOSTS.length] ?? "";
  return { url: `https://${host}/notify`, host, token: `token ${n} 🎈` };
}

function eventOf(name: TokenEventName, n: number | undefined): TokenEvent {
  if (name === "miniapp_added") return { name, details: n === undefined ? undefined : details(n) };
  if (name === "notifications_enabled") return { name, details: details(n ?? 0) };
  return { name };
}

/** Counts rows by client and host. */
function clientsOf(rows: readonly TokenRecord[]): ClientTokens[] {
  const groups = Map.groupBy(rows, ({ clientFid, details: held }) => `${clientFid} ${held?.host ?? ""}`);
  return [...groups.values()].map((group) => {
    const of = (state: string) => group.filter((row) => row.state === state).length;
    return {
      clientFid: group[0]?.clientFid ?? -1,
      host: group[0]?.details?.host ?? null,
      enabled: of("enabled"),
      disabled: of("disabled"),
      withoutToken: of("no_token"),
    };
  });
}

function byClient(clients: readonly ClientTokens[]) {
  return new Map(clients.map((client) => [`${client.clientFid} ${client.host}`, client]));
}

/** The guarantees of every implementation of the token store. */
export function tokenStoreContract(name: string, open: (clock: ManualClock) => Promise<TokenFixture>): void {
  describe(`${name}: token store`, () => {
    const opened: AsyncDisposable[] = [];
    const closeAll = async () => {
      for (const fixture of opened.splice(0).reverse()) await fixture[Symbol.asyncDispose]();
    };
    afterEach(closeAll);
    let clock: ManualClock;
    const start = async (...apps: string[]) => {
      clock = new ManualClock(100);
      const fixture = await open(clock);
      opened.push(fixture);
      for (const app of apps) await fixture.addApp(app);
      return fixture;
    };
    const put = (store: TokenStore, appId: string, fid: number, clientFid: number, n: number) =>
      store.apply({ appId, fid, clientFid, event: eventOf("miniapp_added", n), nowSecs: 100 }, UNLIMITED);

    test("any events of any fids and clients result in the rows of the state table and their totals", async () => {
      const names: TokenEventName[] = [
        "miniapp_added",
        "miniapp_removed",
        "notifications_enabled",
        "notifications_disabled",
      ];
      const step = fc.record({
        appId: fc.constantFrom("x", "y"),
        fid: fc.constantFrom(5, 6, Number.MAX_SAFE_INTEGER),
        clientFid: fc.constantFrom(0, 9152, 309857),
        name: fc.constantFrom(...names),
        n: fc.option(fc.nat(20), { nil: undefined }),
      });
      await fc.assert(
        fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
          const { store } = await start("x", "y");
          const model = new Map<string, TokenRecord>();
          for (const [at, { appId, fid, clientFid, name, n }] of steps.entries()) {
            const nowSecs = 1000 + at;
            const event = eventOf(name, n);
            expect(await store.apply({ appId, fid, clientFid, event, nowSecs }, UNLIMITED)).toBe("applied");
            const key = `${appId} ${fid} ${clientFid}`;
            const held = model.get(key);
            if (name === "miniapp_removed") {
              for (const [k, row] of model) if (row.appId === appId && row.fid === fid) model.delete(k);
            } else if (name === "notifications_disabled") {
              if (held) {
                const state = held.details ? "disabled" : "no_token";
                model.set(key, { ...held, state, lastEvent: name, updatedAt: nowSecs });
              }
            } else {
              const input = "details" in event && event.details ? event.details : null;
              model.set(key, {
                appId,
                fid,
                clientFid,
                state: input ? "enabled" : "no_token",
                details: input,
                lastEvent: name,
                createdAt: held?.createdAt ?? nowSecs,
                updatedAt: nowSecs,
              });
            }
          }
          const rows = [...model.values()].sort((a, b) => a.fid - b.fid || a.clientFid - b.clientFid);
          for (const appId of ["x", "y"]) {
            const own = rows.filter((row) => row.appId === appId);
            expect(await store.list({ appId, after: undefined, max: 100 })).toEqual(own);
            const live = own.flatMap(({ appId: app, fid, clientFid, state, details: input }): LiveToken[] =>
              state === "enabled" && input ? [{ appId: app, fid, clientFid, details: input }] : [],
            );
            const fids = [6, Number.MAX_SAFE_INTEGER, 404];
            expect(await store.listLiveOf(appId, fids)).toEqual(live.filter(({ fid }) => fids.includes(fid)));
            expect(await store.listHosts(appId, "", 100)).toEqual(
              [...new Set(live.map((token) => token.details.host))].sort(),
            );
            for (const host of HOSTS) {
              expect(await store.listLive({ appId, after: undefined, max: 100, host })).toEqual(
                live.filter((token) => token.details.host === host),
              );
            }
          }
          for (const appId of ["x", "y"]) {
            const own = rows.filter((row) => row.appId === appId);
            const audience = await store.audience(appId, { fromDay: 0, maxClients: 100 });
            expect(audience.enabled).toBe(own.filter(({ state }) => state === "enabled").length);
            expect(await store.countEnabled(appId)).toBe(audience.enabled);
            expect(byClient(audience.clients)).toEqual(byClient(clientsOf(own)));
            expect(audience.clientCount).toBe(audience.clients.length);
            const growth = growthOf(audience, { fromDay: 0, today: 0 });
            // What is enabled at the end is what the changes of all days add up to.
            expect(growth.at(-1)?.enabled ?? 0).toBe(audience.enabled);
            const net = growth.map((day) => day.added - day.removed - day.disabled - day.invalidated);
            expect(net.reduce((sum, count) => sum + count, 0)).toBe(audience.enabled);
          }
          const counted = (state: string) => rows.filter((row) => row.state === state).length;
          expect(await store.totals()).toEqual({
            enabled: counted("enabled"),
            disabled: counted("disabled"),
            no_token: counted("no_token"),
          });
          await closeAll();
        }),
        { numRuns: 60 },
      );
    }, 300_000);

    test("pages of every size join to the whole list, also while rows are added and deleted", async () => {
      const { store } = await start("x", "other");
      const kept: string[] = [];
      for (let n = 0; n < 60; n += 1) {
        const fid = 1 + Math.floor(n / 3);
        await put(store, "x", fid, (n % 3) * 100, 1);
        kept.push(`${fid} ${(n % 3) * 100}`);
      }
      await put(store, "other", 3, 100, 1);
      for (const max of [1, 7, 59, 60, 100]) {
        const seen: string[] = [];
        let after: TokenPosition | undefined;
        for (;;) {
          const page = await store.listLive({ appId: "x", after, max, host: details(1).host });
          seen.push(...page.map(({ fid, clientFid }) => `${fid} ${clientFid}`));
          const last = page.at(-1);
          if (!last) break;
          after = last;
          // Before, after and between.
          await put(store, "x", 1000 + max, seen.length, 1);
          await store.deleteMatching([
            { appId: "x", fid: 1000 + max, clientFid: seen.length, token: details(1).token },
          ]);
        }
        expect(seen.filter((key) => kept.includes(key))).toEqual(kept);
      }
    });

    test("lists hosts in pages", async () => {
      const { store } = await start("x");
      for (let n = 0; n < 8; n += 1) await put(store, "x", n + 1, 0, n);
      expect(await store.listHosts("x", "", 2)).toEqual(["a.example", "a.example:8443"]);
      expect(await store.listHosts("x", "a.example:8443", 2)).toEqual(["b.example", "z.example"]);
      expect(await store.listHosts("x", "z.example", 2)).toEqual([]);
      expect(await store.listHosts("y", "", 2)).toEqual([]);
    });

    test("a token that a client called invalid is deleted only from a row that still has it", async () => {
      const { store } = await start("x");
      await put(store, "x", 5, 9152, 1);
      await put(store, "x", 5, 309857, 2);
      const held = { appId: "x", fid: 5, clientFid: 9152, token: details(1).token };
      expect(
        await store.deleteMatching([
          { ...held, token: details(2).token },
          { ...held, fid: 6 },
        ]),
      ).toBe(0);
      await put(store, "x", 5, 9152, 3);
      expect(await store.deleteMatching([held])).toBe(0);
      expect(await store.deleteMatching([{ ...held, token: details(3).token }])).toBe(1);
      expect(await store.listLiveOf("x", [5])).toEqual([
        { appId: "x", fid: 5, clientFid: 309857, details: details(2) },
      ]);
      expect(await store.totals()).toEqual({ enabled: 1, disabled: 0, no_token: 0 });
    });

    describe("the audience", () => {
      const DAY = 86_400;
      const at = (day: number) => clock.setSecs(day * DAY + 5);
      const report = (store: TokenStore, fid: number, clientFid: number, name: TokenEventName, n?: number) =>
        store.apply(
          { appId: "x", fid, clientFid, event: eventOf(name, n), nowSecs: clock.nowMs() / 1000 },
          UNLIMITED,
        );

      test("counts by UTC day what became enabled, and why tokens are no longer enabled", async () => {
        const { store } = await start("x", "other");
        at(10);
        for (const fid of [1, 2, 3, 4]) await report(store, fid, 9152, "miniapp_added", 0);
        await report(store, 1, 309857, "miniapp_added", 2);
        await report(store, 5, 9152, "miniapp_added");
        await put(store, "other", 1, 0, 1);
        at(11);
        await report(store, 1, 9152, "notifications_disabled");
        await report(store, 1, 9152, "notifications_disabled");
        await report(store, 2, 9152, "miniapp_added");
        // The same token again, or another one, does not change the number.
        await report(store, 3, 9152, "notifications_enabled", 4);
        at(13);
        await store.deleteMatching([{ appId: "x", fid: 3, clientFid: 9152, token: details(4).token }]);
        await report(store, 1, 309857, "miniapp_removed");
        await report(store, 4, 9152, "notifications_disabled");
        await report(store, 4, 9152, "notifications_enabled", 0);
        const audience = await store.audience("x", { fromDay: 0, maxClients: 10 });
        expect(growthOf(audience, { fromDay: 0, today: 14 })).toEqual([
          { day: 10, enabled: 5, added: 5, removed: 0, disabled: 0, invalidated: 0 },
          { day: 11, enabled: 3, added: 0, removed: 0, disabled: 2, invalidated: 0 },
          { day: 12, enabled: 3, added: 0, removed: 0, disabled: 0, invalidated: 0 },
          { day: 13, enabled: 1, added: 1, removed: 1, disabled: 1, invalidated: 1 },
          { day: 14, enabled: 1, added: 0, removed: 0, disabled: 0, invalidated: 0 },
        ]);
        expect(audience.clients).toEqual([
          { clientFid: 9152, host: null, enabled: 0, disabled: 0, withoutToken: 2 },
          { clientFid: 9152, host: "a.example", enabled: 1, disabled: 0, withoutToken: 0 },
        ]);
        const latest = await store.audience("x", { fromDay: 13, maxClients: 1 });
        expect(growthOf(latest, { fromDay: 13, today: 14 }).map(({ enabled }) => enabled)).toEqual([1, 1]);
        expect(latest.clients).toHaveLength(1);
        expect(latest.clientCount).toBe(2);
      });

      test("keeps how many of those who were added in a week were reachable at the end of it and of later ones", async () => {
        const { store } = await start("x", "other");
        at(4); // A Monday.
        for (const fid of [1, 2, 3]) await report(store, fid, 9152, "miniapp_added", 0);
        await report(store, 4, 9152, "miniapp_added");
        await report(store, 1, 9152, "notifications_disabled");
        await put(store, "other", 1, 0, 1);
        at(10);
        await report(store, 2, 9152, "miniapp_removed");
        at(11);
        await report(store, 2, 9152, "miniapp_added", 0);
        await report(store, 1, 9152, "notifications_enabled", 0);
        at(25);
        await store.deleteMatching([{ appId: "x", fid: 3, clientFid: 9152, token: details(0).token }]);
        const cohorts = await store.cohorts("x", 0);
        expect(cohorts.map(({ week, added }) => [week, added])).toEqual([
          [1, 4],
          [2, 1],
        ]);
        expect(cohorts.map((cohort) => retentionOf(cohort, 5).reachable)).toEqual([
          [1, 2, 2, 1],
          [1, 1, 1],
        ]);
        expect(cohorts.map((cohort) => retentionOf(cohort, 2).reachable)).toEqual([[1], []]);
        expect((await store.cohorts("x", 2)).map(({ week }) => week)).toEqual([2]);
      });

      test("keeps the losses of a week's tokens up to the twelfth week after it", async () => {
        const { store } = await start("x");
        at(4); // A Monday.
        for (const fid of [1, 2]) await report(store, fid, 9152, "miniapp_added", 0);
        for (const [fid, week] of [
          [1, 12],
          [2, 13],
        ] as const) {
          at(4 + 7 * week);
          await report(store, fid, 9152, "miniapp_removed");
        }
        const [cohort] = await store.cohorts("x", 0);
        expect(cohort?.changes).toEqual([2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, -1]);
      });

      test("days of a clock that was ahead do not lengthen the growth", async () => {
        const { store } = await start("x");
        at(10_000);
        await report(store, 1, 9152, "miniapp_added", 0);
        const audience = await store.audience("x", { fromDay: 3, maxClients: 10 });
        expect(growthOf(audience, { fromDay: 3, today: 5 }).map(({ day }) => day)).toEqual([10_000]);
        await report(store, 2, 9152, "miniapp_added", 0);
        const long = { ...audience, firstDay: 1 };
        expect(growthOf(long, { fromDay: 3, today: 5 }).map(({ day }) => day)).toEqual([9998, 9999, 10_000]);
      });

      test("an app without tokens has none, and its growth begins with its first token", async () => {
        const { store } = await start("x");
        const none = await store.audience("x", { fromDay: 0, maxClients: 10 });
        expect(none).toEqual({ clients: [], clientCount: 0, enabled: 0, days: [], firstDay: null });
        expect(growthOf(none, { fromDay: 5, today: 7 })).toEqual([
          { day: 7, enabled: 0, added: 0, removed: 0, disabled: 0, invalidated: 0 },
        ]);
      });
    });

    describe("the limit", () => {
      const limit: ChangeLimit = { maxChanges: 3, windowSecs: 60 };
      const disable = (store: TokenStore, nowSecs: number, over: { fid?: number; appId?: string } = {}) => {
        clock.setSecs(nowSecs);
        return store.apply(
          { appId: "x", fid: 5, clientFid: 0, event: { name: "notifications_disabled" }, nowSecs, ...over },
          limit,
        );
      };
      const exhausted = (store: TokenStore, nowSecs: number) => {
        clock.setSecs(nowSecs);
        return store.exhausted({ appId: "x", fid: 5, nowSecs }, limit);
      };

      test("counts every event of an fid and an app within any window, and returns when the next one is allowed", async () => {
        const { store } = await start("x", "y");
        for (const at of [100, 110, 120]) {
          expect(await exhausted(store, at)).toBeUndefined();
          expect(await disable(store, at)).toBe("applied");
        }
        expect(await disable(store, 120)).toEqual({ retryAfterSecs: 40 });
        expect(await exhausted(store, 120)).toEqual({ retryAfterSecs: 40 });
        expect(await disable(store, 120, { fid: 6 })).toBe("applied");
        expect(await disable(store, 120, { appId: "y" })).toBe("applied");
        expect(await disable(store, 159)).toEqual({ retryAfterSecs: 1 });
        expect(await exhausted(store, 159)).toEqual({ retryAfterSecs: 1 });
        expect(await exhausted(store, 160)).toBeUndefined();
        expect(await disable(store, 160)).toBe("applied");
        expect(await disable(store, 160)).toEqual({ retryAfterSecs: 10 });
      });

      test("changes nothing when it is reached", async () => {
        const { store } = await start("x");
        await put(store, "x", 5, 0, 1);
        for (const at of [200, 201, 202]) await disable(store, at);
        const before = await store.list({ appId: "x", after: undefined, max: 10 });
        const change = { appId: "x", fid: 5, clientFid: 0, event: eventOf("miniapp_added", 9), nowSecs: 203 };
        clock.setSecs(203);
        expect(await store.apply(change, limit)).toEqual({ retryAfterSecs: 57 });
        expect(await store.list({ appId: "x", after: undefined, max: 10 })).toEqual(before);
      });

      test("is not prolonged by a clock that is set back, and holds when it is lowered", async () => {
        const { store } = await start("x");
        for (const at of [10_000, 10_001, 10_002]) await disable(store, at);
        const lower = { maxChanges: 1, windowSecs: 60 };
        expect(await disable(store, 10_010)).toEqual({ retryAfterSecs: 50 });
        expect(await store.exhausted({ appId: "x", fid: 5, nowSecs: 10_010 }, lower)).toEqual({
          retryAfterSecs: 52,
        });
        expect(await disable(store, 500)).toEqual({ retryAfterSecs: 50 });
        expect(await disable(store, 549)).toEqual({ retryAfterSecs: 1 });
        expect(await disable(store, 550)).toBe("applied");
      });

      test("holds for concurrent connections", async () => {
        const fixture = await start("x");
        const others = [await fixture.connect(), await fixture.connect()];
        const stores = [fixture.store, ...others];
        const outcomes = await Promise.all(
          [...Array(30)].map((_, n) => disable(stores[n % 3] ?? fixture.store, 100)),
        );
        expect(outcomes.filter((outcome) => outcome === "applied")).toHaveLength(3);
      });
    });

    test("nothing is stored for an app that does not exist or was deleted", async () => {
      const fixture = await start("x");
      const { store } = fixture;
      expect(await put(store, "y", 5, 0, 1)).toBe("not-found");
      await fixture.deleteApp("x");
      expect(await put(store, "x", 5, 0, 1)).toBe("not-found");
      expect(await store.totals()).toEqual({ enabled: 0, disabled: 0, no_token: 0 });
    });
  });
}
