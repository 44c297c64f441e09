import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";

/** The acceptance checks of the console, and the files whose tests name them. */
const CHECKS: Readonly<Record<number, { readonly what: string; readonly files: readonly string[] }>> = {
  1: { what: "the document at / and its 404", files: ["browser/serving.long", "console/routes"] },
  2: { what: "encodings, caching and methods", files: ["browser/serving.long", "console/routes"] },
  3: { what: "headers, frames of other origins", files: ["browser/serving.long", "console/routes"] },
  4: {
    what: "four workers, budgets",
    files: [
      "browser/serving.long",
      "browser/interactions.long",
      "browser/many-pages.long",
      "structure/thread-imports",
    ],
  },
  5: { what: "the landing page", files: ["browser/status"] },
  6: { what: "a node that stops and starts", files: ["browser/status"] },
  7: { what: "explorer pages against the API", files: ["browser/explorer.long"] },
  8: { what: "snippets, executed as copied", files: ["browser/explorer.long", "browser/every-call.long"] },
  9: { what: "search", files: ["browser/explorer.long"] },
  10: { what: "long, stacked and right-to-left content", files: ["browser/hostile-content"] },
  11: { what: "hostile content", files: ["browser/hostile-content", "browser/webhooks.long"] },
  12: { what: "images", files: ["browser/hostile-content", "console/routes"] },
  13: { what: "the stream", files: ["browser/stream.long"] },
  14: {
    what: "the keyboard, visible focus",
    files: ["browser/explorer-keyboard", "browser/every-page.long"],
  },
  15: { what: "axe on pages and dialogs", files: ["browser/every-page.long", "browser/dialogs.long"] },
  16: { what: "reduced motion, zoom, narrow windows", files: ["browser/every-page.long"] },
  17: { what: "EIP-6963", files: ["browser/owner.long"] },
  18: { what: "prompts of connecting and a session", files: ["browser/owner.long"] },
  19: { what: "what a wallet refuses", files: ["browser/owner.long"] },
  20: { what: "secrets of an app", files: ["browser/apps"] },
  21: { what: "requests that a session may not make", files: ["auth/sessions"] },
  22: {
    what: "ends of sessions, on every worker",
    files: ["auth/sessions", "browser/session-end", "browser/owner.long", "binary/four-workers.long"],
  },
  23: { what: "where sessions come from", files: ["auth/sessions"] },
  25: {
    what: "what is stored and logged",
    files: ["browser/owner.long", "console/processes/secrets-in-logs", "auth/sessions"],
  },
  26: { what: "without sessions", files: ["auth/sessions"] },
  27: { what: "sends", files: ["browser/apps", "console/web/manage/send-draft"] },
  28: { what: "campaigns", files: ["browser/campaign.long", "console/web/manage/campaign"] },
  29: {
    what: "the filter builder",
    files: ["browser/webhooks.long", "console/web/manage/webhooks/filter-state"],
  },
  30: { what: "previews", files: ["webhooks/preview/scan"] },
  31: { what: "deliveries", files: ["browser/webhooks.long"] },
  32: { what: "keys, signers, approvals", files: ["browser/keys-and-signers"] },
  33: { what: "the tour of a demo", files: ["browser/demo-tour.long"] },
  34: { what: "the operator", files: ["browser/status", "console/operator/processes/operator-node"] },
  35: { what: "many open pages", files: ["browser/many-pages.long"] },
};
/** Device codes are left out: custody elsewhere gets the ready command. */
const LEFT_OUT = 24;

/** The numbers in titles such as `checks 15, 16: …` or `check 7, check 8: …`. */
function checksIn(source: string): ReadonlySet<number> {
  const heads = [...source.matchAll(/["'`](?:[^"'`\n]*: )?(checks? \d[^:\n]*):/g)].map(
    ([, head = ""]) => head,
  );
  return new Set(heads.flatMap((head) => [...head.matchAll(/\d+/g)].map(([number]) => Number(number))));
}

describe("the 35 acceptance checks of the console", () => {
  test("are all in the table, but the one that is left out", () => {
    const numbers = Array.from({ length: 35 }, (_, at) => at + 1).filter((number) => number !== LEFT_OUT);
    expect(Object.keys(CHECKS).map(Number)).toEqual(numbers);
  });

  test("are named by a test in each file of the table", () => {
    const missing = Object.entries(CHECKS).flatMap(([number, { files }]) =>
      files.filter((file) => {
        const source = readFileSync(join(import.meta.dir, "..", `${file}.test.ts`), "utf8");
        return !checksIn(source).has(Number(number));
      }),
    );
    expect(missing).toEqual([]);
  });
});
