import { steps } from "../../support/counted-re2js.ts";

const { readRegexProgram } = await import("../../../src/webhooks/match/expressions/regex-program.ts");
const { createMatcher } = await import("../../../src/webhooks/match/matcher.ts");

const CAST = {
  kind: "cast.created",
  authorFid: 1,
  mentionedFids: [],
  parentUrl: null,
  rootParentUrl: null,
  parentHash: null,
  parentAuthorFid: null,
  embeddedCasts: [],
  embedUrls: [],
  text: "gm",
} as const;

function counted(work: () => void): number {
  const before = steps.count;
  work();
  return steps.count - before;
}

declare const self: Worker;

/** Responds to a list of expressions with the steps that the library takes to read each, and to match a text of two characters. */
self.onmessage = ({ data }: MessageEvent<readonly string[]>) => {
  self.postMessage(
    data.map((source) => ({
      read: counted(() => readRegexProgram(source)),
      matched: counted(() => {
        const matcher = createMatcher();
        if (matcher.set("1", { "cast.created": { text: source } }) === undefined) matcher.match(CAST);
      }),
    })),
  );
};
self.postMessage("ready");
