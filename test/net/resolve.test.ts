import { describe, expect, test } from "bun:test";
import { isIP } from "node:net";
import { resolveBySystem } from "../../src/net/resolve.ts";

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
