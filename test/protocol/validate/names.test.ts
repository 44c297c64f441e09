import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { getAddress } from "viem/utils";
import { parseChecksumAddress, toHex } from "../../../src/protocol/validate/eth.ts";
import { isBasename, isEnsName, isFname, isUsername } from "../../../src/protocol/validate/names.ts";

const LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789";
const label = fc
  .tuple(fc.constantFrom(...LETTERS), fc.string({ unit: fc.constantFrom(...LETTERS, "-"), maxLength: 15 }))
  .map((parts) => parts.join(""));
const suffix = fc.constantFrom("", ".eth", ".base.eth");

describe("names", () => {
  test("a label is an fname, with .eth an ENS name, with .base.eth a basename, and never more than one of them", () => {
    fc.assert(
      fc.property(label, suffix, (name, end) => {
        const kinds = [isFname(name + end), isEnsName(name + end), isBasename(name + end)];
        expect(kinds).toEqual([end === "", end === ".eth", end === ".base.eth"]);
        expect(isUsername(name + end)).toBe(true);
      }),
    );
  });

  test("refuses an invalid character, one character too many and a leading hyphen", () => {
    const foreign = fc
      .string({ unit: "grapheme", minLength: 1, maxLength: 1 })
      .filter((c) => !/^[a-z0-9-]$/.test(c));
    fc.assert(
      fc.property(label, suffix, foreign, fc.nat(), (name, end, character, where) => {
        const at = where % (name.length + 1);
        expect(isUsername(name.slice(0, at) + character + name.slice(at) + end)).toBe(false);
        expect(isUsername(name.padEnd(17, "a") + end)).toBe(false);
        expect(isUsername(`-${name.slice(1)}${end}`)).toBe(false);
      }),
    );
  });

  test.each([
    "",
    ".eth",
    ".base.eth",
    "base.eth.eth",
    "a.base.base.eth",
    "a..eth",
    "a.eth.",
    "a\n",
    "a.ETH",
    "é",
    "a.eth\n",
  ])("%j is not a name", (name) => {
    expect(isUsername(name)).toBe(false);
  });

  test("base.eth is an ENS name of two labels", () => {
    expect([isEnsName("base.eth"), isBasename("base.eth")]).toEqual([true, false]);
  });
});

describe("an address in EIP-55 form", () => {
  test("is parsed only in this form", () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 20, maxLength: 20 }), fc.nat(39), (address, at) => {
        const text = getAddress(toHex(address));
        expect(parseChecksumAddress(text)).toEqual(address);
        const character = text.charAt(2 + at);
        const flipped =
          character === character.toLowerCase() ? character.toUpperCase() : character.toLowerCase();
        const other = text.slice(0, 2 + at) + flipped + text.slice(3 + at);
        expect(parseChecksumAddress(other)).toEqual(other === text ? address : undefined);
      }),
    );
  });

  test.each([
    "",
    "0x",
    "0X5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed",
    "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed\n",
    "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAedd",
  ])("%j is none", (text) => {
    expect(parseChecksumAddress(text)).toBeUndefined();
  });
});
