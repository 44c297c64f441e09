import { describe, expect, test } from "bun:test";
import { chmodSync } from "node:fs";
import { join } from "node:path";
import { readCustodyKey } from "../../../src/cli/client/key-files.ts";
import { UserError } from "../../../src/lib/failure.ts";
import { writeKeyFile } from "../management-node.ts";
import { emptyDir } from "../run.ts";

const DIGITS = "4c0883a69102937d6231471b5dbb6204fe5129617082792ae468d01a3f362318";
const ADDRESS = "0x2c7536E3605D9C16a7a3D7b1898e529396a65c23";

const fromVariable = (variable: string | undefined) => readCustodyKey({ file: undefined, variable });
const fromFile = (file: string, variable?: string) => readCustodyKey({ file, variable });

/** The message of the UserError that `read` throws. */
function refusalOf(read: () => unknown): string {
  try {
    read();
  } catch (fault) {
    if (fault instanceof UserError) return fault.message;
    throw fault;
  }
  throw new Error("it was not refused");
}

test.each([
  ["as it is", DIGITS],
  ["with 0x", `0x${DIGITS}`],
  ["in capitals", `0X${DIGITS.toUpperCase()}`],
  ["with space around", `\ufeff \t0x${DIGITS}\r\n\n`],
])("a key is read %s, from a file as from the variable", (_, text) => {
  using dir = emptyDir();
  expect(fromVariable(text).account.address).toBe(ADDRESS);
  const { account, warning } = fromFile(writeKeyFile(dir.path, "key", text));
  expect({ address: account.address, warning }).toEqual({ address: ADDRESS, warning: undefined });
});

test("a file overrides the variable, which is then not read", () => {
  using dir = emptyDir();
  expect(fromFile(writeKeyFile(dir.path, "key", DIGITS), "nonsense").account.address).toBe(ADDRESS);
});

test.each(["644", "640", "604"])("a file of mode %s is read with a warning", (mode) => {
  using dir = emptyDir();
  const file = writeKeyFile(dir.path, "key", DIGITS);
  chmodSync(file, Number.parseInt(mode, 8));
  const { account, warning } = fromFile(file);
  expect(account.address).toBe(ADDRESS);
  expect(warning).toBe(`${file} can be read by others; "chmod 600" makes the key private`);
});

describe("rejects an invalid key without printing any of it", () => {
  test.each([
    ["nothing", "\n", "must hold a private key: 64 hex digits"],
    ["words", "correct horse battery staple", "must hold a private key"],
    ["a digit less", DIGITS.slice(1), "must hold a private key"],
    ["a digit more", `${DIGITS}0`, "must hold a private key"],
    ["two keys", `${DIGITS}\n${DIGITS}`, "must hold a private key"],
    ["zero", "0".repeat(64), "not a private key of secp256k1"],
    [
      "the order of the curve",
      "fffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141",
      "not a private key of secp256k1",
    ],
    ["megabytes", "a".repeat(2_000_000), "must hold a private key"],
  ])("%s", (_, text, reason) => {
    using dir = emptyDir();
    const file = writeKeyFile(dir.path, "key", text);
    for (const message of [refusalOf(() => fromFile(file)), refusalOf(() => fromVariable(text))]) {
      expect(message).toContain(reason);
      if (text.trim() !== "") expect(message).not.toContain(text.slice(0, 20));
    }
    expect(refusalOf(() => fromFile(file))).toStartWith(`key file ${file} `);
    expect(refusalOf(() => fromVariable(text))).toStartWith("SVC_KEY ");
  });

  test("no key, a missing file, a directory", () => {
    using dir = emptyDir();
    const none = "no key: give --key-file <file>, or the key in SVC_KEY";
    expect(refusalOf(() => fromVariable(undefined))).toBe(none);
    expect(refusalOf(() => fromVariable(""))).toBe(none);
    expect(refusalOf(() => fromFile(join(dir.path, "none")))).toContain("cannot be read: ENOENT");
    expect(refusalOf(() => fromFile(dir.path))).toContain("cannot be read: EISDIR");
  });

  test.each([DIGITS, `0x${DIGITS}`, DIGITS.slice(0, -7)])("a key in place of the file name", (text) => {
    expect(refusalOf(() => fromFile(text))).toBe(
      "--key-file takes the name of a file that holds the key, not the key",
    );
  });
});
