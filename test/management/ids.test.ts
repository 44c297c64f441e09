import { expect, test } from "bun:test";
import { createAppId } from "../../src/apps/app-service.ts";
import { createSecret } from "../../src/management/owned-service.ts";

const ALPHABET = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";

test("an app id has 16 uniformly distributed base58 digits", () => {
  const ids = Array.from({ length: 20_000 }, createAppId);
  expect(new Set(ids).size).toBe(ids.length);
  const perDigit = new Map<string, number>();
  const firsts = new Map<string, number>();
  for (const id of ids) {
    expect(id).toHaveLength(16);
    for (const digit of id) perDigit.set(digit, (perDigit.get(digit) ?? 0) + 1);
    firsts.set(id.charAt(0), (firsts.get(id.charAt(0)) ?? 0) + 1);
  }
  expect([...perDigit.keys()].sort().join("")).toBe(ALPHABET);
  // Chi-squared with 57 degrees of freedom: by chance it exceeds 130 about once in ten million runs; with the bias of
  // a remainder (6 digits a quarter more frequent) it always does.
  for (const [counts, draws] of [
    [perDigit, 320_000],
    [firsts, 20_000],
  ] as const) {
    const expected = draws / 58;
    const chi2 = [...counts.values()].reduce((sum, n) => sum + (n - expected) ** 2 / expected, 0);
    expect(chi2).toBeLessThan(130);
  }
});

test("a secret has 32 random bytes in hex and a UUID", () => {
  const secrets = Array.from({ length: 1000 }, () => createSecret(100));
  for (const { uid, value, ...times } of secrets) {
    expect(value).toMatch(/^[0-9a-f]{64}$/);
    expect(uid).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(times).toEqual({ createdAt: 100, expiresAt: null });
  }
  expect(new Set(secrets.flatMap(({ uid, value }) => [uid, value])).size).toBe(2000);
});
