import { expect, test } from "bun:test";
import { join } from "node:path";

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

/** The demo network's texts, this list, and the readers of rows that an earlier version stored with its own words. */
const EXEMPT = [
  /^src\/demo\//,
  /^test\/structure\/vocabulary\.test\.ts$/,
  /\/generated\//,
  /^src\/webhooks\/store\/logged-rows\.ts$/,
  /^src\/push\/store\/renamed-reasons\.ts$/,
];

async function* sources(): AsyncGenerator<readonly [path: string, text: string]> {
  for await (const path of new Bun.Glob("{src,test,bench,docs}/**/*.{ts,md}").scan(ROOT)) {
    if (path.includes("/node_modules/") || EXEMPT.some((pattern) => pattern.test(path))) continue;
    yield [path, await Bun.file(join(ROOT, path)).text()];
  }
}

test("no name of the first vocabulary is left", async () => {
  const pattern = new RegExp(`\\b(${Object.keys(BANNED_IDENTIFIERS).join("|")})\\b`, "g");
  const found: string[] = [];
  for await (const [path, text] of sources()) {
    for (const [name = ""] of text.matchAll(pattern)) {
      found.push(`${path}: ${name}, now ${BANNED_IDENTIFIERS[name]}`);
    }
  }
  expect(found).toEqual([]);
});

test("comments, names and documents do without archaic words", async () => {
  const pattern = new RegExp(`\\b(${BANNED_WORDS.join("|")})\\b`, "gi");
  const found: string[] = [];
  for await (const [path, text] of sources()) {
    for (const [word] of text.matchAll(pattern)) found.push(`${path}: ${word}`);
  }
  expect(found).toEqual([]);
});
