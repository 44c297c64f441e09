import { expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { applyValues } from "../../../src/config/settings/live-values.ts";
import { storeRankings } from "../../../src/db/index/counts/rankings.ts";
import { openIndexInMemory } from "../../../src/db/index/database.ts";
import { eventsAfter } from "../../../src/db/index/log/outbox.ts";
import { openHistory } from "../../../src/history/history.ts";
import { refreshRankings } from "../../../src/ingest/ranking.ts";
import { createLogRetention } from "../../../src/ingest/thread/log-retention.ts";
import { ok } from "../../../src/lib/result.ts";
import type { OutboundCall, OutboundClient } from "../../../src/net/client.ts";
import { startBackupSchedule } from "../../../src/node/backup/backup-schedule.ts";
import { noticesDeps } from "../../../src/node/compose/checks.ts";
import { createCallChannel } from "../../../src/notices/call-channel.ts";
import { testNotice } from "../../../src/notices/notice.ts";
import { createVapidKey } from "../../../src/notices/web-push.ts";
import { rankedChannels } from "../../../src/read/queries/feeds/ranking.ts";
import { openSnapshotNode } from "../../node/snapshot/snapshot-node.ts";
import { createBrowser, vapidClaims } from "../../notices/push-service.ts";
import { configWith } from "../../runtime/config.ts";
import { ManualClock } from "../../support/clock.ts";
import { silentLog } from "../../support/log.ts";
import { loopbackClient } from "../../support/loopback-client.ts";
import { until } from "../../support/manual-time.ts";
import { signedCast } from "../../support/messages.ts";
import { accountRecords, accountSigner, startTestNode } from "../../support/node.ts";
import { ownersBy } from "../../support/owners.ts";
import { startPushClient } from "../../support/push-client.ts";
import { hashFrom, insertCast } from "../../support/read-model.ts";
import { cast } from "../../support/records.ts";
import { notification, startSendApi } from "../../support/send.ts";
import { ManualTimers } from "../../support/timers.ts";
import { startScriptedUpstream, startTestWrites } from "../../support/writes.ts";
import { SEEN_IN_PARTS } from "./processes/now-settings.ts";

/** Settings that take effect at once, seen in the part that has them: what they change takes hours, or is seen by others. */

const NOON = 1_750_075_200;
const DAY = 86_400;

const SEEN: Readonly<Record<string, () => Promise<void>>> = {
  async "backup.index"() {
    using node = await openSnapshotNode();
    const config = structuredClone(
      configWith(`data.dir=${node.dataDir}`, `backup.dir=${node.path("root")}`, "backup.at=03:15"),
    );
    const clock = new ManualClock(NOON);
    const timers = new ManualTimers();
    const kinds: string[] = [];
    const schedule = startBackupSchedule({
      config,
      clock,
      log: silentLog,
      after: timers.after,
      async make(kind) {
        kinds.push(kind);
        const manifest = {
          format: 1,
          created_at: "",
          version: "",
          node: "",
          index: null,
          state: null,
        } as const;
        return { name: kind, path: kind, manifest, deleted: [], undeletable: [], leftOut: [] };
      },
    });
    const poll = async (afterSecs: number) => {
      while (timers.pendingMs === undefined) await timers.next();
      clock.advanceSecs(afterSecs);
      timers.fire(new ManualClock(0));
      while (timers.pendingMs === undefined) await timers.next();
    };
    await poll(0);
    applyValues(config, { "backup.index": true });
    await poll(DAY);
    expect(kinds).toEqual(["state", "whole"]);
    await schedule.stop();
  },

  async "history.log_days"() {
    const dir = mkdtempSync(join(tmpdir(), "svc-history-"));
    const config = structuredClone(configWith());
    const clock = new ManualClock(NOON);
    const history = openHistory({
      dir,
      settings: config.history,
      beginning: { version: "1", settings: {} },
      clock,
      log: silentLog,
    });
    const nothing = { samples: { t: [], names: [], columns: [] }, counts: [], requests: [], marks: [] };
    const search = { fromMs: 0, toMs: NOON * 2000, level: "info", words: [], limit: 10 } as const;
    const lines = async () => {
      const page = await history.rpc.log({ ...search, before: Number.MAX_SAFE_INTEGER });
      return page.ok ? page.value.lines.length : undefined;
    };
    const line = { atMs: NOON * 1000, level: "info", thread: "main", message: "an old line", fields: "" };
    history.rpc.record({ ...nothing, lines: [line] });
    // What is kept is looked at once an hour.
    clock.advanceSecs(3 * DAY);
    history.rpc.record({ ...nothing, lines: [] });
    expect(await lines()).toBe(1);
    applyValues(config, { "history.log_days": 2 });
    clock.advanceSecs(3600);
    history.rpc.record({ ...nothing, lines: [] });
    expect(await lines()).toBe(0);
    history.stop();
    rmSync(dir, { recursive: true });
  },

  async "send.send_timeout_secs"() {
    const timeouts: (number | undefined)[] = [];
    const loopback = loopbackClient();
    const client: OutboundClient = {
      ...loopback,
      request(call) {
        timeouts.push(call.timeoutMs);
        return loopback.request(call);
      },
    };
    await using api = await startSendApi({ client, timings: { timeoutMs: undefined } as object });
    await using receiver = startPushClient();
    api.addTokens([{ fid: 10, url: `http://c.example:${receiver.port}/`, token: "t" }]);
    const { config } = api.signed.api;
    expect((await api.send()).body).toMatchObject({ success_count: 1 });
    applyValues(config, { "send.send_timeout_secs": 77 });
    expect((await api.send()).body).toMatchObject({ success_count: 1 });
    expect(timeouts).toEqual([configWith().send.send_timeout_secs * 1000, 77_000]);
  },

  async "send.dedupe_ttl_secs"() {
    await using api = await startSendApi();
    await using receiver = startPushClient();
    api.addTokens([{ fid: 10, url: `http://c.example:${receiver.port}/`, token: "t" }]);
    const { node, config } = api.signed.api;
    /** Whether the same notification reaches its user again two hours later. */
    const isSentAgain = async () => {
      const body = { notification: { ...notification, uuid: crypto.randomUUID() } };
      expect((await api.send(body)).body).toMatchObject({ success_count: 1 });
      node.clock.advanceSecs(2 * 3600);
      return (await api.send(body)).body.success_count === 1;
    };
    expect(await isSentAgain()).toBe(false);
    applyValues(config, { "send.dedupe_ttl_secs": 3600 });
    expect(await isSentAgain()).toBe(true);
  },

  async "stream.retention_hours"() {
    const config = structuredClone(configWith());
    using node = startTestNode();
    node.ingestAll(accountRecords(1));
    const { db, clock } = node;
    // As the ingest thread has it.
    const retention = createLogRetention({
      db,
      clock,
      get outboxSecs() {
        return config.stream.retention_hours * 3600;
      },
      hubLogSecs: 90 * DAY,
    });
    node.merge(["a", "b"].map((text) => cast(1, text)));
    retention.markPublished(2);
    clock.advanceSecs(3 * 3600);
    const left = () => {
      for (let at = 0; at < 4; at++) retention.sweep();
      return eventsAfter(db, 0, 10).length;
    };
    expect(left()).toBe(2);
    applyValues(config, { "stream.retention_hours": 2 });
    expect(left()).toBe(0);
  },

  async "trending.window_hours"() {
    const config = structuredClone(configWith("trending.window_hours=24"));
    using db = openIndexInMemory();
    const clock = new ManualClock(NOON);
    // As the ranking thread has it.
    const refresh = {
      db,
      clock,
      get windowHours() {
        return config.trending.window_hours;
      },
      async store(snapshot: Parameters<typeof storeRankings>[1]) {
        storeRankings(db, snapshot);
      },
    };
    const parent = { $case: "parentUrl", value: "https://farcaster.xyz/~/channel/art" } as const;
    insertCast(db, { fid: 1, at: NOON - 6 * 3600, hash: hashFrom("six hours old"), body: { parent } });
    await refreshRankings(refresh);
    const ranked = () => rankedChannels(db, { limit: 5, after: undefined }).rows.length;
    expect(ranked()).toBe(1);
    applyValues(config, { "trending.window_hours": 3 });
    clock.advanceSecs(60);
    await refreshRankings(refresh);
    expect(ranked()).toBe(0);
  },

  async "writes.max_queued"() {
    await using upstream = await startScriptedUpstream();
    await using writes = await startTestWrites({ upstream, settings: ["writes.confirm_timeout_ms=0"] });
    const write = (text: string) => writes.submit([signedCast(1, text, accountSigner(1))]);
    expect(await write("a")).toMatchObject({ ok: true, outcomes: [{ state: "queued" }] });
    expect(await write("b")).toMatchObject({ ok: true });
    applyValues(writes.config, { "writes.max_queued": 1 });
    expect(await write("c")).toMatchObject({ ok: false, refusal: { status: 503 } });
  },

  async "writes.confirm_timeout_ms"() {
    await using upstream = await startScriptedUpstream();
    await using writes = await startTestWrites({ upstream, settings: ["writes.confirm_timeout_ms=0"] });
    const write = (text: string) => writes.submit([signedCast(1, text, accountSigner(1))]);
    // The network takes it; the index has it later.
    let taken: Uint8Array | undefined;
    upstream.onAccepted = (bytes) => {
      taken = bytes;
    };
    expect(await write("a")).toMatchObject({ ok: true, outcomes: [{ state: "queued" }] });
    applyValues(writes.config, { "writes.confirm_timeout_ms": 20_000 });
    taken = undefined;
    const reply = write("b");
    await until(() => taken !== undefined);
    writes.node.merge([{ kind: "message", bytes: taken ?? new Uint8Array() }]);
    expect(await reply).toMatchObject({ ok: true, outcomes: [{ state: "merged" }] });
  },

  async "notify.contact"() {
    const config = structuredClone(configWith());
    const calls: OutboundCall[] = [];
    const client = {
      async request(call: OutboundCall) {
        calls.push(call);
        return ok({ status: 201, headers: new Headers() });
      },
    } as unknown as OutboundClient;
    const clock = new ManualClock(NOON);
    const deps = noticesDeps(config, {
      ...{ store: {} as never, clock, log: silentLog },
      owners: ownersBy(() => undefined),
      isBehind: () => false,
    });
    // The getters stay those of the node.
    const call = createCallChannel(Object.create(deps, { client: { value: client } }), async () =>
      createVapidKey(),
    );
    const { keys } = await createBrowser();
    const target = { kind: "push", endpoint: "https://push.example/a", keys } as const;
    const contact = async () => {
      await call(target, testNotice("svc", 0, NOON), "id");
      const headers = calls.at(-1)?.headers as Readonly<Record<string, string>>;
      return (await vapidClaims(headers.authorization ?? "")).claims.sub;
    };
    expect(await contact()).toBe("mailto:operator@svc.invalid");
    applyValues(config, { "notify.contact": "mailto:ops@node.example" });
    expect(await contact()).toBe("mailto:ops@node.example");
  },
};

test("check 39: every setting that is seen in its part has an observation here", () => {
  expect(Object.keys(SEEN).toSorted()).toEqual([...SEEN_IN_PARTS].toSorted());
});

test.each(Object.entries(SEEN))("check 39: %s is in force at once in the part that has it", async (_, see) =>
  see(),
);
