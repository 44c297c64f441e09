import { expect, test } from "bun:test";
import {
  absoluteCommandOf,
  commandNameOf,
  type Start,
  withCommandName,
} from "../../../src/cli/shell/command-name.ts";

const compiled: Start = {
  argv0: "svc",
  execPath: "/usr/bin/svc",
  main: "/$bunfs/root/svc",
  cwd: "/home/me/clone",
  isLaunched: false,
  which: () => "/usr/bin/svc",
};
const sources: Start = {
  ...compiled,
  argv0: "bun",
  execPath: "/opt/bun",
  main: "/home/me/clone/src/main.ts",
};

test.each([
  ["svc", "by its name", compiled],
  [
    "svc",
    "by the full path of what the name finds, as a service does",
    { ...compiled, argv0: "/usr/bin/svc" },
  ],
  [
    "/opt/svc",
    "by a full path that the name does not find",
    { ...compiled, argv0: "/opt/svc", execPath: "/opt/svc" },
  ],
  ["./dist/svc", "in a clone", { ...compiled, argv0: "./dist/svc", execPath: "/home/me/clone/dist/svc" }],
  ["bun src/main.ts", "from the sources", sources],
  ["bun /home/me/clone/src/main.ts", "from the sources, elsewhere", { ...sources, cwd: "/tmp" }],
  ["svc", "by the npm package", { ...compiled, argv0: "/node_modules/svc", isLaunched: true }],
])("hints call the program %s if it was started %s", (name, _, start) => {
  expect(commandNameOf(start)).toBe(name);
});

test("another program starts it by absolute paths", () => {
  expect(absoluteCommandOf(compiled)).toEqual(["/usr/bin/svc"]);
  expect(absoluteCommandOf(sources)).toEqual(["/opt/bun", "/home/me/clone/src/main.ts"]);
});

test("only commands in a text get the name", () => {
  const text = "stop svc and run `svc migrate`, or `svc serve --migrate`, as user `svc`";
  expect(withCommandName(text, "./dist/svc")).toBe(
    "stop svc and run `./dist/svc migrate`, or `./dist/svc serve --migrate`, as user `svc`",
  );
});
