import { expect, test } from "bun:test";
import fc from "fast-check";
import { followedFids } from "../../../src/config/files/fid-file.ts";
import { ConfigError, loadConfig, processInput } from "../../../src/config/load.ts";
import { emptyDir } from "../../cli/run.ts";
import { inputOf, load, problemsOf } from "../input.ts";

const named = { SVC_UPSTREAM_FID_FILE: "fids.txt" };
const problemOf = (file: string | Error) => problemsOf({ env: named, files: { "/cwd/fids.txt": file } });

test("follows the fids of the list or of the file, and all fids without either", () => {
  expect(followedFids(load().config.upstream)).toBeUndefined();
  expect(followedFids(load({ flags: { set: ["upstream.fids=3, 2,3"] } }).config.upstream)).toEqual(
    new Set([3, 2]),
  );
  const input = inputOf({
    env: named,
    files: { "/cwd/fids.txt": "# friends\n2, 3\r\n\n5 # the baker\n9007199254740991" },
  });
  const { config } = loadConfig(input);
  expect(followedFids(config.upstream, input)).toEqual(new Set([2, 3, 5, 9_007_199_254_740_991]));
});

test("an invalid file is rejected with the name of the setting, and never means all fids", () => {
  const gone = problemsOf({ env: named });
  for (const problems of [gone, problemOf(new Error("EACCES")), problemOf(""), problemOf("# nobody\n")]) {
    expect(problems).toMatchObject([{ key: "upstream.fid_file", source: "SVC_UPSTREAM_FID_FILE" }]);
  }
  expect(new ConfigError(gone).message).toContain("fids.txt, which does not exist");
});

test("any word of the file that is not a fid is refused with its line", () => {
  const word = fc
    .string({ unit: "grapheme-ascii", minLength: 1, maxLength: 30 })
    .filter((text) => !/[\s,#]/.test(text) && !/^[1-9]\d{0,15}$/.test(text));
  fc.assert(
    fc.property(fc.oneof(word, fc.constantFrom("0", "01", "1e3", "9007199254740992", "-1")), (text) => {
      expect(problemOf(`1\n2 ${text}\n`)).toMatchObject([
        { key: "upstream.fid_file", message: expect.stringContaining("line 2 has ") },
      ]);
    }),
  );
});

test("a list and a file at once are refused, and so is a file of more than 1 MiB", async () => {
  const both = problemsOf({
    env: { ...named, SVC_UPSTREAM_FIDS: "1" },
    files: { "/cwd/fids.txt": "2" },
  });
  expect(both).toMatchObject([{ key: "upstream.fid_file" }]);
  using dir = emptyDir();
  const path = `${dir.path}/fids.txt`;
  await Bun.write(path, "1\n".repeat(600_000));
  const flags = { set: [`upstream.fid_file=${path}`] };
  expect(() => loadConfig({ ...processInput(flags), env: {} })).toThrow("larger than 1048576 bytes");
});
