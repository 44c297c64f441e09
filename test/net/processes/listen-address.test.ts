import { expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { run } from "../../cli/run.ts";
import { tempDir } from "../../support/program.ts";

/** Listens on a free port of the loopback address. */
function holdPort() {
  const held = Bun.listen({ hostname: "127.0.0.1", port: 0, socket: { data() {} } });
  return { port: held.port, [Symbol.dispose]: () => held.stop(true) };
}

test.each([
  ["http", []],
  ["http", ["--set", "http.workers=2"]],
  ["hub", []],
] as const)(
  "a port of %s that another process has (%j) ends the start with 75, says what to set, and shows no stack",
  async (section, more) => {
    using held = holdPort();
    using dir = tempDir();
    const ports = { http: 0, hub: -1, [section]: held.port };
    const flags = Object.entries(ports).flatMap(([key, port]) => ["--set", `${key}.port=${port}`]);
    const { exitCode, out, errors } = await run([
      "--data-dir",
      dir.path,
      ...flags,
      ...more,
      "serve",
      "--demo",
    ]);
    expect({ exitCode, out }).toEqual({ exitCode: 75, out: "" });
    const other = held.port > 65_525 ? held.port - 10 : held.port + 10;
    const remedy = `SVC_${section.toUpperCase()}_PORT=${other} before the command (${section}.port)`;
    expect(errors).toEndWith(
      `error: port ${held.port} is in use: another process listens on 127.0.0.1. Set another: ${remedy}\n`,
    );
    expect(errors).not.toContain("    at ");
    expect(errors).not.toContain('"level":"error"');
    // Nothing was created that would block a later start.
    expect(readdirSync(dir.path)).not.toContain("index.db");
  },
);

test.each([
  [["listen", "--secret", "s", "--port"], "--port"],
  [["demo-client", "--client-port"], "--client-port"],
] as const)("%j with a port in use exits with 75 and names the flag", async (args, flag) => {
  using held = holdPort();
  const { exitCode, errors } = await run([...args, String(held.port)]);
  expect(exitCode).toBe(75);
  expect(errors).toStartWith(
    `error: port ${held.port} is in use: another process listens on 127.0.0.1. Set another: ${flag} `,
  );
});

test("a missing address exits with 75, because it may appear later", async () => {
  using dir = tempDir();
  const args = [
    "--data-dir",
    dir.path,
    "--set",
    "hub.port=0",
    "--host",
    "192.0.2.1",
    "--port",
    "24000",
    "serve",
  ];
  const { exitCode, errors } = await run(args);
  expect(exitCode).toBe(75);
  expect(errors).toContain("\nerror: cannot listen on 192.0.2.1: ");
});
