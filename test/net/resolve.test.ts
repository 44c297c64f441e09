import { describe, expect, test } from "bun:test";
import { isIP } from "node:net";
import { resolveBySystem } from "../../src/net/resolve.ts";

describe("the resolver of the machine", () => {
  test("knows the names of its hosts file, IPv4 first", async () => {
    const families = (await resolveBySystem("localhost")).map(isIP);
    expect(families.length).toBeGreaterThan(0);
    expect(families).not.toContain(0);
    expect(families).toEqual(families.toSorted());
  });

  test("rejects a name that cannot exist", async () => {
    // A label of 64 characters fits into no DNS message, so that nobody outside is asked.
    await expect(resolveBySystem(`${"a".repeat(64)}.invalid`)).rejects.toThrow();
  });
});
