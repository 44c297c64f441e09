import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { dueIn, isSameZone, waveOf, wavesOf, zoneNamed } from "../../../src/push/schedules/timing.ts";
import { shareOfWave } from "../../../src/push/schedules/wave-audience.ts";
import type { Timing } from "../../../src/push/store/campaigns/campaign-store.ts";

const secs = (iso: string) => Date.parse(iso) / 1000;
const local = (text: string, quiet: Timing["quiet"] = null): Timing => ({
  at: null,
  local: text,
  quiet,
  zone: "UTC",
});
const at = (iso: string, quiet: Timing["quiet"] = null): Timing => ({
  at: secs(iso),
  local: null,
  quiet,
  zone: "UTC",
});
const NIGHT = { from: 22 * 60, to: 8 * 60 };
const due = (timing: Timing, zone: string) => new Date(dueIn(timing, zone) * 1000).toISOString();
const ZONES = Intl.supportedValuesOf("timeZone");

/** The wall clock of a zone, by the formatter and not by what the code uses. */
function clockIn(zone: string, atSecs: number): string {
  const format = new Intl.DateTimeFormat("sv-SE", { timeZone: zone, dateStyle: "short", timeStyle: "short" });
  return format.format(atSecs * 1000).replace(" ", "T");
}

describe("a local time", () => {
  test("07:00 reaches each zone at its 07:00, in at most 40 waves within 26 hours", () => {
    const timing = local("2026-12-01T07:00");
    const waves = wavesOf(timing);
    expect(waves.length).toBeLessThanOrEqual(40);
    expect(waves.length).toBeGreaterThanOrEqual(36);
    expect((waves.at(-1) ?? 0) - (waves[0] ?? 0)).toBe(26 * 3_600);
    for (const zone of ZONES) {
      const wave = waves[waveOf(waves, dueIn(timing, zone))] ?? 0;
      expect(`${zone} ${clockIn(zone, wave)}`).toBe(`${zone} 2026-12-01T07:00`);
    }
  });

  test("that a clock change skips counts as the next one, and the first of a repeated one counts", () => {
    expect(due(local("2026-03-29T02:30"), "Europe/Berlin")).toBe("2026-03-29T01:30:00.000Z");
    expect(due(local("2026-10-25T02:30"), "Europe/Berlin")).toBe("2026-10-25T00:30:00.000Z");
    // Lord Howe moves by half an hour, Apia once left a day out.
    expect(due(local("2026-04-05T01:45"), "Australia/Lord_Howe")).toBe("2026-04-04T14:45:00.000Z");
    expect(due(local("2026-12-01T07:00"), "Asia/Kathmandu")).toBe("2026-12-01T01:15:00.000Z");
  });
});

describe("quiet hours", () => {
  test("move people to their end, over midnight and over a change of the clock", () => {
    const timing = at("2026-10-24T23:00:00Z", NIGHT);
    expect(due(timing, "UTC")).toBe("2026-10-25T08:00:00.000Z");
    expect(due(timing, "Europe/Berlin")).toBe("2026-10-25T07:00:00.000Z");
    expect(due(timing, "America/New_York")).toBe("2026-10-24T23:00:00.000Z");
    expect(due(at("2026-10-24T21:59:00Z", NIGHT), "UTC")).toBe("2026-10-24T22:00:00.000Z");
    expect(due(at("2026-10-25T08:00:00Z", NIGHT), "UTC")).toBe("2026-10-25T08:00:00.000Z");
    const lunch = { from: 12 * 60, to: 13 * 60 };
    expect(due(at("2026-10-24T12:30:00Z", lunch), "UTC")).toBe("2026-10-24T13:00:00.000Z");
    expect(due(at("2026-10-24T11:30:00Z", lunch), "UTC")).toBe("2026-10-24T11:30:00.000Z");
  });

  test.each([
    ["over midnight", NIGHT, "2026-10-24T22:00:00Z", "2026-10-25T08:00:00Z"],
    ["within a day", { from: 12 * 60, to: 13 * 60 }, "2026-10-24T12:00:00Z", "2026-10-24T13:00:00Z"],
  ])("%s begin with their first minute and end before their last one", (_, quiet, first, end) => {
    const minute = 60_000;
    const dueAt = (ms: number) => Date.parse(due(at(new Date(ms).toISOString(), quiet), "UTC"));
    expect(dueAt(Date.parse(first))).toBe(Date.parse(end));
    expect(dueAt(Date.parse(end) - minute)).toBe(Date.parse(end));
    expect(dueAt(Date.parse(end))).toBe(Date.parse(end));
    const quarterBefore = Date.parse(first) - 15 * minute;
    expect(dueAt(quarterBefore)).toBe(quarterBefore);
  });

  test("that have ended bring no one's notification forward", () => {
    const lunch = { from: 12 * 60, to: 13 * 60 };
    expect(due(at("2026-10-25T08:00:30Z", NIGHT), "UTC")).toBe("2026-10-25T08:15:00.000Z");
    expect(due(at("2026-10-25T13:00:30Z", lunch), "UTC")).toBe("2026-10-25T13:15:00.000Z");
  });

  test("make one time into a wave for each time at which they end somewhere", () => {
    const start = "2026-12-01T12:00:00Z";
    const waves = wavesOf(at(start, NIGHT));
    expect([waves[0], waves.at(-1)]).toEqual([secs(start), secs("2026-12-01T22:00:00Z")]);
    for (const zone of ZONES) {
      const wave = waves[waveOf(waves, dueIn(at(start, NIGHT), zone))] ?? 0;
      const shown = clockIn(zone, wave).slice(11);
      expect({
        zone,
        isAwake: wave === secs(start) ? shown >= "08:00" && shown < "22:00" : shown === "08:00",
      }).toEqual({
        zone,
        isAwake: true,
      });
    }
  });

  test("no one is notified in them, at any time of two years in any zone, and no one waits for more than a day", () => {
    const minute = fc.integer({ min: 0, max: 95 }).map((quarter) => quarter * 15);
    fc.assert(
      fc.property(
        fc.constantFrom(...ZONES),
        fc.integer({ min: secs("2026-01-01T00:00:00Z"), max: secs("2027-12-31T00:00:00Z") }),
        minute,
        minute,
        (zone, start, from, to) => {
          fc.pre(from !== to);
          const timing: Timing = { at: start, local: null, quiet: { from, to }, zone: "UTC" };
          const dueSecs = dueIn(timing, zone);
          const [hours = 0, minutes = 0] = clockIn(zone, dueSecs).slice(11).split(":").map(Number);
          const shown = hours * 60 + minutes;
          const isQuiet = from > to ? shown >= from || shown < to : shown >= from && shown < to;
          // A start that is not on a quarter is rounded up, and may reach the quiet hours by less than that.
          const isRounded = dueSecs - start < 900;
          return (!isQuiet || isRounded) && dueSecs >= start && dueSecs - start <= 25 * 3_600 + 900;
        },
      ),
      { numRuns: 300 },
    );
  });
});

test("every zone has a place among the waves, whatever time its rules give", () => {
  expect(wavesOf(at("2026-12-01T07:00:00Z"))).toEqual([secs("2026-12-01T07:00:00Z")]);
  expect([waveOf([10, 20], 5), waveOf([10, 20], 10), waveOf([10, 20], 11), waveOf([10, 20], 99)]).toEqual([
    ...[0, 0, 1, 1],
  ]);
});

test("names of zones in any spelling have one, and other texts have none", () => {
  expect(zoneNamed("Europe/Berlin")).toBe("Europe/Berlin");
  expect(zoneNamed("europe/berlin")).toBe("Europe/Berlin");
  expect([isSameZone("Asia/Calcutta", "Asia/Kolkata"), isSameZone("Asia/Tokyo", "Asia/Seoul")]).toEqual([
    true,
    false,
  ]);
  for (const text of ["", "+05:30", "Nowhere/X", "../etc", "Europe/Berlin\n", "x".repeat(1_000), "UTC;DROP"])
    expect(zoneNamed(text)).toBeUndefined();
});

test("the people of a campaign are those of the times that were stored, whatever zones a later release knows", () => {
  const timing = local("2026-12-01T07:00");
  const texts = [{ title: "T", body: "B", targetUrl: "https://app.example" }];
  const times = wavesOf(timing).filter((_, at) => at % 2 === 0);
  const content = { texts, timing, times, holdoutPercent: 0 };
  const share = shareOfWave("s", content, { wave: 3, variant: 0 });
  expect(share?.wave).toEqual({ place: 3, waves: times, timing });
});
