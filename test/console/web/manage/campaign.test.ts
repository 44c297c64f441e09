import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import fc from "fast-check";
import {
  type CampaignHost,
  campaignCsv,
  draftOfCampaign,
  outcomeOf,
  progressOf,
  reasonText,
} from "../../../../src/console/web/manage/apps/campaign.ts";

const campaign = {
  campaign_id: "c",
  app_id: "a",
  schedule_id: null,
  status: "running" as const,
  notification: { uuid: "u", title: "T", body: "B", target_url: "https://a.example/" },
  success_count: 3,
  failure_count: 2,
  not_attempted_count: 1,
  audience_count: 10,
  created_at: 1,
  started_at: 1,
  completed_at: null,
  tokens_per_second: 6,
  client_hosts: [],
  client_host_count: 0,
  errors: {},
  not_attempted: {},
  retryable_fids: [5, 9],
};

const reasons = (errors: Record<string, number>, not_attempted: Record<string, number> = {}) => ({
  errors,
  not_attempted,
});

describe("the figures of a campaign", () => {
  test("are said in plain words: how many tokens of all it reached, and why others did not", () => {
    expect(outcomeOf(progressOf(campaign), reasons({ rate_limited: 1, invalid_token: 1 }))).toBe(
      "Delivered 3 of 10; 1 rate limited; 1 failed; 1 skipped",
    );
    const whole = {
      ...campaign,
      success_count: 1,
      failure_count: 0,
      not_attempted_count: 0,
      audience_count: 1,
    };
    expect(outcomeOf(progressOf(whole), reasons({}))).toBe("Delivered 1 of 1");
    const none = { ...campaign, success_count: 0, failure_count: 0, not_attempted_count: 0 };
    expect(outcomeOf(progressOf(none), reasons({}))).toBeUndefined();
  });

  test("leave out the tokens of people outside of the audience", () => {
    const figures = { success_count: 60, failure_count: 0, not_attempted_count: 140, audience_count: 200 };
    const progress = progressOf({ ...campaign, ...figures });
    const outcome = (not_attempted: Record<string, number>) =>
      outcomeOf(progress, reasons({}, not_attempted));
    expect(outcome({ not_in_segment: 140 })).toBe("Delivered 60 of 60; 140 not among them");
    expect(outcome({ not_in_segment: 100, excluded: 10, not_following: 25, duplicate: 5 })).toBe(
      "Delivered 60 of 65; 5 skipped; 135 not among them",
    );
  });

  test("add up to its audience", () => {
    expect(progressOf(campaign)).toEqual({
      delivered: 3,
      failed: 2,
      notAttempted: 1,
      settled: 6,
      total: 10,
      remaining: 4,
    });
    expect(progressOf({ ...campaign, audience_count: null }).remaining).toBeNull();
    // Tokens arrived while it ran.
    expect(progressOf({ ...campaign, audience_count: 4 })).toMatchObject({ total: 6, remaining: 0 });
  });

  test("check 28: never go backwards while it runs, also when a restarted run counts again; the end is the API's", () => {
    const count = fc.nat(20);
    const response = fc.record({ success_count: count, failure_count: count, not_attempted_count: count });
    fc.assert(
      fc.property(fc.array(response, { minLength: 1 }), (responses) => {
        let shown: ReturnType<typeof progressOf> | undefined;
        for (const figures of responses) {
          const next = progressOf({ ...campaign, ...figures }, shown);
          if (shown) {
            expect(next.delivered).toBeGreaterThanOrEqual(shown.delivered);
            expect(next.failed).toBeGreaterThanOrEqual(shown.failed);
            expect(next.notAttempted).toBeGreaterThanOrEqual(shown.notAttempted);
            expect(next.settled).toBeGreaterThanOrEqual(shown.settled);
          }
          expect((next.remaining ?? 0) >= 0).toBe(true);
          shown = next;
        }
        expect(progressOf({ ...campaign, status: "completed" }, shown)).toMatchObject({
          delivered: 3,
          settled: 6,
        });
      }),
    );
  });

  test("a retry keeps the notification's id and names who is left; a duplicate is a new one for everybody", () => {
    expect(draftOfCampaign(campaign, "retryable")).toMatchObject({
      uuid: "u",
      audience: "some",
      target_fids: "5, 9",
    });
    expect(draftOfCampaign(campaign, "everyone")).toMatchObject({
      audience: "everyone",
      target_fids: "",
    });
  });
});

describe("CSV", () => {
  test("has a line for each host", () => {
    const hosts: CampaignHost[] = [
      {
        host: "a.example",
        success_count: 5,
        failure_count: 3,
        not_attempted_count: 1,
        errors: { timeout: 2, dns: 1 },
      },
      { host: "=cmd|x", success_count: 0, failure_count: 0, not_attempted_count: 0, errors: {} },
    ];
    expect(campaignCsv(hosts)).toBe(
      "host,delivered,failed,not_attempted,reasons\r\na.example,5,3,1,timeout 2; dns 1\r\n'=cmd|x,0,0,0,\r\n",
    );
  });
});

test("each reason of a send has words on the page; an unknown one keeps its name", async () => {
  const push = join(import.meta.dir, "../../../../src/push");
  const sources = await Promise.all(
    [...new Bun.Glob("**/*.ts").scanSync(push)].map((path) => Bun.file(join(push, path)).text()),
  );
  const source = sources.join("\n");
  const named = [
    ...source.matchAll(/\breason(?: =|:) "([a-z_]+)"|(?:\bpermanentFailure|\bfailure)\("([a-z_]+)"/g),
  ].map(([, a, b]) => a ?? b ?? "");
  const [, failed = ""] = /FAILED_REASONS = new Set\(\[(.*?)\]/.exec(source) ?? [];
  const [, leftOut = ""] = /type LeftOutReason =(.*?);/s.exec(source) ?? [];
  const quoted = (text: string) => [...text.matchAll(/"([a-z_]+)"/g)].map(([, name]) => name ?? "");
  const reasons = [
    ...named,
    ...quoted(failed).map((name) => `failed_${name}`),
    ...quoted(leftOut),
    ...["failed_other", "duplicate", "claimed_by_another"],
  ];
  expect(reasons.length).toBeGreaterThan(15);
  expect(reasons.filter((reason) => reasonText(reason) === reason)).toEqual([]);
  expect(reasonText("http_503")).toBe("the client responded with 503");
  expect(["constructor", "of_next_year"].map(reasonText)).toEqual(["constructor", "of_next_year"]);
});
