import { expect } from "bun:test";
import { join } from "node:path";
import { keysOfPerson } from "../support/demo-calls.ts";
import { consoleTest } from "./support/console-test.ts";

consoleTest("the typed client reads, signs and follows the stream in a browser", async (open) => {
  const { page, origin } = await open();
  await page.goto(`${origin}/console`);
  const { outputs } = await Bun.build({
    entrypoints: [join(import.meta.dir, "../client/in-browser.ts")],
    target: "browser",
    format: "iife",
    minify: true,
  });
  await page.evaluate(await (outputs[0] as Blob).text());
  const report = await page.evaluate(
    // biome-ignore lint/suspicious/noExplicitAny: the script above defines it
    ([url, key]) => (globalThis as any).runScenario(url, key),
    [origin, keysOfPerson(3).custody.privateKey],
  );
  expect(report).toMatchObject({
    name: "Mira Wren",
    refusal: [404, "no user has this fid", true],
    appNames: expect.arrayContaining(["Bread club"]),
    unsigned: 401,
    events: [expect.any(String), expect.any(String), expect.any(String)],
  });
});
