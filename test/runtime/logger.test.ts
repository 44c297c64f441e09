import { expect, test } from "bun:test";
import { createLogger, type Logger } from "../../src/runtime/log/logger.ts";
import { configWith } from "./config.ts";

/** A logger, and the lines that it has written. */
function recorded(set: string[] = [], subsystem?: string): { log: Logger; lines: string[] } {
  const lines: string[] = [];
  const destination = { write: (line: string) => void lines.push(line) };
  const log = createLogger(
    configWith(...set),
    subsystem === undefined ? { destination } : { destination, subsystem },
  );
  return { log, lines };
}

test("a log line is one JSON object with level by name, ISO time, fields and sentence, and ends with a newline", () => {
  const { log, lines } = recorded();
  log.info({ durationMs: 1.5, path: "a\nb" }, "Opened the index");
  expect(lines).toHaveLength(1);
  expect(lines[0]).toMatch(/^\{.*\}\n$/);
  const event = JSON.parse(lines[0] ?? "");
  expect(event).toEqual({
    level: "info",
    time: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
    durationMs: 1.5,
    path: "a\nb",
    msg: "Opened the index",
  });
});

test("durations have the digits of microseconds and no more, at any depth", () => {
  const { log, lines } = recorded();
  log.info({ durationMs: 0.123456789, share: 0.123456789, part: { waitMs: 1234.00049, delayMs: 3 } }, "Done");
  const event = JSON.parse(lines[0] ?? "");
  expect(event).toMatchObject({ durationMs: 0.123, share: 0.123456789, part: { waitMs: 1234, delayMs: 3 } });
});

test("the level of the settings decides what is logged", () => {
  const { log, lines } = recorded(["log.level=warn"]);
  log.info("quiet");
  log.child({ subsystem: "hub" }).debug("quiet");
  log.warn("loud");
  expect(lines.map((line) => JSON.parse(line).msg)).toEqual(["loud"]);
  const silent = recorded(["log.level=silent"]);
  silent.log.fatal("nothing");
  expect(silent.lines).toEqual([]);
});

test("lines of a node that shares its state name the node", () => {
  const nodeIn = (set: string[]) => {
    const { log, lines } = recorded(set);
    log.info("Started");
    return JSON.parse(lines[0] ?? "").node;
  };
  expect(nodeIn(["node.id=a", "state.url=postgres://svc@127.0.0.1/svc"])).toBe("a");
  expect(nodeIn(["node.id=a"])).toBeUndefined();
});

test("children and workers carry their subsystem", () => {
  const { log, lines } = recorded();
  log.child({ subsystem: "hub" }).child({ peer: "x" }).info("Took a message");
  const worker = recorded([], "writer");
  worker.log.info("Started");
  expect(JSON.parse(lines[0] ?? "")).toMatchObject({ subsystem: "hub", peer: "x" });
  expect(JSON.parse(worker.lines[0] ?? "")).toMatchObject({ subsystem: "writer" });
});

const SECRET = "5ecret-5ecret-5ecret";
const SECRET_EVENTS: readonly [string, object][] = [
  ["a request header", { headers: { "x-api-key": SECRET } }],
  [
    "a header in another spelling",
    { headers: { "X-Api-Key": SECRET, Authorization: SECRET, "Set-Cookie": SECRET } },
  ],
  ["a Headers object", { headers: new Headers({ "x-api-key": SECRET, authorization: SECRET }) }],
  ["send secrets", { app: { send_secrets: [{ uid: "u", value: SECRET }] } }],
  ["webhook secrets", { secrets: [{ value: SECRET }] }],
  ["a token", { token: SECRET, notificationDetails: { token: SECRET } }],
  ["tokens", { batch: [{ tokens: [SECRET, SECRET] }] }],
  ["a private key", { privateKey: SECRET, private_key: SECRET, signer: { "private-key": SECRET } }],
  ["deep inside", { a: { b: [{ c: { password: SECRET } }] } }],
  ["an object that makes its own JSON", { item: { toJSON: () => ({ secret: SECRET }) } }],
];

test.each(SECRET_EVENTS)("a secret does not reach the log: %s", (_, event) => {
  const { log, lines } = recorded();
  log.info(event, "Met a secret");
  log.child(event).info("Met a secret");
  log.child({ quiet: true }).child(event).info("Met a secret");
  expect(lines).toHaveLength(3);
  for (const line of lines) {
    expect(line).not.toContain(SECRET);
    expect(line).toContain("[redacted]");
  }
});

test("counts that are named like secrets stay", () => {
  const { log, lines } = recorded();
  log.info({ tokens: 12, secret: false, token: null }, "Sent");
  expect(JSON.parse(lines[0] ?? "")).toMatchObject({ tokens: 12, secret: false, token: null });
});

test.each(["json", "pretty"])("secret settings never reach the %s log", (format) => {
  const url = "https://me:p4ssw0rd@eth.example/v2/abcdefabcdef";
  const { log, lines } = recorded([`chain.l1_rpc_url=${url}`, `log.format=${format}`]);
  log.info({ url }, `Requested ${url}`);
  log.error(
    new Error(`request to ${url} failed`, { cause: new Error("GET /v2/abcdefabcdef as me:p4ssw0rd") }),
  );
  log.child({ node: url }).warn({ list: [{ url }] }, "slow");
  const text = lines.join("");
  expect(text).not.toContain("p4ssw0rd");
  expect(text).not.toContain("abcdefabcdef");
  expect(text.match(/\[redacted\]/g)?.length).toBeGreaterThanOrEqual(6);
});

test("an error is logged with type, message, code, stack and causes", () => {
  const { log, lines } = recorded();
  const cause = Object.assign(new RangeError("inner"), { code: "EINNER" });
  log.error({ err: new TypeError("outer", { cause }), secret: "x" }, "Failed");
  log.error(new Error("alone"));
  expect(JSON.parse(lines[0] ?? "").err).toMatchObject({
    type: "TypeError",
    message: "outer",
    stack: expect.stringContaining("logger.test.ts"),
    cause: { type: "RangeError", message: "inner", code: "EINNER" },
  });
  expect(JSON.parse(lines[1] ?? "")).toMatchObject({ msg: "alone", err: { message: "alone" } });
});

test("a huge or circular object, bytes and big integers do not break a line or swell it", () => {
  const { log, lines } = recorded();
  const circular: Record<string, unknown> = { name: "loop" };
  for (let i = 0; i < 50; i++) circular[`again${i}`] = circular;
  log.info(circular, "circular");
  log.info({ text: "x".repeat(1_000_000), list: Array.from({ length: 100_000 }, (_, i) => ({ i })) }, "huge");
  log.info({ bytes: new Uint8Array(1_000_000), fid: 2n ** 63n }, "bytes");
  expect(lines.map((line) => JSON.parse(line).msg)).toEqual(["circular", "huge", "bytes"]);
  expect(Math.max(...lines.map(({ length }) => length))).toBeLessThan(50_000);
  expect(JSON.parse(lines[2] ?? "")).toMatchObject({ bytes: "[1000000 bytes]", fid: "9223372036854775808" });
});

test("the pretty format is one readable line, stacks below, and control characters of fields have no effect", () => {
  const { log, lines } = recorded(["log.format=pretty"], "http");
  log.info({ status: 200, path: "/a\u001b[2Jb\nc" }, "Responded");
  log.error(new Error("boom", { cause: new Error("inner") }));
  expect(lines[0]).toMatch(
    /^\d\d:\d\d:\d\d\.\d{3} INFO {2}\[http\] Responded status=200 path=\/a\\u001b\[2Jb\\u000ac\n$/,
  );
  const [head, ...below] = (lines[1] ?? "").split("\n");
  expect(head).toMatch(/ ERROR \[http\] boom$/);
  expect(below.join("\n")).toMatch(/^ {4}Error: boom\n[\s\S]* {2}caused by\n {4}Error: inner/);
});

test("a line of a request shows the part of an API key that may be shown, and never the key", () => {
  const { log, lines } = recorded();
  log.info(
    { apiKeyPrefix: "svc_8FqZ2rTa", apiKey: "svc_8FqZ2rTa_rest", "x-api-key": "svc_8FqZ2rTa_rest" },
    "Done",
  );
  expect(JSON.parse(lines[0] ?? "")).toMatchObject({
    apiKeyPrefix: "svc_8FqZ2rTa",
    apiKey: "[redacted]",
    "x-api-key": "[redacted]",
  });
});

const NOISY = `
  import { createLogger } from "${import.meta.dir}/../../src/runtime/log/logger.ts";
  import { configWith } from "${import.meta.dir}/config.ts";
  const log = createLogger(configWith());
  for (let i = 0; i < 500; i++) log.info({ i, text: "é".repeat(1000) }, "Wrote a line");
`;

test("a reader of the log that is slow gets every line whole", async () => {
  const program = Bun.spawn([process.execPath, "-e", NOISY], { stderr: "pipe" });
  const lines = (await new Response(program.stderr).text()).trimEnd().split("\n");
  expect(lines.map((line) => JSON.parse(line).i)).toEqual(Array.from({ length: 500 }, (_, i) => i));
  expect(await program.exited).toBe(0);
});

test("a reader of the log that went away does not end the program", async () => {
  const program = Bun.spawn([process.execPath, "-e", NOISY], { stderr: "pipe" });
  const reader = program.stderr.getReader();
  await reader.read();
  await reader.cancel();
  expect(await program.exited).toBe(0);
});
