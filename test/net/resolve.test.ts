import { describe, expect, test } from "bun:test";
import { isIP } from "node:net";
import { createCachedResolve, resolveBySystem } from "../../src/net/resolve.ts";

describe("the system resolver", () => {
  test("resolves names of the hosts file, IPv4 first", async () => {
    const families = (await resolveBySystem("localhost")).map(isIP);
    expect(families.length).toBeGreaterThan(0);
    expect(families).not.toContain(0);
    expect(families).toEqual(families.toSorted());
  });

  test("rejects a name that cannot exist", async () => {
    // A label of 64 characters does not fit into a DNS message, so no server is queried.
    await expect(resolveBySystem(`${"a".repeat(64)}.invalid`)).rejects.toThrow();
  });
});

test("a caching resolver looks up each of 10,000 names once, and a further one each time", async () => {
  const lookups: string[] = [];
  const resolve = createCachedResolve(async (name) => {
    lookups.push(name);
    return ["127.0.0.1"];
  });
  const names = Array.from({ length: 10_000 }, (_, at) => `n${at}`);
  for (const name of [...names, ...names]) await resolve(name);
  expect(lookups).toEqual(names);
  for (const name of ["further", "further", "n0"]) await resolve(name);
  expect(lookups.slice(names.length)).toEqual(["further", "further"]);
});
