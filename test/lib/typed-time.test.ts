import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { typedTime } from "../../src/lib/iso-time.ts";

const NOW = 1_790_000_000;
const NOW_MS = NOW * 1000;
const local = (ms: number) => new Date(ms);

describe("a typed time", () => {
  test("is a time of day that has passed, a day, an age or a date", () => {
    const day = local(NOW_MS);
    const at = (hours: number, minutes: number, days = 0) => {
      const time = new Date(day);
      time.setDate(time.getDate() - days);
      time.setHours(hours, minutes, 0, 0);
      return Math.floor(time.getTime() / 1000);
    };
    const early = at(0, 1);
    expect(typedTime("00:01", NOW_MS)).toBe(early);
    expect(typedTime(" Yesterday 14:00 ", NOW_MS)).toBe(at(14, 0, 1));
    expect(typedTime("23:59", NOW_MS)).toBe(at(23, 59, at(23, 59) > NOW ? 1 : 0));
    expect(typedTime("2 h ago", NOW_MS)).toBe(NOW - 7200);
    expect(typedTime("45min", NOW_MS)).toBe(NOW - 2700);
    expect(typedTime("2026-09-01 03:12z", NOW_MS)).toBe(Date.parse("2026-09-01T03:12Z") / 1000);
  });

  test("is undefined when invalid", () => {
    for (const text of ["", "25:00", "soon", "tomorrow 03:00", "2026-99-99 00:00", "1e9 h ago", "12:3"])
      expect(typedTime(text, NOW_MS)).toBeUndefined();
  });

  test("ahead is the next time of day, tomorrow, a distance or a date", () => {
    const ahead = (text: string, nowMs = NOW_MS) => typedTime(text, nowMs, { ahead: true });
    const at = (hours: number, minutes: number, days = 0) => {
      const time = new Date(NOW_MS);
      time.setDate(time.getDate() + days);
      time.setHours(hours, minutes, 0, 0);
      return Math.floor(time.getTime() / 1000);
    };
    const noonMs = at(12, 0) * 1000;
    expect(ahead("23:00", noonMs)).toBe(at(23, 0));
    expect(ahead("07:00", noonMs)).toBe(at(7, 0, 1));
    expect(ahead("12:00", noonMs)).toBe(at(12, 0, 1));
    expect(ahead("tomorrow 23:00", noonMs)).toBe(at(23, 0, 1));
    expect(ahead("today 23:00", noonMs)).toBe(at(23, 0));
    expect(ahead("in 2 h")).toBe(NOW + 7200);
    expect(ahead("45min")).toBe(NOW + 2700);
    expect(ahead("2026-12-01 07:00z")).toBe(Date.parse("2026-12-01T07:00Z") / 1000);
    for (const text of ["yesterday 14:00", "2 h ago", "in", "soon"]) expect(ahead(text)).toBeUndefined();
  });

  test("never throws", () => {
    fc.assert(
      fc.property(fc.string(), fc.boolean(), (text, ahead) => void typedTime(text, NOW_MS, { ahead })),
    );
  });
});
