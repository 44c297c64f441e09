import { afterAll, expect, test } from "bun:test";
import fc from "fast-check";
import { UserError } from "../../../src/lib/failure.ts";
import { tokensOfFile } from "../../../src/push/tokens/transfer/token-file.ts";
import { tempDir } from "../../support/program.ts";

const dir = tempDir();
afterAll(() => dir[Symbol.dispose]());
const path = `${dir.path}/tokens.json`;

async function read(text: string): Promise<unknown[]> {
  await Bun.write(path, text);
  return Array.fromAsync(tokensOfFile(path));
}

const tokens = [1, 2, 3].map((fid) => ({
  fid,
  url: "https://é.example/[{",
  token: `t"\\${fid} 🎈`,
  extra: { a: [1] },
}));
const page = (of: readonly unknown[], cursor: string | null = null) =>
  JSON.stringify({ notification_tokens: of, next: { cursor } });

test.each([
  ["one page", page(tokens)],
  ["a page of several lines", JSON.stringify(JSON.parse(page(tokens)), null, 2)],
  ["pages behind each other", page(tokens.slice(0, 1), "a") + page(tokens.slice(1))],
  ["a page on each line", `${page(tokens.slice(0, 2), "a")}\n${page([])}\n${page(tokens.slice(2))}\n`],
  ["an array of pages", `[${page(tokens.slice(0, 2), "a")},\n ${page(tokens.slice(2))}]`],
  ["a token on each line", tokens.map((token) => `${JSON.stringify(token)}\n`).join("")],
  ["a token on each line, without the last end", tokens.map((token) => JSON.stringify(token)).join("\r\n\n")],
])("reads %s", async (_, text) => {
  expect(await read(text)).toStrictEqual(tokens);
});

test.each([
  ["an empty page", page([])],
  ["nothing", ""],
  ["another list", JSON.stringify({ users: tokens, next: { cursor: null } })],
])("finds no token in %s", async (_, text) => {
  expect(await read(text)).toEqual([]);
});

test.each([
  ["no JSON", "<html>", "is not valid JSON"],
  ["a page with a fault", `{"notification_tokens":[{"fid":1}, x`, "is not valid JSON"],
  ["the first part of a page", page(tokens).slice(0, -20), "ends in the middle"],
  ["a broken line", `${JSON.stringify(tokens[0])}\n{`, "line 2 is not valid JSON"],
  ["a line without end", `${JSON.stringify(tokens[0])}\n"${"x".repeat(100_000)}`, "line 2 is too long"],
  [
    "a text without end",
    `{"notification_tokens":["${"x".repeat(1_000_000)}`,
    "is no list of notification tokens",
  ],
])("throws for %s and names the fault", async (_, text, message) => {
  await expect(read(text)).rejects.toThrow(message);
});

test("reads a token before which 128 KB have none", async () => {
  const start = '{"notification_tokens":['.padEnd(2 * 64 * 1024);
  expect(await read(`${start}${JSON.stringify(tokens[0])}]}`)).toEqual(tokens.slice(0, 1));
});

test("reads lines whose characters are split between chunks of the file", async () => {
  const lines = Array.from({ length: 2000 }, (_, at) => ({ fid: at, token: "€🎈".repeat(60) }));
  expect(await read(lines.map((token) => JSON.stringify(token)).join("\n"))).toEqual(lines);
});

test.each([
  ["a line", "\n"],
  ["the end", ""],
])("throws for a list of lines with a fault of UTF-8 in %s, and names the file", async (_, end) => {
  await Bun.write(
    path,
    new Uint8Array([...Buffer.from(`{"fid":1}\n{"fid":2}`), 0xf0, 0x9f, ...Buffer.from(end)]),
  );
  const fault = await Array.fromAsync(tokensOfFile(path)).catch((error: unknown) => error);
  expect(fault).toBeInstanceOf(UserError);
  expect(String(fault)).toContain(`${path} is not valid UTF-8`);
});

test("throws for a missing file and names it", async () => {
  await expect(Array.fromAsync(tokensOfFile(`${path}.none`))).rejects.toThrow(`${path}.none cannot be read`);
});

test("reads the tokens before a fault", async () => {
  await Bun.write(path, `{"notification_tokens":[${JSON.stringify(tokens[0])}, {"fid": 2}, x`);
  const seen: unknown[] = [];
  const reading = async () => {
    for await (const token of tokensOfFile(path)) seen.push(token);
  };
  await expect(reading()).rejects.toThrow("is not valid JSON");
  expect(seen).toEqual([tokens[0], { fid: 2 }]);
});

test("reads any list of JSON values unchanged, in every form", async () => {
  const value = fc.record({ fid: fc.nat(), token: fc.string({ unit: "grapheme" }), more: fc.jsonValue() });
  await fc.assert(
    fc.asyncProperty(
      fc.array(value, { maxLength: 10 }),
      fc.integer({ min: 0, max: 10 }),
      async (list, cut) => {
        const plain = JSON.parse(JSON.stringify(list));
        expect(await read(page(plain))).toEqual(plain);
        expect(await read(page(plain.slice(0, cut)) + page(plain.slice(cut)))).toEqual(plain);
        expect(await read(plain.map((token: unknown) => JSON.stringify(token)).join("\n"))).toEqual(plain);
      },
    ),
    { numRuns: 30 },
  );
});
