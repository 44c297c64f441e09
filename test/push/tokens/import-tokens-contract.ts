import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { createUrlGuard } from "../../../src/net/guard.ts";
import type { TokenImport } from "../../../src/push/store/tokens/token-import.ts";
import type { TokenEvent, TokenStore } from "../../../src/push/store/tokens/token-store.ts";
import { importTokens } from "../../../src/push/tokens/transfer/import-tokens.ts";
import { exportTokens } from "../../../src/push/tokens/transfer/token-file.ts";
import { ManualClock } from "../../support/clock.ts";
import { APP_ID } from "../../support/send.ts";

const NOW = 2_000_000_000;
const guard = createUrlGuard({
  allowCidrs: [],
  allowHttp: false,
  resolve: async (name) => [name.startsWith("private.") ? "10.0.0.1" : "93.184.216.34"],
});

interface Listed {
  readonly fid: number;
  readonly host?: string;
  readonly token?: string;
  readonly status?: string;
  /** Unix seconds. */
  readonly at?: number;
}

const isoOf = (secs: number) => new Date(secs * 1000).toISOString();

export function listed({
  fid,
  host = "a.example",
  token = `t${fid}`,
  status = "enabled",
  at = 1000,
}: Listed) {
  const times = { created_at: isoOf(500), updated_at: isoOf(at) };
  return { object: "notification_token", fid, url: `https://${host}/n`, token, status, ...times };
}

/** A state with the app `APP_ID`. */
export interface ImportFixture extends AsyncDisposable {
  readonly store: TokenStore;
  openImport(options: { readonly dryRun: boolean }): TokenImport;
  /** The rows of the tokens in the order of their keys, with 0 and 1 as flags. */
  rows(): Promise<Record<string, unknown>[]>;
}

/** Imports a list. */
export async function take(
  app: Pick<ImportFixture, "openImport">,
  tokens: readonly unknown[],
  options: { readonly clients?: Record<string, number>; readonly dryRun?: boolean } = {},
) {
  using into = app.openImport({ dryRun: options.dryRun ?? false });
  const report = await importTokens({
    appId: APP_ID,
    tokens: (async function* () {
      yield* tokens;
    })(),
    into,
    guard,
    clientFids: new Map(Object.entries(options.clients ?? {})),
    clock: new ManualClock(NOW),
    signal: new AbortController().signal,
  });
  return { ...report.outcomes, refused: Object.fromEntries(report.refused), lines: report.lines() };
}

const counts = (input: Partial<Record<"added" | "updated" | "unchanged" | "newer_here", number>> = {}) => ({
  added: 0,
  updated: 0,
  unchanged: 0,
  newer_here: 0,
  refused: {},
  ...input,
});

/** A token event of a client. */
function report(app: ImportFixture, fid: number, clientFid: number, event: TokenEvent, at = 1500) {
  const change = { appId: APP_ID, fid, clientFid, event, nowSecs: at };
  return app.store.apply(change, { maxChanges: 1000, windowSecs: 1 });
}
const details = (host: string, token: string) => ({ url: `https://${host}/n`, host, token });

/** The guarantees of an import into any implementation of the token store. */
export function importTokensContract(name: string, open: () => Promise<ImportFixture>): void {
  describe(`an import into ${name}`, () => {
    test("imports tokens with their client, state and times", async () => {
      await using app = await open();
      const tokens = [
        listed({ fid: 5 }),
        listed({ fid: 5, host: "b.example:8443", token: "second" }),
        listed({ fid: 6, status: "disabled" }),
        { fid: 7, url: "https://a.example/n", token: "timeless" },
      ];
      const clients = { "a.example": 9152, "b.example:8443": 309857 };
      expect(await take(app, tokens, { clients })).toMatchObject(counts({ added: 4 }));
      const row = (fid: number, client_fid: number, host: string, token: string, times = [500, 1000]) => ({
        app_id: APP_ID,
        fid,
        client_fid,
        url: `https://${host}/n`,
        host,
        token,
        enabled: fid === 6 ? 0 : 1,
        last_event: "imported",
        created_at: times[0],
        updated_at: times[1],
      });
      expect(await app.rows()).toEqual([
        row(5, 9152, "a.example", "t5"),
        row(5, 309857, "b.example:8443", "second"),
        row(6, 9152, "a.example", "t6"),
        row(7, 9152, "a.example", "timeless", [NOW, NOW]),
      ]);
      expect(await app.store.totals()).toEqual({ enabled: 3, disabled: 1, no_token: 0 });
    });

    test("refuses unusable tokens, counted by reason", async () => {
      await using app = await open();
      const tokens = [
        listed({ fid: 5, status: "invalid" }),
        listed({ fid: 6, host: "private.example" }),
        { ...listed({ fid: 7 }), url: "http://a.example/n" },
        { ...listed({ fid: 8 }), url: "http://a.example/n" },
        "nonsense",
        listed({ fid: 9 }),
      ];
      const { lines, ...result } = await take(app, tokens);
      expect(result).toEqual(
        counts({
          added: 1,
          refused: {
            "status is invalid: the client takes nothing for it": 1,
            "url must have a host that resolves to public addresses only": 1,
            "url must use https": 2,
            "the token must be an object": 1,
          },
        } as object),
      );
      expect(lines).toEqual([
        "Tokens: 1 added, 0 updated, 0 unchanged, 0 newer here, 5 refused",
        "  a.example: 1 (client unknown)",
        "  refused 1: status is invalid: the client takes nothing for it",
        "  refused 1: url must have a host that resolves to public addresses only",
        "  refused 2: url must use https",
        "  refused 1: the token must be an object",
      ]);
    });

    test("updates a row for a later change in the list, not for an earlier one", async () => {
      await using app = await open();
      await take(app, [listed({ fid: 5 })]);
      const later = listed({ fid: 5, token: "new", status: "disabled", at: 1001 });
      expect(await take(app, [later])).toMatchObject(counts({ updated: 1 }));
      expect(await app.rows()).toMatchObject([
        { token: "new", enabled: 0, created_at: 500, updated_at: 1001 },
      ]);
      expect(await take(app, [listed({ fid: 5 })])).toMatchObject(counts({ newer_here: 1 }));
      const timeless = { fid: 5, url: "https://a.example/n", token: "timeless" };
      expect(await take(app, [timeless])).toMatchObject(counts({ newer_here: 1 }));
      expect(await app.rows()).toMatchObject([{ token: "new", enabled: 0 }]);
      expect(await app.store.totals()).toEqual({ enabled: 0, disabled: 1, no_token: 0 });
    });

    test("an entry with one of the two times has it for both", async () => {
      await using app = await open();
      const { updated_at: _, ...created } = listed({ fid: 5 });
      const { created_at: __, ...updated } = listed({ fid: 6 });
      expect(await take(app, [created, updated])).toMatchObject(counts({ added: 2 }));
      expect(await app.rows()).toMatchObject([
        { fid: 5, created_at: 500, updated_at: 500 },
        { fid: 6, created_at: 1000, updated_at: 1000 },
      ]);
    });

    test.each([
      ["URL", { url: "https://a.example/other" }, { url: "https://a.example/other" }],
      ["token", { token: "other" }, { token: "other" }],
      ["state", { status: "disabled" }, { enabled: 0 }],
    ])("a later entry with only another %s updates the row", async (_, change, column) => {
      await using app = await open();
      await take(app, [listed({ fid: 5 })]);
      const later = { ...listed({ fid: 5, at: 1001 }), ...change };
      expect(await take(app, [later])).toMatchObject(counts({ updated: 1 }));
      expect(await app.rows()).toMatchObject([{ ...column, updated_at: 1001 }]);
    });

    test("the growth of the app counts what an import enables and disables, on the day of the import", async () => {
      await using app = await open();
      await take(app, [listed({ fid: 5 }), listed({ fid: 6 }), listed({ fid: 7, status: "disabled" })]);
      await take(app, [listed({ fid: 6, status: "disabled", at: 1001 })]);
      const { days } = await app.store.audience(APP_ID, { fromDay: 0, maxClients: 1 });
      const day = Math.floor(NOW / 86_400);
      expect(days).toEqual([{ day, added: 2, removed: 0, disabled: 1, invalidated: 0 }]);
    });

    test("a later entry gives a token to a client that had added the app without one", async () => {
      await using app = await open();
      await report(app, 5, 9152, { name: "miniapp_added", details: undefined });
      const clients = { "a.example": 9152 };
      const later = [listed({ fid: 5, at: 2000 })];
      expect(await take(app, later, { clients })).toMatchObject(counts({ updated: 1 }));
      expect(await app.rows()).toMatchObject([{ client_fid: 9152, token: "t5", enabled: 1 }]);
    });

    test("a later entry moves an imported row of a client to its other host", async () => {
      await using app = await open();
      const clients = { "a.example": 9152, "b.example": 9152 };
      await take(app, [listed({ fid: 5 })], { clients });
      const moved = [listed({ fid: 5, host: "b.example", at: 1001 })];
      expect(await take(app, moved, { clients })).toMatchObject(counts({ updated: 1 }));
      expect(await app.rows()).toMatchObject([{ client_fid: 9152, host: "b.example" }]);
    });

    test("assigns no row that a client reported, that has a client, or that is of another host", async () => {
      await using app = await open();
      await report(app, 5, 0, { name: "miniapp_added", details: details("a.example", "own") });
      await take(app, [listed({ fid: 6 })], { clients: { "a.example": 309857 } });
      await take(app, [listed({ fid: 7, host: "b.example" })]);
      const before = await app.rows();
      const list = [5, 6, 7].map((fid) => listed({ fid, at: 2000 }));
      const clients = { "a.example": 9152 };
      expect(await take(app, list, { clients })).toMatchObject(counts({ added: 3 }));
      const rows = await app.rows();
      expect(rows).toHaveLength(6);
      expect(rows).toEqual(expect.arrayContaining(before));
    });

    test("retains a row that its client changed later than the list, with and without --client-fid", async () => {
      const namings: readonly Record<string, number>[] = [{}, { "a.example": 9152 }];
      for (const clients of namings) {
        await using app = await open();
        await report(app, 5, 9152, { name: "notifications_enabled", details: details("a.example", "mine") });
        await report(app, 6, 9152, { name: "notifications_enabled", details: details("a.example", "mine") });
        await report(app, 6, 9152, { name: "notifications_disabled" });
        const before = await app.rows();
        const tokens = [listed({ fid: 5 }), listed({ fid: 6, token: "mine" })];
        expect(await take(app, tokens, { clients })).toMatchObject(counts({ newer_here: 2 }));
        expect(await app.rows()).toEqual(before);
        const moved = [listed({ fid: 5, at: 3000 })];
        expect(await take(app, moved, { clients })).toMatchObject(counts({ updated: 1 }));
        expect((await app.rows())[0]).toMatchObject({ fid: 5, client_fid: 9152, token: "t5" });
      }
    });

    test("replaces the token of an unknown client by the first one that the host's client reports", async () => {
      await using app = await open();
      await take(app, [listed({ fid: 5 }), listed({ fid: 6 })]);
      await report(app, 5, 9152, { name: "notifications_enabled", details: details("a.example", "mine") });
      await report(app, 6, 309857, { name: "miniapp_added", details: details("b.example", "theirs") });
      expect(await app.rows()).toMatchObject([
        { fid: 5, client_fid: 9152, token: "mine" },
        { fid: 6, client_fid: 0, token: "t6", enabled: 1 },
        { fid: 6, client_fid: 309857, token: "theirs" },
      ]);
      expect(await app.store.totals()).toEqual({ enabled: 3, disabled: 0, no_token: 0 });
    });

    test.each<[string, TokenEvent]>([
      ["turns notifications off", { name: "notifications_disabled" }],
      ["adds the app without notifications", { name: "miniapp_added", details: undefined }],
    ])("does not send to a token imported without a client after the user's client %s", async (_, event) => {
      await using app = await open();
      await take(app, [listed({ fid: 5 })]);
      await report(app, 5, 9152, event);
      expect(await app.store.listLiveOf(APP_ID, [5])).toEqual([]);
      expect((await app.store.totals()).enabled).toBe(0);
      // The next import does not restore it.
      expect(await take(app, [listed({ fid: 5 })])).toMatchObject({ added: 0, updated: 0 });
      expect(await app.store.listLiveOf(APP_ID, [5])).toEqual([]);
    });

    test.each<[string, TokenEvent]>([
      ["turns notifications off", { name: "notifications_disabled" }],
      ["adds the app again, without notifications", { name: "miniapp_added", details: undefined }],
    ])("a client with its own row that %s changes only that row", async (_, event) => {
      await using app = await open();
      await report(app, 5, 309857, { name: "miniapp_added", details: details("b.example", "theirs") });
      await take(app, [listed({ fid: 5, at: 2000 })]);
      await report(app, 5, 309857, event, 2001);
      expect((await app.store.listLiveOf(APP_ID, [5])).map(({ details: { token } }) => token)).toEqual([
        "t5",
      ]);
    });

    test("an event of a client without an fid replaces the token imported without a client", async () => {
      await using app = await open();
      await take(app, [listed({ fid: 5 })]);
      await report(app, 5, 0, { name: "notifications_enabled", details: details("a.example", "mine") });
      expect(await app.rows()).toMatchObject([{ client_fid: 0, token: "mine", enabled: 1 }]);
      expect(await app.store.totals()).toEqual({ enabled: 1, disabled: 0, no_token: 0 });
    });

    test("assigns the tokens to a client that a later import names, without duplicates", async () => {
      await using app = await open();
      await take(app, [listed({ fid: 5 })]);
      const clients = { "a.example": 9152 };
      expect(await take(app, [listed({ fid: 5 })], { clients })).toMatchObject(counts({ updated: 1 }));
      expect(await app.rows()).toMatchObject([{ fid: 5, client_fid: 9152, token: "t5" }]);
      expect(await take(app, [listed({ fid: 5 })], { clients })).toMatchObject(counts({ unchanged: 1 }));
    });

    test("refuses a second unknown host of a user, and the report names the remedy", async () => {
      await using app = await open();
      const tokens = [listed({ fid: 5 }), listed({ fid: 5, host: "b.example" })];
      for (const added of [1, 0]) {
        const { refused, ...result } = await take(app, tokens);
        expect(result).toMatchObject({ added, unchanged: 1 - added });
        expect(Object.entries(refused)).toEqual([[expect.stringContaining("--client-fid"), 1]]);
      }
      const clients = { "b.example": 309857 };
      expect(await take(app, tokens, { clients })).toMatchObject(counts({ added: 1, unchanged: 1 }));
    });

    test("a dry run reports the outcomes of an import and changes nothing", async () => {
      await using app = await open();
      await take(app, [listed({ fid: 5 })]);
      const tokens = Array.from({ length: 2500 }, (_, at) => listed({ fid: 5 + at, at: 1000 + at }));
      const before = await app.rows();
      const said = await take(app, tokens, { dryRun: true });
      expect(await app.rows()).toEqual(before);
      expect(await app.store.totals()).toEqual({ enabled: 1, disabled: 0, no_token: 0 });
      expect(await take(app, tokens)).toEqual(said);
    });

    test("does not move a client's reported host, so that an import is idempotent", async () => {
      await using app = await open();
      await report(app, 4, 1, { name: "miniapp_added", details: details("b.example", "own") });
      const before = await app.rows();
      const list = [listed({ fid: 4, host: "b.example" }), listed({ fid: 4, at: NOW + 1 })];
      for (let time = 0; time < 2; time++) {
        const outcome = await take(app, list, { clients: { "a.example": 1 } });
        expect(outcome).toMatchObject(counts({ newer_here: 2 }));
        expect(await app.rows()).toEqual(before);
      }
    });

    test("applies the latest of several changes of one token in a list, in any order", async () => {
      await using app = await open();
      const list = [
        listed({ fid: 1, token: "y" }),
        listed({ fid: 1, token: "y", at: 1501 }),
        listed({ fid: 1, token: "x", at: 1500 }),
      ];
      for (let time = 0; time < 2; time++) {
        await take(app, list);
        expect(await app.rows()).toMatchObject([{ token: "y", updated_at: 1501 }]);
      }
    });

    test("importing any list is idempotent", async () => {
      const token = fc.record({
        fid: fc.integer({ min: 1, max: 4 }),
        host: fc.constantFrom("a.example", "b.example", "c.example"),
        token: fc.constantFrom("x", "y"),
        status: fc.constantFrom("enabled", "disabled", "invalid"),
        at: fc.constantFrom(1000, 1499, 1500, 1501),
      });
      const reported = fc.record({
        fid: fc.integer({ min: 1, max: 4 }),
        clientFid: fc.constantFrom(0, 1, 2),
        host: fc.constantFrom("a.example", "b.example"),
      });
      const named = fc.constantFrom<Record<string, number>[]>(
        {},
        { "a.example": 1 },
        { "a.example": 1, "b.example": 2 },
      );
      await fc.assert(
        fc.asyncProperty(
          fc.array(token, { maxLength: 12 }),
          fc.array(reported, { maxLength: 4 }),
          named,
          async (input, events, clients) => {
            await using app = await open();
            for (const { fid, clientFid, host } of events) {
              await report(app, fid, clientFid, { name: "miniapp_added", details: details(host, "own") });
            }
            const list = input.map(listed);
            await take(app, list, { clients });
            const once = await app.rows();
            const again = await take(app, list, { clients });
            expect(await app.rows()).toEqual(once);
            expect(again).toMatchObject({ added: 0, updated: 0 });
            const rows = await app.store.list({ appId: APP_ID, after: undefined, max: 100 });
            const all = await app.store.totals();
            expect(all.enabled).toBe(rows.filter(({ state }) => state === "enabled").length);
            expect(all.enabled + all.disabled + all.no_token).toBe(once.length);
          },
        ),
        { numRuns: 60 },
      );
    });

    test("exports every token, and importing the export changes nothing", async () => {
      await using app = await open();
      await take(
        app,
        Array.from({ length: 2100 }, (_, at) => listed({ fid: 1 + at })),
      );
      await report(app, 9000, 9152, { name: "miniapp_added", details: undefined });
      const text = (await Array.fromAsync(exportTokens(app.store, APP_ID))).join("");
      const page = JSON.parse(text);
      expect(page.next).toEqual({ cursor: null });
      expect(page.notification_tokens).toHaveLength(2100);
      expect(page.notification_tokens[0]).toEqual(listed({ fid: 1 }));
      expect(await take(app, page.notification_tokens)).toMatchObject(counts({ unchanged: 2100 }));
    });
  });
}
