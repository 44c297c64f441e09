import { expect, test } from "bun:test";
import { createIncidents } from "../../src/checks/incident-store.ts";
import { createOwnerFindings } from "../../src/checks/owners/owner-findings.ts";
import { operatorReport, publicReport, SHOWN_DAYS } from "../../src/checks/report.ts";
import { atomFeed } from "../../src/console/incidents/routes.ts";
import { openStateInMemory } from "../../src/db/state/database.ts";
import { taskStateDb } from "../../src/db/state/sqlite-state-db.ts";
import { configWith } from "../runtime/config.ts";

const DAY_SECS = 86_400;
const TODAY = 20_000 * DAY_SECS;
const NOW = TODAY + 3600;
const CONTEXT = { nowSecs: NOW, watchedSince: 0, thresholds: configWith().checks };

test("anyone sees public incidents with their note, and the operator sees all, with what was done", async () => {
  using db = openStateInMemory();
  const incidents = createIncidents(taskStateDb(db));
  const open = (checkId: string, severity: "warning" | "critical" | "notice", atSecs: number) =>
    incidents.open(
      { incidentId: `of-${checkId}`, checkId, nodeId: "a", severity, sentence: `${checkId} fails.` },
      atSecs,
    );
  await open("disk_almost_full", "critical", NOW - 60);
  await open("index_behind", "critical", TODAY - 2 * DAY_SECS - 10);
  await incidents.resolve("index_behind", "a", TODAY - 2 * DAY_SECS + 10);
  await open("slow", "warning", NOW - 30);
  await open("of_another_release", "warning", NOW - 20);
  await incidents.acknowledge("of-slow", "ann@host", "we look at it", NOW);

  const shown = await publicReport(incidents, CONTEXT);
  expect(shown.incidents.map(({ id, state }) => [id, state])).toEqual([
    ["of-slow", "acknowledged"],
    ["of-index_behind", "resolved"],
  ]);
  expect(shown.incidents[0]).toEqual({
    id: "of-slow",
    check: "slow",
    title: "Slow responses",
    node: "a",
    severity: "warning",
    state: "acknowledged",
    sentence: "slow fails.",
    resolution: "Resolves once 99 in a hundred requests have taken less than 1 s for 5 min.",
    opened_at: NOW - 30,
    resolved_at: null,
    flaps: 0,
    note: "we look at it",
  });
  expect(shown.days).toHaveLength(SHOWN_DAYS);
  expect(shown.days.slice(-5)).toEqual(["ok", "critical", "critical", "ok", "warning"]);

  const findings = createOwnerFindings(taskStateDb(db));
  const all = await operatorReport(incidents, { ...CONTEXT, findings });
  expect(all.incidents.map(({ id, is_public: isPublic }) => [id, isPublic])).toEqual([
    ["of-of_another_release", false],
    ["of-slow", true],
    ["of-disk_almost_full", false],
    ["of-index_behind", true],
  ]);
  expect(all.incidents[1]).toMatchObject({ acked_by: "ann@host", acked_at: NOW });
  expect(all.days.at(-1)).toBe("critical");
});

test("the operator also sees owners' open incidents and whose they are; the days and everyone else do not", async () => {
  using db = openStateInMemory();
  const incidents = createIncidents(taskStateDb(db));
  const own = { checkId: "webhook_failing", severity: "warning", ownerFid: 3 } as const;
  await incidents.open(
    { ...own, incidentId: "open", nodeId: "hook-1", sentence: "Deliveries fail." },
    NOW - 60,
  );
  await incidents.open({ ...own, incidentId: "over", nodeId: "hook-2", sentence: "Deliveries fail." }, NOW);
  await incidents.resolve("webhook_failing", "hook-2", NOW);
  await incidents.open(
    { incidentId: "node", checkId: "disk_almost_full", nodeId: "a", severity: "notice", sentence: "Full." },
    NOW,
  );
  const findings = createOwnerFindings(taskStateDb(db));
  const report = await operatorReport(incidents, { ...CONTEXT, findings });
  expect(report.incidents.map(({ id, owner_fid, node, title }) => [id, owner_fid, node, title])).toEqual([
    ["node", null, "a", "Disk almost full"],
    ["open", 3, null, "Webhook failing"],
  ]);
  expect(report.days.at(-1)).toBe("notice");
  expect((await publicReport(incidents, CONTEXT)).incidents).toEqual([]);
});

test("the feed has an entry for each incident, escapes every text and has no character that XML lacks", () => {
  const incident = {
    id: "i1",
    check: "slow",
    title: 'Slow <b> & "co"',
    node: null,
    severity: "warning",
    state: "open",
    sentence: "a\u0000b]]>\ud800",
    resolution: null,
    opened_at: NOW,
    resolved_at: null,
    flaps: 0,
    note: "x\u202ey",
  } as const;
  const feed = atomFeed([incident], {
    service: "svc",
    page: "https://host.example/console/status",
    nowSecs: NOW,
  });
  expect(feed).toContain("<title>Slow &lt;b&gt; &amp; &quot;co&quot;: open</title>");
  expect(feed).toContain('<content type="text">a\ufffdb]]&gt;\ufffd\nx\u202ey</content>');
  expect(feed).toContain("<id>https://host.example/console/status#i1</id>");
  const empty = atomFeed([], { service: "svc", page: "https://host.example/console/status", nowSecs: NOW });
  expect(empty).toContain(`<updated>${new Date(NOW * 1000).toISOString()}</updated>`);
});
