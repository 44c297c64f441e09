import { describe, expect, test } from "bun:test";
import { privateKeyToAccount } from "viem/accounts";
import { createSiweMessage } from "viem/siwe";
import { parseSignIn } from "../../src/auth/siwe.ts";
import { fromHex } from "../../src/protocol/validate/eth.ts";

const account = privateKeyToAccount(`0x${"11".repeat(32)}`);
const NOW = 1_800_000_000;
const at = (secs: number) => new Date(secs * 1000);
const fields = {
  address: account.address,
  chainId: 10,
  domain: "app.example:8443",
  uri: "https://app.example:8443/login?x=1",
  nonce: "abcdefgh12345678",
  version: "1" as const,
  issuedAt: at(NOW - 10),
};
const full = {
  ...fields,
  statement: "Sign in: all of it.",
  expirationTime: at(NOW + 60),
  notBefore: at(NOW - 60),
  requestId: "r1",
  resources: ["https://app.example/a", "farcaster://fid/3"],
};

describe("sign-in messages", () => {
  test("are read as another library writes them", () => {
    expect(parseSignIn(createSiweMessage(full))).toEqual({
      domain: full.domain,
      address: fromHex(account.address.toLowerCase() as `0x${string}`),
      uri: full.uri,
      nonce: full.nonce,
      chainId: 10,
      issuedAt: NOW - 10,
      expiresAt: NOW + 60,
      notBefore: NOW - 60,
      statement: full.statement,
      resources: full.resources,
    });
    const minimal = createSiweMessage(fields);
    expect(parseSignIn(minimal)).toMatchObject({ nonce: fields.nonce, statement: undefined, resources: [] });
    expect(parseSignIn(minimal.replace("\n\n\n", "\n\n"))).toEqual(parseSignIn(minimal));
  });

  test("may have the address in lower case", () => {
    const text = createSiweMessage(fields).replace(account.address, account.address.toLowerCase());
    expect(parseSignIn(text)).toEqual(parseSignIn(createSiweMessage(fields)));
  });

  test.each([
    ["an empty text", ""],
    ["a long text", "x".repeat(5000)],
    ["a second nonce", createSiweMessage(fields).replace("\nIssued", "\nNonce: zzzzzzzz\nIssued")],
    ["a line of its own", `${createSiweMessage(fields)}\nmore`],
    ["another version", createSiweMessage(fields).replace("Version: 1", "Version: 2")],
    ["a time that is none", createSiweMessage(fields).replace(/Issued At: .*/, "Issued At: yesterday")],
    [
      "an upper-case address",
      createSiweMessage(fields).replace(account.address.slice(2), account.address.slice(2).toUpperCase()),
    ],
  ])("with %s are not accepted", (_, text) => {
    expect(parseSignIn(text)).toBeUndefined();
  });
});
