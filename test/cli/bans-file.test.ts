import { expect, test } from "bun:test";
import { fidsOf } from "../../src/cli/operations/bans.ts";

test("a file of bans has an fid a line, or a CSV with the fid first; headings, comments and repetitions do not count", () => {
  expect(fidsOf("fid,reason\r\n4,spam\r\n\r\n# both\n60\n4\n", "f")).toEqual([4, 60]);
  for (const text of ["", "# none\n", "4\nfid\n", "4\n-1\n", "0\n", "1e3\n", "99999999999999999\n"])
    expect(() => fidsOf(text, "f")).toThrow("f");
});
