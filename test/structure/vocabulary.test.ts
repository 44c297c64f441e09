import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import glossary from "../../docs/glossary.toml";

const ROOT = join(import.meta.dir, "../..");

/** Names of the project's first vocabulary, each with the field's term that took its place. */
const BANNED_IDENTIFIERS: Readonly<Record<string, string>> = {
  KeptAnswers: "ResponseCache",
  NOT_KEPT: "BYPASS",
  isRepeatable: "isCacheable",
  createEdge: "createPipeline",
  closeNew: "finish",
  closeKept: "respondFromCache",
  keepText: "memoizeJson",
  keepPresented: "memoizePresenter",
  loadThrough: "readThrough",
  WaysTo: "WorkerChannels",
  OutboundAnswer: "OutboundResponse",
  OutboundFailure: "OutboundError",
  maxAnswerBytes: "maxResponseBytes",
  HostHealth: "CircuitBreaker",
  HostSign: "CallOutcome",
  patienceMs: "giveUpAfterMs",
  PublisherPacing: "PublisherIntervals",
  lookEveryMs: "pollIntervalMs",
  passedOverEvents: "skippedEvents",
  isHeldUp: "isBackpressured",
  faultPauseMs: "errorBackoffMs",
  afterTimeout: "setTimer",
  endingOf: "toExit",
  carryOut: "executeSend",
  LOOK_IS_OVER: "CAUGHT_UP",
  fillFromTodo: "runBackfill",
  DEFAULT_PACE: "DEFAULT_TIMINGS",
  specDialect: "nativeDialect",
  farcasterDialect: "compatDialect",
  answerCastPage: "respondWithCastPage",
  answerUserPage: "respondWithUserPage",
  answerSchemas: "responseSchemas",
  readTouched: "readInvalidations",
  heldMessages: "storedMessages",
  answer_too_large: "response_too_large",
  malformed_answer: "malformed_response",
  not_in_answer: "missing_from_response",
  webhook_held_up: "a gauge named by its state",
  webhook_passed_over_events_total: "a counter of skipped events",
};

/** Words that modern technical English does not need. */
const BANNED_WORDS = (
  "whoever whosoever whatsoever thereof therein wherein whence thence henceforth anew naught nought lest heed heeds " +
  "judge judges judged judging mend mends mended begun heard hears told tells"
).split(" ");

/** The demo network's texts and this list. */
const EXEMPT = [/^src\/demo\//, /^test\/structure\/vocabulary\.test\.ts$/, /\/generated\//];

/** The files that are held to the vocabulary, with their texts. */
const sources: readonly (readonly [path: string, text: string])[] = await Promise.all(
  ["src", "test", "bench", "docs", "."]
    .flatMap((dir) => {
      const pattern = dir === "." ? "*.md" : "**/*.{ts,tsx,css,html,md}";
      return [...new Bun.Glob(pattern).scanSync(join(ROOT, dir))].map((path) => join(dir, path));
    })
    .filter((path) => !path.includes("node_modules/") && !EXEMPT.some((pattern) => pattern.test(path)))
    .map(async (path) => [path, await Bun.file(join(ROOT, path)).text()] as const),
);

test("no name of the first vocabulary is left", () => {
  const pattern = new RegExp(`\\b(${Object.keys(BANNED_IDENTIFIERS).join("|")})\\b`, "g");
  const found: string[] = [];
  for (const [path, text] of sources) {
    for (const [name = ""] of text.matchAll(pattern)) {
      found.push(`${path}: ${name}, now ${BANNED_IDENTIFIERS[name]}`);
    }
  }
  expect(found).toEqual([]);
});

test("comments, names and documents do without archaic words", () => {
  const pattern = new RegExp(`\\b(${BANNED_WORDS.join("|")})\\b`, "gi");
  const found: string[] = [];
  for (const [path, text] of sources) {
    for (const [word] of text.matchAll(pattern)) found.push(`${path}: ${word}`);
  }
  expect(found).toEqual([]);
});

interface Word {
  /** What to say, as one or several words. */
  readonly say: string;
  /** What not to say, anywhere. */
  readonly not?: readonly string[];
  /** What not to say as a whole label; within a sentence it is good English. */
  readonly label?: readonly string[];
}

const { word: words } = glossary as { readonly word: readonly Word[] };

describe("the glossary", () => {
  test("names what to say for each word that it refuses, and refuses each once", () => {
    const refused = words.flatMap(({ not = [], label = [] }) => [...not, ...label]);
    expect(words.filter(({ say }) => say === "")).toEqual([]);
    expect(refused.filter((phrase, at) => refused.indexOf(phrase) !== at)).toEqual([]);
  });

  test("is kept by texts, comments, documents and tests", () => {
    const found: string[] = [];
    for (const [path, text] of sources) {
      const plain = text.replaceAll(/\s*\n\s*(?:\*|\/\/)?\s*/g, " ");
      for (const { say, not = [] } of words)
        for (const phrase of not)
          if (plain.includes(phrase)) found.push(`${path}: "${phrase}", say "${say}"`);
    }
    expect(found).toEqual([]);
  });

  test("is kept by the labels of the console", () => {
    const refused = new Map(words.flatMap(({ say, label = [] }) => label.map((one) => [one, say] as const)));
    const found: string[] = [];
    for (const [path, text] of sources) {
      if (!path.startsWith("src/console/web/")) continue;
      for (const [, label = ""] of text.matchAll(/"([^"\n]+)"/g))
        if (refused.has(label)) found.push(`${path}: "${label}", say "${refused.get(label)}"`);
    }
    expect(found).toEqual([]);
  });
});

/** Turns of phrase that are not a native writer's, with what to write. */
const IDIOMS: Readonly<Record<string, readonly [RegExp, string]>> = {
  "is no X": [/\b(?<![Tt]here )(?:is|are|was|were) no (?!longer\b|more\b|one\b)[a-z]+/, "is not a X"],
  answer: [/\banswer(?:s|ed|ing)?\b/i, "response, respond"],
  behind: [/\bbehind (?:them|the (?:position|prefix|slash|last))\b/, "after"],
  "a sentence that begins with Of": [
    /(?:^|[.:] )Of (?:a|an|the|each|those|all|others|what|one)\b/,
    "its subject",
  ],
  "go on": [/\b(?:go|goes|went|going) on\b/, "continue"],
  "becomes of": [/\b(?:become|becomes|became) of\b/, "the outcome"],
  "so many": [/\bso many\b/, "this many"],
  nobody: [/\b(?:nobody|whoever|(?<!(?:by|as|towards|owner) )whom)\b/, "no one, anyone who"],
  alone: [/\balone\b/, "only"],
  former: [/\bformer\b/, "previous"],
  gone: [/(?<!\d, )(?<!`)\bgone\b(?! back)/, "deleted, no longer there"],
  stands: [
    /\b(?:stands|stood|lies (?:in|on|at|beside|apart|within|between|under))\b(?! (?:for|in for|still))/,
    "is",
  ],
  comes: [/\b(?:comes|came)\b(?! (?:from|next|first|back))/, "arrives, loads, follows"],
};

/** Where they are held: what a native editor has read. Add a room once it has been read. */
const EDITED = /^(?:src(?!\/cli\/init)|test\/console|test\/browser|docs)\/|^[A-Z]+\.md$/;

/** The prose of a file: all of a document, the texts of the console, comments, and the names of tests. */
function proseOf(path: string, text: string): string[] {
  if (/\.(?:md|html)$/.test(path) || path.includes("/text/en/")) return text.split("\n");
  const comments = [...text.matchAll(/(?<![^\s({])\/\*[\s\S]*?\*\/|(?<![:"'`/])\/\/(?!\/)[^\n]*/g)].map(
    ([comment]) =>
      comment
        .replaceAll(/\s*\n\s*\* ?/g, " ")
        .replace(/^\/\*\*? ?|^\/\/ ?/, "")
        .trim(),
  );
  const names = [...text.matchAll(/\b(?:test|describe|consoleTest)(?:\.\w+)?\(\s*["`]([^"`\n]+)/g)];
  return [...comments, ...names.map(([, name = ""]) => name)];
}

test("prose that a native editor has read keeps to his idiom", () => {
  const found: string[] = [];
  for (const [path, text] of sources) {
    if (!EDITED.test(path)) continue;
    for (const line of proseOf(path, text))
      for (const [name, [pattern, say]] of Object.entries(IDIOMS))
        if (pattern.test(line)) found.push(`${path}: ${name}, write ${say}: ${line.slice(0, 120)}`);
  }
  expect(found).toEqual([]);
});
